//! A copy lacks the records whose contents are kept out, although the database no longer knows them.

use std::collections::BTreeSet;
use std::fs;

use super::formats::gzip;
use super::{apply, text};
use crate::support::{Folder, zip};

fn line(number: u64) -> String {
    format!("{{\"text\":\"{}\"}}\n", text(number))
}

fn mail(number: u64) -> String {
    format!("From a@b.c Sat Jan  3 01:05:34 1996\nFrom: {number}@b.example\nSubject: {number}\n\n{}\n\n", text(number))
}

/// A mail with its text and one attachment, in a mailbox.
fn with_attachment(body: u64, attached: u64) -> String {
    let part = |head: &str, number| format!("--x\nContent-Type: text/plain\n{head}\n{}\n", text(number));
    format!(
        "From a@b.c Sat Jan  3 01:05:34 1996\nFrom: a@b.example\nMIME-Version: 1.0\nContent-Type: multipart/mixed; \
         boundary=x\n\n{}{}--x--\n\n",
        part("", body),
        part("Content-Disposition: attachment; filename=\"a.txt\"\n", attached)
    )
}

fn tar(members: &[(&str, u64)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, number) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(text(*number).len() as u64);
        tar.append_data(&mut header, name, text(*number).as_bytes()).unwrap();
    }
    tar.into_inner().unwrap()
}

fn warc(numbers: &[u64]) -> String {
    let record = |number: &u64| {
        let text = text(*number);
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.example/{number}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n\
             WARC-Record-ID: <urn:uuid:{number}>\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    numbers.iter().map(record).collect()
}

/// The digests of all documents of a database.
fn digests(folder: &Folder, db: &str) -> BTreeSet<String> {
    let documents = folder.ok(&["--db", db, "list", "--format", "json"]).json();
    documents.iter().map(|document| document["digest"].to_string()).collect()
}

/// An archive whose containers have the records 1 and 2, and some more. Record 2 is kept out, and record 3 is
/// removable.
fn archive(folder: &Folder) {
    folder.write("in/1.txt", text(3));
    folder.write("in/a.jsonl", line(1) + &line(2) + &line(3));
    folder.write("in/b.jsonl.gz", gzip((line(1) + &line(2)).as_bytes()));
    folder.write("in/c.mbox", mail(1) + &mail(2) + &mail(4));
    folder.write("in/d.tar", tar(&[("1", 1), ("2", 2), ("same", 5), ("same", 2), ("same", 6)]));
    folder.write("in/e.zip", zip([("1", text(1)), ("2", text(2))]));
    folder.write("in/f.warc", warc(&[1, 2]));
    folder.write("in/g.txt", text(2));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let removed = [
        "in/a.jsonl:2",
        "in/b.jsonl.gz:2",
        "in/c.mbox#2",
        "in/d.tar!2",
        "in/e.zip!2",
        "in/f.warc#urn:uuid:2",
        "in/g.txt",
    ];
    folder.ok(&[&["rm", "--keep-out"], &removed[..]].concat());
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
}

#[test]
fn copies_of_containers_lack_what_is_kept_out() {
    let folder = Folder::new();
    archive(&folder);
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["kept_out"], &summary["kept_out_left"]), (0, &7.into(), &().into()), "{run:#?}");
    let of_tar = lines.iter().find(|line| line["source"].as_str().unwrap().ends_with("d.tar")).unwrap();
    assert_eq!((&of_tar["act"], &of_tar["kept_out"]), (&"write".into(), &2.into()), "{of_tar}");
    folder.ok(&["--db", "copy", "ingest", "-q", "--profile", "words", "clean"]);
    assert!(
        digests(&folder, "copy").is_subset(&digests(&folder, ".fpdb")),
        "nothing is in the copy that is not stored"
    );
    let copy = fs::read_to_string(folder.path().join("clean/in/a.jsonl")).unwrap();
    assert_eq!(copy, line(1));
    // Nothing is left to do. Two of the seven files have no copy.
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["done_before"], &summary["bytes"]), (0, &5.into(), &0.into()), "{run:#?}");
    let told = folder.ok(&["apply", "report.jsonl", "--write", "other"]);
    assert!(told.stdout.contains("other/in/c.mbox, without 1 record whose contents are kept out"), "{told:#?}");
    assert!(told.stderr.contains("the copy will lack 7 records whose contents are kept out"), "{told:#?}");
}

