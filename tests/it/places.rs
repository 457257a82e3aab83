//! A file at another place does not replace a document with the same name, even if the file of that document
//! is gone.

use std::fs;

use crate::bad_input::prose;
use crate::support::{Folder, Run, zip};

fn run_in(folder: &Folder, below: &str, arguments: &[&str]) -> Run {
    Run::to_its_end(folder.command(arguments).current_dir(folder.path().join(below)))
}

/// Ingests `n` in a folder. Returns the counts of added, unchanged and replaced documents, and of documents
/// named by their paths.
fn ingest(folder: &Folder, below: &str, flags: &[&str]) -> ([u64; 4], Run) {
    let run = run_in(folder, below, &[&["ingest", "--db", "../db", "--format", "json", "n"], flags].concat());
    assert_eq!(run.status, 0, "{run:?}");
    let summary = &run.json()[0];
    (["added", "unchanged", "replaced", "named_by_path"].map(|count| summary[count].as_u64().unwrap_or(0)), run)
}

fn records(texts: &[usize]) -> String {
    texts.iter().map(|&text| format!("{}\n", serde_json::json!({ "text": prose(text) }))).collect()
}

/// Two disks with the same relative names. The first is away when the second is ingested.
#[test]
fn documents_of_a_disk_that_is_away_stay_beside_others_of_their_names() {
    for threads in ["1", "4"] {
        let folder = Folder::new();
        for (disk, first) in [("a", 0), ("b", 10)] {
            folder.write(&format!("{disk}/n/1.txt"), prose(first));
            folder.write(&format!("{disk}/n/same.txt"), prose(50));
            folder.write(&format!("{disk}/n/r.jsonl"), records(&[first + 1, 51]));
            folder.write(&format!("{disk}/n/same.jsonl"), records(&[52, 53]));
            folder.write(&format!("{disk}/n/z.zip"), zip([("x.txt", prose(first + 2).as_bytes()), ("y.txt", b"y")]));
            folder.write(&format!("{disk}/n/sub/template.txt"), prose(54));
        }
        assert_eq!(ingest(&folder, "a", &["--store-text", "--threads", threads]).0, [9, 0, 0, 0]);
        fs::rename(folder.path().join("a/n"), folder.path().join("away")).unwrap();
        let (counts, run) = ingest(&folder, "b", &["--threads", threads]);
        assert_eq!(counts, [5, 4, 0, 3], "{run:?}");
        let root = folder.path().canonicalize().unwrap();
        let said = format!(
            "3 files are named by the whole path, because another file has the name: n/1.txt is {0}/a/n/1.txt, which is gone and had \
             other bytes, so this one is {0}/b/n/1.txt\nhint: if {0}/b/n holds nothing but what was moved from n: `fpdb rm --db ../db --prefix",
            root.display()
        );
        assert!(run.stderr.contains(&said), "{run:?}");
        assert!(!run.stderr.contains("together with the database"), "{run:?}");
        // Half of the files are those of the folder that is gone, so it may have been renamed.
        let warned = "which is gone and was ingested with --store-text: if it is the same folder, stop, and `fpdb mv";
        assert!(run.stderr.contains(warned) && run.stderr.matches("--store-text").count() == 1, "{run:?}");
        assert_eq!(ingest(&folder, "b", &[]).0, [0, 9, 0, 0]);
        // The first disk is back. Its documents are unchanged, and files that equal stored documents of the
        // second disk become documents too.
        fs::rename(folder.path().join("away"), folder.path().join("a/n")).unwrap();
        assert_eq!(ingest(&folder, "a", &[]).0, [4, 5, 0, 3]);
        assert_eq!((ingest(&folder, "a", &[]).0, ingest(&folder, "b", &[]).0), ([0, 9, 0, 0], [0, 9, 0, 0]));
        assert_eq!(folder.ok(&["list", "--db", "db", "--format", "json"]).json().len(), 18);
    }
}

/// After the commands of the hint, the earlier documents are at their new place.
#[test]
fn a_folder_that_was_moved_and_changed_can_be_mended_by_the_hint() {
    let folder = Folder::new();
    for number in 0..3 {
        folder.write(&format!("a/n/{number}.txt"), prose(number));
    }
    ingest(&folder, "a", &[]);
    fs::rename(folder.path().join("a"), folder.path().join("b")).unwrap();
    folder.write("b/n/1.txt", prose(20));
    let (counts, run) = ingest(&folder, "b", &[]);
    assert_eq!(counts, [1, 2, 0, 1]);
    let commands: Vec<&str> = run.stderr.split('`').filter(|part| part.starts_with("fpdb ")).take(2).collect();
    for command in commands {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(run_in(&folder, "b", &words).status, 0, "{command}");
    }
    assert_eq!(ingest(&folder, "b", &[]).0, [0, 2, 1, 0]);
}

