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

/// A file is written again only if it loses other documents than in the run before.
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
    // This file is preferred, so it holds the survivor of a record of `b.jsonl`.
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

/// If the folder has copies of another database or of another action, or edited files, these files are not
/// replaced, and nothing is written.
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
    // The folder has copies of one kind only, so the hint names no other.
    let run = folder.run(&["--db", "first.db", "apply", &later, "--write", "clean"]);
    assert!(run.stderr.contains("move these files away") && !run.stderr.contains("in one call"), "{run:#?}");
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

/// The copy of a file that the database no longer has can hold duplicates of other documents.
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
    let told = format!("1 copy stays, as the database no longer has the file: {}\n", copy.display());
    assert!(run.stdout.contains(&told) && run.stderr.contains("warning: 1 copy of an earlier run stays"), "{run:#?}");
    let each = folder.ok(&["apply", &report, "--write", "clean", "--yes", "--verbose"]);
    let told = format!("its copy stays in {} (the database no longer has a file of this name)\n", copy.display());
    assert!(each.stdout.contains(&told), "{each:#?}");
    // A quiet run prints this warning too.
    let quiet = folder.ok(&["apply", &report, "--write", "clean", "--yes", "-q"]);
    assert!(quiet.stderr.contains("; --prune removes those whose files are no longer stored\n"), "{quiet:#?}");
    assert_eq!(apply(&folder, &report, "clean", &[])["stale"], 1);
    fs::remove_file(copy).unwrap();
    assert_eq!(apply(&folder, &report, "clean", &[])["stale"], Value::Null);
    apply(&folder, &report, "new", &[]);
    assert!(files(&folder.path().join("clean")) == files(&folder.path().join("new")));
}

/// `--prune` removes copies of files that the database no longer has, unless the copies were changed. The
/// folder then equals a new copy.
#[test]
fn prune_removes_the_copies_of_files_that_are_no_longer_stored() {
    let folder = Folder::new();
    let report = day(&folder, 0, &[]);
    folder.write("in/deep/er/x.jsonl", lines([1, 2]));
    folder.ok(&["ingest", "-q", "in"]);
    apply(&folder, &report, "clean", &[]);
    fs::rename(folder.path().join("in/0-1.jsonl"), folder.path().join("in/renamed.jsonl")).unwrap();
    fs::remove_file(folder.path().join("in/0-2.jsonl")).unwrap();
    fs::remove_dir_all(folder.path().join("in/deep")).unwrap();
    folder.write("clean/in/0-2.jsonl", "edited by hand");
    // The copy has this file too, but no run has written it.
    folder.write("clean/in/mine.txt", "mine");
    folder.ok(&["ingest", "-q", "--prune", "in"]);
    let report = day(&folder, 1, &[]);
    let place = |name: &str| folder.path().join("clean/in").join(name);
    let before = files(&folder.path().join("clean"));
    let dry = folder.ok(&["apply", &report, "--write", "clean", "--prune"]);
    assert!(files(&folder.path().join("clean")) == before);
    assert!(dry.stdout.contains(&format!("its copy to be removed, {} (", place("0-1.jsonl").display())), "{dry:#?}");
    assert!(dry.stdout.contains("; 2 old copies to be removed\n"), "{dry:#?}");
    let command = ["dedup", "--format", "json", "-o", "daily.jsonl", "--write", "clean", "--prune"];
    let run = folder.ok(&command);
    assert!(!place("0-1.jsonl").exists() && !place("deep").exists(), "{run:#?}");
    assert!(run.stderr.contains("2 copies removed, as the database no longer has the files: "), "{run:#?}");
    assert!(run.stderr.contains("; 2 old copies removed\n"), "{run:#?}");
    let told = format!(
        "its copy stays in {} (the database no longer has a file of this name, and its copy was changed since)\n",
        place("0-2.jsonl").display()
    );
    assert!(run.stderr.contains(&told), "{run:#?}");
    assert_eq!(fs::read_to_string(place("mine.txt")).unwrap(), "mine");
    let summary = apply(&folder, &report, "clean", &["--prune"]);
    assert_eq!((&summary["pruned"], &summary["stale"]), (&Value::Null, &1.into()));
    for name in ["0-2.jsonl", "mine.txt"] {
        fs::remove_file(place(name)).unwrap();
    }
    apply(&folder, &report, "new", &[]);
    assert!(files(&folder.path().join("clean")) == files(&folder.path().join("new")));
    // Only a copy can be pruned.
    assert_eq!(folder.run(&["apply", &report, "--remove", "--prune"]).status, 2);
}

