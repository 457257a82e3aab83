//! Removed: what `rm` took from the database is in no copy of an unchanged file, as a file that it took.

use std::fs;

use super::{apply, text};
use crate::support::{Folder, gzip, names, zip};

fn lines(seeds: &[u64]) -> String {
    seeds.iter().map(|seed| format!("{{\"text\":\"{}\"}}\n", text(*seed))).collect()
}

fn mailbox(seeds: &[u64]) -> String {
    let mail = |seed: &u64| format!("From a@b.c Sat Jan  3 01:05:34 1996\nFrom: a@b.example\n\n{}\n\n", text(*seed));
    seeds.iter().map(mail).collect()
}

fn zipped(seeds: &[u64]) -> Vec<u8> {
    zip((1..).zip(seeds).map(|(at, seed)| (format!("{at}.txt"), text(*seed))))
}

fn ingest(folder: &Folder) {
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
}

fn dedup(folder: &Folder) {
    folder.ok(&["dedup", "-q", "--append", "--keep", "first", "--format", "json", "-o", "report.jsonl"]);
}

/// Files whose last record repeats the first. These duplicates are removed from the database after a copy was
/// written.
fn removed(folder: &Folder, is_aged: bool) {
    for (name, bytes) in [
        ("a.jsonl", lines(&[1, 2, 1]).into_bytes()),
        ("b.jsonl.gz", gzip(lines(&[4, 5, 4]).as_bytes())),
        ("c.mbox", mailbox(&[7, 8, 7]).into_bytes()),
        ("d.zip", zipped(&[10, 11, 10])),
    ] {
        folder.write(&format!("in/{name}"), bytes);
        if is_aged {
            folder.age(&format!("in/{name}"));
        }
    }
    ingest(folder);
    dedup(folder);
    let (run, _, summary) = apply(folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["applied"]), (0, &4.into()), "{run:#?}");
    folder.ok(&["rm", "-q", "--report", "report.jsonl"]);
}

fn documents(folder: &Folder, copy: &str) -> Vec<String> {
    let other = Folder::new();
    let copy = folder.path().join(copy).join("in");
    other.ok(&["ingest", "-q", "--profile", "words", copy.to_str().unwrap()]);
    let names = names(&other);
    names.iter().map(|name| name.rsplit('/').next().unwrap().to_owned()).collect()
}

const WITHOUT: [&str; 8] =
    ["a.jsonl:1", "a.jsonl:2", "b.jsonl.gz:1", "b.jsonl.gz:2", "c.mbox#1", "c.mbox#2", "d.zip!1.txt", "d.zip!2.txt"];

#[test]
fn a_copy_does_not_get_back_what_rm_took() {
    for is_aged in [false, true] {
        let folder = Folder::new();
        removed(&folder, is_aged);
        let copied = super::files(&folder.path().join("clean"));
        // The same report, and then one that names none of these files.
        let (run, _, summary) = apply(&folder, &["--write", "clean"]);
        assert_eq!((run.status, &summary["removed_before"]), (2, &4.into()), "{run:#?}");
        apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!(super::files(&folder.path().join("clean")), copied);
        folder.write("in/e.jsonl", lines(&[2, 20]));
        ingest(&folder);
        // The ingest adds what it finds in the files again.
        folder.ok(&["rm", "-q", "in/a.jsonl:3", "in/b.jsonl.gz:3", "in/c.mbox#3", "in/d.zip!3.txt"]);
        dedup(&folder);
        let (run, lines_of, summary) = apply(&folder, &["--write", "clean", "--yes"]);
        let numbers = (run.status, &summary["applied"], &summary["removed_before"]);
        assert_eq!(numbers, (0, &1.into(), &4.into()), "{run:#?} {lines_of:#?}");
        assert!(run.stderr.contains("4 documents that `rm` took are left out"), "{run:#?}");
        assert_eq!(documents(&folder, "clean")[..8], WITHOUT, "{is_aged}");
        let again = apply(&folder, &["--write", "clean", "--yes"]).2;
        assert_eq!(again["done_before"], again["sources"]);
        let (run, ..) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!(run.status, 0, "{run:#?}");
        let told = folder.ok(&["apply", "report.jsonl", "--write", "other"]).stdout;
        assert!(told.contains("other/in/a.jsonl, without 1 document that `rm` took\n"), "{told}");
        // Copies with marks or without passages lack them too.
        apply(&folder, &["--write", "marked", "--mark", "dup", "--yes"]);
        assert_eq!(fs::read_to_string(folder.path().join("marked/in/a.jsonl")).unwrap().lines().count(), 2);
        assert_eq!(documents(&folder, "marked")[..8], WITHOUT);
        folder.ok(&["dedup", "--passages", "--min-length", "20", "-q", "--format", "json", "-o", "passages.jsonl"]);
        folder.ok(&["apply", "passages.jsonl", "--write", "cut", "--cut", "--yes"]);
        assert_eq!(documents(&folder, "cut")[..8], WITHOUT);
        // Marks in place change no record that is not stored.
        apply(&folder, &["--mark", "dup", "--yes"]);
        assert_eq!(fs::read_to_string(folder.path().join("in/a.jsonl")).unwrap().matches("\"keep\"").count(), 3);
    }
}

