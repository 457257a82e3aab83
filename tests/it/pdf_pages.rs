//! Pages: passages in a PDF have the pages that a viewer counts. Other documents have none.

use insta::assert_snapshot;
use pdf_extract::{Dictionary, Document, Object, Stream, dictionary};
use serde_json::{Value, json};

use crate::support::{Folder, word};

/// A PDF with these lines on its pages.
pub(crate) fn pdf(pages: &[Vec<String>]) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let parent = document.new_object_id();
    let font = document.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
    let page = |lines: &Vec<String>| {
        let drawn: String = lines.iter().map(|line| format!("({line}) Tj T* ")).collect();
        let content = format!("BT /F1 10 Tf 12 TL 40 780 Td {drawn}ET").into_bytes();
        let content = document.add_object(Stream::new(Dictionary::new(), content));
        let page = dictionary! {
            "Type" => "Page", "Parent" => parent, "Contents" => content,
            "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
            "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        };
        document.add_object(page).into()
    };
    let kids: Vec<Object> = pages.iter().map(page).collect();
    let list = dictionary! { "Type" => "Pages", "Count" => kids.len() as i64, "Kids" => kids };
    document.objects.insert(parent, Object::Dictionary(list));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => parent });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

/// Lines of words that share nothing with the words of another seed.
fn lines(seed: u64, count: u64) -> Vec<String> {
    let line = |line: u64| (0..8).map(|place| word(seed * 10_000 + line * 8 + place)).collect::<Vec<_>>().join(" ");
    (0..count).map(line).collect()
}

/// A report of five pages. Page 2 has no text. A second document has a part of page 1, and a part that begins
/// on page 3 and ends on page 4.
pub(crate) fn folder() -> Folder {
    let (first, third, fourth) = (lines(1, 30), lines(3, 30), lines(4, 30));
    let folder = Folder::new();
    folder.write("report.pdf", pdf(&[first.clone(), Vec::new(), third.clone(), fourth.clone(), lines(5, 30)]));
    // Form feeds in a text do not make pages.
    let leak = [&lines(6, 5)[..], &first[10..20], &lines(7, 5), &third[20..], &fourth[..10]].concat().join("\n");
    folder.write("leak.txt", leak.replace(' ', "\u{c}"));
    folder.ok(&["ingest", "-q", "report.pdf"]);
    folder
}

/// The pages of the passages, on one side.
fn pages(passages: &Value, side: &str) -> Vec<Value> {
    passages.as_array().unwrap().iter().map(|passage| passage[side]["pages"].clone()).collect()
}

