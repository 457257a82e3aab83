//! Long and unlike texts as a reader sees them in a browser. The tests cover the places of passages, panes
//! beside each other, differing words, programs in colours and notes about documents. They also cover a page
//! that is loaded again or printed.

use serde_json::{Value, json};

use super::browser::Browser;
use super::paragraph;
use crate::pdf_pages;
use crate::support::Folder;

/// A text of paragraphs of unlike lengths, with the paragraphs `shared` at places that `seed` chooses.
fn long_text(seed: u64, paragraphs: u64, shared: &[String]) -> String {
    let mut text = String::new();
    let every = paragraphs / shared.len() as u64;
    for number in 0..paragraphs {
        text += &paragraph(1000 * seed + number, [4, 25, 110][(number % 3) as usize]);
        text.push('\n');
        if number % every == (seed * 13) % every {
            text += &shared[(number / every) as usize];
            text.push('\n');
        }
    }
    text
}

fn page(folder: &Folder) -> std::path::PathBuf {
    folder.path().join("report/index.html")
}

/// An expression for the distance between the start of a passage and the upper edge, in each pane.
fn beginnings(number: usize) -> String {
    format!(
        "[...document.querySelectorAll('.pane')].map((pane) => pane.querySelector('.chip[data-n=\"{number}\"]')\
         .getBoundingClientRect().top - pane.getBoundingClientRect().top)"
    )
}

#[test]
fn a_passage_of_long_texts_is_in_its_place_however_it_is_reached() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let shared: Vec<String> = (0..4).map(|number| paragraph(77 + number, 60)).collect();
    folder.write("docs/a.txt", long_text(1, 1500, &shared));
    folder.write("docs/b.txt", long_text(2, 2500, &shared));
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    for number in [4, 2, 3, 1] {
        browser.open(&page(&folder), &format!("pair=1&passage={number}"));
        browser.wait("document.getElementById('main').dataset.whole");
        let in_place = format!(
            "(() => {{ const [a, b] = {}; return a > 0 && a < 500 && Math.abs(a - b) < 3 }})()",
            beginnings(number)
        );
        browser.wait(&in_place);
        // The passage stays there.
        browser.ask("new Promise((resolve) => setTimeout(resolve, 300))");
        assert_eq!(browser.ask(&in_place), json!(true), "passage {number}: {}", browser.ask(&beginnings(number)));
    }
    // The table shows all of its columns.
    let table = browser
        .ask("(() => { const t = document.querySelector('.passages'); return [t.scrollWidth, t.clientWidth] })()");
    assert!(table[0].as_u64() <= table[1].as_u64(), "{table}");
    // Scrolling one side scrolls the other by the same distance, until the reader switches this off.
    let tops = "[...document.querySelectorAll('.pane')].map((pane) => Math.round(pane.scrollTop))";
    let scroll = "(() => { const pane = document.querySelector('.pane'); \
                  pane.dispatchEvent(new Event('wheel')); pane.scrollTop += 60 })()";
    for together in [true, false] {
        let before = browser.ask(tops);
        browser.ask(scroll);
        browser.wait(&format!("{tops}[0] !== {}", before[0]));
        browser.ask("new Promise((resolve) => setTimeout(resolve, 200))");
        let after = browser.ask(tops);
        let moved = |side: usize| after[side].as_i64().unwrap() - before[side].as_i64().unwrap();
        assert_eq!(moved(0), 60);
        assert_eq!(moved(1), if together { 60 } else { 0 }, "{before} {after}");
        browser.press("s");
        assert_eq!(
            browser.text("document.getElementById('together').getAttribute('aria-pressed')"),
            (!together).to_string()
        );
        browser.ask("new Promise((resolve) => setTimeout(resolve, 200))");
    }
    // In windows of any width the panes stand beside or below each other.
    for (width, height) in [(1400, 900), (1000, 700), (959, 900), (900, 800), (850, 900), (800, 600), (500, 900)] {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        browser.call("Emulation.setDeviceMetricsOverride", metrics);
        let boxes = browser.ask(
            "[...document.querySelectorAll('.half')].map((half) => [half, half.querySelector('.pane')].map((element) => \
             { const { left, top, right, bottom } = element.getBoundingClientRect(); return { left, top, right, bottom } }))",
        );
        let edge = |side: usize, element: usize, name: &str| boxes[side][element][name].as_f64().unwrap();
        for side in 0..2 {
            assert!(edge(side, 1, "bottom") <= edge(side, 0, "bottom") + 1.0, "{width} x {height}: {boxes}");
        }
        let apart = edge(0, 0, "right") <= edge(1, 0, "left") + 1.0 || edge(0, 0, "bottom") <= edge(1, 0, "top") + 1.0;
        assert!(apart, "{width} x {height}: {boxes}");
    }
    browser.check_quiet();
}

