//! The pages as a reader sees and uses them, in a browser: against the JSON of the same questions, counted
//! here in another way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, UTF_8, UTF_16LE, WINDOWS_1252};
use serde_json::{Value, json};

use super::browser::Browser;
use super::{corpus, paragraph};
use crate::support::{Folder, word};

fn samples() -> String {
    format!("{}/../data-samples", env!("CARGO_MANIFEST_DIR"))
}

fn page(folder: &Folder, report: &str) -> PathBuf {
    folder.path().join(report).join("index.html")
}

/// A measure of a pair in whole percents, rounded down as on the page.
fn percent(pair: &Value, measure: &str) -> u64 {
    (100.0 * pair[measure].as_f64().unwrap() + 1e-9) as u64
}

/// The number of clusters that these pairs form, found by flooding.
fn clusters(pairs: &[&Value]) -> usize {
    let ends = |pair: &Value| [pair["a_id"].as_u64().unwrap(), pair["b_id"].as_u64().unwrap()];
    let mut left: BTreeSet<u64> = pairs.iter().flat_map(|pair| ends(pair)).collect();
    let mut count = 0;
    while let Some(first) = left.pop_first() {
        count += 1;
        let mut edge = vec![first];
        while let Some(document) = edge.pop() {
            for other in pairs.iter().map(|pair| ends(pair)).filter(|ends| ends.contains(&document)).flatten() {
                if left.remove(&other) {
                    edge.push(other);
                }
            }
        }
    }
    count
}

/// Sets the slider like a user.
fn slide(browser: &mut Browser, percent: u64) {
    browser.ask(&format!(
        "(() => {{ const s = document.getElementById('threshold'); s.value = {percent}; \
         s.dispatchEvent(new Event('input')) }})()"
    ));
}

/// Fifteen documents in five families. Some share much, some little.
fn families(folder: &Folder) {
    let sentence =
        |seed: u64| -> String { (0..14).map(|place| word((seed * 37 + place * 101) % 7919) + " ").collect() };
    for document in 0..15u64 {
        let (family, version) = (document / 3, document % 3);
        let mut text = String::new();
        for line in 0..10 {
            // The versions of a family differ in more and more lines.
            let own = line < version * (family + 1);
            text.push_str(&sentence(if own { 1000 + document * 50 + line } else { family * 50 + line }));
            text.push('\n');
        }
        folder.write(&format!("works/family-{family}/version-{version}.txt"), text);
    }
    folder.ok(&["ingest", "--profile", "prose", "works"]);
}

#[test]
fn the_overview_counts_what_the_answers_say() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    families(&folder);
    let pairs = folder.ok(&["pairs", "--format", "json"]).json();
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    folder.ok(&["pairs", "--format", "html", "-o", "report.html", "--single-file"]);
    for path in [page(&folder, "report"), folder.path().join("report.html")] {
        browser.open(&path, "");
        assert_eq!(browser.text("document.getElementById('fact-documents').textContent"), "15");
        for percent_ in [0, 1, 5, 20, 40, 60, 80, 99] {
            slide(&mut browser, percent_);
            let above: Vec<&Value> = pairs.iter().filter(|pair| percent(pair, "resemblance") >= percent_).collect();
            assert_eq!(browser.text("document.getElementById('fact-pairs').textContent"), above.len().to_string());
            assert_eq!(browser.ask("document.querySelectorAll('tr[data-pair]').length"), json!(above.len()));
            assert_eq!(
                browser.text("document.getElementById('fact-clusters').textContent"),
                clusters(&above).to_string(),
                "at {percent_}%"
            );
            assert_eq!(browser.ask("document.querySelectorAll('.clusters li').length"), json!(clusters(&above)));
            let joined: BTreeSet<u64> =
                above.iter().flat_map(|pair| [&pair["a_id"], &pair["b_id"]]).map(|id| id.as_u64().unwrap()).collect();
            assert_eq!(browser.ask("document.querySelectorAll('.graph circle').length"), json!(joined.len()));
            if percent_ > 0 {
                assert_eq!(browser.text("document.getElementById('fact-reach').textContent"), joined.len().to_string());
            }
        }
        slide(&mut browser, 0);
        // Another measure sorts the list anew and has another threshold at first.
        browser.ask("(() => { const m = document.getElementById('measure'); m.value = 'larger'; m.dispatchEvent(new Event('change')) })()");
        slide(&mut browser, 50);
        let larger = |pair: &&Value| percent(pair, "containment_a").max(percent(pair, "containment_b")) >= 50;
        let above = pairs.iter().filter(larger).count();
        assert_eq!(browser.text("document.getElementById('fact-pairs').textContent"), above.to_string());
        browser.check_quiet();
    }
}

