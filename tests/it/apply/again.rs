//! Again: the same command runs after a change. It decides again about each document, and its last line
//! counts the result.

use std::fs;

use serde_json::json;

use super::formats::gzip;
use super::{apply, files, report, text};
use crate::support::Folder;

fn lines(seeds: &[u64]) -> String {
    seeds.iter().map(|&seed| format!("{{\"text\":\"{}\"}}\n", text(seed))).collect()
}

/// A survivor in one file, a copy in another file, and copies among records.
fn start(folder: &Folder) {
    folder.write("in/a.txt", text(1));
    folder.write("in/b.txt", text(1));
    folder.write("in/c.jsonl", lines(&[1, 2]));
    folder.write("in/d.jsonl", lines(&[3, 1, 4]));
    assert_eq!(report(folder).len(), 3);
}

/// All files except the sources, the reports and the database.
fn written(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let mut all = files(folder.path());
    all.retain(|(name, _)| name.starts_with("clean/") || name.ends_with(".jsonl") && name.starts_with("in"));
    all
}

const ACTIONS: [&[&str]; 3] = [&["--write", "clean"], &["--write", "clean", "--mark", "dup"], &["--mark", "dup"]];

/// If a missing survivor is back, the same command leaves out the documents that it kept before. If the
/// survivor is gone again, the command keeps them.
#[test]
fn a_survivor_that_is_back_or_gone_changes_what_was_decided() {
    for action in ACTIONS {
        let folder = Folder::new();
        start(&folder);
        let command = [action, &["--yes"]].concat();
        let with = Folder::new();
        start(&with);
        let (run, _, complete) = apply(&with, &command);
        // A text file cannot be marked.
        let left = if action.contains(&"--mark") { 1 } else { 0 };
        assert_eq!((run.status, &complete["left"]), (0, &left.into()), "{run:#?}");

        let (place, away) = (folder.path().join("in/a.txt"), folder.path().join("away.txt"));
        fs::rename(&place, &away).unwrap();
        let (run, _, summary) = apply(&folder, &command);
        let kept = (&summary["applied"], &summary["unjustified"]);
        assert_eq!((run.status, kept), (2, (&0.into(), &3.into())), "{action:?} {run:#?}");
        let without = written(&folder);

        fs::rename(&away, &place).unwrap();
        let (run, _, summary) = apply(&folder, &command);
        let sums = (&summary["applied"], &summary["left"]);
        assert_eq!((run.status, sums), (0, (&complete["applied"], &complete["left"])), "{run:#?}");
        assert!(written(&folder) == written(&with), "{action:?}");

        // The same command again has nothing to do.
        let (run, _, summary) = apply(&folder, &command);
        assert_eq!(
            (run.status, &summary["applied"], &summary["bytes"]),
            (0, &complete["applied"], &0.into()),
            "{run:#?}"
        );
        assert!(written(&folder) == written(&with), "{action:?}");

        // The survivor is gone again. So its duplicates come back, and each text is in the copy.
        fs::rename(&place, &away).unwrap();
        let (run, _, summary) = apply(&folder, &command);
        assert_eq!((run.status, &summary["applied"]), (2, &0.into()), "{action:?} {run:#?}");
        let mut now = written(&folder);
        now.retain(|(name, _)| name != "clean/in/a.txt");
        assert!(now == without, "{action:?}");
    }
}

