//! Prefixes: a value of `pairs` that is the name of a stored folder or archive means this folder or archive,
//! and no other whose name begins with the value. For `dedup --protect` and `rm --prefix` a value is always a
//! beginning of names.

use std::collections::BTreeSet;

use crate::bad_input::prose;
use crate::support::{Folder, zip};

/// Two copies in each of two folders and two archives. The name of each second one begins with that of the
/// first. One text is in both folders.
fn corpus() -> Folder {
    let folder = Folder::new();
    for (number, place) in ["ex1", "ex10"].into_iter().enumerate() {
        for file in ["a.txt", "b.txt"] {
            folder.write(&format!("{place}/{file}"), prose(number));
        }
        folder.write(&format!("{place}/shared.txt"), prose(9));
    }
    for (number, place) in ["all.zip", "all.zip.old.zip"].into_iter().enumerate() {
        folder.write(place, zip(["a.txt", "b.txt"].map(|name| (name, prose(20 + number)))));
    }
    let paths = ["ex1", "ex10", "all.zip", "all.zip.old.zip"];
    folder.ok(&[&["ingest", "-q", "--profile", "words"], &paths[..]].concat());
    folder
}

/// The places of the pairs: the folder or archive of each document.
fn places(folder: &Folder, flags: &[&str]) -> BTreeSet<(String, String)> {
    let pairs = folder.ok(&[&["pairs", "--format", "json", "--min-resemblance", "0.9"], flags].concat()).json();
    let place = |name: &str| name.split(['/', '!']).next().unwrap().to_owned();
    pairs.iter().map(|pair| (place(pair["a"].as_str().unwrap()), place(pair["b"].as_str().unwrap()))).collect()
}

fn expected(pairs: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    pairs.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[test]
fn a_folder_is_not_the_beginning_of_another() {
    let folder = corpus();
    let (one, ten, all, old) =
        (("ex1", "ex1"), ("ex10", "ex10"), ("all.zip", "all.zip"), ("all.zip.old.zip", "all.zip.old.zip"));
    let shared = ("ex1", "ex10");
    assert_eq!(places(&folder, &[]), expected(&[one, ten, all, old, shared]));
    for name in ["ex1", "./ex1", "ex1/"] {
        assert_eq!(places(&folder, &["--old", name]), expected(&[ten, all, old, shared]), "{name}");
        assert_eq!(places(&folder, &["--across", name]), expected(&[shared]), "{name}");
    }
    for name in ["all.zip", "all.zip!"] {
        assert_eq!(places(&folder, &["--old", name]), expected(&[one, ten, old, shared]), "{name}");
    }
    assert_eq!(places(&folder, &["--across", "ex1", "ex10"]), expected(&[shared]));
    // A value that is no folder and no archive is a beginning of names.
    assert_eq!(places(&folder, &["--old", "ex"]), expected(&[all, old]));
    assert_eq!(places(&folder, &["--across", "ex"]), expected(&[]));
}

/// The same value protects the same documents, whatever folders the database has: protecting more is safe.
#[test]
fn a_new_folder_takes_no_protection_from_documents() {
    let folder = Folder::new();
    for file in ["a.txt", "b.txt"] {
        folder.write(&format!("keep-old/{file}"), prose(0));
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "keep-old"]);
    let root = folder.path().canonicalize().unwrap();
    let removable = |protect: &str| {
        let rows = folder.ok(&["dedup", "--by", "exact", "--format", "json", "--protect", protect]).json();
        rows.iter().filter(|row| row["remove"].is_string()).count()
    };
    let prefixes = ["keep".to_owned(), format!("{}/keep", root.display())];
    for protect in &prefixes {
        assert_eq!(removable(protect), 0, "{protect}");
    }
    folder.write("keep/c.txt", prose(1));
    folder.ok(&["ingest", "-q", "keep"]);
    for protect in &prefixes {
        assert_eq!(removable(protect), 0, "{protect}");
        // A slash at the end means one folder.
        assert_eq!(removable(&format!("{protect}/")), 1, "{protect}/");
    }
}

/// No name has `.` for the current folder, so this prefix would mean hidden files and folders above.
#[test]
fn a_dot_is_no_prefix_for_a_removal() {
    let folder = corpus();
    for flags in [&["--prefix", "."][..], &["--prefix", ".", "--yes"], &["--prefix", "ex1", "--prefix", "."]] {
        let run = folder.run(&[&["rm"], flags].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains("no name has `.` for the current folder; to remove all documents"), "{run:?}");
    }
    // A removal by prefix takes the value as a beginning of names, and lists what it would remove.
    assert_eq!(folder.ok(&["rm", "--prefix", "ex1", "--format", "json"]).json()[0]["selected"], 6);
}