#[test]
fn the_list_is_filtered_sorted_and_saved() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    families(&folder);
    let pairs = folder.ok(&["pairs", "--format", "json"]).json();
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder, "report"), "");
    slide(&mut browser, 0);
    for wanted in ["family-3", "VERSION-1", "family-0/version-2", "nothing like it"] {
        browser.ask(&format!(
            "(() => {{ const f = document.getElementById('filter'); f.value = {wanted:?}; f.dispatchEvent(new Event('input')) }})()"
        ));
        let holds = |name: &Value| name.as_str().unwrap().to_lowercase().contains(&wanted.to_lowercase());
        let expected = pairs.iter().filter(|pair| holds(&pair["a"]) || holds(&pair["b"])).count();
        assert_eq!(browser.ask("document.querySelectorAll('tr[data-pair]').length"), json!(expected), "{wanted}");
    }
    browser.ask(
        "(() => { const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input')) })()",
    );
    // Sorted by names, then by names in reverse.
    let column = "[...document.querySelectorAll('tr[data-pair] td:nth-child(2) bdi')].map((cell) => cell.title)";
    let mut names: Vec<String> = pairs.iter().map(|pair| pair["a"].as_str().unwrap().to_owned()).collect();
    names.sort();
    browser.click("thead th:nth-child(2) button");
    assert_eq!(browser.ask(column), json!(names));
    assert_eq!(browser.text("document.querySelector('th[aria-sort]').getAttribute('aria-sort')"), "ascending");
    browser.click("thead th:nth-child(2) button");
    names.reverse();
    assert_eq!(browser.ask(column), json!(names));
    // One cluster only.
    slide(&mut browser, 60);
    browser.click(".clusters button");
    let listed = browser.ask("document.querySelectorAll('tr[data-pair]').length").as_u64().unwrap();
    assert!(listed > 0 && listed < pairs.len() as u64);
    // The saved list equals the list on the page.
    browser.ask(
        "globalThis.saved = []; const make = URL.createObjectURL; \
         URL.createObjectURL = (blob) => { saved.push(blob); return make(blob) }; undefined",
    );
    browser.click("#csv");
    let csv = browser.ask("saved[0].text()");
    let rows = csv::Reader::from_reader(csv.as_str().unwrap().as_bytes()).records().count();
    assert_eq!(rows as u64, listed);
    browser.check_quiet();
}

/// The text of a passage's marks in a pane, line by line.
fn marked(browser: &mut Browser, pane: usize, number: usize) -> String {
    browser.text(&format!(
        "[...document.querySelectorAll('.pane')[{pane}].querySelectorAll('.row')].map((row) => \
         [...row.querySelectorAll('mark[data-p~=\"{number}\"]')]).filter((marks) => marks.length)\
         .map((marks) => marks.map((mark) => mark.textContent).join('')).join('\\n')"
    ))
}