#[test]
fn a_copy_that_was_changed_by_others_stays_and_is_named() {
    let folder = Folder::new();
    start(&folder);
    apply(&folder, &["--write", "clean", "--yes"]);
    folder.write("clean/in/d.jsonl", "edited by hand");
    let run = folder.run(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    assert!(run.status == 2 && run.stderr.contains("clean/in/d.jsonl"), "{run:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("clean/in/d.jsonl")).unwrap(), "edited by hand");
}

/// The files with the survivor's duplicates are copied before the copy of the survivor fails.
#[test]
fn documents_whose_survivor_could_not_be_copied_are_copied_after_all() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 5]));
    folder.write("in/b.txt", text(1));
    folder.write("in/z/survivor.txt", text(1));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.ok(&["dedup", "--prefer", "survivor", "--format", "json", "-o", "report.jsonl", "-q"]);
    // A file stands where the copy needs a folder.
    folder.write("clean/in/z", "in the way");
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["unjustified"]), (2, &0.into(), &2.into()), "{run:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("clean/in/a.jsonl")).unwrap(), lines(&[1, 5]));
    assert_eq!(fs::read_to_string(folder.path().join("clean/in/b.txt")).unwrap(), text(1));
    fs::remove_file(folder.path().join("clean/in/z")).unwrap();
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["left"]), (0, &2.into(), &0.into()), "{run:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("clean/in/a.jsonl")).unwrap(), lines(&[5]));
    assert!(!folder.path().join("clean/in/b.txt").exists(), "the copy of the first run is gone");
}

