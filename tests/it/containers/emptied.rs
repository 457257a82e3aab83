//! Containers that are empty or shorter now, and containers that have a new name.

use std::fs;

use serde_json::Value;

use super::hostile::tar_of;
use super::names;
use crate::bad_input::prose;
use crate::formats::sample;
use crate::support::{Folder, Run, gzip, zip};

/// A document whose bytes can be read, but not its text.
const BROKEN: &str = "%PDF-1.4\nbroken";

fn lines(numbers: &[usize]) -> String {
    numbers.iter().map(|&number| format!("{}\n", serde_json::json!({ "text": prose(number) }))).collect()
}

fn mailbox(numbers: &[usize]) -> String {
    let mail = |&number: &usize| format!("From a b Sat Jan  3 01:05:34 1996\nFrom: a\nTo: b\n\n{}\n", prose(number));
    numbers.iter().map(mail).collect()
}

/// The number and the metadata of each document, by the end of its name.
fn essence(folder: &Folder) -> Vec<(String, Value, Value)> {
    let listed = folder.ok(&["list", "--format", "json"]).json();
    let mut all: Vec<_> = listed
        .iter()
        .map(|one| {
            let name = one["name"].as_str().unwrap();
            let end = name.find(['!', '#', ':']).unwrap_or(0);
            (name[end..].to_owned(), one["id"].clone(), one["metadata"].clone())
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

#[test]
fn the_documents_of_a_container_that_is_empty_now_stay_until_they_are_pruned() {
    let empty = [
        ("s/a.jsonl", lines(&[1, 2]).into_bytes(), Vec::new()),
        ("s/b.jsonl.gz", gzip(lines(&[1, 2])), gzip("\n")),
        ("s/c.mbox", mailbox(&[1, 2]).into_bytes(), Vec::new()),
        ("s/Inbox", mailbox(&[1, 2]).into_bytes(), Vec::new()),
        ("s/d.tar", tar_of(&[("a.txt", prose(1).as_bytes()), ("b.txt", prose(2).as_bytes())]), tar_of(&[])),
    ];
    for (name, whole, nothing) in empty {
        for on_change in ["replace", "keep", "both"] {
            let folder = Folder::new();
            folder.write(name, &whole);
            folder.write("s/other.txt", prose(3));
            let ingest = |more: &[&str]| {
                folder.run(&[&["ingest", "--profile", "prose", "--on-change", on_change, "s", "-q"], more].concat())
            };
            assert_eq!(ingest(&[]).status, 0);
            folder.write(name, &nothing);
            for _ in 0..2 {
                let run = ingest(&[]);
                if on_change == "replace" {
                    let told = format!(
                        "error: {name}: it is empty now, or nothing in it can be read: the stored documents that came from it (2) were not removed"
                    );
                    assert!(run.status == 2 && run.stderr.contains(&told), "{name} {run:?}");
                    let run = folder.run(&["ingest", "--on-change", on_change, "s"]);
                    assert!(run.stderr.contains("`fpdb ingest --prune` removes them"), "{run:?}");
                } else {
                    // With this flag a run would remove nothing.
                    assert_eq!((run.status, &run.stderr[..]), (0, ""), "{name}");
                }
                assert_eq!(names(&folder).len(), 3, "{name}");
            }
            // If the file is back, nothing has changed.
            folder.write(name, &whole);
            let run = ingest(&["--format", "json"]);
            assert_eq!((run.status, &run.json()[0]["unchanged"]), (0, &3.into()), "{run:?}");
            folder.write(name, &nothing);
            let run = ingest(&["--prune", "--format", "json"]);
            assert_eq!((run.status, &run.json()[0]["removed"]), (0, &2.into()), "{run:?}");
            assert!(
                ingest(&[]).status == 0 && !names(&folder).iter().any(|stored| stored.starts_with(&format!("{name}!")))
            );
        }
    }
}

#[test]
fn documents_that_a_container_lost_are_told_also_to_a_quiet_user() {
    let folder = Folder::new();
    folder.write("s/a.mbox", mailbox(&[1, 2, 3]));
    folder.ok(&["ingest", "-q", "--profile", "prose", "s"]);
    folder.write("s/a.mbox", mailbox(&[1]));
    let run = folder.ok(&["ingest", "-q", "s"]);
    assert!(run.stderr.starts_with("warning: 2 documents were removed, because their containers no"), "{run:?}");
    assert!(run.stderr.contains("s/a.mbox#2, s/a.mbox#3"), "{run:?}");
    folder.write("s/a.mbox", mailbox(&[4]));
    assert_eq!(folder.ok(&["ingest", "-q", "--prune", "s"]).stderr, "");
}

/// A renamed container is recognised by its documents alone, not by other members or a table of metadata.
#[test]
fn a_renamed_container_keeps_numbers_and_metadata() {
    let binary = [0_u8, 1, 2, 3].repeat(99);
    let members = [("a.txt", prose(1).into_bytes()), ("x.png", binary.clone()), ("b.txt", prose(2).into_bytes())];
    let damaged = [("a.txt", prose(1).into_bytes()), ("b.txt", prose(2).into_bytes()), ("c.txt", binary)];
    let unreadable = [members[0].clone(), ("b.pdf", BROKEN.as_bytes().to_vec()), members[2].clone()];
    let archive = |members: &[(&'static str, Vec<u8>)]| zip(members.iter().map(|(name, bytes)| (*name, bytes)));
    for (name, bytes, status) in [
        ("a.zip", archive(&members), 0),
        ("b.zip", archive(&members[..1]), 0),
        ("c.zip", archive(&damaged), 2),
        ("f.zip", archive(&unreadable), 2),
        ("d.mbox", mailbox(&[1, 2]).into_bytes(), 0),
        ("e.jsonl", format!("{}{{\"text\":null}}\n", lines(&[1, 2])).into_bytes(), 0),
    ] {
        for again in [&[][..], &["--metadata", "m.csv"]] {
            let folder = Folder::new();
            folder.write(&format!("s/{name}"), &bytes);
            folder.write("s/other.txt", prose(3));
            let rows = ["!a.txt", "!b.txt", "#2", ":2"].map(|member| format!("s/{name}{member},zoe\n"));
            folder.write("m.csv", format!("filename,who\n{}", rows.concat()));
            folder.run(&["ingest", "-q", "--profile", "prose", "--metadata", "m.csv", "s"]);
            let before = essence(&folder);
            assert!(before.len() > 1 && before.iter().any(|(_, _, metadata)| metadata["who"] == "zoe"), "{before:?}");
            fs::rename(folder.path().join("s").join(name), folder.path().join(format!("s/new {name}"))).unwrap();
            let run = folder.run(&[&["ingest", "--format", "json", "--prune", "s"], again].concat());
            let counts = ["added", "removed", "renamed"].map(|count| run.json()[0][count].as_u64().unwrap_or(0));
            assert_eq!((run.status, counts), (status, [0, 0, before.len() as u64 - 1]), "{name} {run:?}");
            assert_eq!(essence(&folder), before, "{name}");
            assert!(names(&folder).iter().filter(|stored| stored.starts_with(&format!("s/new {name}"))).count() > 0);
        }
    }
}

/// The names of a walk of `.` have no `./`.
#[test]
fn a_renamed_container_with_an_unreadable_member_is_recognised_from_its_folder() {
    let folder = Folder::new();
    folder.write("s/a.zip", zip([("a.txt", prose(1).into_bytes()), ("b.pdf", BROKEN.into())]));
    folder.run(&["ingest", "-q", "--profile", "prose", "s"]);
    let before = essence(&folder);
    assert_eq!(before.len(), 1);
    fs::rename(folder.path().join("s/a.zip"), folder.path().join("s/new.zip")).unwrap();
    let mut command = folder.command(&["ingest", "--format", "json", "--prune", "."]);
    let run = Run::of(&command.current_dir(folder.path().join("s")).output().unwrap());
    let counts = ["added", "removed", "renamed"].map(|count| run.json()[0][count].as_u64().unwrap_or(0));
    assert_eq!((run.status, counts), (2, [0, 0, 1]), "{run:?}");
    assert_eq!(essence(&folder), before);
}

/// A document that cannot be read hides no other member, and stays if it was stored before.
#[test]
fn members_withdrawn_beside_an_unreadable_document_are_removed() {
    let folder = Folder::new();
    let (a, c) = (("a.txt", prose(1).into_bytes()), ("c.txt", prose(2).into_bytes()));
    let pdf = sample("sample.pdf");
    folder.write("in/all.zip", zip([a.clone(), ("b.pdf", pdf), c]));
    folder.ok(&["ingest", "-q", "in"]);
    assert_eq!(names(&folder).len(), 3);
    folder.write("in/all.zip", zip([a, ("b.pdf", BROKEN.into())]));
    let run = folder.run(&["ingest", "in"]);
    assert!(run.status == 2 && run.stderr.contains("kept out: in/all.zip!c.txt\n"), "{run:?}");
    assert_eq!(names(&folder), ["in/all.zip!a.txt", "in/all.zip!b.pdf"]);
}

/// An archive without a readable document, like an empty one, rarely means that its documents shall be
/// removed.
#[test]
fn documents_of_an_archive_without_readable_documents_stay_until_they_are_pruned() {
    for (broken, left) in [("b.pdf", &["in/all.zip!b.pdf"][..]), ("new.pdf", &[])] {
        let folder = Folder::new();
        folder.write("in/all.zip", zip([("a.txt", prose(1).into_bytes()), ("b.pdf", sample("sample.pdf"))]));
        folder.ok(&["ingest", "-q", "in"]);
        folder.write("in/all.zip", zip([(broken, BROKEN)]));
        for _ in 0..2 {
            let run = folder.run(&["ingest", "in"]);
            let told = format!("the stored documents that came from it ({}) were not removed", 2 - left.len());
            assert!(run.status == 2 && run.stderr.contains(&told), "{run:?}");
            assert_eq!(names(&folder).len(), 2);
        }
        assert_eq!(folder.run(&["ingest", "--prune", "in"]).status, 2);
        assert_eq!(names(&folder), left);
    }
}

/// While a part of an archive cannot be read, documents that are missing in the archive stay, and the run
/// says so.
#[test]
fn members_that_may_be_in_an_unreadable_part_stay_and_are_counted() {
    let folder = Folder::new();
    let inner = zip([("c.txt", prose(3)), ("d.txt", prose(4))]);
    let both = [("a.txt", prose(1).into_bytes()), ("b.txt", prose(2).into_bytes()), ("in.zip", inner.clone())];
    folder.write("in/all.zip", zip(both.clone()));
    folder.ok(&["ingest", "-q", "in"]);
    let said = "error: in/all.zip: stored documents of it were not found in it and stay (1: in/all.zip!b.txt), because it was not read whole\n\
                hint: mend the part that cannot be read, and ingest the file again; or remove what was withdrawn from it with";
    folder.write("in/all.zip", zip([both[0].clone(), ("in.zip", inner[..inner.len() / 2].to_vec())]));
    let run = folder.run(&["ingest", "in", "--prune"]);
    assert!(run.status == 2 && run.stderr.contains(said), "{run:?}");
    assert_eq!(names(&folder).len(), 4);
    // The next run tells the same, and does not count the part twice.
    folder.age("in/all.zip");
    for _ in 0..2 {
        let run = folder.run(&["ingest", "--format", "json", "in"]);
        assert!(run.stderr.contains("and stay (1: in/all.zip!b.txt), because it was not read whole"), "{run:?}");
        assert_eq!((run.status, &run.json()[0]["failures"]), (2, &2.into()), "{run:?}");
    }
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    let run = folder.run(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    assert!(run.stdout.contains("1 part of it could not be read and stays as it is: in/all.zip!in.zip"), "{run:?}");
    // A part that cannot be read is a failure of its own, even if no document is missing.
    folder.write("in/all.zip", zip([both[0].clone(), both[1].clone(), ("in.zip", inner[..inner.len() / 2].to_vec())]));
    let run = folder.run(&["ingest", "in"]);
    assert!(run.status == 2 && !run.stderr.contains("were not found"), "{run:?}");
    // This holds even after more failures than a run lists.
    folder.write("in/a.zip", zip((0..1001).map(|number| (format!("{number}.pdf"), ""))));
    folder.write("in/all.zip", zip([both[0].clone(), both[1].clone(), ("in.zip", inner[..inner.len() / 3].to_vec())]));
    let run = folder.run(&["ingest", "--format", "json", "in"]);
    assert_eq!((run.status, &run.json()[0]["failures"]), (2, &1002.into()), "{run:?}");
    fs::remove_file(folder.path().join("in/a.zip")).unwrap();
    folder.write("in/all.zip", zip([both[0].clone(), both[2].clone()]));
    let run = folder.run(&["ingest", "in"]);
    assert!(run.status == 0 && run.stderr.contains("in/all.zip!b.txt"), "{run:?}");
}

#[test]
fn a_file_that_is_empty_now_keeps_its_document_until_it_is_pruned() {
    for on_change in ["replace", "keep", "both"] {
        let folder = Folder::new();
        folder.write("s/a.txt", prose(1));
        folder.write("s/empty.txt", "");
        let ingest = |more: &[&str]| {
            let arguments = ["ingest", "-q", "--profile", "prose", "--on-change", on_change, "--format", "json", "s"];
            folder.run(&[&arguments[..], more].concat())
        };
        assert_eq!(ingest(&[]).status, 0);
        folder.write("s/a.txt", "");
        for _ in 0..2 {
            let run = ingest(&[]);
            let is_told = run.stderr.contains("error: s/a.txt: it is empty now, or nothing in it can be read")
                && run.stderr.contains("`fpdb ingest --prune` removes them");
            assert_eq!((run.status == 2, is_told), (on_change == "replace", on_change == "replace"), "{run:?}");
            let bytes = |name: &str| folder.ok(&["show", name, "--format", "json"]).json()[0]["bytes"].clone();
            assert!(on_change == "both" || bytes("s/a.txt") == prose(1).len(), "{on_change}");
        }
        if on_change == "replace" {
            let run = ingest(&["--prune"]);
            assert_eq!((run.status, &run.json()[0]["replaced"]), (0, &1.into()), "{run:?}");
        }
    }
}

/// A document counts as identical to another one that is stored in the end.
#[test]
fn records_that_move_up_are_identical_to_no_other_document() {
    for prune in [&[][..], &["--prune"], &["--dry-run"]] {
        let folder = Folder::new();
        let ingest = |more: &[&str]| {
            let arguments = ["ingest", "-q", "--profile", "prose", "--format", "json", "s"];
            folder.ok(&[&arguments[..], more].concat()).json().remove(0)
        };
        folder.write("s/a.mbox", mailbox(&[1, 2, 3]));
        ingest(&[]);
        folder.write("s/a.mbox", mailbox(&[2, 3]));
        let answer = ingest(prune);
        assert_eq!((&answer["replaced"], &answer["removed"], &answer["identical"]), (&2.into(), &1.into(), &0.into()));
        if prune != ["--dry-run"] {
            folder.write("s/a.mbox", mailbox(&[3, 3]));
            assert_eq!(ingest(prune)["identical"], 1);
        }
    }
}

/// A file that was not opened is no office document, and following the hint about a damaged one helps.
#[test]
fn closed_and_damaged_archives_are_told_as_what_they_are() {
    let folder = Folder::new();
    folder.write("s/a.txt", prose(1));
    folder.write("s/k.zip", zip([("b.txt", prose(2).repeat(9))]));
    let run = folder.ok(&["ingest", "--profile", "prose", "--no-expand", "-v", "s"]);
    assert!(!run.stderr.contains("office document"), "{run:?}");
    assert!(run.stderr.contains("skipped s/k.zip: an archive that was not opened"), "{run:?}");
    folder.write("s/cut.gz", &gzip(prose(3).repeat(9))[..60]);
    let run = folder.run(&["ingest", "-q", "--as", "auto", "s"]);
    assert!(run.status == 2 && run.stderr.contains("hint: it may be damaged or cut short"), "{run:?}");
    assert!(!run.stderr.contains("--no-expand"), "{run:?}");
}
