//! `--include` and `--exclude` hold for members of archives as for files.

use serde_json::Value;

use super::hostile::{tar_of, zip_of};
use super::list;
use crate::bad_input::prose;
use crate::support::Folder;

fn names(folder: &Folder) -> Vec<String> {
    list(folder).iter().map(|document| document["name"].as_str().unwrap().to_owned()).collect()
}

/// Two archives, one within the other as well, with a file and records beside them.
fn submissions() -> Folder {
    let folder = Folder::new();
    let (a, b, c) = (prose(1), prose(2), prose(3));
    let inner = tar_of(&[("src/In.java", prose(4).as_bytes()), ("notes.txt", prose(5).as_bytes())]);
    let members = [("src/A.java", a.as_bytes()), ("README.pdf", &b"no pdf"[..]), ("b.txt", b.as_bytes())];
    folder.write("hw/ann.zip", zip_of(&[&members[..], &[("inner.tar", &inner)]].concat()));
    folder.write("hw/bob.tar", tar_of(&[("B.java", c.as_bytes())]));
    folder.write("hw/C.java", prose(6));
    folder.write("hw/records.jsonl", format!("{{\"text\":\"{}\"}}\n", prose(7).replace('\n', " ")));
    folder
}

fn added(paths_and_flags: &[&str]) -> Vec<String> {
    let folder = submissions();
    folder.ok(&[&["ingest", "-q", "--profile", "prose"], paths_and_flags].concat());
    names(&folder)
}

#[test]
fn includes_reach_into_archives_and_excludes_too() {
    let java = ["hw/C.java", "hw/ann.zip!src/A.java", "hw/ann.zip!inner.tar!src/In.java", "hw/bob.tar!B.java"];
    assert_eq!(added(&["hw", "--include", "*.java"]), java);
    assert_eq!(added(&["hw", "--include", "hw/ann.zip/src"]), ["hw/ann.zip!src/A.java"]);
    assert_eq!(added(&["hw", "--include", "*.java", "--exclude", "inner.tar"]), [java[0], java[1], java[3]]);
    // An archive that matches itself is taken whole, one that is excluded is not opened.
    assert_eq!(added(&["hw", "--include", "bob.*"]), ["hw/bob.tar!B.java"]);
    assert_eq!(added(&["hw", "--include", "*.java", "--exclude", "ann.zip"]), [java[0], java[3]]);
    // The damaged PDF is not read; a record counts as its file does.
    let rest = ["hw/ann.zip!b.txt", "hw/ann.zip!inner.tar!notes.txt", "hw/records.jsonl:1"];
    assert_eq!(added(&["hw", "--exclude", "*.pdf", "--exclude", "*.java"]), rest);
    assert_eq!(added(&["hw", "--exclude", "hw/ann.zip!*.pdf", "--include", "*.txt"]), rest[..2]);
    assert_eq!(added(&["hw", "--include", "*.jsonl"]), rest[2..]);
    assert_eq!(added(&["hw/ann.zip", "--include", "*.txt"]), rest[..2]);
    // With --no-expand an archive is a document of its own name.
    assert_eq!(added(&["hw", "--include", "*.java", "--no-expand"]), ["hw/C.java"]);
}

#[test]
fn an_include_that_matches_nothing_is_said() {
    let folder = submissions();
    let run = folder.ok(&["ingest", "hw", "--include", "*.rs"]);
    assert!(run.stderr.contains("no file or member matches *.rs (--include)"), "{run:?}");
}

#[test]
fn members_left_out_stay_and_other_globs_read_an_archive_again() {
    let folder = submissions();
    let ingest = |flags: &[&str]| -> Value {
        folder.age("hw/ann.zip");
        folder.ok(&[&["ingest", "-q", "--format", "json", "hw/ann.zip"], flags].concat()).json().remove(0)
    };
    assert_eq!(ingest(&["--include", "*.java"])["added"], 2);
    assert_eq!(ingest(&["--include", "*.java"])["unchanged"], 2);
    let more = ingest(&["--include", "*.txt"]);
    assert_eq!((&more["added"], &more["removed"]), (&2.into(), &0.into()));
    // A member that is gone is removed; one that is left out stays.
    folder.write("hw/ann.zip", zip_of(&[("src/A.java", prose(1).as_bytes())]));
    let less = ingest(&["--include", "*.txt"]);
    assert_eq!(names(&folder), ["hw/ann.zip!src/A.java"], "{less}");
    folder.ok(&["verify"]);
}
