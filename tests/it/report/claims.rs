//! Statements of a page are true: its first threshold, the text marked as lost, its numbers, and its notes
//! about the rest.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::browser::Browser;
use super::files::overview;
use super::paragraph;
use crate::support::Folder;

fn page(folder: &Folder) -> PathBuf {
    folder.path().join("report/index.html")
}

fn read(path: &Path) -> super::data::Overview {
    overview(&std::fs::read(path).unwrap())
}

/// Opens the page of the first pair, and waits until it is complete.
fn open_pair(browser: &mut Browser, folder: &Folder) {
    browser.open(&page(folder), "pair=1");
    browser.wait("document.getElementById('main').dataset.whole");
}

const LISTED: &str = "[document.getElementById('threshold').value, document.getElementById('fact-pairs').textContent, \
                      document.querySelectorAll('tr[data-pair]').length]";

#[test]
fn a_class_that_shares_a_template_opens_with_its_pairs() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    for number in 0..25 {
        folder.write(&format!("class/{number:02}.txt"), paragraph(1, 60) + &paragraph(100 + number, 60));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "class"]);
    folder.ok(&["pairs", "--no-text", "--format", "html", "-o", "report"]);
    let report = read(&page(&folder));
    assert_eq!(report.pairs.len(), 300);
    browser.open(&page(&folder), "");
    let listed = browser.ask(LISTED);
    assert!(listed[2].as_u64() > Some(0), "{listed}");
    // A threshold in the address sets the threshold of the open page, at most to the end of the slider.
    browser.ask("location.hash = 'threshold=5&filter=03'; undefined");
    browser.wait("document.getElementById('threshold').value === '5'");
    assert_eq!(browser.text("document.getElementById('filter').value"), "03");
    assert_eq!(browser.ask(LISTED)[2], json!(24));
    // After a visit to a pair, the key for the way back restores the choices in the address.
    browser.ask("document.querySelector('tr[data-pair] a').click()");
    browser.wait("document.body.className === 'pair'");
    browser.press("o");
    browser.wait("document.getElementById('threshold') !== null");
    let address = browser.text("location.hash");
    assert!(address.contains("threshold=5") && address.contains("filter=03"), "{address}");
    browser.ask("location.hash = 'threshold=100&filter='; undefined");
    browser.wait("document.getElementById('filter').value === ''");
    let ends = browser.ask("(() => { const s = document.getElementById('threshold'); return [s.value, s.max] })()");
    assert_eq!(ends[0], ends[1]);
    // Special terms are explained.
    let glossary = browser.text("document.getElementById('glossary').textContent");
    assert!(["fingerprint", "symbol", "score", "cluster", "k 25"].iter().all(|term| glossary.contains(term)));
    assert!(browser.text("document.querySelector('.about').textContent").contains("letters and digits"));
    browser.check_quiet();
}

#[test]
fn what_is_lost_is_marked_only_where_all_passages_are_known() {
    let Some(mut browser) = Browser::start() else { return };
    for (sentences, marked) in [(40, true), (1200, false)] {
        let folder = Folder::new();
        let sentence = |number: u64| paragraph(number, 16);
        let own = paragraph(900_001, 30);
        // The survivor has the sentences in another order, so each sentence is a passage.
        let a: Vec<String> = (0..sentences).map(sentence).collect();
        let b: Vec<String> = (0..sentences).map(|place| sentence(place * 7 % sentences)).collect();
        folder.write("docs/a.txt", a.join("\n") + "\n" + &own);
        folder.write("docs/b.txt", b.join("\n") + &paragraph(900_002, 3000));
        folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
        let flags = ["dedup", "--by", "containment", "--threshold", "0.5", "--format", "html", "-o", "report"];
        folder.ok(&flags);
        open_pair(&mut browser, &folder);
        let lost =
            browser.text("[...document.querySelectorAll('.pane mark.lost')].map((mark) => mark.textContent).join('')");
        assert_eq!(lost.contains(own.split(' ').nth(15).unwrap()), marked, "{sentences} sentences: {lost}");
        let legend = browser.text("document.getElementById('lost-legend').textContent");
        assert_eq!(legend.starts_with("Not marked"), !marked, "{legend}");
    }
    browser.check_quiet();
}

#[test]
fn the_same_short_text_in_other_bytes_is_all_the_same() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    folder.write("docs/a.txt", "Grüße aus Köln".as_bytes());
    folder.write("docs/b.txt", b"Gr\xFC\xDFe aus K\xF6ln");
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    folder.ok(&["dedup", "--by", "exact-text", "--format", "html", "-o", "report"]);
    open_pair(&mut browser, &folder);
    for bar in ["bar-a", "bar-b", "bar-r"] {
        assert!(browser.text(&format!("document.getElementById('{bar}').textContent")).contains("100.0%"), "{bar}");
    }
    let texts = browser.ask("[...document.querySelectorAll('.pane')].map((pane) => pane.textContent)");
    assert_eq!(texts, json!(["Grüße aus Köln", "Grüße aus Köln"]));
    assert_eq!(browser.ask("document.querySelectorAll('mark.lost').length"), json!(0));
    assert!(browser.text("document.querySelector('.passages').textContent").contains("are the same"));
    browser.check_quiet();
}