#[test]
fn what_is_marked_is_what_the_offsets_say() {
    let Some(mut browser) = Browser::start() else { return };
    let french = "Où l’été s’achève, les élèves français reviennent à l’école : ils sont frêles, gênés, inquiets.\r\n\
        « Ça ira », répète la maîtresse — et voilà qu’ils s’assoient près des fenêtres, bouche bée.\r\n\
        \tUn garçon naïf, du côté de Noël, rêvait d’être ingénieur ; sa sœur préférait les forêts, les îles.\r\n";
    let german = "Der Wächter überprüfte täglich die Schlösser der Bücherei, müde zwar, aber pflichtbewußt.\n";
    let folder = Folder::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    folder.write("docs/utf8.txt", format!("\u{feff}{german}{french}{german}"));
    folder.write("docs/latin.txt", WINDOWS_1252.encode(&format!("{french}{german}")).0);
    folder.write("docs/wide.txt", [b"\xFF\xFE".to_vec(), utf16(&format!("𝔄𝔅 {french}𝔄𝔅 {german}"))].concat());
    folder.ok(&["ingest", "--profile", "prose", "docs"]);
    let pairs = folder.ok(&["pairs", "--passages", "--format", "json"]).json();
    assert_eq!(pairs.len(), 3);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    let encodings: [(&str, &Encoding); 3] = [("utf8", UTF_8), ("latin", WINDOWS_1252), ("wide", UTF_16LE)];
    for (index, pair) in pairs.iter().enumerate() {
        browser.open(&page(&folder, "report"), &format!("pair={}", index + 1));
        browser.wait("document.getElementById('main').dataset.whole");
        let passages = pair["passages"].as_array().unwrap();
        assert!(!passages.is_empty());
        for (number, passage) in passages.iter().enumerate() {
            for (pane, side, document) in [(0, "query", &pair["a"]), (1, "document", &pair["b"])] {
                let document = document.as_str().unwrap();
                let bytes = std::fs::read(folder.path().join(document)).unwrap();
                let encoding = encodings.iter().find(|(name, _)| document.contains(name)).unwrap().1;
                let at = |end: &str| passage[side][end].as_u64().unwrap() as usize;
                let expected = encoding.decode_without_bom_handling(&bytes[at("start")..at("end")]).0.into_owned();
                // A line with only a line end has no mark.
                let expected: Vec<&str> = expected.split('\n').filter(|line| !line.is_empty()).collect();
                assert_eq!(marked(&mut browser, pane, number + 1), expected.join("\n"), "{document}");
            }
        }
        let shown = |side: &str, id: &str| {
            (percent_text(pair[side].as_f64().unwrap()), format!("document.getElementById('{id}').innerText"))
        };
        for (expected, question) in
            [shown("containment_a", "bar-a"), shown("containment_b", "bar-b"), shown("resemblance", "bar-r")]
        {
            assert!(browser.text(&question).contains(&expected), "{question} {expected}");
        }
    }
    browser.check_quiet();
}

