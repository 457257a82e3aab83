//! Members of one name: a copy lacks the removable ones and what is kept out, and brings no hidden one to light.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::{apply, text};
use crate::support::Folder;

type Members<'a> = Vec<(&'a str, Vec<u8>)>;

fn tar(members: &Members<'_>, link: bool) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, name, bytes.as_slice()).unwrap();
    }
    if link {
        let mut header = tar::Header::new_gnu();
        header.set_size(0);
        header.set_entry_type(tar::EntryType::Link);
        tar.append_link(&mut header, "link", "a").unwrap();
    }
    tar.into_inner().unwrap()
}

/// Tars of up to three members named `a`, with all contents: two that are removable, one that is kept out, own
/// ones, a binary one and an empty one. Every second tar has another member.
fn tars() -> Vec<Members<'static>> {
    let content = |kind: usize, own: usize| match kind {
        0..3 => text(kind as u64 + 1).into_bytes(),
        3 => vec![0; 200],
        4 => Vec::new(),
        _ => text(own as u64).into_bytes(),
    };
    let mut kinds: Vec<Vec<usize>> = vec![Vec::new()];
    let mut last = 0;
    for _ in 0..3 {
        for at in std::mem::replace(&mut last, kinds.len())..kinds.len() {
            let shorter = kinds[at].clone();
            kinds.extend((0..6).map(|kind| [&shorter[..], &[kind]].concat()));
        }
    }
    let members = |(number, kinds): (usize, &Vec<usize>)| -> Members<'static> {
        let own = 1000 + 10 * number;
        let mut members: Members<'static> =
            kinds.iter().zip(own..).map(|(&kind, own)| ("a", content(kind, own))).collect();
        members.extend((number % 2 == 0).then(|| ("z", content(5, own + 9))));
        members
    };
    kinds.iter().enumerate().skip(1).map(members).collect()
}

/// The document of a member, as a list and a report name it.
fn identity(tar: usize, (name, bytes): &(&str, Vec<u8>)) -> (String, String) {
    (format!("in/{tar}.tar!{name}"), format!("{:032x}", xxh3_128(bytes)))
}

fn field(line: &Value, name: &str) -> String {
    line[name].as_str().unwrap().to_owned()
}

fn documents(folder: &Folder, db: &str) -> BTreeSet<(String, String)> {
    let lines = folder.ok(&["--db", db, "list", "--format", "json"]).json();
    lines.iter().map(|line| (field(line, "name"), field(line, "digest"))).collect()
}

/// The members that must be left of a tar. One that is no document must not come to light: it leaves with a
/// later one of its name, unless a document of this name stays after it.
fn left<'a>(
    tar: usize,
    members: &Members<'a>,
    stored: &BTreeSet<(String, String)>,
    removed: &BTreeSet<(String, String)>,
) -> Members<'a> {
    let is_stored = |at: usize| stored.contains(&identity(tar, &members[at]));
    let mut stays: Vec<bool> = (0..members.len())
        .map(|at| match is_stored(at) {
            true => !removed.contains(&identity(tar, &members[at])),
            false => members[at].1 != text(3).into_bytes(),
        })
        .collect();
    for at in (0..members.len()).rev().filter(|&at| !is_stored(at)) {
        let later = || (at + 1..members.len()).filter(|&later| members[later].0 == members[at].0);
        let is_hidden = later().all(|later| stays[later]) || later().any(|later| is_stored(later) && stays[later]);
        stays[at] &= is_hidden;
    }
    members.iter().zip(stays).filter(|(_, stays)| *stays).map(|(member, _)| member.clone()).collect()
}

/// The members of a copy, none if there is no copy.
fn copied(folder: &Folder, copy: &str) -> Vec<(String, Vec<u8>)> {
    let bytes = fs::read(folder.path().join(copy)).unwrap_or_default();
    super::formats::entries(&bytes).into_iter().map(|(name, _, bytes)| (name, bytes)).collect()
}