#[test]
fn words_that_differ_in_a_passage_stand_out() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let lines: Vec<String> = (0..6).map(|number| paragraph(5 + number, 14)).collect();
    let replaced = lines[4].split(' ').nth(5).unwrap().to_owned();
    let changed = [&lines[..2], &[lines[2].to_uppercase() + "Inserted, "], &lines[3..]].concat();
    folder.write("docs/a.txt", lines.join("\n"));
    folder.write("docs/b.txt", changed.join("\n").replacen(&replaced, "Replaced", 1));
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder), "pair=1");
    browser.wait("document.getElementById('main').dataset.whole");
    let differing = browser.ask(
        "[...document.querySelectorAll('.pane')].map((pane) => [...pane.querySelectorAll('.differs')].map((words) => words.textContent))",
    );
    assert_eq!(differing, json!([[replaced], ["Inserted", "Replaced"]]));
    browser.check_quiet();
}

/// A step through the differences of a passage brings both sides to each of them, also where one side lacks
/// the words.
#[test]
fn one_steps_through_the_differences_of_a_passage() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let lines: Vec<String> = (0..300).map(|number| paragraph(5 + number, 14)).collect();
    let mut changed = lines.clone();
    changed[100].push_str(" Inserted words");
    let words: Vec<&str> = lines[200].split(' ').collect();
    changed[200] = [&words[..4], &words[6..]].concat().join(" ");
    folder.write("docs/a.txt", lines.join("\n"));
    folder.write("docs/b.txt", changed.join("\n"));
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder), "pair=1&passage=1");
    browser.wait("document.getElementById('main').dataset.whole");
    let mut steps = |key: &str, expected: &str, words: [&str; 2]| {
        browser.press(key);
        assert_eq!(browser.text("document.getElementById('difference').textContent"), expected);
        // The line at the place where both sides are brought to, a fifth below the upper edge.
        let seen = "[...document.querySelectorAll('.pane')].map((pane) => { const box = pane.getBoundingClientRect(); \
            return [...pane.querySelectorAll('.row')].filter((row) => { const at = row.getBoundingClientRect(); \
            return at.bottom > box.top && at.top < box.bottom; }).map((row) => row.textContent).join(' '); })";
        for (side, word) in words.into_iter().enumerate() {
            browser.wait(&format!("{seen}[{side}].includes('{word}')"));
        }
    };
    let (after, begin) = (&lines[101][..30], words[..4].join(" "));
    steps("d", "difference 1 of 2 in this passage", [after, "Inserted words"]);
    steps("d", "difference 2 of 2 in this passage", [&begin, &begin]);
    steps("d", "difference 1 of 2 in this passage", [after, "Inserted words"]);
    steps("D", "difference 2 of 2 in this passage", [&begin, &begin]);
    let current = "[...document.querySelectorAll('.differs.current')].length";
    browser.wait(&format!("{current} === 2"));
    browser.check_quiet();
}

