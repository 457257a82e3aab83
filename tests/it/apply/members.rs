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
/// later one of its name, unless a document of this name stays after it. All of the name stay if several
/// documents would leave after it: `removable`, of which only `removed` have an unchanged survivor.
fn left<'a>(
    tar: usize,
    members: &Members<'a>,
    stored: &BTreeSet<(String, String)>,
    removable: &BTreeSet<(String, String)>,
    removed: &BTreeSet<(String, String)>,
) -> Members<'a> {
    let is_stored = |at: usize| stored.contains(&identity(tar, &members[at]));
    let names: Vec<_> = members.iter().map(|member| identity(tar, member)).collect();
    if let [_, one, other, ..] = &names[..]
        && one != other
        && removable.contains(one)
        && removable.contains(other)
        && !is_stored(0)
        && members[0].1 != text(3).into_bytes()
    {
        return members.clone();
    }
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
        let removed_but = |changed: &str| -> BTreeSet<(String, String)> {
            let lines = lines.iter().filter(|line| line["remove"].is_string() && line["keep"] != changed);
            lines.map(|line| (field(line, "remove"), field(line, "remove_digest"))).collect()
        };
        let removable = removed_but("");
        // In the second round, the survivor of some removable members has changed, so these stay.
        for (copy, changed) in [("copy", ""), ("later", "in/02.txt")] {
            if !changed.is_empty() {
                folder.write(changed, text(7));
            }
            let removed = removed_but(changed);
            assert_eq!(removed.len() < removable.len(), !changed.is_empty());
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
                    false => left(number, members, &stored, &removable, &removed),
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

fn mail(body: u64) -> String {
    format!("From: a@b.example\nTo: c@d.example\nSubject: x\n\n{}\n", text(body))
}

fn mail_with(body: u64, name: &str, attached: u64) -> String {
    let part = |head: &str, number| format!("--x\nContent-Type: text/plain\n{head}\n{}\n", text(number));
    let head = format!("Content-Disposition: attachment; filename=\"{name}\"\n");
    let kind = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x";
    format!(
        "From: a@b.example\nTo: c@d.example\nSubject: x\n{kind}\n\n{}{}--x--\n",
        part("", body),
        part(&head, attached)
    )
}

/// A hidden mail is no document, but its attachment is. All mails of one name stay if a mail with attachments is
/// hidden, or hides another one.
#[test]
fn a_mail_does_not_leave_a_tar_if_an_earlier_one_would_come_to_light() {
    let newer = || mail_with(1, "x.txt", 2);
    let cases = [
        (vec![mail_with(3, "u.txt", 4), newer()], false),
        (vec![newer(), newer()], true),
        (vec![mail_with(3, "u.txt", 4), mail(6), mail(1)], false),
        (vec![mail(6), newer()], false),
        (vec![mail(6), mail(1)], true),
    ];
    for (mails, leaves) in cases {
        let folder = Folder::new();
        let all = mails.len() + 1;
        folder.write("in/a.eml", mails.last().unwrap());
        let mut members: Members<'_> = mails.into_iter().map(|mail| ("m.eml", mail.into_bytes())).collect();
        members.push(("z", text(5).into_bytes()));
        folder.write("in/b.tar", tar(&members, false));
        folder.ok(&["ingest", "-q", "--profile", "words", "--attachments", "in"]);
        folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
        let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
        let copy = copied(&folder, "clean/in/b.tar");
        assert_eq!((copy.len(), summary["left"] == 0), if leaves { (1, true) } else { (all, false) }, "{run:#?}");
        let stays = |number: &str| summary[number].as_u64().unwrap_or(0);
        assert_eq!((stays("inseparable"), stays("applied") == 0), (stays("left"), !leaves), "{run:#?}");
        assert_eq!(lines.iter().any(|line| line["reason"].to_string().contains("come to light")), !leaves);
        folder.ok(&["apply", "report.jsonl", "--check", "--write", "clean"]);
    }
}

#[test]
fn a_member_that_a_later_one_hides_is_no_survivor_in_place() {
    for (later, is_removed) in [(("a", text(2)), false), (("b", text(2)), true), (("a", text(1)), true)] {
        let folder = Folder::new();
        folder.write("in/a.tar", tar(&vec![("a", text(1).into_bytes())], false));
        folder.write("in/s.txt", text(1));
        super::report(&folder);
        let grown = vec![("a", text(1).into_bytes()), (later.0, later.1.into_bytes())];
        folder.write("in/a.tar", tar(&grown, false));
        let (run, _, summary) = apply(&folder, &["--remove", "--yes"]);
        assert_eq!((&summary["applied"] == 1, folder.path().join("in/s.txt").exists()), (is_removed, !is_removed));
        assert_eq!(run.status, if is_removed { 0 } else { 2 }, "{run:#?}");
        fs::remove_file(folder.path().join("in/s.txt")).unwrap_or_default();
        let check = folder.run(&["apply", "report.jsonl", "--check"]);
        assert_eq!(check.status, if is_removed { 0 } else { 2 }, "{check:#?}");
    }
}