fn percent_text(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// The distance of the current passage's start from the top of its pane, on both sides.
const BEGINNINGS: &str = "[...document.querySelectorAll('.pane')].map((pane) => { \
    const chip = pane.querySelector('.chip.current').getBoundingClientRect(); \
    const box = pane.getBoundingClientRect(); return [Math.round(chip.top - box.top), Math.round(box.height), box.top] })";

fn check_aligned(browser: &mut Browser, number: usize, of: usize) {
    let expected = format!("passage {number} of {of}");
    browser.wait(&format!("document.getElementById('position').textContent === {expected:?}"));
    browser.wait(&format!(
        "(([a, b]) => Math.abs(a[0] - b[0]) <= 2 && a[2] === b[2] && a[0] >= 0 && a[0] < a[1])({BEGINNINGS})"
    ));
    let current =
        "[...document.querySelectorAll('tr[aria-current=\"true\"] .chip')].map((chip) => Number(chip.dataset.n))";
    assert_eq!(browser.ask(current), json!([number]));
}

#[test]
fn stepping_brings_both_sides_to_the_passage() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    folder.ok(&["ingest", "--profile", "prose", &format!("{}/federalist", samples()), "-q"]);
    let paper = format!("{}/federalist/fed67.txt", samples());
    let answers = folder.ok(&["query", "--document", &paper, "--format", "json"]).json();
    folder.ok(&["query", "--document", &paper, "--format", "html", "-o", "report"]);
    let matches = answers[0]["matches"].as_array().unwrap();
    let index = matches.iter().position(|found| found["passages"].as_array().unwrap().len() > 1).unwrap();
    let passages = matches[index]["passages"].as_array().unwrap().len();
    browser.open(&page(&folder, "report"), &format!("pair={}&passage=1", index + 1));
    browser.wait("document.querySelector('.pane')");
    check_aligned(&mut browser, 1, passages);
    for step in 1..=passages + 1 {
        browser.press("n");
        check_aligned(&mut browser, step % passages + 1, passages);
    }
    browser.press("p");
    browser.press("p");
    check_aligned(&mut browser, passages, passages);
    browser.picture("pair");
    // A click on a mark, on a row of the table, and on a button.
    browser.click("tbody tr:first-child td:nth-child(2)");
    check_aligned(&mut browser, 1, passages);
    browser.click("#next");
    check_aligned(&mut browser, 2, passages);
    browser.click(".pane mark[data-p='2']");
    check_aligned(&mut browser, 2, passages);
    // The strips have one mark per passage, which leads to the passage.
    assert_eq!(browser.ask("document.querySelectorAll('.strip:last-child rect.p').length"), json!(2 * passages));
    // With the longest passages first, stepping follows that order.
    browser.click(".passages thead th:nth-child(2) button");
    let order =
        browser.ask("[...document.querySelectorAll('.passages tbody .chip')].map((chip) => Number(chip.dataset.n))");
    let order: Vec<usize> = order.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
    let at = order.iter().position(|&number| number == 2).unwrap();
    browser.press("n");
    check_aligned(&mut browser, order[(at + 1) % passages], passages);
    // The next pair and back to the list.
    browser.press("]");
    browser.wait(&format!("document.querySelector('h1').textContent.startsWith('Pair {}')", index + 2));
    browser.press("o");
    browser.wait("document.querySelector('.overview')");
    browser.check_quiet();
}

#[test]
fn passages_that_overlap_are_all_marked() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let line = |seed: u64| (0..16).map(|place| word(seed * 977 + place * 31) + " ").collect::<String>();
    // B has one passage of A twice. At the second place, more text of A follows.
    let (own, copied, more) = (line(1), line(2), line(3));
    folder.write("a.txt", format!("{own}\n{copied}\n{more}\n"));
    folder.write("b.txt", format!("{copied}\n{}\n{}\n{}\n{copied}\n{more}\n", line(4), line(5), line(6)));
    let report = folder.ok(&["diff", "a.txt", "b.txt", "--profile", "prose", "--format", "json"]).json();
    let passages = report[0]["matches"][0]["passages"].as_array().unwrap().clone();
    folder.ok(&["diff", "a.txt", "b.txt", "--profile", "prose", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder, "report"), "");
    browser.wait("document.getElementById('main').dataset.whole");
    assert!(browser.text("location.hash").starts_with("#pair=1"), "a comparison opens with its only pair");
    let text = std::fs::read_to_string(folder.path().join("a.txt")).unwrap();
    for (number, passage) in passages.iter().enumerate() {
        let at = |end: &str| passage["query"][end].as_u64().unwrap() as usize;
        assert_eq!(marked(&mut browser, 0, number + 1), text[at("start")..at("end")]);
    }
    browser.check_quiet();
}