/// Every changed word is marked, however many there are. A passage that is too long to compare by words has a
/// note.
#[test]
fn words_of_a_much_changed_passage_stand_out() {
    let Some(mut browser) = Browser::start() else { return };
    let mut marked = |words: u64| {
        let folder = Folder::new();
        let text = paragraph(3, words);
        let changed: Vec<&str> =
            text.split(' ').enumerate().map(|(at, word)| if at % 30 == 15 { "zz" } else { word }).collect();
        folder.write("docs/a.txt", &text);
        folder.write("docs/b.txt", changed.join(" "));
        folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
        folder.ok(&["pairs", "--format", "html", "-o", "report"]);
        browser.open(&page(&folder), "pair=1&passage=1");
        browser.wait("document.getElementById('main').dataset.whole");
        browser.wait("document.querySelectorAll('.pane .chip').length > 1");
        // A printed page holds the whole texts.
        browser.ask("window.dispatchEvent(new Event('beforeprint'))");
        let counts = browser
            .ask("[...document.querySelectorAll('.pane')].map((pane) => pane.querySelectorAll('.differs').length)");
        browser.check_quiet();
        (counts, browser.text("document.querySelector('nav .match').textContent"))
    };
    let (counts, _) = marked(15_000);
    assert_eq!(counts, json!([500, 500]));
    let (counts, said) = marked(60_000);
    assert_eq!(counts, json!([0, 0]));
    assert!(said.ends_with("too long to mark single words"), "{said}");
}

#[test]
fn programs_are_coloured_and_their_text_stays_as_it_is() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let program = "/* The sum of \"all\" things. */\nint sum(const int *values, int count) {\n\tint total = 0; // not 'much'\n\
                   \tfor (int i = 0; i < count; i++) {\n\t\ttotal += values[i] * 31;\n\t}\n\tprintf(\"sum /* %d */\\n\", total);\n\treturn total;\n}\n";
    folder.write("a/sum.c", program);
    folder.write("b/total.c", format!("{program}\nint main(void) {{ return 0; }}\n"));
    folder.ok(&["ingest", "-q", "--profile", "code", "a", "b"]);
    folder.ok(&["pairs", "--min-resemblance", "0", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder), "pair=1");
    browser.wait("document.getElementById('main').dataset.whole");
    let words = |browser: &mut Browser, kind: &str| {
        browser.ask(&format!(
            "[...document.querySelector('.pane').querySelectorAll('.{kind}')].map((token) => token.textContent)"
        ))
    };
    assert_eq!(words(&mut browser, "comment"), json!(["/* The sum of \"all\" things. */", "// not 'much'"]));
    assert_eq!(words(&mut browser, "string"), json!(["\"sum /* %d */\\n\""]));
    assert_eq!(words(&mut browser, "keyword"), json!(["const", "for", "return"]));
    assert_eq!(words(&mut browser, "numeral"), json!(["0", "0", "31"]));
    // Chips show their number by style, so a row holds the text alone.
    let rows =
        "[...document.querySelectorAll('.pane')[0].querySelectorAll('.row')].map((row) => row.textContent).join('\\n')";
    assert_eq!(browser.text(rows).trim_end(), program.trim_end());
    browser.check_quiet();
}

#[test]
fn metadata_is_shown_and_found() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    super::corpus(&folder);
    folder.write(
        "facts.csv",
        "filename,label,author\ndocs/a.txt,genuine,Maria <Keller>\ndocs/b.txt,copied,Jonas Weber\n",
    );
    folder.ok(&["--db", "told", "ingest", "-q", "--profile", "prose", "--metadata", "facts.csv", "docs"]);
    for command in [&["pairs"][..], &["query", "--document", "docs/a.txt"]] {
        folder.ok(&[&["--db", "told"], command, &["--format", "html", "-o", "report"]].concat());
        browser.open(&page(&folder), "");
        let row = browser.text("document.querySelector('tr[data-pair=\"1\"]').textContent");
        assert!(row.contains("[genuine]") && row.contains("[copied]"), "{row}");
        browser.ask("(() => { const f = document.getElementById('filter'); f.value = 'jonas'; f.dispatchEvent(new Event('input')) })()");
        let rows = browser.ask("[...document.querySelectorAll('tr[data-pair]')].map((row) => row.textContent)");
        let rows = rows.as_array().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| row.as_str().unwrap().contains("[copied]")), "{rows:?}");
        browser.open(&page(&folder), "pair=1");
        browser.wait("document.getElementById('main').dataset.whole");
        let known = browser.ask("[...document.querySelectorAll('.half')].map((half) => [...half.querySelectorAll('.known div')].map((fact) => [...fact.children].map((part) => part.textContent)))");
        assert_eq!(
            known,
            json!([
                [["author", "Maria <Keller>"], ["label", "genuine"]],
                [["author", "Jonas Weber"], ["label", "copied"]]
            ])
        );
    }
    browser.check_quiet();
}