/// If a database is moved with its folder, and was at no other place, changed files still replace their
/// documents.
#[test]
fn changed_files_are_followed_if_the_database_has_moved_with_them() {
    let folder = Folder::new();
    folder.write("one/n/1.txt", prose(1));
    folder.write("one/n/r.jsonl", records(&[2]));
    let ingest_in = |place: &str, db: &str| {
        let run = run_in(&folder, place, &["ingest", "--db", db, "--format", "json", "n"]);
        let summary = run.json().remove(0);
        ["added", "unchanged", "replaced"].map(|count| summary[count].as_u64().unwrap())
    };
    assert_eq!(ingest_in("one", ".fpdb"), [2, 0, 0]);
    for (old, new, text) in [("one", "two", 10), ("two", "three", 20)] {
        fs::rename(folder.path().join(old), folder.path().join(new)).unwrap();
        folder.write(&format!("{new}/n/1.txt"), prose(text));
        folder.write(&format!("{new}/n/r.jsonl"), records(&[text + 1]));
        assert_eq!(ingest_in(new, ".fpdb"), [0, 0, 2]);
    }
    // The database lies beside files of these names, but has not moved there.
    folder.write("usb/m/1.txt", prose(30));
    folder.write("three/m/1.txt", prose(31));
    let run = run_in(&folder, "usb", &["ingest", "-q", "--db", "../three/.fpdb", "m", "--store-text"]);
    assert_eq!(run.status, 0, "{run:?}");
    fs::remove_dir_all(folder.path().join("usb")).unwrap();
    let run = run_in(&folder, "three", &["ingest", "m"]);
    assert!(run.stdout.starts_with("1 document added\n") && !run.stderr.contains("--store-text"), "{run:?}");
}

/// With `--on-change both`, the newest version of a document tells if its file has moved.
#[test]
fn a_moved_file_has_the_bytes_of_the_newest_version() {
    let folder = Folder::new();
    for text in [1, 10] {
        folder.write("a/n/1.txt", prose(text));
        folder.write("a/n/r.jsonl", records(&[text + 1]));
        assert_eq!(ingest(&folder, "a", &["--on-change", "both"]).0, [2, 0, 0, 0]);
    }
    fs::rename(folder.path().join("a"), folder.path().join("b")).unwrap();
    assert_eq!(ingest(&folder, "b", &["--on-change", "both"]).0, [0, 2, 0, 0]);
    assert_eq!(folder.ok(&["list", "--db", "db", "--format", "json"]).json().len(), 4);
}

/// If bytes could not be compared, no message says that they differ, or advises to remove the document.
#[test]
fn what_could_not_be_compared_is_not_said_to_differ() {
    let folder = Folder::new();
    // Behind a broken link a document may still exist.
    folder.write("disk/1.txt", prose(1));
    fs::create_dir(folder.path().join("a")).unwrap();
    std::os::unix::fs::symlink("../disk", folder.path().join("a/n")).unwrap();
    ingest(&folder, "a", &[]);
    fs::remove_dir_all(folder.path().join("disk")).unwrap();
    folder.write("b/n/1.txt", prose(3));
    let run = run_in(&folder, "b", &["ingest", "--db", "../db", "n"]);
    assert!(run.stderr.contains("/a/n/1.txt, which is gone, so this one is "), "{run:?}");
    assert!(!run.stderr.contains("other bytes") && !run.stderr.contains("fpdb rm"), "{run:?}");
    // The bytes differ, but no folder shows which files were moved.
    folder.write("c/1.txt", prose(1));
    run_in(&folder, "c", &["ingest", "-q", "--db", "../db2", "1.txt", "--profile", "prose"]);
    fs::remove_dir_all(folder.path().join("c")).unwrap();
    folder.write("d/1.txt", prose(2));
    let run = run_in(&folder, "d", &["ingest", "--db", "../db2", "1.txt"]);
    assert!(run.stderr.contains("/c/1.txt, which is gone and had other bytes, so this one is "), "{run:?}");
    assert!(!run.stderr.contains("fpdb rm"), "{run:?}");
}
