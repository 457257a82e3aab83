//! Ingests with `--dedup` of files that have changed: no document is left out because of one that the same run deletes.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::sentences;
use crate::support::Folder;

/// Ingests with `--dedup`; the answer, and the pairs that were listed: what is left out, and what stays.
fn ingest(folder: &Folder, flags: &[&str]) -> (Value, Vec<(String, String)>) {
    let command = ["ingest", "-q", "--profile", "words", "--dedup", "--format", "json", "--duplicates", "out"];
    let answer = folder.ok(&[&command[..], flags].concat()).json().remove(0);
    let listed = fs::read_to_string(folder.path().join("out")).unwrap();
    let rows: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answer["duplicates"].as_u64().unwrap_or(0), rows.len() as u64);
    let stored = folder.ok(&["list", "--format", "json"]).json();
    for row in &rows {
        let is_survivor = |one: &Value| (&one["id"], &one["name"]) == (&row["keep_id"], &row["keep"]);
        assert!(stored.iter().any(is_survivor), "the one that stays is stored: {row}");
    }
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    (answer, rows.iter().map(|row| (text(row, "remove"), text(row, "keep"))).collect())
}

fn counts(answer: &Value) -> [u64; 6] {
    ["added", "replaced", "unchanged", "duplicates", "removed", "pruned"].map(|name| answer[name].as_u64().unwrap_or(0))
}

