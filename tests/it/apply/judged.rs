//! Judged: a file that is not as it was ingested holds texts about which the report says nothing. It is neither
//! copied nor marked.

use std::fs;

use serde_json::Value;

use super::{apply, files, report, text};
use crate::support::{Folder, zip};

fn lines(seeds: impl IntoIterator<Item = u64>) -> String {
    seeds.into_iter().map(|seed| format!("{{\"text\":\"{}\"}}\n", text(seed))).collect()
}

/// Two containers with a duplicate between them, and files that no line of the report concerns.
fn start(folder: &Folder, aged: bool) {
    folder.write("in/a.jsonl", lines([1, 2]));
    folder.write("in/b.jsonl", lines([2, 3]));
    folder.write("in/c.jsonl", lines([4, 5]));
    folder.write("in/d.txt", text(6));
    folder.write("in/e.zip", zip([("x.txt", text(7)), ("y.txt", text(8))]));
    for name in ["a.jsonl", "b.jsonl", "c.jsonl", "d.txt", "e.zip"].iter().filter(|_| aged) {
        folder.age(&format!("in/{name}"));
    }
    assert_eq!(report(folder).len(), 1);
}

fn left(lines: &[Value]) -> Vec<(&str, &str)> {
    let left = lines.iter().filter(|line| line["act"] == "leave");
    left.map(|line| {
        let name = line["source"].as_str().unwrap().rsplit('/').next().unwrap();
        (name, line["reason"].as_str().unwrap())
    })
    .collect()
}

#[test]
fn what_came_after_the_ingest_is_in_no_copy() {
    let grown = "it is not as it was ingested: the database does not hold 1 of its 3 documents as they are now";
    let edited = "it has changed since it was ingested";
    let emptied = "it has changed since it was ingested: it holds no document now";
    let cases: [(&str, Vec<u8>, &str); 7] = [
        // A survivor, a removable record, and a record that the report does not name.
        ("a.jsonl", lines([1, 2, 9]).into(), grown),
        ("b.jsonl", lines([2, 3, 3]).into(), grown),
        ("c.jsonl", lines([4, 5, 5]).into(), grown),
        (
            "c.jsonl",
            lines([5, 4]).into(),
            "it is not as it was ingested: the database does not hold 2 of its 2 documents as they are now",
        ),
        ("c.jsonl", Vec::new(), emptied),
        ("d.txt", text(10).into(), edited),
        ("e.zip", zip([("x.txt", text(7)), ("y.txt", text(8)), ("z.txt", text(1))]), grown),
    ];
    for (name, content, why) in cases {
        for aged in [false, true] {
            let folder = Folder::new();
            start(&folder, aged);
            folder.write(&format!("in/{name}"), &content);
            for flags in [&["--write", "clean"][..], &["--write", "clean", "--yes"]] {
                let (run, lines, summary) = apply(&folder, flags);
                assert_eq!((run.status, left(&lines)), (2, vec![(name, why)]), "{flags:?} {run:#?}");
                assert_eq!(summary["failed"], 1, "{run:#?}");
                assert!(run.stderr.contains("if a file has changed, ingest and dedup again"), "{run:#?}");
            }
            assert!(!folder.path().join("clean/in").join(name).exists());
            assert_eq!(files(&folder.path().join("clean")).len(), 4);
            // A new ingest and a new report take it up.
            report(&folder);
            let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
            assert_eq!(run.status, 0, "{run:#?}");
        }
    }
}

#[test]
fn what_came_after_the_ingest_gets_no_mark() {
    for flags in [&["--mark", "dup", "--yes"][..], &["--mark", "dup", "--write", "clean", "--yes"]] {
        let folder = Folder::new();
        start(&folder, true);
        folder.write("in/c.jsonl", lines([4, 5, 5]));
        let (run, lines, _) = apply(&folder, flags);
        assert_eq!((run.status, left(&lines).len(), left(&lines)[0].0), (2, 1, "c.jsonl"), "{run:#?}");
        assert!(!fs::read_to_string(folder.path().join("in/c.jsonl")).unwrap().contains("dup"));
        // The marks are no change of the texts, so the same call goes on.
        let (run, lines, _) = apply(&folder, flags);
        assert_eq!((run.status, left(&lines).len()), (2, 1), "{run:#?}");
    }
    // A text without records gets no mark, whatever it is now.
    let folder = Folder::new();
    start(&folder, true);
    folder.write("in/d.txt", text(10));
    let (run, ..) = apply(&folder, &["--mark", "dup", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
}

/// A new time alone is no change, and neither are fewer records.
#[test]
fn files_with_the_same_contents_are_copied() {
    let folder = Folder::new();
    start(&folder, true);
    for name in ["a.jsonl", "b.jsonl", "c.jsonl", "d.txt", "e.zip"] {
        let path = folder.path().join("in").join(name);
        fs::write(&path, fs::read(&path).unwrap()).unwrap();
    }
    folder.write("in/c.jsonl", lines([4]));
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["failed"]), (0, &1.into(), &0.into()), "{run:#?}");
    // A removed document is no change of its file.
    folder.write("in/c.jsonl", lines([4, 5]));
    folder.age("in/c.jsonl");
    folder.ok(&["ingest", "-q", "in"]);
    folder.ok(&["rm", "-q", "in/c.jsonl:2"]);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
}

/// An earlier version could copy such a file. The check counts what the database does not hold.
#[test]
fn the_check_of_a_copy_counts_what_nobody_has_judged() {
    let cases = [
        ("c.jsonl", lines([4, 5, 9])),
        ("c.jsonl", lines([4, 5, 5])),
        ("a.jsonl", lines([1, 2, 9])),
        ("d.txt", text(10)),
    ];
    for (name, content) in cases {
        let folder = Folder::new();
        start(&folder, true);
        apply(&folder, &["--write", "clean", "--yes"]);
        let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!((run.status, summary.get("unjudged")), (0, None), "{run:#?}");
        folder.write(&format!("clean/in/{name}"), &content);
        let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!((run.status, &summary["unjudged"]), (2, &1.into()), "{run:#?}");
        assert!(run.stderr.contains("1 document in the copy is not in the database"), "{run:#?}");
    }
}