/// `apply` removes or moves files, and `ingest --prune` then removes their documents. The same `apply` still
/// counts these files as done.
#[test]
fn files_that_were_taken_are_counted_after_a_prune() {
    for action in [&["--move", "gone"][..], &["--remove"]] {
        let folder = Folder::new();
        for (name, seed) in [("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 3)] {
            folder.write(&format!("in/{name}.txt"), text(seed));
        }
        folder.ok(&["ingest", "-q", "in"]);
        folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
        let (_, _, first) = apply(&folder, &[action, &["--yes"]].concat());
        assert_eq!((&first["applied"], &first["left"]), (&json!(2), &json!(0)));
        folder.ok(&["ingest", "-q", "--prune", "in"]);
        for yes in [&["--yes"][..], &[]] {
            let (run, _, again) = apply(&folder, &[action, yes].concat());
            assert_eq!(run.status, 0, "{run:#?}");
            let counts = ["applied", "left", "missing", "done_before"].map(|field| again[field].as_u64().unwrap_or(0));
            assert_eq!(counts, [2, 0, 0, 2], "{again}");
        }
        // A file that exists again does not count as taken.
        folder.write("in/b.txt", text(1));
        let (run, _, again) = apply(&folder, &[action, &["--yes"]].concat());
        assert_eq!((run.status, &again["missing"], &again["applied"]), (2, &json!(1), &json!(1)), "{run:#?}");
        fs::remove_file(folder.path().join("in/b.txt")).unwrap();
        // A document that was removed in another way still counts as missing.
        folder.write("in/f.txt", text(3));
        folder.ok(&["ingest", "-q", "in"]);
        folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
        folder.ok(&["rm", "-q", "in/f.txt"]);
        let (run, _, other) = apply(&folder, &[action, &["--yes"]].concat());
        assert_eq!((run.status, &other["missing"], &other["applied"]), (2, &json!(1), &json!(0)), "{run:#?}");
    }
}

/// A damaged file can be read in part, so the damage shows only when the file is written again. By then, the
/// duplicates of its documents were left out, and are copied after all. The run prints the last state of each
/// file once.
#[test]
fn a_damaged_container_leaves_one_line_for_each_file_and_a_count_that_is_true() {
    let folder = Folder::new();
    let record = |(number, seed): (usize, &u64)| {
        let body = text(*seed);
        gzip(
            format!(
                "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <{number}>\r\nContent-Type: text/plain\r\n\
                 Content-Length: {}\r\n\r\n{body}\r\n\r\n",
                body.len()
            )
            .as_bytes(),
        )
    };
    let mut members: Vec<Vec<u8>> = [1, 50, 2, 60, 60].iter().enumerate().map(record).collect();
    let end = members[1].len();
    members[1][end - 6] ^= 1;
    folder.write("in/d.warc.gz", members.concat());
    folder.write("in/b.txt", text(1));
    folder.write("in/c.jsonl", lines(&[1, 2, 3, 3]));
    assert_eq!(folder.run(&["ingest", "-q", "--profile", "words", "in"]).status, 2);
    folder.ok(&["dedup", "--prefer", "warc", "--format", "json", "-o", "report.jsonl", "-q"]);
    for _ in 0..2 {
        let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
        let mut sources: Vec<&str> = lines.iter().map(|line| line["source"].as_str().unwrap()).collect();
        sources.sort_unstable();
        sources.dedup();
        assert_eq!((run.status, lines.len(), sources.len()), (2, 3, 3), "{run:#?}");
        let told: u64 = lines.iter().map(|line| line["documents"].as_u64().unwrap()).sum();
        assert_eq!((told, &summary["applied"], &summary["failed"]), (1, &1.into(), &1.into()), "{run:#?}");
    }
    let run = folder.run(&["apply", "report.jsonl", "--write", "new", "--yes"]);
    assert_eq!(run.stdout.matches("c.jsonl: written").count(), 1, "{run:#?}");
    assert!(run.stdout.contains("; 2 files written, ") && !run.stdout.contains("left out:"), "{run:#?}");
    assert!(run.stderr.contains("if it is damaged, first repair it"), "{run:#?}");
    assert!(files(&folder.path().join("new")) == files(&folder.path().join("clean")));
}

/// The marks change the size and time of a file, so another file would have to be read as a whole.
#[test]
fn a_file_with_an_unreadable_line_can_be_marked_again() {
    let folder = Folder::new();
    let path = folder.write("in/e.jsonl", lines(&[1, 1]) + "not json\n");
    assert_eq!(folder.run(&["ingest", "-q", "--profile", "words", "in"]).status, 2);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    let mark = || apply(&folder, &["--mark", "dup", "--yes"]);
    let (run, _, first) = mark();
    assert_eq!((run.status, &first["applied"]), (0, &1.into()), "{run:#?}");
    let (run, _, again) = mark();
    assert_eq!((run.status, &again["applied"], &again["done_before"]), (0, &1.into(), &1.into()), "{run:#?}");
    // A line of somebody else may be new.
    fs::write(&path, fs::read_to_string(&path).unwrap() + "no json\n").unwrap();
    assert_eq!(mark().0.status, 2);
}

/// Marks in place stay if the removed documents have left the database since.
#[test]
fn marks_stay_after_their_documents_were_removed() {
    let folder = Folder::new();
    let path = folder.write("in/a.jsonl", lines(&[1, 2, 1]));
    assert_eq!(report(&folder).len(), 1);
    let mark = || (apply(&folder, &["--mark", "dup", "--yes"]).0.status, fs::read_to_string(&path).unwrap());
    let (status, marked) = mark();
    assert_eq!((status, marked.matches("\"remove\"").count()), (0, 1));
    folder.ok(&["rm", "-q", "--report", "report.jsonl", "--yes"]);
    assert_eq!(mark(), (2, marked));
}

/// The marks tell the name of a survivor, which an ingest can change without a new report.
#[test]
fn a_copy_with_the_name_of_a_renamed_survivor_is_marked_again() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 2]));
    let marked = folder.write("in/d.jsonl", lines(&[1, 3]));
    assert_eq!(report(&folder).len(), 1);
    let copied = || {
        let (run, ..) = apply(&folder, &["--write", "clean", "--mark", "dup", "--yes"]);
        assert_eq!(run.status, 0, "{run:#?}");
        fs::read_to_string(folder.path().join("clean/in/d.jsonl")).unwrap()
    };
    assert!(copied().contains("\"dup_survivor\":\"in/a.jsonl:1\""));
    fs::rename(folder.path().join("in/a.jsonl"), folder.path().join("in/new.jsonl")).unwrap();
    folder.ok(&["ingest", "-q", "--prune", "in"]);
    assert!(copied().contains("\"dup_survivor\":\"in/new.jsonl:1\""));
    // The same for marks in place.
    let mark = || {
        apply(&folder, &["--mark", "dup", "--yes"]);
        fs::read_to_string(&marked).unwrap()
    };
    assert!(mark().contains("\"dup_survivor\":\"in/new.jsonl:1\""));
    folder.ok(&["mv", "-q", "in/new.jsonl", "in/old.jsonl"]);
    assert!(mark().contains("\"dup_survivor\":\"in/old.jsonl:1\""));
}