/// In order.
fn names(folder: &Folder) -> Vec<String> {
    let list = folder.ok(&["list", "--format", "json"]).json();
    let mut names: Vec<String> = list.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn text(number: u64) -> String {
    sentences(number * 10..number * 10 + 6)
}

fn lines(numbers: impl IntoIterator<Item = u64>) -> String {
    numbers.into_iter().map(|number| format!("{}\n", serde_json::json!({ "text": text(number) }))).collect()
}

fn pair(remove: &str, keep: &str) -> (String, String) {
    (remove.to_owned(), keep.to_owned())
}

#[test]
fn a_file_without_its_first_line_loses_no_other() {
    for by in ["exact", "containment", "resemblance"] {
        let folder = Folder::new();
        folder.write("a.jsonl", lines(0..5));
        let flags = ["a.jsonl", "--by", by];
        assert_eq!(counts(&ingest(&folder, &flags).0), [5, 0, 0, 0, 0, 0]);
        for (left, old) in [(1, false), (2, true)] {
            folder.write("a.jsonl", lines(left..5));
            if old {
                folder.age("a.jsonl");
            }
            let (answer, rows) = ingest(&folder, &flags);
            assert_eq!((counts(&answer), rows), ([0, 5 - left, 0, 0, 1, 0], vec![]), "{by}");
            assert_eq!(answer["documents"], 5 - left);
            assert_eq!(answer["identical"], 0);
            let expected: Vec<String> = (1..=5 - left).map(|line| format!("a.jsonl:{line}")).collect();
            assert_eq!(names(&folder), expected);
        }
        for number in 2..5 {
            let run = folder.ok(&["query", "--min-score", "1", "--format", "json", "--document", "a.jsonl:1"]);
            assert_eq!(run.json()[0]["matches"].as_array().map(Vec::len), Some(0), "{number}");
        }
        // Twice the same line: one of them stays.
        folder.write("a.jsonl", lines([2, 2, 3, 3, 4]));
        let (answer, rows) = ingest(&folder, &flags);
        assert_eq!(counts(&answer)[3], 2, "{answer}");
        folder.write("a.jsonl", lines([2, 3, 3, 4]));
        ingest(&folder, &flags);
        let kept = folder.ok(&["query", "-q", "--min-score", "1", "--format", "json", "a.jsonl"]).json();
        assert!(kept.iter().all(|line| line["matches"].as_array().unwrap().len() == 1), "{rows:?} {kept:?}");
        folder.ok(&["verify", "-q"]);
    }
}

#[test]
fn files_that_swap_their_contents_are_both_stored() {
    let folder = Folder::new();
    for (a, b) in [(1, 2), (2, 1), (1, 2)] {
        folder.write("c/a.txt", text(a));
        folder.write("c/b.txt", text(b));
        let (answer, rows) = ingest(&folder, &["c"]);
        assert_eq!((counts(&answer)[3], rows, names(&folder).len()), (0, vec![], 2), "{answer}");
        let number = |content| {
            let folder = &folder;
            folder.write("asked.txt", text(content));
            folder.ok(&["query", "--format", "json", "asked.txt"]).json()[0]["matches"][0]["document"].clone()
        };
        assert_eq!((number(a), number(b)), ("c/a.txt".into(), "c/b.txt".into()));
    }
}

#[test]
fn a_document_that_goes_justifies_nothing_and_one_that_stays_does() {
    let folder = Folder::new();
    folder.write("c/m.txt", text(1));
    folder.write("c/n.txt", text(2));
    folder.write("c/y.jsonl", lines(3..6));
    ingest(&folder, &["c"]);
    // They come first, and what they are copies of is there still, as far as is known then.
    folder.write("c/a.txt", text(1));
    folder.write("c/b.jsonl", lines([4, 7, 4, 7]));
    folder.write("c/c.txt", text(2));
    folder.write("c/d.txt", text(2));
    fs::remove_file(folder.path().join("c/n.txt")).unwrap();
    folder.write("c/y.jsonl", lines(3..7));
    let (answer, rows) = ingest(&folder, &["--prune", "c"]);
    // c/n.txt is c/c.txt now.
    let mut expected = vec![
        pair("c/a.txt", "c/m.txt"),
        pair("c/b.jsonl:1", "c/y.jsonl:2"),
        pair("c/b.jsonl:3", "c/y.jsonl:2"),
        pair("c/b.jsonl:4", "c/b.jsonl:2"),
        pair("c/d.txt", "c/c.txt"),
    ];
    let mut rows = rows;
    rows.sort();
    expected.sort();
    assert_eq!(rows, expected);
    assert_eq!((&answer["renamed"], counts(&answer)), (&1.into(), [2, 0, 5, 5, 0, 0]), "{answer}");
    // A part of what is forgotten, and a part of what stays.
    folder.write("c/e.txt", sentences(31..35));
    folder.write("c/f.txt", sentences(11..15));
    folder.write("c/y.jsonl", lines(4..7));
    let (answer, rows) = ingest(&folder, &["--prune", "--by", "containment", "c"]);
    assert!(
        rows.contains(&pair("c/f.txt", "c/m.txt")) && rows.iter().all(|(remove, _)| remove != "c/e.txt"),
        "{rows:?}"
    );
    assert!(names(&folder).contains(&"c/e.txt".to_owned()), "{answer}");
    fs::remove_file(folder.path().join("c/m.txt")).unwrap();
    let (answer, rows) = ingest(&folder, &["--prune", "--by", "containment", "c"]);
    assert_eq!(answer["renamed"], 1, "c/m.txt is c/a.txt now");
    assert!(rows.contains(&pair("c/f.txt", "c/a.txt")), "{rows:?}");
    // Without the file of the same content it is forgotten, and the part stays.
    fs::remove_file(folder.path().join("c/a.txt")).unwrap();
    let (answer, _) = ingest(&folder, &["--prune", "--by", "containment", "c"]);
    assert_eq!(counts(&answer)[5], 1, "{answer}");
    assert!(names(&folder).contains(&"c/f.txt".to_owned()));
    // Texts that are stored from now on change no decision, though their documents get new numbers.
    folder.write("c/0.txt", text(2));
    let (answer, rows) = ingest(&folder, &["--store-text", "c"]);
    assert!(rows.contains(&pair("c/0.txt", "c/c.txt")) && counts(&answer)[0] == 0, "{answer} {rows:?}");
    folder.ok(&["verify", "-q"]);
}

/// A member that is there twice: what another one was left out for is not replaced.
#[test]
fn a_version_that_others_were_left_out_for_stays() {
    let folder = Folder::new();
    let tar = |flags: &[&str]| {
        let status = Command::new("tar").args(flags).current_dir(folder.path()).status().unwrap();
        assert!(status.success());
    };
    folder.write("x.txt", text(1));
    folder.write("y.txt", text(1));
    tar(&["-cf", "a.tar", "x.txt", "y.txt"]);
    folder.write("x.txt", text(2));
    tar(&["-rf", "a.tar", "x.txt"]);
    for _ in 0..2 {
        ingest(&folder, &["a.tar"]);
        let listed = folder.ok(&["list", "--format", "json"]).json();
        assert_eq!(listed.iter().filter(|one| one["name"] == "a.tar!x.txt").count(), listed.len());
        folder.write("asked.txt", text(1));
        let found = folder.ok(&["query", "--format", "json", "--min-score", "1", "asked.txt"]).json();
        assert_eq!(found[0]["matches"].as_array().map(Vec::len), Some(1));
    }
}
