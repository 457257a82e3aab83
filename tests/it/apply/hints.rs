//! Hints: a run that cannot do the requested action names an action that works.

use std::fs;

use serde_json::json;

use super::{apply, report, text};
use crate::support::Folder;

fn lines(seeds: &[u64]) -> String {
    seeds.iter().map(|&seed| format!("{}\n", json!({"text": text(seed)}))).collect()
}

fn mbox(seeds: &[u64]) -> String {
    let mail = |seed: &u64| {
        format!("From a@example.org Thu Jan  1 00:00:00 2026\nFrom: a@example.org\nSubject: x\n\n{}\n\n", text(*seed))
    };
    seeds.iter().map(mail).collect()
}

#[test]
fn the_results_of_an_apply_replace_no_file_of_its_copy() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 2, 1]));
    report(&folder);
    folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    let content = || ["clean/in/a.jsonl", "clean.write.log"].map(|name| fs::read(folder.path().join(name)).unwrap());
    let before = content();
    for (flags, output) in [
        (&["--write", "clean"][..], "clean/in/a.jsonl"),
        (&["--write", "./clean", "--yes"], "clean/new.json"),
        (&["--write", "clean", "--yes"], "clean.write.log"),
        (&["--check", "--write", "clean"], "clean.write.log"),
        (&["--move", "clean"], "clean/new.json"),
        (&["--remove"], "report.jsonl.remove.log"),
    ] {
        let run = folder.run(&[&["apply", "report.jsonl", "-o", output], flags].concat());
        assert!(run.status == 2 && run.stderr.contains("-o would write"), "{output} {run:#?}");
        assert_eq!(content(), before);
    }
    folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes", "-o", "clean.json"]);
}

#[test]
fn a_named_command_is_of_the_same_database() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 2, 1]));
    folder.ok(&["ingest", "-q", "--profile", "words", "in", "--db", "db"]);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl", "--db", "db"]);
    let run = folder.run(&["apply", "report.jsonl", "--remove", "--db", "db"]);
    assert!(run.stderr.contains("`fpdb apply --db db REPORT --write DIR` copies all files"), "{run:#?}");
}

#[test]
fn a_second_report_needs_another_field_for_its_marks() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 2, 1]));
    report(&folder);
    apply(&folder, &["--mark", "dup", "--yes"]);
    folder.write("in/b.jsonl", lines(&[2, 3]));
    report(&folder);
    let run = folder.run(&["apply", "report.jsonl", "--mark", "dup", "--yes"]);
    let told = "1 file left alone: the records have this field already, maybe from an earlier report; name another field with --mark";
    assert!(run.status == 2 && run.stderr.contains(told) && !run.stderr.contains("dedup again"), "{run:#?}");
    let (run, _, summary) = apply(&folder, &["--mark", "dup-2", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["left"]), (0, &2.into(), &0.into()), "{run:#?}");
}

/// A run never replaces a field of the records by marks, even if it is repeated, and a dry run refuses this
/// too. Earlier marks would be the last fields of a record, so this test has such fields there.
#[test]
fn a_field_of_the_records_is_never_taken_for_marks() {
    let told = "1 file left alone: the records have this field already";
    for (field, records) in [
        ("text", lines(&[1, 2, 1]).replace("{", "{\"id\": 1, ")),
        ("dup", lines(&[1, 2, 1]).replace('}', ",\"dup\":\"mine\",\"dup_survivor\":null}")),
    ] {
        for target in [&[][..], &["--write", "marked"]] {
            let folder = Folder::new();
            folder.write("in/a.jsonl", &records);
            report(&folder);
            let command = [&["apply", "report.jsonl", "--mark", field], target].concat();
            for acts in [&[][..], &["--yes"], &["--yes"], &["--yes"], &[]] {
                let run = folder.run(&[&command[..], acts].concat());
                assert!(run.status == 2 && run.stderr.contains(told), "{field} {run:#?}");
                assert_eq!(fs::read_to_string(folder.path().join("in/a.jsonl")).unwrap(), records, "{field}");
            }
        }
    }
}

/// A file keeps its marks, and a copy stays replaceable by `apply`, whatever time the file has.
#[test]
fn times_of_files_change_no_rights() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 2, 1]));
    let old = std::time::UNIX_EPOCH - std::time::Duration::from_secs(300_000_000);
    let date = |name: &str| fs::File::options().write(true).open(folder.path().join(name)).unwrap().set_modified(old);
    folder.write("in/b.txt", text(7));
    date("in/b.txt").unwrap();
    report(&folder);
    for _ in 0..2 {
        folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    }
    folder.ok(&["apply", "report.jsonl", "--mark", "dup", "--yes"]);
    let marked = fs::read_to_string(folder.path().join("in/a.jsonl")).unwrap();
    date("in/a.jsonl").unwrap();
    folder.ok(&["apply", "report.jsonl", "--mark", "dup", "--yes"]);
    assert_eq!(fs::read_to_string(folder.path().join("in/a.jsonl")).unwrap(), marked);
}

