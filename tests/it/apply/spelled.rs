//! Spelled: a folder to write to has many spellings, and each means the same copy.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::{files, report, six};
use crate::support::{Folder, Run};

/// Six ingested files and a report; besides, a folder, and links to it and to the ingested folder.
fn start() -> Folder {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    fs::create_dir_all(folder.path().join("s/deep")).unwrap();
    symlink("s/deep", folder.path().join("link")).unwrap();
    symlink("in", folder.path().join("in-link")).unwrap();
    folder
}

/// Runs `apply` in a folder below.
fn apply_in(folder: &Folder, below: &str, flags: &[&str]) -> Run {
    let (database, report) = (folder.path().join(".fpdb"), folder.path().join("report.jsonl"));
    let paths = ["--db", database.to_str().unwrap(), "apply", report.to_str().unwrap(), "--format", "json"];
    Run::to_its_end(folder.command(&[&paths[..], flags].concat()).current_dir(folder.path().join(below)))
}

#[test]
fn each_spelling_of_a_folder_is_the_same_copy() {
    let folder = start();
    let root = folder.path().canonicalize().unwrap();
    folder.ok(&["apply", "report.jsonl", "--write", "c1", "--yes"]);
    let before = files(&folder.path().join("c1"));
    let spellings =
        [("s", "../c1"), (".", "s/../c1"), (".", "none/../c1/"), ("link", "../../c1"), (".", "link/../../c1")];
    for (below, spelling) in spellings {
        let run = apply_in(&folder, below, &["--write", spelling, "--yes"]);
        let lines = run.json();
        assert_eq!((run.status, &lines.last().unwrap()["done_before"]), (0, &3.into()), "{below} {spelling} {run:#?}");
        assert!(!run.stderr.contains("warning"), "{run:#?}");
        for target in lines.iter().filter_map(|line| line["target"].as_str()) {
            assert!(target.starts_with(&format!("{}/c1/in/", root.display())), "{target}");
        }
        let check = apply_in(&folder, below, &["--check", "--write", spelling]);
        assert_eq!((check.status, &check.json()[0]["survived"]), (0, &3.into()), "{check:#?}");
        assert!(files(&folder.path().join("c1")) == before);
    }
    // A copy that was made through a link is known at its place, and its log lies there.
    folder.ok(&["apply", "report.jsonl", "--write", "link/c2", "--yes"]);
    folder.ok(&["apply", "report.jsonl", "--write", "s/deep/c2", "--yes"]);
    assert!(folder.path().join("s/deep/c2.write.log").exists());
    symlink("s/deep/c2", folder.path().join("c3")).unwrap();
    let again = folder.ok(&["apply", "report.jsonl", "--write", "c3", "--yes", "--format", "json"]);
    assert_eq!(again.json().pop().unwrap()["done_before"], 3, "{again:#?}");
    symlink("s/deep/c2/in", folder.path().join("copied")).unwrap();
    let run = folder.ok(&["ingest", "--dry-run", "copied"]);
    assert!(run.stderr.contains("deep/c2 holds copies that `fpdb apply` made"), "{run:#?}");
    let moved = apply_in(&folder, "s", &["--move", "../link/../gone", "--yes"]);
    let targets = moved.json();
    let mut targets = targets.iter().filter_map(|line| line["target"].as_str());
    assert!(targets.all(|target| target.starts_with(&format!("{}/s/gone/in/", root.display()))), "{moved:#?}");
    assert_eq!((moved.status, files(&folder.path().join("s/gone")).len()), (0, 3), "{moved:#?}");
}

#[test]
fn a_folder_with_ingested_files_is_known_by_each_spelling() {
    let folder = start();
    for (below, spelling, warns) in [
        ("s", "../in/0/clean", true),
        (".", "in-link/0/clean", true),
        (".", "s/../in", true),
        ("s", "../inx", false),
        (".", "in/../inx", false),
    ] {
        let run = apply_in(&folder, below, &["--write", spelling]);
        let told = run.stderr.contains("which holds files that were ingested");
        assert_eq!((run.status, told), (0, warns), "{below} {spelling} {run:#?}");
    }
    // The files were ingested through a link.
    let linked = Folder::new();
    six(&linked);
    symlink("in", linked.path().join("way")).unwrap();
    linked.ok(&["ingest", "-q", "--profile", "words", "way/0", "way/1"]);
    linked.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    let run = linked.run(&["apply", "report.jsonl", "--write", "in/0/clean", "--format", "json"]);
    let lines: Vec<Value> = run.json();
    assert!(!lines.is_empty() && run.stderr.contains("which holds files that were ingested"), "{run:#?}");
}

/// A link to the root of a disk, beside which nothing may be written.
#[test]
fn the_place_of_the_log_is_told_if_it_cannot_be_written() {
    let folder = start();
    fs::create_dir(folder.path().join("s/deep.write.log")).unwrap();
    let run = folder.run(&["apply", "report.jsonl", "--write", "link", "--yes"]);
    assert!(run.status == 2 && run.stderr.contains("s/deep.write.log"), "{run:#?}");
    let deep = folder.path().canonicalize().unwrap().join("s/deep");
    let told = format!("the log lies beside the folder: name one within {}", deep.display());
    assert!(run.stderr.contains(&told), "{run:#?}");
    folder.ok(&["apply", "report.jsonl", "--write", "link/clean", "--yes"]);
}