/// An archive of these tars, and of files that are survivors of their removable members.
fn archive(folder: &Folder, tars: &[Members<'_>], on_change: &str, link: bool) {
    folder.write("in/k.txt", text(3));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.ok(&["rm", "-q", "--keep-out", "in/k.txt"]);
    fs::remove_file(folder.path().join("in/k.txt")).unwrap();
    for (name, text) in [("in/00.txt", String::new()), ("in/01.txt", text(1)), ("in/02.txt", text(2))] {
        folder.write(name, text);
    }
    for (number, members) in tars.iter().enumerate() {
        let name = format!("in/{number}.tar");
        folder.write(&name, tar(members, link));
        folder.age(&name);
    }
    folder.ok(&["ingest", "-q", "--on-change", on_change, "in"]);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
}

#[test]
fn a_tar_loses_what_the_report_names_and_shows_nothing_that_was_hidden() {
    let (all, kept_out) = (tars(), text(3).into_bytes());
    for (on_change, link) in [("replace", false), ("both", false), ("keep", false), ("both", true)] {
        let folder = Folder::new();
        let tars = if link { &all[..42] } else { &all };
        archive(&folder, tars, on_change, link);
        let stored = documents(&folder, ".fpdb");
        let is_stored = |number, member: &_| stored.contains(&identity(number, member));
        let report = fs::read_to_string(folder.path().join("report.jsonl")).unwrap();
        let lines: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // In the second round, the survivor of some removable members has changed, so these stay.
        for (copy, changed) in [("copy", ""), ("later", "in/01.txt")] {
            if !changed.is_empty() {
                folder.write(changed, text(7));
            }
            let lines = lines.iter().filter(|line| line["remove"].is_string() && line["keep"] != changed);
            let removed = lines.map(|line| (field(line, "remove"), field(line, "remove_digest"))).collect();
            let (run, _, summary) = apply(&folder, &["--write", copy, "--yes"]);
            let is_whole = !link && on_change != "keep" && changed.is_empty();
            assert_eq!(run.status, if is_whole { 0 } else { 2 }, "{on_change} {}", run.stderr);
            let mut left_out = 0;
            for (number, members) in tars.iter().enumerate() {
                // A tar is not copied if it has no document, or if an ingest would find another one now.
                let newest = members.iter().rfind(|(name, bytes)| *name == "a" && !bytes.starts_with(&[0]));
                let is_judged = newest.is_none_or(|member| is_stored(number, member) || member.1 == kept_out);
                let is_copied = is_judged && members.iter().any(|member| is_stored(number, member));
                let expected = match link {
                    _ if !is_copied => Vec::new(),
                    true => [&members[..], &[("link", Vec::new())]].concat(),
                    false => left(number, members, &stored, &removed),
                };
                let found = copied(&folder, &format!("{copy}/in/{number}.tar"));
                let found: Members<'_> = found.iter().map(|(name, bytes)| (&**name, bytes.clone())).collect();
                assert_eq!(found, expected, "{on_change} {copy} {number}: {members:?}");
                left_out += members.iter().filter(|(_, bytes)| is_copied && *bytes == kept_out).count() as u64;
            }
            match link {
                true => assert_eq!(summary["kept_out_left"], left_out, "{summary}"),
                // Hidden members that leave with one that is kept out count too.
                false => assert!(summary["kept_out"].as_u64().unwrap() >= left_out, "{summary}"),
            }
            if is_whole {
                folder.ok(&["apply", "report.jsonl", "--check", "--write", copy]);
                folder.ok(&["--db", "again", "ingest", "-q", "--profile", "words", "--on-change", on_change, copy]);
                let new = documents(&folder, "again");
                let known: BTreeSet<&String> = stored.iter().map(|(_, digest)| digest).collect();
                assert!(new.iter().all(|(_, digest)| known.contains(digest)), "{on_change} {new:?}");
            }
        }
    }
}

/// The hidden mail is no document, but its attachment is.
#[test]
fn a_mail_does_not_leave_a_tar_if_an_earlier_one_would_come_to_light() {
    let mail = |body, name: &str, attached| {
        let part = |head: &str, number| format!("--x\nContent-Type: text/plain\n{head}\n{}\n", text(number));
        let head = format!("Content-Disposition: attachment; filename=\"{name}\"\n");
        let kind = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x";
        format!(
            "From: a@b.example\nTo: c@d.example\nSubject: x\n{kind}\n\n{}{}--x--\n",
            part("", body),
            part(&head, attached)
        )
    };
    let newer = mail(1, "x.txt", 2).into_bytes();
    for (older, leaves) in [(mail(3, "u.txt", 4), false), (mail(1, "x.txt", 2), true)] {
        let folder = Folder::new();
        folder.write("in/a.eml", &newer);
        let members = vec![("m.eml", older.into_bytes()), ("m.eml", newer.clone()), ("z", text(5).into_bytes())];
        folder.write("in/b.tar", tar(&members, false));
        folder.ok(&["ingest", "-q", "--profile", "words", "--attachments", "in"]);
        folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
        let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
        let copy = copied(&folder, "clean/in/b.tar");
        assert_eq!((copy.len(), summary["left"] == 0), if leaves { (1, true) } else { (3, false) }, "{run:#?}");
        assert_eq!(lines.iter().any(|line| line["reason"].to_string().contains("stay together")), !leaves);
    }
}