#[test]
fn what_counts_for_nothing_is_grey() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let notice =
        "This notice stands at the head of every single document of the whole collection and says nothing at all.";
    let copied = "But only two of them tell how the miller found the golden key below the frozen wheel in March.";
    for (name, copied) in [("a", copied), ("b", copied), ("c", ""), ("d", "")] {
        let alone = word(u64::from(name.as_bytes()[0]) * 991);
        let own = format!("{alone} is told in document {name} alone by {alone}");
        folder.write(&format!("docs/{name}.txt"), format!("{notice}\n{own}\n{copied}\n"));
    }
    folder.ok(&["ingest", "--profile", "prose", "docs"]);
    folder.ok(&["pairs", "--max-df", "2", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder, "report"), "");
    assert!(browser.text("document.querySelector('.notice').textContent").contains("--max-df"));
    browser.open(&page(&folder, "report"), "pair=1");
    browser.wait("document.getElementById('main').dataset.whole");
    for pane in [0, 1] {
        let grey = browser.text(&format!(
            "[...document.querySelectorAll('.pane')[{pane}].querySelectorAll('mark.common')].map((mark) => mark.textContent).join('')"
        ));
        assert!(grey.len() > 60 && notice.contains(&grey), "{grey}");
        assert_eq!(
            marked(&mut browser, pane, 1),
            copied.trim_end_matches('.'),
            "the rest counts, and is the same to the letter"
        );
    }
    assert_eq!(browser.text("document.querySelector('.passages tbody td:last-child').textContent"), "same");
    assert!(browser.text("document.querySelector('.measures.screen').textContent").contains("is not counted"));
    browser.check_quiet();
    // If a text is gone, passages are inferred, and the page says so.
    std::fs::remove_file(folder.path().join("docs/b.txt")).unwrap();
    folder.run(&["pairs", "--max-df", "2", "--format", "html", "-o", "gone"]);
    browser.open(&page(&folder, "gone"), "pair=1");
    browser.wait("document.querySelector('.passages tbody')");
    assert_eq!(browser.text("document.querySelector('.passages tbody td:last-child').textContent"), "about");
    assert!(browser.text("document.querySelector('.passages').textContent").contains("inferred from fingerprints"));
}

#[test]
fn a_long_text_is_shown_before_it_is_all_made() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let text = |first: u64| -> String {
        let lines = (0..30_000).map(|number| match number {
            100..110 | 29_900..29_910 => paragraph(number, 9),
            _ => paragraph(first + number, 9),
        });
        lines.map(|line| line + "\n").collect()
    };
    folder.write("a.txt", text(1_000_000));
    folder.write("b.txt", text(2_000_000) + &"one line of many words ".repeat(5_000));
    folder.ok(&["diff", "a.txt", "b.txt", "--profile", "prose", "--format", "html", "-o", "report"]);
    // Counts the rows that exist when the first passage is visible.
    browser.call("Page.addScriptToEvaluateOnNewDocument", json!({"source":
        "addEventListener('DOMContentLoaded', () => new MutationObserver(() => { const at = document.getElementById('position'); \
         if (at && at.textContent && self.early === undefined) self.early = document.querySelectorAll('.row').length; \
         }).observe(document, {childList: true, subtree: true}))"}));
    browser.open(&page(&folder, "report"), "pair=1&passage=1");
    browser.wait("self.early !== undefined");
    let early = browser.ask("self.early").as_u64().unwrap();
    assert!(early > 0 && early < 60_000, "{early} rows");
    // The last passage is shown at once, even if its lines did not exist yet.
    let of = browser.ask("document.querySelectorAll('.passages tbody tr').length").as_u64().unwrap() as usize;
    browser.press("p");
    check_aligned(&mut browser, of, of);
    browser.wait("document.getElementById('main').dataset.whole");
    let numbered = browser.ask("[...document.querySelectorAll('.pane')].map((pane) => pane.querySelectorAll('.row:not([data-n=\"\"])').length)");
    assert_eq!(numbered, json!([30_000, 30_001]));
    check_aligned(&mut browser, of, of);
    browser.check_quiet();
}

/// An expression for the minimum contrast between text and background on the page.
const CONTRAST: &str = "(() => { \
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true}); \
    const over = (colours) => { canvas.clearRect(0, 0, 1, 1); for (const c of colours) { canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); } \
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); }; \
    const light = (rgb) => { const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); \
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; }; \
    let least = [21, '']; \
    for (const e of document.querySelectorAll('h1, h2, th, td, dt, dd, a, button, mark, .faint, .notice, summary, .row, .chip')) { \
        if (!e.textContent.trim() && !e.dataset.n) continue; const grounds = []; \
        for (let at = e; at; at = at.parentElement) grounds.unshift(getComputedStyle(at).backgroundColor); \
        const ground = over(grounds); const ink = over([`rgb(${ground})`, getComputedStyle(e).color]); \
        const [a, b] = [light(ground), light(ink)].sort((x, y) => y - x); const ratio = (a + 0.05) / (b + 0.05); \
        if (ratio < least[0]) least = [ratio, `${e.tagName}.${e.className} ${e.textContent.slice(0, 30)}`]; } \
    return least })()";