#[test]
fn passages_have_the_pages_of_a_pdf() {
    let folder = folder();
    assert_snapshot!(folder.ok(&["query", "leak.txt", "--no-text"]).stdout, @"
    leak.txt  1.5 KiB, 1,200 symbols, 102 fingerprints at window 20
      71 of 102 fingerprints found (69.6%), in 1 document
      containment  of document  resemblance  document
            69.6%        20.7%        19.0%  report.pdf
          lines 6-15 = page 1, lines 13-22, bytes 200-519 = 322-641 of its text, 240 symbols
          lines 21-40 = pages 3-4, lines 56-77, bytes 720-1519 = 1765-2566 of its text, 640 symbols
    ");
    assert_snapshot!(folder.ok(&["diff", "report.pdf", "leak.txt", "--no-text"]).stdout, @"
    report.pdf  6.7 KiB, 3,600 symbols, 343 fingerprints at window 20
      71 of 343 fingerprints found (20.7%), in 1 document
      containment  of document  resemblance  document
            20.7%        69.6%        19.0%  leak.txt
          page 1, lines 13-22 = lines 6-15, bytes 322-641 of its text = 200-519, 240 symbols
          pages 3-4, lines 56-77 = lines 21-40, bytes 1765-2566 of its text = 720-1519, 640 symbols
    ");
    assert_snapshot!(folder.ok(&["query", "leak.txt", "--by-corpus"]).stdout, @"leak.txt  69.6% in 1 document; 640 symbols in report.pdf (pages 3-4, lines 56-77)");

    let found = folder.ok(&["query", "leak.txt", "--format", "json"]).json()[0]["matches"][0]["passages"].take();
    assert_eq!(pages(&found, "document"), [json!([1, 1]), json!([3, 4])]);
    assert!(found.as_array().unwrap().iter().all(|passage| passage["query"].get("pages").is_none()));

    folder.ok(&["ingest", "-q", "leak.txt"]);
    let pairs = folder.ok(&["pairs", "--passages", "--format", "json"]).json()[0]["passages"].take();
    assert_eq!(pages(&pairs, "query"), [json!([1, 1]), json!([3, 4])]);
    assert_eq!(pages(&pairs, "document"), [Value::Null, Value::Null]);
}

#[test]
fn pages_are_columns_of_a_table() {
    let folder = folder();
    folder.ok(&["ingest", "-q", "leak.txt"]);
    for arguments in [
        &["query", "leak.txt"][..],
        &["query", "leak.txt", "--no-passages"],
        &["diff", "report.pdf", "leak.txt"],
        &["pairs", "--passages"],
    ] {
        let table = folder.ok(&[arguments, &["--format", "csv"]].concat()).stdout;
        let answer = folder.ok(&[arguments, &["--format", "json"]].concat()).json();
        let matches = if answer[0]["matches"].is_array() { answer[0]["matches"].as_array().unwrap() } else { &answer };
        let cells = |at: &Value| match at["pages"].as_array() {
            None => ",".to_owned(),
            Some(pages) => format!("{},{}", pages[0], pages[1]),
        };
        let none = vec![Value::Null];
        let passages = matches
            .iter()
            .flat_map(|found| found["passages"].as_array().filter(|passages| !passages.is_empty()).unwrap_or(&none));
        let expected: Vec<String> =
            passages.map(|it| format!(",{},{}", cells(&it["query"]), cells(&it["document"]))).collect();
        let mut rows = table.lines();
        let columns: Vec<&str> = rows.next().unwrap().split(',').collect();
        let last = columns.iter().position(|&name| ["b_last_page", "document_last_page"].contains(&name)).unwrap();
        let after = columns.len() - 1 - last;
        let mut wanted = expected.iter();
        for row in rows {
            let expected = wanted.next().unwrap();
            // The columns after the pages have numbers.
            let row = row.rsplitn(after + 1, ',').last().unwrap();
            assert!(row.ends_with(expected), "{row} {expected}");
        }
        assert!(wanted.next().is_none());
    }
}

/// Without the text of a document, its pages are unknown.
#[test]
fn pages_need_the_text() {
    let folder = folder();
    folder.ok(&["--db", "kept", "ingest", "-q", "--store-text", "report.pdf"]);
    folder.write("copy.pdf", std::fs::read(folder.path().join("report.pdf")).unwrap());
    std::fs::remove_file(folder.path().join("report.pdf")).unwrap();
    let query = |db: &str, name: &str| {
        folder.ok(&["--db", db, "query", name, "--format", "json"]).json()[0]["matches"][0]["passages"].take()
    };
    assert_eq!(pages(&query("kept", "leak.txt"), "document"), [json!([1, 1]), json!([3, 4])]);
    assert_eq!(pages(&query(".fpdb", "leak.txt"), "document"), [Value::Null, Value::Null]);
    // The text of the query is available.
    folder.ok(&["--db", "leak", "ingest", "-q", "leak.txt"]);
    std::fs::remove_file(folder.path().join("leak.txt")).unwrap();
    let inferred = query("leak", "copy.pdf");
    assert_eq!(inferred[0]["exact"], false);
    assert_eq!(pages(&inferred, "query"), [json!([1, 1]), json!([3, 4])]);
    assert_eq!(pages(&inferred, "document"), [Value::Null, Value::Null]);
}
