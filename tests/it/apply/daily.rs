//! Daily: each later report brings a copy up to date. The copy then equals a new copy.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{files, text};
use crate::support::Folder;

fn lines(seeds: impl IntoIterator<Item = u64>) -> String {
    seeds.into_iter().map(|seed| format!("{{\"text\":\"{}\"}}\n", text(seed))).collect()
}

/// Seeds of records, many of them repeated, within a day and from day to day.
fn seeds(day: u64, file: u64) -> impl Iterator<Item = u64> {
    (0..9).map(move |place| (day * 31 + file * 17 + place * place * 7) % 40)
}

/// Adds the files of a day, ingests them, and writes a report of this day.
fn day(folder: &Folder, day: u64, dedup: &[&str]) -> String {
    for file in 0..3 {
        folder.write(&format!("in/{day}-{file}.jsonl"), lines(seeds(day, file)));
    }
    folder.write(&format!("in/{day}.txt"), text(day * 31 % 40));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let report = format!("report-{day}.jsonl");
    folder.ok(&[&["dedup", "--format", "json", "-o", &report, "-q"], dedup].concat());
    report
}

/// Applies a report, and returns the summary.
fn apply(folder: &Folder, report: &str, to: &str, action: &[&str]) -> Value {
    folder.ok(&[&["apply", report, "--format", "json", "--yes", "--write", to], action].concat()).json().pop().unwrap()
}

fn modified(path: &Path) -> std::time::SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

#[test]
fn each_day_brings_the_copy_up_to_date() {
    let passages: &[&str] = &["--passages", "--min-length", "20"];
    let jobs: [(&[&str], &[&str]); 4] = [
        (&["--append"], &[]),
        (&["--rerank", "--keep", "first"], &[]),
        (&["--append"], &["--mark", "dup"]),
        (passages, &["--cut"]),
    ];
    for (dedup, action) in jobs {
        let folder = Folder::new();
        for number in 0..4 {
            let report = day(&folder, number, dedup);
            let fresh = format!("fresh-{number}");
            let summary = apply(&folder, &report, "clean", action);
            let whole = apply(&folder, &report, &fresh, action);
            let path = |name: &str| folder.path().join(name);
            assert!(files(&path("clean")) == files(&path(&fresh)), "day {number} of {dedup:?} {action:?}");
            for field in ["applied", "left", "failed", "unjustified", "emptied", "stale"] {
                assert_eq!(summary[field], whole[field], "{field} on day {number} of {dedup:?} {action:?}");
            }
            let again = apply(&folder, &report, "clean", action);
            assert_eq!(again["bytes"], 0, "{again}");
            // A dry run says that these files stay.
            let dry = folder.ok(&[&["apply", &report, "--write", "clean"], action].concat());
            assert!(!dry.stdout.contains(": to be "), "{dry:?}");
            let dry = folder.ok(&[&["apply", &report, "--format", "json", "--write", "clean"], action].concat());
            assert_eq!(dry.json().pop().unwrap()["done_before"], again["done_before"], "{dry:?}");
        }
    }
}

/// A file is written again only if the documents that it loses are not those of the run before.
#[test]
fn files_that_lose_the_same_as_before_are_not_written_again() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines([1, 2, 1]));
    folder.write("in/b.jsonl", lines([3, 4]));
    let path = |name: &str| folder.path().join(name);
    let run = |report: &str| {
        folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
        folder.ok(&["dedup", "--prefer", "in/c", "--format", "json", "-o", report, "-q", "--rerank"]);
        apply(&folder, report, "clean", &[])
    };
    folder.write("in/c.txt", text(99));
    run("one.jsonl");
    let before = ["clean/in/a.jsonl", "clean/in/b.jsonl"].map(|name| modified(&path(name)));
    // This file is preferred, so it has the survivor of a record of `b.jsonl`.
    folder.write("in/c-2.jsonl", lines([3, 5, 5]));
    let summary = run("two.jsonl");
    // The run does not list the unchanged files either.
    let again = folder.ok(&["apply", "two.jsonl", "--write", "clean", "--yes"]);
    assert_eq!(again.stdout, "3 of 3 removable documents left out; 4 files written, 4 of them before\n");
    assert_eq!(summary["done_before"], 2, "{summary}");
    assert_eq!(modified(&path("clean/in/a.jsonl")), before[0]);
    assert_eq!(fs::read_to_string(path("clean/in/b.jsonl")).unwrap(), lines([4]));
    assert_eq!(fs::read_to_string(path("clean/in/c-2.jsonl")).unwrap(), lines([3, 5]));
}