#[test]
fn light_dark_and_paper_are_legible() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    corpus(&folder);
    folder.run(&["query", "docs/a.txt", "docs/b.txt", "no.txt", "--top", "1", "--format", "html", "-o", "report"]);
    let mut grounds = Vec::new();
    for scheme in ["light", "dark"] {
        browser.pretend(scheme, "screen");
        for fragment in ["", "pair=1"] {
            browser.open(&page(&folder, "report"), fragment);
            browser.wait("document.querySelector('table')");
            let least = browser.ask(CONTRAST);
            assert!(least[0].as_f64().unwrap() >= 4.5, "{scheme} {fragment}: {least}");
            browser.picture(&format!("{scheme}-{}", if fragment.is_empty() { "overview" } else { "pair" }));
        }
        grounds.push(browser.text("getComputedStyle(document.documentElement).backgroundColor"));
    }
    assert_ne!(grounds[0], grounds[1]);
    // On paper, both texts are whole and nothing scrolls.
    browser.pretend("light", "print");
    let style =
        |property: &str, selector: &str| format!("getComputedStyle(document.querySelector('{selector}')).{property}");
    assert_eq!(browser.text(&style("overflowY", ".pane")), "visible");
    assert_eq!(browser.text(&style("display", ".strip")), "none");
    assert_eq!(browser.text(&style("display", "#next").replace("#next", ".measures.screen")), "none");
    assert!(browser.ask("document.body.scrollHeight > 0 && document.querySelector('.pane').scrollHeight <= document.querySelector('.pane').clientHeight + 1").as_bool().unwrap());
    browser.pretend("light", "");
    let paper = browser.call("Page.printToPDF", json!({"printBackground": true}));
    assert!(paper["data"].as_str().unwrap().starts_with("JVBERi0"), "the beginning of a PDF");
    browser.wait("document.querySelector('details.caution').open");
    browser.check_quiet();
}

#[test]
fn everything_is_reached_by_keys() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    browser.open(&page(&folder, "report"), "");
    browser.press("Tab");
    assert_eq!(browser.text("document.activeElement.className"), "skip");
    browser.press("Enter");
    browser.wait("document.activeElement.id === 'main'");
    let mut reached = Vec::new();
    for _ in 0..60 {
        browser.press("Tab");
        let here = browser.text("document.activeElement.id || document.activeElement.getAttribute('href') || document.activeElement.className");
        // The focus is visible to keyboard users.
        assert_ne!(browser.text("getComputedStyle(document.activeElement).outlineStyle"), "none", "{here}");
        if here == "threshold" && !reached.contains(&here) {
            let before = browser.text("document.getElementById('threshold').value");
            browser.press("ArrowRight");
            assert_ne!(browser.text("document.getElementById('threshold').value"), before);
            browser.press("ArrowLeft");
        }
        let is_link = here == "#pair=1";
        reached.push(here);
        if is_link {
            break;
        }
    }
    for wanted in ["threshold", "measure", "filter", "csv", "#pair=1"] {
        assert!(reached.iter().any(|here| here == wanted), "{wanted} is not among {reached:?}");
    }
    browser.press("Enter");
    browser.wait("document.querySelector('.pane') && document.activeElement.tagName === 'H1'");
    // For screen readers, every region, button and field has a name.
    let nameless = "[...document.querySelectorAll('[role=region], button, input, select, svg[role=img], nav, section')].filter((e) => \
        !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() || (e.labels && e.labels.length))).map((e) => e.outerHTML.slice(0, 80))";
    assert_eq!(browser.ask(nameless), json!([]));
    browser.press("n");
    browser.wait("/^Passage \\d+ of \\d+/.test(document.getElementById('status').textContent)");
    browser.press("o");
    browser.wait("document.querySelector('.overview')");
    assert_eq!(browser.ask(nameless), json!([]));
    browser.check_quiet();
}

