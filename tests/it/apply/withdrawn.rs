//! A document that was removed from the database, for good or not, does not change what else a copy leaves
//! out. Records that are kept out are marked.

use std::fs;

use serde_json::Value;

use super::formats::gzip;
use super::{apply, text};
use crate::support::{Folder, Run};

pub(super) fn mail(body: u64, attached: &[u64]) -> String {
    let part = |head: &str, number| format!("--x\nContent-Type: text/plain\n{head}\n{}\n", text(number));
    let attached = attached
        .iter()
        .map(|&number| part(&format!("Content-Disposition: attachment; filename=\"{number}.txt\"\n"), number));
    let attached: String = attached.collect();
    format!(
        "From: a@b.example\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n{}{attached}--x--\n",
        part("", body)
    )
}

fn line(number: u64) -> String {
    format!("{{\"text\":\"{}\"}}\n", text(number))
}

fn ingest(folder: &Folder, flags: &[&str]) {
    folder.ok(&[&["ingest", "-q", "--profile", "words", "in"], flags].concat());
}

fn dedup(folder: &Folder) {
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
}

fn copied(folder: &Folder, copy: &str) -> Vec<String> {
    let listed = super::files(&folder.path().join(copy)).into_iter();
    listed.map(|(name, _)| name.strip_prefix("in/").unwrap_or(&name).to_owned()).collect()
}

fn reasons(run: &Run, lines: &[Value]) -> String {
    format!("{run:#?} {lines:#?}")
}

#[test]
fn a_withdrawal_changes_nothing_else_that_a_copy_leaves_out() {
    for flags in [&[][..], &["--attachments"]] {
        let folder = Folder::new();
        let plain = format!("From: a@b.example\nSubject: plain\nDate: Mon, 2 Jan 2023 10:00:00 +0000\n\n{}\n", text(1));
        // Mails without attachments, one with an attachment, and all of them once more.
        for copy in ["1", "2"] {
            folder.write(&format!("in/{copy}/plain.eml"), &plain);
            folder.write(&format!("in/{copy}/one.emlx"), format!("{}\n{plain}", plain.len()));
            folder.write(&format!("in/{copy}/packed.eml.gz"), gzip(plain.as_bytes()));
            folder.write(&format!("in/{copy}/other-name"), &plain);
            folder.write(&format!("in/{copy}/attached.eml"), mail(2, &[3]));
        }
        folder.write("in/x.txt", text(9));
        folder.write("in/y.txt", text(8));
        ingest(&folder, flags);
        dedup(&folder);
        let (run, lines, before) = apply(&folder, &["--write", "before", "--yes"]);
        assert_eq!((run.status, &before["left"]), (0, &0.into()), "{}", reasons(&run, &lines));
        folder.ok(&["rm", "-q", "--keep-out", "in/x.txt"]);
        dedup(&folder);
        let (run, lines, after) = apply(&folder, &["--write", "after", "--yes"]);
        assert_eq!((run.status, &after["left"]), (0, &0.into()), "{}", reasons(&run, &lines));
        assert_eq!(after["applied"], before["applied"]);
        let without = |names: Vec<String>| names.into_iter().filter(|name| name != "x.txt").collect::<Vec<_>>();
        assert_eq!(copied(&folder, "after"), without(copied(&folder, "before")), "{flags:?}");
        // The same with a list.
        let kept = copied(&folder, "after").into_iter().find(|name| name.contains("plain") || name.contains("packed"));
        let listed = format!("in/{}", kept.unwrap_or_else(|| "1/plain.eml".into()));
        folder.write("list.jsonl", format!("{{\"document\":\"{listed}\"}}\n"));
        let run = folder.run(&["apply", "list.jsonl", "--write", "listed", "--yes"]);
        assert!(run.status == 0 && !folder.path().join("listed").join(&listed).exists(), "{run:#?}");
    }
}

#[test]
fn a_mail_file_whose_mail_was_removed_is_as_it_was_ingested() {
    for (flags, left) in [(&[][..], Value::Null), (&["--keep-out"], 1.into())] {
        let folder = Folder::new();
        for number in [1, 2] {
            folder.write(&format!("in/{number}.eml"), mail(number, &[number + 10, number + 20]));
            folder.age(&format!("in/{number}.eml"));
        }
        folder.write("in/same.txt", text(12));
        ingest(&folder, &["--attachments"]);
        folder.ok(&[&["rm", "in/1.eml"], flags].concat());
        dedup(&folder);
        let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
        // The mail that is kept out stays with its attachments, which are documents.
        let status = if left.is_null() { 0 } else { 2 };
        assert_eq!((run.status, &summary["failed"]), (status, &0.into()), "{}", reasons(&run, &lines));
        assert_eq!(summary["kept_out_left"], left);
        assert_eq!(
            fs::read(folder.path().join("clean/in/1.eml")).unwrap(),
            fs::read(folder.path().join("in/1.eml")).unwrap()
        );
        let check = folder.run(&["apply", "report.jsonl", "--check", "--write", "clean", "--format", "json"]);
        assert_eq!((check.status, &check.json().pop().unwrap()["lost"]), (0, &0.into()), "{check:#?}");
        // A mail with one more attachment is another version.
        folder.write("in/1.eml", mail(1, &[11, 21, 31]));
        folder.age("in/1.eml");
        let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!((run.status, &summary["failed"]), (2, &1.into()), "{run:#?}");
    }
}