#[test]
fn a_copy_that_still_has_what_rm_took_is_named_by_the_check() {
    let folder = Folder::new();
    for name in ["a.jsonl", "b.jsonl"] {
        folder.write(&format!("in/{name}"), lines(&[1, 2, 3]));
        folder.age(&format!("in/{name}"));
    }
    folder.write("in/c.jsonl", lines(&[4, 5]));
    folder.age("in/c.jsonl");
    ingest(&folder);
    dedup(&folder);
    apply(&folder, &["--write", "clean", "--yes"]);
    folder.ok(&["rm", "-q", "in/c.jsonl:2"]);
    let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
    assert_eq!((run.status, &summary["unjudged"]), (2, &1.into()), "{run:#?}");
    apply(&folder, &["--write", "clean", "--yes"]);
    let (run, ..) = apply(&folder, &["--check", "--write", "clean"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("clean/in/c.jsonl")).unwrap(), lines(&[4]));
}

/// A merged database knows how many documents its files had.
#[test]
fn a_merge_takes_over_what_is_known_of_removed_documents() {
    for removes_first in [false, true] {
        for is_aged in [false, true] {
            let folder = Folder::new();
            let shards = ["a", "b"];
            for shard in shards {
                let name = format!("in/{shard}.jsonl");
                folder.write(&name, lines(if shard == "a" { &[1, 2, 1] } else { &[2, 3, 3] }));
                if is_aged {
                    folder.age(&name);
                }
                let db = format!("{shard}.db");
                folder.ok(&["--db", &db, "ingest", "-q", "--profile", "words", &name]);
                if removes_first {
                    folder.ok(&["--db", &db, "dedup", "-q", "--format", "json", "-o", "shard.jsonl"]);
                    folder.ok(&["--db", &db, "rm", "-q", "--report", "shard.jsonl"]);
                }
            }
            folder.ok(&["init", "-q", "--profile", "words"]);
            for shard in shards {
                folder.ok(&["merge", "-q", &format!("{shard}.db")]);
            }
            dedup(&folder);
            if !removes_first {
                folder.ok(&["rm", "-q", "--report", "report.jsonl"]);
                dedup(&folder);
            }
            let (run, found, summary) = apply(&folder, &["--write", "clean", "--yes"]);
            let numbers = (run.status, &summary["applied"], &summary["removed_before"]);
            let expected = if removes_first { (0, &1.into(), &2.into()) } else { (0, &0.into(), &3.into()) };
            assert_eq!(numbers, expected, "{removes_first} {is_aged} {run:#?} {found:#?}");
            let copied = shards.map(|shard| {
                fs::read_to_string(folder.path().join(format!("clean/in/{shard}.jsonl"))).unwrap().lines().count()
            });
            assert_eq!(copied.iter().sum::<usize>(), 3);
            // An ingest adds what was removed again, as ever.
            let added = folder.ok(&["ingest", "--format", "json", "in"]).json().remove(0);
            assert_eq!(added["added"], if removes_first { 2 } else { 3 }, "{added}");
        }
    }
}