/// If somebody else puts a file at the place of a copy, the file stays, even if a copy was begun there.
#[test]
fn a_copy_that_failed_gives_no_right_to_its_place() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 2, 1]).replace('}', ",\"dup\":1}"));
    report(&folder);
    let command = ["apply", "report.jsonl", "--write", "marked", "--mark", "dup", "--yes"];
    assert_eq!(folder.run(&command).status, 2);
    folder.write("marked/in/a.jsonl", "mine");
    assert_eq!(folder.run(&command).status, 2);
    assert_eq!(fs::read_to_string(folder.path().join("marked/in/a.jsonl")).unwrap(), "mine");
}

/// Messages, records and members are removable here. Their files are not.
#[test]
fn only_a_copy_leaves_out_parts_of_a_file() {
    let containers =
        [("in/a.mbox", mbox(&[1, 2, 1]), mbox(&[1, 2])), ("in/a.jsonl", lines(&[1, 2, 1]), lines(&[1, 2]))];
    for (name, whole, without) in containers {
        let folder = Folder::new();
        folder.write(name, &whole);
        folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
        folder.ok(&["dedup", "--by", "exact-text", "--keep", "first", "--format", "json", "-o", "report.jsonl", "-q"]);
        for action in [&["--remove"][..], &["--move", "gone"], &["--link", "hard"]] {
            let run = folder.run(&[&["apply", "report.jsonl", "--yes"], action].concat());
            assert_eq!(run.status, 2, "{run:#?}");
            let told = "1 file left whole: a file with several documents is not changed in its place; `fpdb apply REPORT --write DIR` copies";
            assert!(run.stderr.contains(told), "{action:?} {run:#?}");
        }
        folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
        assert_eq!(fs::read_to_string(folder.path().join("clean").join(name)).unwrap(), without);
    }
}

#[test]
fn files_without_records_take_no_marks() {
    for action in [&["--mark", "dup"][..], &["--write", "marked", "--mark", "dup"]] {
        let folder = Folder::new();
        folder.write("in/a.txt", text(1));
        folder.write("in/b.txt", text(1));
        report(&folder);
        let run = folder.run(&[&["apply", "report.jsonl", "--yes"], action].concat());
        assert_eq!(run.status, 2, "{run:#?}");
        let told = "1 file left whole: only records of JSON lines and Parquet take a field; `fpdb apply REPORT --write DIR` copies";
        assert!(run.stderr.contains(told), "{action:?} {run:#?}");
        assert!(run.stdout.contains("(it has no records that take a field)"), "{action:?} {run:#?}");
    }
}

#[test]
fn an_action_that_a_report_does_not_suit_names_one_that_it_does() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 1]));
    report(&folder);
    folder.ok(&["dedup", "--passages", "--min-length", "20", "--format", "json", "-o", "passages.jsonl", "-q"]);
    for (report, action) in [
        ("report.jsonl", &["--write", "clean", "--cut"][..]),
        ("passages.jsonl", &["--remove"]),
        ("passages.jsonl", &["--check"]),
    ] {
        let run = folder.run(&[&["apply", report], action].concat());
        assert!(run.status == 2 && run.stderr.contains("`fpdb dedup --passages` for --write with --cut"), "{run:#?}");
    }
}

/// An ingest keeps the documents of a folder that is empty, so `apply` tells the command that removes them.
#[test]
fn an_emptied_folder_is_told_with_the_next_step() {
    for action in [&["--remove"][..], &["--move", "gone"]] {
        let folder = Folder::new();
        folder.write("in/a.txt", text(1));
        folder.write("in/old/b.txt", text(1));
        folder.write("in/old/c.txt", text(1));
        report(&folder);
        let run = folder.ok(&[&["apply", "report.jsonl", "--yes"], action].concat());
        let told = "in/old is empty now, so `ingest --prune` keeps its documents in the database: \
                    `fpdb rm --report report.jsonl` removes those of this report";
        assert!(run.stderr.contains(told), "{run:#?}");
        let run = folder.run(&["ingest", "-q", "--prune", "in"]);
        assert!(run.status == 2 && run.stderr.contains("hint: if its disk is mounted"), "{run:#?}");
        folder.ok(&["rm", "-q", "--report", "report.jsonl"]);
        folder.ok(&["ingest", "-q", "--prune", "in"]);
    }
}