/// A mail that is kept out goes with its attachments if these are all removable.
#[test]
fn a_mail_that_is_kept_out_goes_with_its_attachments() {
    let folder = Folder::new();
    folder.write("in/a.txt", text(12));
    folder.write("in/b.eml", mail(2, &[12]));
    let from = "From a@b.c Sat Jan  3 01:05:34 1996\n";
    folder.write("in/c.mbox", format!("{from}{}\n{from}{}\n", mail(2, &[12]), mail(3, &[])));
    ingest(&folder, &["--attachments"]);
    folder.ok(&["rm", "-q", "--keep-out", "in/b.eml", "in/c.mbox#1"]);
    folder.ok(&["dedup", "-q", "--keep", "first", "--format", "json", "-o", "report.jsonl"]);
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(
        (run.status, &summary["applied"], &summary["kept_out"], &summary["kept_out_left"]),
        (0, &2.into(), &2.into(), &Value::Null),
        "{lines:#?}"
    );
    let told = folder.ok(&["apply", "report.jsonl", "--write", "other"]).stdout;
    assert!(told.contains("in/b.eml: left out, with 1 record whose contents are kept out"), "{told}");
    assert!(told.contains("in/c.mbox without 1 document and 1 record whose contents are kept out"), "{told}");
    assert_eq!(copied(&folder, "clean"), ["a.txt", "c.mbox"]);
    assert!(!fs::read_to_string(folder.path().join("clean/in/c.mbox")).unwrap().contains(&text(2)));
    // With marks all mails are in the copy.
    let (run, _, summary) = apply(&folder, &["--write", "marked", "--mark", "dup", "--yes"]);
    assert_eq!((run.status, &summary["kept_out_left"]), (2, &2.into()), "{run:#?}");
    assert_eq!(copied(&folder, "marked").len(), 3);
}

/// No report and no list names the mail, so nothing justifies that its text leaves.
#[test]
fn a_mail_that_was_only_removed_stays_with_its_attachments() {
    let folder = Folder::new();
    let from = "From a@b.c Sat Jan  3 01:05:34 1996\n";
    folder.write("in/a.txt", text(12));
    folder.write("in/b.eml", mail(2, &[12]));
    folder.write("in/c.mbox", format!("{from}{}\n{from}{}\n", mail(3, &[12]), mail(4, &[])));
    folder.write("in/d.txt", text(12));
    ingest(&folder, &["--attachments"]);
    folder.ok(&["rm", "-q", "in/b.eml", "in/c.mbox#1"]);
    folder.ok(&["dedup", "-q", "--keep", "first", "--format", "json", "-o", "report.jsonl"]);
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    let numbers = (run.status, &summary["applied"], &summary["inseparable"]);
    assert_eq!(numbers, (0, &1.into(), &2.into()), "{}", reasons(&run, &lines));
    for name in ["b.eml", "c.mbox"] {
        let [source, copy] = ["in", "clean/in"].map(|below| fs::read(folder.path().join(below).join(name)).unwrap());
        assert!(source == copy, "{name}");
    }
    assert!(!folder.path().join("clean/in/d.txt").exists());
}

#[test]
fn marks_follow_what_is_kept_out_now() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", line(1) + &line(2) + &line(3));
    ingest(&folder, &[]);
    dedup(&folder);
    let mut removed = ":2";
    for next in [":3", ":1"] {
        folder.ok(&["rm", "-q", "--keep-out", &format!("in/a.jsonl{removed}")]);
        let (run, lines, summary) = apply(&folder, &["--mark", "dup", "--yes"]);
        assert_eq!((run.status, &summary["kept_out"]), (0, &1.into()), "{}", reasons(&run, &lines));
        let marked = fs::read_to_string(folder.path().join("in/a.jsonl")).unwrap();
        let marks = marked.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["dup"] == "remove");
        let numbers: Vec<String> = (1..).zip(marks).filter(|(_, is)| *is).map(|(at, _)| format!(":{at}")).collect();
        assert_eq!(numbers, [removed], "{marked}");
        folder.ok(&["rm", "-q", "--readmit", &format!("in/a.jsonl{removed}")]);
        ingest(&folder, &[]);
        removed = next;
    }
}