#[test]
fn copies_with_marks_or_without_passages_lack_it_too() {
    let folder = Folder::new();
    archive(&folder);
    let (run, _, summary) = apply(&folder, &["--write", "marked", "--mark", "verdict", "--yes"]);
    assert_eq!((run.status, &summary["kept_out"]), (0, &7.into()), "{run:#?}");
    let marked = fs::read_to_string(folder.path().join("marked/in/a.jsonl")).unwrap();
    assert_eq!((marked.lines().count(), marked.contains(&text(2)), marked.contains("verdict")), (2, false, true));
    folder.ok(&["dedup", "--passages", "--min-length", "20", "-q", "--format", "json", "-o", "passages.jsonl"]);
    let cut = folder.ok(&["apply", "passages.jsonl", "--write", "cut", "--cut", "--yes", "--format", "json"]);
    assert_eq!(cut.json().last().unwrap()["kept_out"], 7, "{cut:#?}");
    for copy in ["marked", "cut"] {
        let db = format!("{copy}.db");
        folder.ok(&["--db", &db, "ingest", "-q", "--profile", "words", copy]);
        let found = folder.ok(&["--db", &db, "query", "in/g.txt", "--format", "json"]).json().remove(0);
        let best = found["matches"].as_array().unwrap().iter().filter(|found| found["containment"] == 1.0);
        assert_eq!(best.count(), 0, "{copy}: {found}");
    }
}

#[test]
fn what_cannot_be_left_out_is_counted() {
    let folder = Folder::new();
    let inner = zip([("1", text(1)), ("2", text(2))]);
    folder.write("in/outer.zip", zip([("in.zip", inner.as_slice()), ("7", text(7).as_bytes())]));
    folder.write("in/a.mbox", with_attachment(8, 2) + &with_attachment(2, 9) + &mail(1));
    folder.ok(&["ingest", "-q", "--profile", "words", "--attachments", "in"]);
    let names = folder.ok(&["list", "--format", "json"]).json();
    let secret = |suffix: &str| names.iter().any(|document| document["name"].as_str().unwrap().ends_with(suffix));
    assert!(secret("in.zip!2") && secret("a.mbox#1!a.txt"), "{names:#?}");
    folder.ok(&["rm", "--keep-out", "in/outer.zip!in.zip!2", "in/a.mbox#1!a.txt", "in/a.mbox#2"]);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    // The attachment stays with its mail, and the second mail with its attachment.
    assert_eq!((run.status, &summary["kept_out_left"], &summary["kept_out"]), (2, &3.into(), &().into()), "{run:#?}");
    assert!(lines.iter().all(|line| line["reason"].as_str().unwrap().contains("stay although they are kept out")));
    assert!(run.stderr.contains("warning: 3 records are in the copy although the contents are kept out"), "{run:#?}");
    // A mail leaves if its attachment is kept out too. Both count.
    folder.ok(&["rm", "--keep-out", "in/a.mbox#2!a.txt"]);
    let (_, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((&summary["kept_out"], &summary["kept_out_left"]), (&2.into(), &2.into()), "{summary} {lines:#?}");
}

#[test]
fn what_a_stored_document_has_stays() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", line(1) + &line(2));
    folder.write("in/b.jsonl", line(2) + &line(4));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.ok(&["rm", "--keep-out", "in/a.jsonl:2"]);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["kept_out"]), (0, &1.into()), "{run:#?}");
    let copy = |name: &str| fs::read_to_string(folder.path().join("clean/in").join(name)).unwrap();
    assert_eq!((copy("a.jsonl"), copy("b.jsonl")), (line(1), line(2) + &line(4)));
}

#[test]
fn attachments_are_looked_at_too() {
    let folder = Folder::new();
    let mail = |body, attached| with_attachment(body, attached).split_once('\n').unwrap().1.to_owned();
    folder.write("in/a.eml", mail(1, 2));
    // The attachment of the second mail is kept out. The third mail is removable.
    folder.write("in/b.mbox", with_attachment(3, 4) + &with_attachment(5, 2) + &with_attachment(3, 4));
    folder.ok(&["ingest", "-q", "--profile", "words", "--attachments", "in"]);
    folder.ok(&["rm", "--keep-out", "in/a.eml!a.txt", "in/b.mbox#2!a.txt"]);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["kept_out_left"]), (2, &2.into()), "{run:#?}");
    assert!(lines.iter().all(|line| line["reason"].as_str().unwrap().contains("kept out")), "{lines:#?}");
    // With a list that names both mails, nothing of them is in the copy.
    folder.write("list.jsonl", "{\"document\":\"in/a.eml\"}\n{\"document\":\"in/b.mbox#2\"}\n");
    let run = folder.ok(&["apply", "report.jsonl", "list.jsonl", "--write", "without", "--yes", "--format", "json"]);
    let summary = run.json().pop().unwrap();
    assert_eq!((&summary["kept_out_left"], &summary["left"]), (&().into(), &0.into()), "{run:#?}");
    let copy = fs::read_to_string(folder.path().join("without/in/b.mbox")).unwrap();
    assert!(!copy.contains(&text(2)) && copy.contains(&text(4)));
}