/// If the folder has copies of another database or of another action, or edited files, they are not replaced,
/// and nothing is written.
#[test]
fn a_copy_of_others_is_refused_whole() {
    let folder = Folder::new();
    let report = day(&folder, 0, &[]);
    apply(&folder, &report, "clean", &[]);
    let later = day(&folder, 1, &[]);
    fs::rename(folder.path().join(".fpdb"), folder.path().join("first.db")).unwrap();
    let other = day(&folder, 2, &[]);
    let passages = day(&folder, 3, &["--passages", "--min-length", "20"]);
    let refused = |database: &str, report: &str, action: &[&str]| {
        let before = files(&folder.path().join("clean"));
        let flags = ["--db", database, "apply", report, "--write", "clean"];
        for yes in [&[][..], &["--yes"]] {
            let run = folder.run(&[&flags, action, yes].concat());
            let told = "the copy would replace files that are not as it wrote them";
            let hint = "hint: nothing was written: name a new folder, or move these files away";
            assert!(run.status == 2 && run.stderr.contains(told) && run.stderr.contains(hint), "{run:#?}");
            assert!(files(&folder.path().join("clean")) == before);
        }
    };
    refused(".fpdb", &other, &[]);
    refused(".fpdb", &passages, &["--cut"]);
    refused("first.db", &later, &["--mark", "dup"]);
    folder.write("clean/in/0-1.jsonl", "edited");
    refused("first.db", &later, &[]);
    fs::remove_file(folder.path().join("clean/in/0-1.jsonl")).unwrap();
    folder.ok(&["--db", "first.db", "apply", &later, "--write", "clean", "--yes"]);
    folder.ok(&["--db", "first.db", "apply", &later, "--write", "new", "--yes"]);
    assert!(files(&folder.path().join("clean")) == files(&folder.path().join("new")));
}

/// A file that has changed since the ingest cannot be copied, and its earlier copy may hold duplicates.
#[test]
fn an_earlier_copy_of_a_changed_file_is_named() {
    let folder = Folder::new();
    let report = day(&folder, 0, &[]);
    apply(&folder, &report, "clean", &[]);
    let copy = folder.path().join("clean/in/0-1.jsonl");
    let before = fs::read(&copy).unwrap();
    let later = day(&folder, 1, &[]);
    folder.write("in/0-1.jsonl", lines([1, 2, 3]));
    let run = folder.run(&["apply", &later, "--write", "clean", "--yes"]);
    assert_eq!(run.status, 2, "{run:#?}");
    assert!(run.stdout.contains(&format!("its copy stays in {}", copy.display())), "{run:#?}");
    assert!(run.stderr.contains("warning: 1 copy of an earlier run stays as it was"), "{run:#?}");
    assert_eq!(fs::read(&copy).unwrap(), before);
}

/// One file has no place in the copy, and all others are written.
#[test]
fn a_file_that_became_a_folder_is_named_until_its_copy_is_removed() {
    for (before, after) in [("s/k", "s/k/u.txt"), ("s/k/u.txt", "s/k")] {
        let folder = Folder::new();
        let write = |name: &str, number: u64| folder.write(name, lines([number]));
        let step = |number: u64| {
            write(&format!("s/{number}.txt"), number);
            folder.ok(&["ingest", "-q", "--prune", "s"]);
            folder.ok(&["dedup", "-q", "--format", "json", "-o", "report"]);
            folder.run(&["apply", "report", "--write", "copy", "--yes"])
        };
        write(before, 1);
        assert_eq!(step(2).status, 0);
        let k = folder.path().join("s/k");
        if k.is_dir() { fs::remove_dir_all(k) } else { fs::remove_file(k) }.unwrap();
        write(after, 3);
        for number in [4, 5] {
            let run = step(number);
            assert_eq!(run.status, 2, "{run:#?}");
            let told = ["the copy has a file in the place of its folder", "the copy has a folder in its place"];
            assert!(told.iter().any(|told| run.stdout.contains(told)), "{run:#?}");
            assert!(folder.path().join(format!("copy/s/{number}.txt")).exists(), "{run:#?}");
        }
        let copy = folder.path().join("copy/s/k");
        if copy.is_dir() { fs::remove_dir_all(copy) } else { fs::remove_file(copy) }.unwrap();
        assert_eq!(step(6).status, 0);
        assert!(folder.path().join("copy").join(after).is_file());
    }
}

/// The copy of a file that the database no longer has can hold duplicates of others.
#[test]
fn copies_of_files_that_are_no_longer_stored_stay_and_are_named() {
    let folder = Folder::new();
    let report = day(&folder, 0, &[]);
    apply(&folder, &report, "clean", &[]);
    fs::rename(folder.path().join("in/0-1.jsonl"), folder.path().join("in/renamed.jsonl")).unwrap();
    folder.ok(&["ingest", "-q", "--prune", "in"]);
    let report = day(&folder, 1, &[]);
    let run = folder.ok(&["apply", &report, "--write", "clean", "--yes"]);
    let copy = folder.path().join("clean/in/0-1.jsonl");
    let told = format!("its copy stays in {} (the database no longer has a file of this name)\n", copy.display());
    assert!(run.stdout.contains(&told) && run.stderr.contains("warning: 1 copy of an earlier run stays"), "{run:#?}");
    assert_eq!(apply(&folder, &report, "clean", &[])["stale"], 1);
    fs::remove_file(copy).unwrap();
    assert_eq!(apply(&folder, &report, "clean", &[])["stale"], Value::Null);
    apply(&folder, &report, "new", &[]);
    assert!(files(&folder.path().join("clean")) == files(&folder.path().join("new")));
}
