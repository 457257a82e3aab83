//! Repeated passages: the spans of each document that occur in an earlier document, or earlier in the same
//! one.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Folder, word};

/// A paragraph determined by `seed`.
fn paragraph(seed: u64) -> String {
    let sentence = |number: u64| -> String {
        let words: Vec<String> =
            (0..12).map(|place| word((seed * 7919 + number * 613 + place * 131) % 99_991)).collect();
        format!("{}. ", words.join(" "))
    };
    (0..5).map(sentence).collect::<String>() + "\n\n"
}

fn paragraphs(seeds: impl IntoIterator<Item = u64>) -> String {
    seeds.into_iter().map(paragraph).collect()
}

/// Two documents that share a paragraph, one that has another paragraph twice, and one without repeats.
fn corpus(folder: &Folder) {
    folder.write("c/a.txt", paragraphs([1, 2, 3]));
    folder.write("c/b.txt", format!("Own words first: {}", paragraphs([4, 2, 5])));
    folder.write("c/c.txt", paragraphs([6, 7, 6]));
    folder.write("c/d.txt", paragraphs([8, 9]));
}

fn repeats(folder: &Folder, flags: &[&str]) -> (Vec<Value>, Value) {
    let mut rows = folder.ok(&[&["dedup", "--passages", "--format", "json"], flags].concat()).json();
    let summary = rows.pop().unwrap();
    assert_eq!(summary["schema"], "fpdb.repeat.summary/1");
    (rows, summary)
}