/// A mail that is kept out stays if its attachment is a document, whatever becomes of that document.
#[test]
fn a_stored_attachment_is_never_lost_with_its_mail() {
    let folder = Folder::new();
    folder.write("in/a.mbox", with_attachment(1, 2) + &with_attachment(3, 4));
    folder.write("in/b.txt", text(4) + " " + &text(5));
    folder.ok(&["ingest", "-q", "--profile", "words", "--attachments", "in"]);
    folder.ok(&["rm", "--keep-out", "in/a.mbox#2"]);
    folder.ok(&["dedup", "--passages", "--min-length", "10", "-q", "--format", "json", "-o", "report.jsonl"]);
    for flags in [&["--write", "cut", "--cut", "--yes"][..], &["--write", "marked", "--mark", "m", "--yes"]] {
        let (run, _, summary) = apply(&folder, flags);
        assert_eq!(
            (run.status, &summary["kept_out_left"], &summary["kept_out"]),
            (2, &1.into(), &().into()),
            "{run:#?}"
        );
        let copy = fs::read_to_string(folder.path().join(flags[1]).join("in/a.mbox")).unwrap();
        assert!(copy.contains(&text(4)), "{flags:?}");
    }
}

#[test]
fn what_cannot_be_searched_is_said() {
    let folder = Folder::new();
    let both = |number: u64| format!("{{\"body\":\"{}\",\"title\":\"{}\"}}\n", text(number), text(number + 20));
    folder.write("in/a.jsonl", both(1) + &both(2));
    folder.write("in/b.jsonl", line(3) + &line(4));
    folder.age("in/a.jsonl");
    folder.ok(&["ingest", "-q", "--profile", "words", "in/b.jsonl"]);
    folder.ok(&["ingest", "-q", "--text-field", "body", "in/a.jsonl"]);
    folder.ok(&["ingest", "-q", "--text-field", "title", "--on-change", "both", "in/a.jsonl"]);
    folder.ok(&["rm", "--keep-out", "in/a.jsonl:2"]);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    // A record that was read before cannot be read now.
    folder.write("in/b.jsonl", format!("{}{{{:>2$}", line(3), "\n", line(4).len() - 1));
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["kept_out_unsearched"]), (2, &2.into()), "{run:#?} {lines:#?}");
    assert!(run.stderr.contains("warning: 2 parts of the files named above cannot be searched"), "{run:#?}");
}

/// A member with two texts of one name has several cuts, and hides no other member.
#[test]
fn a_member_that_is_cut_twice_counts_once() {
    let folder = Folder::new();
    folder.write("in/0.txt", text(1));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.ok(&["rm", "-q", "--keep-out", "in/0.txt"]);
    folder.write("in/1y.txt", text(2));
    folder.write("in/t.tar", tar(&[("a.txt", 1), ("a.txt", 2), ("c.txt", 3)]));
    folder.ok(&["ingest", "-q", "in"]);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    let copy = fs::read(folder.path().join("clean/in/t.tar")).unwrap();
    let copy = String::from_utf8_lossy(&copy);
    assert!(copy.contains(&text(3)) && !copy.contains(&text(1)) && !copy.contains(&text(2)));
}

/// An attachment goes with its mail, even if it is no document.
#[test]
fn a_mailbox_of_removable_mails_with_pictures_is_not_in_the_copy() {
    let mail = |number: u64| {
        let picture = "--x\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\
                       Content-Disposition: attachment; filename=\"a.png\"\n\niVBORw0KGgoAAAANSUhEUgAAAAE=\n";
        with_attachment(number, number + 10).replace("--x--", &format!("{picture}--x--"))
    };
    let folder = Folder::new();
    folder.write("in/a.mbox", mail(1) + &mail(2));
    folder.write("in/b.mbox", mail(1) + &mail(2));
    folder.write("in/c.mbox", mail(1) + &mail(3));
    folder.ok(&["ingest", "-q", "--profile", "words", "--attachments", "in"]);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["left"]), (0, &0.into()), "{run:#?}");
    let copied: Vec<String> = super::files(&folder.path().join("clean/in")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(copied, ["a.mbox", "c.mbox"]);
    assert_eq!(fs::read_to_string(folder.path().join("clean/in/c.mbox")).unwrap(), mail(3));
}