#[test]
fn lines_that_end_with_carriage_returns_are_apart() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let lines: Vec<String> = (0..4).map(|number| paragraph(number, 8).trim_end().to_owned()).collect();
    folder.write("docs/mac.txt", lines.join("\r"));
    folder.write("docs/dos.txt", lines.join("\r\n"));
    folder.ok(&["diff", "docs/mac.txt", "docs/dos.txt", "--profile", "prose", "--format", "html", "-o", "report"]);
    open_pair(&mut browser, &folder);
    let rows = browser.ask(
        "[...document.querySelectorAll('.pane')].map((pane) => [...pane.querySelectorAll('.row')].map((row) => [row.dataset.n, row.textContent.trim()]))",
    );
    // One line, by the count of the answers, is shown in four rows.
    let numbered =
        |numbers: [&str; 4]| numbers.iter().zip(&lines).map(|(n, line)| json!([n, line])).collect::<Vec<_>>();
    assert_eq!(rows, json!([numbered(["1", "", "", ""]), numbered(["1", "2", "3", "4"])]));
    assert!(!browser.text("document.querySelector('.half h2').textContent").contains("query"), "diff asks nothing");
    browser.check_quiet();
}

#[test]
fn a_narrow_window_shows_both_sides_of_a_passage_and_whole_words_of_names() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let shared: Vec<String> = (0..3).map(|number| paragraph(500 + number, 60)).collect();
    for (name, seed, paragraphs) in [("a-document-of-a-long-name.txt", 1, 300), ("b.txt", 2, 500)] {
        let mut text = String::new();
        for number in 0..paragraphs {
            text += &(paragraph(1000 * seed + number, [4, 25, 110][(number % 3) as usize]) + "\n");
            if number % (paragraphs / 3) == 40 {
                text += &(shared[(number * 3 / paragraphs) as usize].clone() + "\n");
            }
        }
        folder.write(name, text);
    }
    folder.ok(&[
        "diff",
        "a-document-of-a-long-name.txt",
        "b.txt",
        "--profile",
        "prose",
        "--format",
        "html",
        "-o",
        "report",
    ]);
    let metrics = json!({"width": 360, "height": 640, "deviceScaleFactor": 1, "mobile": false});
    browser.call("Emulation.setDeviceMetricsOverride", metrics);
    browser.open(&page(&folder), "pair=1&passage=3");
    browser.wait("document.getElementById('main').dataset.whole");
    let wide = browser.ask("document.querySelector('h1').getBoundingClientRect().width");
    assert!(wide.as_f64() > Some(200.0), "{wide}");
    // The second pane is below the window. When it is scrolled into view, it shows the passage.
    browser.ask("document.querySelectorAll('.half')[1].scrollIntoView()");
    browser.wait(
        "(() => { const pane = document.querySelectorAll('.pane')[1]; const box = pane.getBoundingClientRect(); \
         const chip = pane.querySelector('.chip[data-n=\"3\"]').getBoundingClientRect(); \
         return chip.top >= box.top && chip.bottom <= box.bottom })()",
    );
    browser.check_quiet();
}

#[test]
fn what_is_not_listed_and_what_is_not_known_is_said() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    folder.write("docs/a.txt", paragraph(1, 20) + &paragraph(2, 2000));
    folder.write("docs/b.txt", paragraph(1, 20) + &paragraph(3, 2000));
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    folder.ok(&["pairs", "--min-resemblance", "0.5", "--format", "html", "-o", "report"]);
    assert_eq!(read(&page(&folder)).left_out.below, 1);
    browser.open(&page(&folder), "");
    let notice = browser.text("document.querySelector('.notice').textContent");
    assert!(notice.starts_with("1 more pair shares"), "{notice}");
    assert!(browser.text("document.body.textContent").contains("Every text shown could be read"));
    folder.write("c.txt", paragraph(4, 50));
    folder.ok(&["diff", "docs/a.txt", "c.txt", "--profile", "prose", "--format", "html", "-o", "apart"]);
    browser.open(&folder.path().join("apart/index.html"), "");
    assert!(browser.text("document.getElementById('nothing').textContent").contains("share no run"));
    // If no query could be answered, there is no report.
    let run = folder.run(&["query", "docs/missing.txt", "--format", "html", "-o", "none"]);
    assert_eq!(run.status, 2);
    assert!(!folder.path().join("none").exists());
    browser.check_quiet();
}