/// The letters and digits, in lower case, of the bytes that a row names.
fn letters(text: &str, place: &Value) -> String {
    let offset = |field: &str| place[field].as_u64().unwrap() as usize;
    text[offset("start")..offset("end")].chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[test]
fn each_span_has_the_text_of_its_first_occurrence() {
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["ingest", "-q", "c"]);
    let (rows, summary) = repeats(&folder, &["--min-length", "100"]);
    let of = |row: &Value| [row["document"].as_str().unwrap(), row["of"]["document"].as_str().unwrap()].join(" < ");
    assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), ["c/b.txt < c/a.txt", "c/c.txt < c/c.txt"]);
    let read = |name: &Value| std::fs::read_to_string(folder.path().join(name.as_str().unwrap())).unwrap();
    for row in &rows {
        let (here, there) = (letters(&read(&row["document"]), row), letters(&read(&row["of"]["document"]), &row["of"]));
        assert_eq!(here, there);
        assert_eq!(row["symbols"].as_u64(), Some(here.chars().count() as u64));
        assert_eq!((&row["schema"], &row["exact"]), (&json!("fpdb.repeat/1"), &json!(true)));
        // The span has the whole paragraph. Beside the paragraph it has only text that is equal by chance.
        let seed = if row["document"] == "c/b.txt" { 2 } else { 6 };
        let whole: String = paragraph(seed).chars().filter(|c| c.is_alphanumeric()).collect();
        assert!(here.contains(&whole) && here.len() < whole.len() + 20, "{here}");
    }
    let sum = |field: &str| rows.iter().map(|row| row[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(summary["repeated_symbols"], sum("symbols"));
    assert_eq!(summary["repeated_bytes"], sum("end") - sum("start"));
    assert_eq!((&summary["documents"], &summary["affected"], &summary["repeats"]), (&json!(4), &json!(2), &json!(2)));
    assert_eq!(summary["sources"][0]["source"], "c/");
}

#[test]
fn neither_threads_nor_memory_nor_where_texts_are_change_the_answer() {
    let folder = Folder::new();
    let mut lines = String::new();
    for number in 0..60u64 {
        let text = paragraphs([number % 7, 100 + number, number % 3, 200 + number % 20]);
        lines += &format!("{}\n", json!({ "id": number, "text": text }));
    }
    folder.write("c.jsonl.zst", zstd::encode_all(lines.as_bytes(), 3).unwrap());
    let mut answers = BTreeSet::new();
    for (db, flags) in [("read", &[][..]), ("stored", &["--store-text"])] {
        folder.ok(&[&["ingest", "-q", "--db", db, "c.jsonl.zst"], flags].concat());
        for limits in [["--threads", "1", "--memory", "1GiB"], ["--threads", "3", "--memory", "20MiB"]] {
            let flags =
                [&["--db", db, "dedup", "--passages", "--min-length", "60", "--format", "json"][..], &limits].concat();
            answers.insert(folder.ok(&flags).stdout);
        }
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    let rows = answers.first().unwrap().lines().count();
    assert!(rows > 100, "{rows}");
}

#[test]
fn documents_without_their_text_are_named_and_the_others_compared() {
    let folder = Folder::new();
    corpus(&folder);
    folder.write("l.jsonl", format!("{}\n{}\n", json!({ "text": paragraph(1) }), json!({ "text": paragraph(3) })));
    folder.ok(&["ingest", "-q", "c", "l.jsonl"]);
    std::fs::remove_file(folder.path().join("c/a.txt")).unwrap();
    folder.write("l.jsonl", format!("{}\n{}\n", json!({ "text": paragraph(1) }), json!({ "text": paragraph(30) })));
    let run = folder.run(&["dedup", "--passages", "--min-length", "100"]);
    assert_eq!(run.status, 2);
    let rows: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(rows[0], "c/a.txt  is not compared: its file can no longer be read");
    assert!(rows[1].starts_with("c/c.txt  ") && rows[1].contains(" of  itself  "), "{rows:#?}");
    assert_eq!(rows[2], "l.jsonl:2  is not compared: its container no longer holds it as it was");
    assert!(rows[3].starts_with("1 passage in 1 of 6 documents: "), "{rows:#?}");
    assert!(run.stderr.contains("2 documents not compared"), "{run:#?}");
}

/// The message distinguishes a container that cannot be read from one that holds other records.
#[test]
fn the_reason_why_a_container_cannot_be_read_is_told() {
    let folder = Folder::new();
    let records: String = (0..2000).map(|number| format!("{}\n", json!({ "text": paragraph(number) }))).collect();
    let compressed = zstd::encode_all(records.as_bytes(), 3).unwrap();
    folder.write("damaged.jsonl.zst", &compressed);
    folder.write("gone.jsonl", records.lines().next().unwrap());
    folder.ok(&["ingest", "-q", "damaged.jsonl.zst", "gone.jsonl"]);
    folder.write("damaged.jsonl.zst", &compressed[..compressed.len() / 2]);
    std::fs::remove_file(folder.path().join("gone.jsonl")).unwrap();
    let run = folder.run(&["dedup", "--passages"]);
    assert_eq!(run.status, 2);
    let why: BTreeSet<&str> =
        run.stdout.lines().filter_map(|line| line.split_once("  is not compared: ")).map(|row| row.1).collect();
    assert_eq!(why, BTreeSet::from(["its file can no longer be read"]), "{}", run.stdout);
    assert!(
        run.stdout.contains("gone.jsonl:1  is not compared") && !run.stdout.contains("zst:1  is not"),
        "{}",
        run.stdout
    );
}

/// The records of a container that grew have numbers between those of other files. The container is still
/// read in one pass.
#[cfg(target_os = "linux")]
#[test]
fn a_container_that_grew_is_read_once() {
    use rustix::fs::inotify;
    let folder = Folder::new();
    let mut records = String::new();
    for number in 0..12 {
        records += &format!("{}\n", json!({ "text": paragraph(number) }));
        folder.write("log.jsonl", &records);
        folder.write(&format!("other{number}.jsonl"), json!({ "text": paragraph(number) }).to_string());
        folder.ok(&["ingest", "-q", "log.jsonl", &format!("other{number}.jsonl")]);
    }
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    // The kernel joins equal events in a row, so opening and closing are both watched.
    let flags = inotify::WatchFlags::OPEN | inotify::WatchFlags::CLOSE_NOWRITE;
    inotify::add_watch(&watch, folder.path().join("log.jsonl"), flags).unwrap();
    let (_, summary) = repeats(&folder, &["--min-length", "100"]);
    assert_eq!((&summary["documents"], &summary["affected"]), (&json!(24), &json!(12)));
    let mut room = [std::mem::MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(&watch, &mut room);
    let of_event = || events.next().ok().map(|event| event.events().contains(inotify::ReadFlags::OPEN));
    let opened = std::iter::from_fn(of_event).filter(|&is_opened| is_opened).count();
    assert!((1..4).contains(&opened), "opened {opened} times");
}

/// A file of one character, however long, has few rows.
#[test]
fn a_run_of_one_character_is_one_passage() {
    let folder = Folder::new();
    for (name, length) in [("c/a.txt", 50_000), ("c/b.txt", 70_000)] {
        folder.write(name, "a".repeat(length));
    }
    folder.ok(&["ingest", "-q", "c"]);
    let (rows, summary) = repeats(&folder, &["--min-length", "100"]);
    assert!(rows.len() <= 4, "{} rows", rows.len());
    assert_eq!(summary["repeated_symbols"], 50_000 - 1 + 70_000);
    for row in &rows {
        let place = |place: &Value| (place["id"].as_u64(), place["start"].as_u64());
        assert!(place(&row["of"]) < place(row), "{row}");
        assert_eq!(
            row["of"]["end"].as_u64().unwrap() - row["of"]["start"].as_u64().unwrap(),
            row["symbols"].as_u64().unwrap()
        );
    }
    folder.write("r.jsonl", folder.ok(&["dedup", "--passages", "--min-length", "100", "--format", "json"]).stdout);
    folder.ok(&["apply", "r.jsonl", "--write", "clean", "--cut", "--yes"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("clean/c/a.txt")).unwrap(), "a");
}

#[test]
fn spans_lead_back_to_documents_of_other_encodings_and_formats() {
    let folder = Folder::new();
    let shared = "Über dieſe Grüße, naïve façade œuvre, 日本語の文章はここにあります。Привет мир, 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ﬁnally.";
    folder.write("c/a.txt", format!("First words. {shared} Then others."));
    folder.write("c/b.html", format!("<p>Before it</p>\r\n<p>{}</p><i>after</i>", shared.replace(", ", ",<br>\r\n")));
    folder.write("c/c.txt", encoding_utf16(&format!("Ganz andere {shared} und so weiter")));
    folder.ok(&["ingest", "-q", "-k", "10", "-w", "5", "c"]);
    let (rows, _) = repeats(&folder, &["--min-length", "30"]);
    assert_eq!(rows.len(), 2, "{rows:#?}");
    for row in &rows {
        let bytes = std::fs::read(folder.path().join(row["document"].as_str().unwrap())).unwrap();
        let offset = |field: &str| row[field].as_u64().unwrap() as usize;
        let span = &bytes[offset("start")..offset("end")];
        let text = match row["document"].as_str().unwrap() {
            "c/c.txt" => {
                let units = span.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
                char::decode_utf16(units).map(Result::unwrap).collect()
            }
            _ => String::from_utf8(span.to_vec()).unwrap(),
        };
        assert!(text.starts_with("Über") && text.ends_with("ﬁnally"), "{text}");
        assert_eq!((&row["of"]["document"], &row["of"]["start"]), (&json!("c/a.txt"), &json!(13)));
    }
}

fn encoding_utf16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn lengths_below_the_guarantee_and_flags_of_documents_are_errors() {
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["ingest", "-q", "c"]);
    let run = folder.run(&["dedup", "--passages", "--min-length", "43"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains("43 symbols: expected 44 to 65536") && run.stderr.contains("hint: give --min-length 44"),
        "{run:#?}"
    );
    folder.ok(&["dedup", "--passages", "--min-length", "44"]);
    for flags in [&["--by", "containment"][..], &["--keep", "first"], &["--append"], &["--write", "x"], &["--dry-run"]]
    {
        let run = folder.run(&[&["dedup", "--passages"], flags].concat());
        assert!(run.status == 2 && run.stderr.contains("cannot be used with"), "{run:?}");
    }
    assert!(folder.run(&["dedup", "--min-length", "50"]).stderr.contains("--passages"));
    assert!(folder.run(&["dedup", "--passages", "--format", "html"]).stderr.contains("has no html format"));
}

#[test]
fn people_and_spreadsheets_read_the_same() {
    let folder = Folder::new();
    corpus(&folder);
    folder.write("e/e.txt", paragraphs([9]));
    folder.ok(&["ingest", "-q", "c", "e"]);
    let people = folder.ok(&["dedup", "--passages"]).stdout;
    let rows: Vec<&str> = people.lines().collect();
    let begins = ["c/b.txt  ", "c/c.txt  ", "e/e.txt  ", "3 passages in 3 of 5 documents: ", "  c/  ", "  e/  "];
    assert_eq!(rows.len(), begins.len(), "{people}");
    for (row, begin) in rows.iter().zip(begins) {
        assert!(row.starts_with(begin), "{people}");
    }
    let table = folder.ok(&["dedup", "--passages", "--format", "csv"]);
    let rows: Vec<&str> = table.stdout.lines().collect();
    assert_eq!(rows[0], "document,start,end,symbols,of,of_start,of_end,id,of_id,exact,why");
    assert_eq!(rows.len(), 4, "{table:#?}");
    for (row, [document, of]) in
        rows[1..].iter().zip([["c/b.txt", "c/a.txt"], ["c/c.txt", "c/c.txt"], ["e/e.txt", "c/d.txt"]])
    {
        let fields: Vec<&str> = row.split(',').collect();
        assert_eq!((fields[0], fields[4], fields[9], fields[10]), (document, of, "true", ""));
    }
    assert!(table.stderr.contains("3 passages in 3 of 5 documents"), "{table:#?}");
}
