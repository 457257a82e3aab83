//! Prefixes: a value that is the name of a stored folder or archive means this one, and no other whose name
//! begins with it.

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

#[test]
fn only_the_folder_that_is_named_is_protected() {
    let folder = corpus();
    let removable = |protect: &str| -> Vec<String> {
        let rows = folder.ok(&["dedup", "--by", "exact", "--format", "json", "--protect", protect]).json();
        rows.iter().filter_map(|row| Some(row["remove"].as_str()?.to_owned())).collect()
    };
    let of_ten = |removable: &[String]| removable.iter().filter(|name| name.starts_with("ex10/")).count();
    let root = folder.path().canonicalize().unwrap();
    for protect in ["ex1".to_owned(), format!("{}/ex1", root.display())] {
        let removable = removable(&protect);
        assert!(!removable.iter().any(|name| name.starts_with("ex1/")), "{protect}: {removable:?}");
        assert_eq!(of_ten(&removable), 2, "{protect}: {removable:?}");
    }
    for protect in ["ex".to_owned(), format!("{}/ex", root.display())] {
        assert_eq!(of_ten(&removable(&protect)), 0, "{protect}");
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
    // A removal by prefix takes it as a beginning of names, and lists what it would remove.
    assert_eq!(folder.ok(&["rm", "--prefix", "ex1", "--format", "json"]).json()[0]["selected"], 6);
}