#[test]
fn choices_last_when_the_page_is_loaded_again_and_all_rows_are_printed() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    // Sixteen documents share one line, and so make 120 pairs. Each has one more line of its own than the one
    // before. Sixty more documents make pairs of two, for the picture.
    for number in 0..16 {
        let own: Vec<String> = (0..number).map(|line| paragraph(900 + 20 * number + line, 12)).collect();
        folder.write(&format!("docs/{number:02}.txt"), format!("{}\n{}", paragraph(7, 14), own.join("\n")));
    }
    for number in 0..60 {
        folder.write(&format!("twins/work-{number:02}.txt"), paragraph(3000 + number / 2, 20 + number % 2));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs", "twins"]);
    folder.ok(&["pairs", "--no-text", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder), "threshold=0");
    let rows = "document.querySelectorAll('tr[data-pair]').length";
    assert_eq!(browser.ask(rows), json!(100));
    let names = browser
        .ask("[document.querySelectorAll('.graph circle').length, document.querySelectorAll('.graph text').length]");
    assert!(names[0].as_u64() > Some(60) && names[1].as_u64() > Some(20), "{names}");
    let overlap = browser.ask(
        "(() => { const boxes = [...document.querySelectorAll('.graph text')].map((text) => text.getBBox()); \
         return boxes.filter((a, at) => boxes.some((b, other) => other < at && a.x < b.x + b.width && b.x < a.x + a.width \
         && a.y + 2 < b.y + b.height && b.y + 2 < a.y + a.height)).length })()",
    );
    assert_eq!(overlap, json!(0));
    let all = browser.text("document.getElementById('fact-pairs').textContent");
    browser.ask("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.ask(rows), json!(all.parse::<u64>().unwrap()));
    browser.ask("dispatchEvent(new Event('afterprint'))");
    assert_eq!(browser.ask(rows), json!(100));

    let choices = "[document.getElementById('threshold').value, document.getElementById('measure').value, \
                   document.getElementById('filter').value, document.getElementById('fact-pairs').textContent]";
    browser.ask("(() => { const m = document.getElementById('measure'); m.value = 'larger'; m.dispatchEvent(new Event('change')) })()");
    browser.ask("(() => { const s = document.getElementById('threshold'); s.value = 40; s.dispatchEvent(new Event('input')) })()");
    browser.ask(
        "(() => { const f = document.getElementById('filter'); f.value = '1'; f.dispatchEvent(new Event('input')) })()",
    );
    let chosen: Value = browser.ask(choices);
    assert_eq!(chosen[0], json!("40"));
    let reload = |browser: &mut Browser| {
        browser.ask("globalThis.before = true");
        browser.call("Page.reload", json!({}));
        browser.wait("globalThis.before === undefined && document.querySelector('h1') !== null");
    };
    reload(&mut browser);
    assert_eq!(browser.ask(choices), chosen);
    // The same after a visit to a pair.
    browser.ask("document.querySelector('tr[data-pair] a').click()");
    browser.wait("document.body.className === 'pair' && location.hash.includes('threshold=40')");
    reload(&mut browser);
    browser.wait("document.body.className === 'pair' && location.hash.includes('threshold=40')");
    browser.press("o");
    browser.wait("document.getElementById('threshold') !== null");
    assert_eq!(browser.ask(choices), chosen);
    browser.check_quiet();
}

#[test]
fn passages_in_a_pdf_have_its_pages() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = pdf_pages::folder();
    folder.ok(&["diff", "leak.txt", "report.pdf", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder), "pair=1");
    browser.wait("document.getElementById('main').dataset.whole");
    let cells = browser.ask("[...document.querySelectorAll('.passages tbody td:nth-child(n+3):nth-child(-n+4)')].map((cell) => cell.innerText)");
    assert_eq!(cells, json!(["6\u{2013}15", "page 1\n13\u{2013}22", "21\u{2013}40", "pages 3\u{2013}4\n56\u{2013}77"]));
    let table = browser
        .ask("(() => { const t = document.querySelector('.passages'); return [t.scrollWidth, t.clientWidth] })()");
    assert!(table[0].as_u64() <= table[1].as_u64(), "{table}");
    browser.check_quiet();
}