#[test]
fn what_is_missing_is_said() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["pairs", "--format", "html", "-o", "few", "--max-report-pairs", "1"]);
    browser.open(&page(&folder, "few"), "");
    assert!(browser.text("document.querySelector('.notice').textContent").contains("--max-report-pairs"));
    folder.ok(&["pairs", "--format", "html", "-o", "small", "--max-report-size", "10"]);
    browser.open(&page(&folder, "small"), "");
    assert!(browser.text("document.querySelector('.notice').textContent").contains("--max-report-size"));
    browser.open(&page(&folder, "small"), "pair=1");
    browser.wait("document.querySelector('.half')");
    assert!(browser.text("document.querySelector('.half').textContent").contains("for its size"));
    folder.ok(&["pairs", "--format", "html", "-o", "bare", "--no-text"]);
    browser.open(&page(&folder, "bare"), "pair=1");
    browser.wait("document.querySelector('.half')");
    assert!(browser.text("document.querySelector('.half').textContent").contains("without texts"));
    assert!(browser.ask("document.querySelectorAll('.passages tbody tr').length").as_u64() > Some(0));
    browser.press("n");
    folder.ok(&["query", "docs/b.txt", "--no-passages", "--format", "html", "-o", "quick"]);
    browser.open(&page(&folder, "quick"), "pair=1");
    browser.wait("document.querySelector('.passages')");
    assert!(browser.text("document.querySelector('.passages').textContent").contains("No passages were looked for"));
    std::fs::remove_file(folder.path().join("docs/a.txt")).unwrap();
    folder.run(&["query", "docs/b.txt", "--format", "html", "-o", "gone"]);
    browser.open(&page(&folder, "gone"), "");
    assert!(browser.text("document.getElementById('failures').innerHTML").contains("docs/a.txt"));
    let ingest = browser.text("document.getElementById('not-ingested').textContent");
    assert!(ingest.contains("Documents that an ingest could not read are not in the database"), "{ingest}");
    folder.ok(&[
        "query",
        "docs/e.txt",
        "--min-score",
        "1",
        "--document",
        "docs/b.txt",
        "--format",
        "html",
        "-o",
        "none",
    ]);
    browser.open(&page(&folder, "none"), "");
    browser.check_quiet();
    // The page says the same in a browser that cannot unpack its format.
    for lacking in ["undefined", "class { constructor() { throw new TypeError('no such format'); } }"] {
        browser.open(&page(&folder, "few"), "");
        browser.ask(&format!("void (self.DecompressionStream = {lacking}, location.hash = 'pair=1')"));
        browser.wait("document.querySelector('[role=alert]')");
        assert!(browser.text("document.querySelector('[role=alert]').textContent").contains("it needs Chromium 111"));
    }
    // The page reports a lost part, and the browser complains about it too.
    std::fs::remove_file(folder.path().join("few/data/pair-1.js")).unwrap();
    browser.open(&page(&folder, "few"), "pair=1");
    browser.wait("document.querySelector('[role=alert]')");
    assert!(browser.text("document.querySelector('[role=alert]').textContent").contains("data/pair-1.js is missing"));
}

#[test]
fn an_anonymous_report_shows_numbers() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["pairs", "--format", "html", "-o", "report", "--anonymise"]);
    for fragment in ["", "pair=1"] {
        browser.open(&page(&folder, "report"), fragment);
        browser.wait("document.querySelector('table')");
        let shown = browser.text("document.documentElement.outerHTML.split('<body')[1].split('<script')[0]");
        assert!(shown.contains("Document 1") && !shown.contains(".txt"), "{shown}");
    }
    browser.check_quiet();
    let _: &Path = folder.path();
}