/// A kill can come between the removal of a copy and its line in the log.
#[test]
fn a_pruning_that_was_killed_is_done_again() {
    let folder = Folder::new();
    let report = day(&folder, 0, &[]);
    apply(&folder, &report, "clean", &[]);
    fs::remove_file(folder.path().join("in/0-1.jsonl")).unwrap();
    folder.ok(&["ingest", "-q", "--prune", "in"]);
    let report = day(&folder, 1, &[]);
    let copy = folder.path().join("clean/in/0-1.jsonl");
    let (bytes, time) = (fs::read(&copy).unwrap(), modified(&copy));
    assert_eq!(apply(&folder, &report, "clean", &["--prune"])["pruned"], 1);
    let log = folder.path().join("clean.write.log");
    let noted = fs::read_to_string(&log).unwrap();
    let omitted: Vec<&str> = noted.lines().filter(|line| line.contains(r#""act":"omit""#)).collect();
    assert!(omitted.len() == 2 && noted.ends_with(&format!("{}\n", omitted[1])), "{noted}");
    let begun = noted.strip_suffix(&format!("{}\n", omitted[1])).unwrap();
    // Killed after the removal, or before it.
    for is_there in [false, true] {
        fs::write(&log, begun).unwrap();
        if is_there {
            fs::write(&copy, &bytes).unwrap();
            fs::File::options().write(true).open(&copy).unwrap().set_modified(time).unwrap();
        }
        let summary = apply(&folder, &report, "clean", &["--prune"]);
        assert_eq!(summary["pruned"], if is_there { 1.into() } else { Value::Null }, "{summary}");
        assert!(!copy.exists() && summary["stale"].is_null(), "{summary}");
    }
    // A forged line of the log names a file outside the copy.
    let outside = folder.path().join("outside.jsonl");
    let lines: Vec<&str> = noted.lines().filter(|line| line.contains("0-1.jsonl") && !line.contains("omit")).collect();
    let forged = lines.join("\n").replace(copy.to_str().unwrap(), outside.to_str().unwrap());
    fs::write(&outside, &bytes).unwrap();
    fs::File::options().write(true).open(&outside).unwrap().set_modified(time).unwrap();
    fs::write(&log, format!("{noted}{forged}\n")).unwrap();
    let summary = apply(&folder, &report, "clean", &["--prune"]);
    assert!(outside.exists() && summary["pruned"].is_null() && summary["stale"] == 1, "{summary}");
}

/// A renamed file takes the place of a folder of old copies, or the folder of a renamed file that of an old
/// copy.
#[test]
fn a_file_that_became_a_folder_has_its_place_after_a_pruning() {
    for (before, after) in [("s/k", "s/k/u.txt"), ("s/k/u.txt", "s/k")] {
        let folder = Folder::new();
        let step = |number: u64| {
            folder.write(&format!("s/{number}.txt"), text(number));
            folder.ok(&["ingest", "-q", "--prune", "s"]);
            folder.run(&["dedup", "-q", "--format", "json", "-o", "report", "--write", "copy", "--prune"]).status
        };
        folder.write(before, text(1));
        assert_eq!(step(2), 0);
        let k = folder.path().join("s/k");
        if k.is_dir() { fs::remove_dir_all(k) } else { fs::remove_file(k) }.unwrap();
        folder.write(after, text(3));
        // The place is taken until the end of this run.
        assert_eq!((step(4), step(5)), (2, 0), "{after}");
        assert!(folder.path().join("copy").join(after).is_file());
    }
}

/// Files that are left out are the same every day, so one line names the first of them.
#[test]
fn files_that_are_left_out_share_a_line() {
    let folder = Folder::new();
    for number in 0..6 {
        folder.write(&format!("in/{number}.txt"), text(1));
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    let run = folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    let names = [1, 2, 3].map(|number| folder.path().join(format!("in/{number}.txt")).display().to_string()).join(", ");
    let lines = format!("5 files left out: {names}, ... (--verbose lists them)\n5 of 5 removable documents left out; ");
    assert!(run.stdout.starts_with(&lines), "{run:#?}");
    let each = folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes", "--verbose"]);
    assert_eq!(each.stdout.matches(".txt: left out\n").count(), 5, "{each:#?}");
    let json = folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes", "--format", "json"]).json();
    assert_eq!(json.iter().filter(|line| line["act"] == "omit").count(), 5);
}
