//! The look of the overview and of the two texts: names in the graph, the longest passages first, one
//! typeface, boxes that scroll.

use serde_json::json;

use super::browser::Browser;
use super::data::Overview;
use super::files::overview as overview_of;
use super::paragraph;
use crate::support::Folder;

fn read(folder: &Folder) -> Overview {
    overview_of(&std::fs::read(folder.path().join("report/index.html")).unwrap())
}

/// Short documents that are much alike, and two long ones with one long passage in common.
fn corpus(folder: &Folder) {
    for number in 0..12 {
        folder.write(&format!("in/short-{number}-of-the-family.txt"), paragraph(1, 60) + &paragraph(100 + number, 20));
    }
    folder.write("in/long-a.txt", paragraph(2, 400) + &paragraph(3, 900));
    folder.write("in/long-b.txt", paragraph(4, 900) + &paragraph(2, 400));
    folder.ok(&["ingest", "-q", "in"]);
    folder.ok(&["pairs", "--top", "0", "--min-resemblance", "0", "--format", "html", "-o", "report"]);
}

#[test]
fn a_report_tells_how_many_hashes_a_resemblance_looks_up() {
    let folder = Folder::new();
    folder.write("in/a.txt", paragraph(1, 60));
    folder.write("in/b.txt", paragraph(1, 60) + &paragraph(2, 60));
    folder.ok(&["ingest", "-q", "in"]);
    for (more, expected) in [(&[][..], "128"), (&["-n", "64"], "64")] {
        let flags = ["query", "in/a.txt", "--mode", "resemblance", "--format", "html", "-o", "report"];
        folder.ok(&[&flags[..], more].concat());
        let told = read(&folder).options;
        assert!(told.contains(&("-n".to_owned(), expected.to_owned())), "{told:?}");
    }
}

fn resize(browser: &mut Browser, width: u64, height: u64) {
    let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
    browser.call("Emulation.setDeviceMetricsOverride", metrics);
}

#[test]
fn names_in_the_graph_are_legible_at_any_width() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    corpus(&folder);
    for (width, name) in [(1400, "wide"), (700, "middle"), (400, "narrow")] {
        resize(&mut browser, width, 900);
        browser.open(&folder.path().join("report/index.html"), "threshold=0");
        browser.wait("document.querySelector('.graph text')");
        let sizes = "[...document.querySelectorAll('.graph text')].map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)";
        let sizes = browser.ask(sizes);
        let sizes: Vec<f64> = sizes.as_array().unwrap().iter().map(|size| size.as_f64().unwrap()).collect();
        assert!(sizes.len() > 3 && sizes.iter().all(|size| (11.5..12.5).contains(size)), "{width}: {sizes:?}");
        // No name overlaps another.
        let over = "(() => { const all = [...document.querySelectorAll('.graph text')].map((text) => text.getBoundingClientRect()); \
             return all.some((a, i) => all.some((b, j) => i < j && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)) })()";
        assert_eq!(browser.ask(over), json!(false), "{width}");
        browser.picture(&format!("graph-{name}"));
    }
    browser.pretend("dark", "screen");
    browser.picture("graph-dark");
    browser.check_quiet();
}

#[test]
fn names_in_the_graph_are_seen_as_a_whole() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    for number in 0..40 {
        for letter in ["a", "b"] {
            folder.write(&format!("in/wide-name-{number}-{letter}.txt"), paragraph(number, 60));
        }
    }
    folder.ok(&["ingest", "-q", "in"]);
    folder.ok(&["pairs", "--top", "0", "--format", "html", "-o", "report"]);
    for (width, name) in [(1400, "wide"), (700, "middle"), (400, "narrow")] {
        resize(&mut browser, width, 900);
        browser.open(&folder.path().join("report/index.html"), "threshold=0");
        browser.wait("document.querySelector('.graph text')");
        let cut = "(() => { const all = document.querySelector('.graph svg').getBoundingClientRect(); \
             return [...document.querySelectorAll('.graph text')].filter((text) => { const own = text.getBoundingClientRect(); \
             return own.left < all.left || own.right > all.right || own.top < all.top || own.bottom > all.bottom }).map((text) => text.textContent) })()";
        assert_eq!(browser.ask(cut), json!([]), "{width}");
        browser.picture(&format!("graph-edges-{name}"));
    }
    browser.check_quiet();
}