/// Only shares that were estimated from a part of the hashes are marked as estimates.
#[test]
fn estimates_are_told_from_what_was_counted() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let samples = samples();
    folder.ok(&["ingest", "-q", "--profile", "prose", &samples]);
    let query = format!("{samples}/planted/essay-light-edits.txt");
    for (report, flags, marked) in [("some", &["--mode", "resemblance", "-n", "16"][..], true), ("all", &[], false)] {
        let ask = [&["query", &query], flags].concat();
        let answer = folder.ok(&[&ask[..], &["--format", "json"]].concat()).json().remove(0);
        // The first match is the document itself, for which nothing is estimated.
        let estimated = answer["matches"][1]["estimated"].as_array().unwrap();
        assert_eq!(estimated.contains(&"resemblance".into()), marked, "{answer}");
        folder.ok(&[&ask[..], &["--format", "html", "-o", report]].concat());
        browser.open(&page(&folder, report), "pair=2");
        browser.wait("document.getElementById('bar-r')");
        for (id, measure) in [("bar-a", "containment"), ("bar-b", "document_containment"), ("bar-r", "resemblance")] {
            let shown = browser.text(&format!("document.getElementById('{id}').textContent"));
            assert_eq!(shown.contains('~'), estimated.contains(&measure.into()), "{id}: {shown}");
        }
    }
    browser.check_quiet();
}

/// Each removable document opens beside its survivor. Exactly the text that the survivor lacks is marked.
#[test]
fn removable_documents_show_what_would_be_lost() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let words = |from: u64, to: u64| (from..to).map(|number| word(number * 7) + " ").collect::<String>();
    let long = words(0, 600);
    let lost = "alone stand these few sentences of which no other file has heard a single word at any time";
    let mut lines = String::new();
    for (id, text) in [
        ("whole", long.clone()),
        ("version", format!("{}{lost} {}", words(0, 200), words(200, 400))),
        ("part", words(100, 300)),
        ("other", words(2000, 2600)),
        ("twin", words(2000, 2600)),
    ] {
        lines += &format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    }
    folder.write("docs.jsonl", lines);
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs.jsonl"]);
    let flags = ["dedup", "--by", "containment"];
    let mut rows = folder.ok(&[&flags[..], &["--format", "json"]].concat()).json();
    let summary = rows.pop().unwrap();
    assert_eq!(rows.len(), 3);
    folder.ok(&[&flags[..], &["--format", "html", "-o", "report"]].concat());
    browser.open(&page(&folder, "report"), "");
    assert_eq!(browser.text("document.getElementById('fact-removable').textContent"), "3");
    assert_eq!(browser.text("document.getElementById('fact-groups').textContent"), "2");
    let causes = browser.text("document.getElementById('causes').textContent");
    assert!(causes.contains("identical1") && causes.contains("contained2"), "{causes}");
    let sources = browser.text("document.getElementById('sources').textContent");
    assert!(sources.contains("docs.jsonl") && sources.contains("60.0%"), "{sources}");
    assert_eq!(summary["bytes"], rows.iter().map(|row| row["bytes"].as_u64().unwrap()).sum::<u64>());
    // The larger group comes first. In a group, the document that would lose most text comes first.
    let order =
        browser.ask("[...document.querySelectorAll('tr[data-pair]')].map((row) => row.children[1].textContent)");
    let order: Vec<&str> = order.as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
    assert!(
        order[0].ends_with("id version") && order[1].ends_with("id part") && order[2].ends_with("id twin"),
        "{order:?}"
    );
    browser.open(&page(&folder, "report"), "pair=1");
    browser.wait("document.querySelector('main').dataset.whole");
    let marked = "[...document.querySelectorAll('mark.lost')].filter((mark) => mark.closest('.pane'))";
    let text = browser.text(&format!("{marked}.map((mark) => mark.textContent).join('|')"));
    assert!(text.contains("these few sentences of which no other file has heard a single word"), "{text}");
    assert!(text.len() < lost.len() + 80, "what the survivor has is not marked: {text}");
    let novel = rows.iter().find(|row| row["metadata"]["id"] == "version").unwrap()["novel"].to_string();
    assert!(browser.text("document.getElementById('removal').textContent").contains(&format!("{novel} symbols")));
    browser.open(&page(&folder, "report"), "pair=3");
    browser.wait("document.querySelector('main').dataset.whole");
    assert_eq!(browser.ask(&format!("{marked}.length")), json!(0), "nothing of a twin is lost");
    browser.check_quiet();
}
