//! Proof: a check that anyone can run after an act.

use std::fs;

use serde_json::Value;

use super::{apply, report, six, text};
use crate::support::{Folder, Run};

fn check(folder: &Folder, flags: &[&str]) -> (Run, Vec<Value>, Value) {
    apply(folder, &[&["--check"], flags].concat())
}

fn sums(summary: &Value) -> [u64; 4] {
    ["documents", "survived", "in_place", "lost"].map(|field| summary[field].as_u64().unwrap())
}

#[test]
fn each_removed_text_has_its_survivor_or_is_named() {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    let (run, lost, summary) = check(&folder, &[]);
    assert_eq!((run.status, lost.len(), sums(&summary)), (0, 0, [3, 3, 0, 0]), "{run:#?}");
    assert_eq!((&summary["schema"], &summary["identical"]), (&"fpdb.apply.check/1".into(), &3.into()));
    apply(&folder, &["--remove", "--yes"]);
    let (run, _, summary) = check(&folder, &[]);
    assert_eq!((run.status, sums(&summary)), (0, [3, 3, 0, 0]), "{run:#?}");
    let run = folder.ok(&["apply", "--check", "report.jsonl"]);
    assert_eq!(run.stdout, "3 of 3 removable documents have their survivor, 3 of the same bytes; 0 lost\n");
    // One survivor has changed, another is gone.
    folder.write("in/0/0.txt", "something else");
    fs::remove_file(folder.path().join("in/0/2.txt")).unwrap();
    let (run, lost, summary) = check(&folder, &[]);
    assert_eq!((run.status, sums(&summary)), (2, [3, 1, 0, 2]), "{run:#?}");
    assert_eq!((&lost[0]["survivor"], &lost[0]["schema"]), (&"in/0/0.txt".into(), &"fpdb.apply.lost/1".into()));
    assert_eq!(lost[0]["reason"], "its survivor has changed");
    assert_eq!(lost[1]["reason"], "the file of its survivor is gone");
    // A document that is back in its place is not lost.
    folder.write("in/1/3.txt", text(0));
    let (_, _, summary) = check(&folder, &[]);
    assert_eq!(sums(&summary), [3, 1, 1, 1]);
    // The database no longer has the removed documents, nor one of the survivors.
    folder.ok(&["ingest", "-q", "--prune", "in"]);
    let (run, lost, summary) = check(&folder, &[]);
    assert_eq!((run.status, sums(&summary)), (2, [3, 1, 1, 1]), "{run:#?} {lost:#?}");
}

/// A renamed document has its number and its bytes, so the report still holds.
#[test]
fn a_survivor_that_was_renamed_is_checked_where_it_is() {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    fs::rename(folder.path().join("in/0/0.txt"), folder.path().join("in/0/new.txt")).unwrap();
    assert!(folder.ok(&["ingest", "--prune", "in"]).stdout.contains("1 renamed"));
    let (run, _, summary) = check(&folder, &[]);
    assert_eq!((run.status, sums(&summary), &summary["renamed"]), (0, [3, 3, 0, 0], &1.into()), "{run:#?}");
    let run = folder.ok(&["apply", "--check", "report.jsonl"]);
    let said = "3 of 3 removable documents have their survivor, 3 of the same bytes; 0 lost; 1 document of the report was renamed since\n";
    assert_eq!(run.stdout, said);
    // `apply --remove` and `rm` accept the report too.
    let (run, _, _) = apply(&folder, &["--remove"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert!(folder.ok(&["rm", "--report", "report.jsonl"]).stderr.starts_with("3 documents removed; "));
}

/// A report without digests knows documents only by their names.
#[test]
fn a_renamed_document_of_a_report_without_digests_has_another_name() {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    let path = folder.path().join("report.jsonl");
    let without = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().retain(|field, _| !field.ends_with("digest"));
        format!("{line}\n")
    };
    let lines: String = fs::read_to_string(&path).unwrap().lines().map(without).collect();
    fs::write(&path, lines).unwrap();
    assert_eq!(check(&folder, &[]).0.status, 0);
    fs::rename(folder.path().join("in/0/0.txt"), folder.path().join("in/0/new.txt")).unwrap();
    folder.ok(&["ingest", "-q", "--prune", "in"]);
    let (run, ..) = check(&folder, &[]);
    assert!(run.status == 2 && run.stderr.contains(" has another name: a report without digests "), "{run:#?}");
}

/// A survivor that has changed is not copied, so its duplicate stays in the copy.
#[test]
fn a_document_that_stays_in_the_copy_is_not_lost() {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    folder.write("in/0/0.txt", "something else");
    apply(&folder, &["--write", "clean", "--yes"]);
    let (run, lost, summary) = check(&folder, &["--write", "clean"]);
    assert_eq!((run.status, lost.len(), sums(&summary)), (0, 0, [3, 2, 1, 0]), "{run:#?}");
}

#[test]
fn one_document_is_told_of_in_the_singular() {
    let folder = Folder::new();
    folder.write("in/a.txt", text(1));
    folder.write("in/b.txt", text(1));
    assert_eq!(report(&folder).len(), 1);
    let run = folder.ok(&["apply", "--check", "report.jsonl"]);
    assert_eq!(run.stdout, "1 of 1 removable document has its survivor, 1 of the same bytes; 0 lost\n");
}

#[test]
fn the_survivors_of_a_copy_are_looked_for_in_the_copy() {
    let folder = Folder::new();
    let lines =
        |seeds: &[u64]| seeds.iter().map(|&seed| format!("{{\"text\":\"{}\"}}\n", text(seed))).collect::<String>();
    folder.write("in/a.jsonl", lines(&[1, 1, 2, 3]));
    folder.write("in/b.jsonl", lines(&[2, 4]));
    folder.write("in/c.txt", text(3));
    assert_eq!(report(&folder).len(), 3);
    let (run, lost, summary) = check(&folder, &["--write", "clean"]);
    assert_eq!((run.status, lost.len(), sums(&summary)), (2, 3, [3, 0, 0, 3]), "{run:#?}");
    apply(&folder, &["--write", "clean", "--yes"]);
    let (run, _, summary) = check(&folder, &["--write", "clean"]);
    assert_eq!((run.status, sums(&summary)), (0, [3, 3, 0, 0]), "{run:#?}");
    // A record is missing from the copy.
    folder.write("clean/in/a.jsonl", lines(&[1, 3]));
    let (run, lost, summary) = check(&folder, &["--write", "clean"]);
    assert_eq!((run.status, lost.len(), sums(&summary)), (2, 1, [3, 2, 0, 1]), "{run:#?}");
}