/// A query that is stored too is one document of the picture, named after its file and counted without itself.
#[test]
fn queries_that_are_stored_are_not_matched_with_themselves() {
    let folder = Folder::new();
    folder.write("notes/one.txt", paragraph(1, 120) + &paragraph(2, 60));
    folder.write("notes/two.txt", paragraph(1, 60) + &paragraph(3, 120));
    folder.write("notes/alone.txt", paragraph(4, 60));
    folder.write("copy.txt", paragraph(3, 120));
    folder.ok(&["ingest", "-q", "notes", "copy.txt"]);
    folder.ok(&["query", "notes", "--format", "html", "-o", "report"]);
    let report = read(&folder);
    let own: Vec<&str> =
        report.pairs.iter().filter(|pair| pair.own).map(|pair| report.documents[pair.b].name.as_str()).collect();
    assert_eq!((own.len(), report.compared), (3, 3), "{own:?}");
    assert_eq!((report.histogram[0], report.histogram[100]), (1, 0), "{:?}", report.histogram);
    // Another name is another document, and so is another text of this name.
    folder.write("notes/two.txt", paragraph(3, 120));
    // The stored text is gone.
    let run = folder.run(&["query", "notes/two.txt", "--format", "html", "-o", "other"]);
    assert_eq!(run.status, 2, "{run:#?}");
    let other = overview_of(&std::fs::read(folder.path().join("other/index.html")).unwrap());
    assert!(other.pairs.len() == 2 && other.pairs.iter().all(|pair| !pair.own), "{other:#?}");

    let Some(mut browser) = Browser::start() else { return };
    browser.open(&folder.path().join("report/index.html"), "threshold=0");
    browser.wait("document.querySelector('.graph text')");
    let names = "[...document.querySelectorAll('.graph text')].map((text) => text.textContent).sort()";
    assert_eq!(browser.ask(names), json!(["copy.txt", "one.txt", "two.txt"]));
    assert_eq!(browser.ask("document.querySelectorAll('.graph circle').length"), json!(3));
    let fact = |of: &str| format!("document.getElementById('fact-{of}').textContent");
    assert_eq!(browser.text(&fact("clusters")), "1");
    assert_ne!(browser.text(&fact("best")), "100.0%");
    assert_eq!(browser.text(&fact("reach")), "2");
    // A cluster lists all pairs of its documents.
    browser.click(".clusters button");
    let all = report.pairs.iter().filter(|pair| report.documents[pair.a].name != "notes/alone.txt").count();
    assert_eq!(browser.ask("document.querySelectorAll('tr[data-pair]').length"), json!(all));
    browser.open(&folder.path().join("other/index.html"), "threshold=0");
    browser.wait("document.querySelector('.graph text')");
    assert_eq!(browser.ask(names), json!(["copy.txt", "two.txt", "two.txt"]));
    browser.check_quiet();
}

#[test]
fn the_longest_passages_come_first_where_the_reader_says_so() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    corpus(&folder);
    let report = read(&folder);
    browser.open(&folder.path().join("report/index.html"), "threshold=0");
    let first = "[...document.querySelectorAll('.list tbody tr:first-child bdi')].map((cell) => cell.title).join()";
    assert_ne!(browser.text(first), "in/long-a.txt,in/long-b.txt");
    let heads = "[...document.querySelectorAll('.list thead button')].findIndex((head) => head.textContent === 'longest passage') + 1";
    let column = browser.ask(heads).as_u64().unwrap();
    browser.click(&format!(".list thead th:nth-child({column}) button"));
    assert_eq!(browser.text(first), "in/long-a.txt,in/long-b.txt");
    let longest: Vec<u64> = report.pairs.iter().map(|pair| pair.longest.unwrap()).collect();
    let shown = browser
        .text(&format!("document.querySelector('.list tbody td:nth-child({column})').textContent.replace(/\\D/g, '')"));
    assert_eq!(shown, longest.iter().max().unwrap().to_string());
    // The number equals that of the answer.
    let answer = folder.ok(&["pairs", "--top", "0", "--min-resemblance", "0", "--passages", "--format", "json"]).json();
    let found: Vec<u64> = answer
        .iter()
        .map(|pair| {
            pair["passages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|passage| passage["symbols"].as_u64().unwrap())
                .max()
                .unwrap()
        })
        .collect();
    assert_eq!(longest, found);
    browser.check_quiet();
}

#[test]
fn both_texts_have_one_typeface() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let text = paragraph(1, 300);
    let wrapped: String = text.split(' ').collect::<Vec<_>>().chunks(6).map(|some| some.join(" ") + "\n").collect();
    folder.write("lines.txt", wrapped);
    folder.write("paragraph.txt", &text);
    let list: String = (0..300).map(|number| format!("name_{number} + ")).collect();
    folder.write("a.py", format!("total = {list}0\n"));
    folder.write("b.py", format!("# Adds.\ntotal = {list}1\n"));
    let face = "[...document.querySelectorAll('.pane')].map((pane) => getComputedStyle(pane).font)";
    for (a, b, prose) in
        [("lines.txt", "paragraph.txt", true), ("lines.txt", "lines.txt", false), ("a.py", "b.py", false)]
    {
        let profile = if prose || a == b { "prose" } else { "code" };
        folder.ok(&["diff", "--profile", profile, a, b, "--format", "html", "-o", "report"]);
        browser.open(&folder.path().join("report/index.html"), "pair=1");
        browser.wait("document.querySelectorAll('.pane').length === 2");
        let faces = browser.ask(face);
        assert_eq!(faces[0], faces[1], "{a} {b}");
        assert_eq!(faces[0].as_str().unwrap().contains("Georgia"), prose, "{a} {b}");
        browser.picture(&format!("typeface-{a}-{b}"));
    }
    browser.check_quiet();
}