/// A page opens at its longest passage, not at a heading that both documents have.
#[test]
fn a_pair_opens_at_its_longest_passage() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let (heading, copied) = (paragraph(1, 12), paragraph(2, 90));
    for (name, seed) in [("a", 3), ("b", 4)] {
        let [own, more] = [seed, seed + 10].map(|seed| paragraph(seed, 60));
        folder.write(&format!("docs/{name}.txt"), [&*heading, &own, &copied, &more].join("\n"));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    for (address, number) in [("pair=1", 2), ("pair=1&passage=1", 1)] {
        browser.open(&page(&folder), address);
        browser.wait("document.getElementById('main').dataset.whole");
        let position = browser.text("document.getElementById('position').textContent");
        assert_eq!(position, format!("passage {number} of 2"));
    }
    browser.check_quiet();
}

/// Markup is neither a word nor in colour. A word is compared as the front-end read it.
#[test]
fn only_what_was_read_differs() {
    let folder = Folder::new();
    let [begin, end] = [paragraph(1, 30), paragraph(2, 30)];
    folder.write("docs/a.html", format!("<p>{begin} caf&eacute; said &quot;so&quot; twice. {end}</p>"));
    let marked = end.replacen(' ', "</b> <span class=\"x\">", 1) + "</span>";
    folder.write("docs/b.html", format!("<div>{begin} café <i>s</i>aid \"so\"</div>\n<p>thrice. <b>{marked}</p>"));
    folder.ok(&["ingest", "-q", "--profile", "words", "docs"]);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    let unlike = super::text(&folder, "report", 1).unlike;
    assert!(unlike.contains(&json!([0, 3])) && unlike.iter().any(|range| range[2] == "é"), "{unlike:?}");
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&page(&folder), "pair=1");
    browser.wait("document.getElementById('main').dataset.whole");
    let of = |browser: &mut Browser, what: &str| {
        browser.ask(&format!(
            "[...document.querySelectorAll('.pane')].map((pane) => [...pane.querySelectorAll('{what}')].map((words) => words.textContent))"
        ))
    };
    assert_eq!(of(&mut browser, ".differs"), json!([["twice"], ["thrice"]]));
    assert_eq!(of(&mut browser, ".markup")[0], json!(["<p>", "</p>"]));
    assert_eq!(of(&mut browser, "mark .markup, .markup mark"), json!([[], []]));
    assert!(browser.text("document.getElementById('markup-legend').textContent").contains("not read as text"));
    browser.check_quiet();

    // Outputs and the JSON around the lines of a notebook are no part of a program.
    let lines: Vec<String> =
        (0..12).map(|line| format!("total_{line} = compute(values[{line}], \"sum\") + {line}\n")).collect();
    let notebook = |lines: &[String], output: &str| {
        let cell = |lines: &[String]| {
            json!({"cell_type": "code", "metadata": {}, "source": lines, "execution_count": 1,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": [output]}]})
        };
        json!({"cells": [cell(&lines[..6]), cell(&lines[6..])], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
            .to_string()
    };
    folder.write("n/a.ipynb", notebook(&lines, "first output"));
    let mut changed = lines.clone();
    changed[4] = changed[4].replace("values", "others");
    folder.write("n/b.ipynb", notebook(&changed, "quite another one"));
    folder.ok(&["--db", "n.db", "ingest", "-q", "--profile", "code", "n"]);
    folder.ok(&["--db", "n.db", "pairs", "--min-resemblance", "0", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder), "pair=1");
    browser.wait("document.getElementById('main').dataset.whole");
    assert_eq!(of(&mut browser, ".differs"), json!([["values"], ["others"]]));
    let outputs = of(&mut browser, ".markup");
    assert!(outputs[0].to_string().contains("first output") && outputs[1].to_string().contains("quite another one"));
    let coloured = of(&mut browser, "mark").to_string();
    assert!(!coloured.contains("output") && coloured.contains("compute"), "{coloured}");
    browser.check_quiet();
}