#[test]
fn a_record_that_is_kept_out_is_marked_in_its_place() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", line(1) + &line(2) + &line(3) + &line(1));
    folder.write("in/b.mbox", format!("From a@b.c Sat Jan  3 01:05:34 1996\n{}\n", mail(4, &[])).repeat(1));
    ingest(&folder, &[]);
    folder.ok(&["rm", "-q", "--keep-out", "in/a.jsonl:2"]);
    dedup(&folder);
    folder.ok(&["dedup", "--passages", "--min-length", "20", "-q", "--format", "json", "-o", "passages.jsonl"]);
    let plan = folder.ok(&["apply", "report.jsonl", "--mark", "dup"]);
    assert!(
        plan.stdout.contains("with 1 document of the report and 1 record whose contents are kept out"),
        "{plan:#?}"
    );
    let (run, lines, summary) = apply(&folder, &["--mark", "dup", "--yes"]);
    assert_eq!((run.status, &summary["kept_out"], &summary["applied"]), (0, &1.into(), &1.into()), "{lines:#?}");
    assert!(run.stderr.contains("1 record whose contents are kept out is marked too"), "{run:#?}");
    let records = || -> Vec<Value> {
        let marked = fs::read_to_string(folder.path().join("in/a.jsonl")).unwrap();
        marked.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let marks: Vec<Value> = records().iter().map(|record| record["dup"].clone()).collect();
    assert_eq!(marks.iter().filter(|mark| *mark == "keep").count(), 2, "{marks:?}");
    assert_eq!((&marks[1], &records()[1]["dup_survivor"]), (&"remove".into(), &Value::Null));
    // The mark of passages is a list. The record that is kept out has no list.
    folder.ok(&["apply", "passages.jsonl", "--mark", "again", "--yes"]);
    assert!(records().iter().enumerate().all(|(at, record)| record["again"].is_array() == (at != 1)));
    assert!(records()[1].as_object().unwrap().contains_key("again"));
}

#[test]
fn kept_documents_are_counted_by_reason() {
    let folder = Folder::new();
    let from = "From a@b.c Sat Jan  3 01:05:34 1996\n";
    folder.write("in/a.txt", text(1));
    folder.write("in/b.txt", text(2));
    folder.write("in/c.txt", text(3));
    // The attachment is a duplicate, and stays with its mail.
    folder.write("in/d.mbox", format!("{from}{}\n", mail(4, &[1])));
    folder.write("in/e.txt", text(2));
    folder.write("in/f.txt", text(3));
    ingest(&folder, &["--attachments"]);
    folder.ok(&["dedup", "-q", "--keep", "first", "--format", "json", "-o", "report.jsonl"]);
    folder.write("in/f.txt", text(5));
    let run = folder.run(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    let told = "1 of 3 removable documents left out, 2 kept (cannot leave their files: 1, in files left alone: 1); ";
    assert!(run.status == 2 && run.stdout.contains(told), "{run:#?}");
    assert!(run.stderr.contains("warning: 1 removable document is in the copy"), "{run:#?}");
    let (_, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(summary["inseparable"], 1);
    // The exit status is 0 as long as the only reason is a container that stays whole.
    folder.write("in/f.txt", text(3));
    let run = folder.ok(&["apply", "report.jsonl", "-q", "--write", "clean", "--yes"]);
    assert!(run.stderr.contains("warning: 1 removable document is in the copy"), "{run:#?}");
    let run = folder.run(&["apply", "report.jsonl", "--remove"]);
    assert!(run.stdout.contains(", 1 kept (cannot leave their files: 1); "), "{run:#?}");
}

#[test]
fn missing_documents_are_not_counted_as_kept() {
    let folder = Folder::new();
    for number in [1, 2, 3] {
        folder.write(&format!("in/{number}.txt"), text(number));
        folder.write(&format!("in/{number}b.txt"), text(number));
    }
    ingest(&folder, &[]);
    folder.ok(&["dedup", "-q", "--keep", "first", "--format", "json", "-o", "report.jsonl"]);
    folder.ok(&["rm", "-q", "in/3b.txt"]);
    folder.write("in/1.txt", text(5));
    let run = folder.run(&["apply", "report.jsonl", "--write", "clean"]);
    let told = "1 of 3 removable documents to be left out, 1 kept (no sound survivor: 1); ";
    assert!(run.status == 2 && run.stdout.contains(told), "{run:#?}");
}
