//! Parts of a database are replaced by parts of another database, or of a copy that was changed since. No
//! command takes these parts for the database's own parts.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use super::{prose, told};
use crate::support::{Folder, Run, copy};

/// Makes the databases `a` (three commits), `few` (one) and `many` (five), a copy `copy` of `a`, and a
/// document to query with.
fn prepared() -> Folder {
    let folder = Folder::new();
    for (first, db, commits) in [(0, "a", 3), (100, "few", 1), (200, "many", 5)] {
        for commit in 0..commits {
            let name = |number: usize| format!("{db}-docs/{:03}.txt", first + commit * 5 + number);
            for number in 0..5 {
                folder.write(&name(number), prose(first + commit * 5 + number));
            }
            folder.ok(&["--db", db, "ingest", "-q", "--profile", "words", &format!("{db}-docs")]);
        }
    }
    folder.write("question.txt", prose(1));
    copy(&folder.path().join("a"), &folder.path().join("copy"));
    folder
}

/// Commands of every kind, for the database `x`.
const COMMANDS: [&[&str]; 11] = [
    &["list"],
    &["query", "question.txt"],
    &["show", "a-docs/001.txt"],
    &["stats"],
    &["ingest", "a-docs"],
    &["rm", "a-docs/001.txt"],
    &["mv", "a-docs/002.txt", "other.txt"],
    &["compact"],
    &["backup", "copies"],
    &["verify"],
    &["verify", "--repair"],
];

/// A copy of `db` with the name `x`.
fn begin(folder: &Folder, db: &str) -> PathBuf {
    let x = folder.path().join("x");
    if x.exists() {
        fs::remove_dir_all(&x).unwrap();
    }
    copy(&folder.path().join(db), &x);
    x
}

fn on_x(folder: &Folder, command: &[&str]) -> Run {
    folder.run(&[&["--db", "x"], command].concat())
}

fn replace(x: &Path, from: &Path) {
    fs::remove_dir_all(x.join("store")).unwrap();
    copy(&from.join("store"), &x.join("store"));
}

fn file(db: &Path, part: &str) -> PathBuf {
    let paths = fs::read_dir(db.join("store")).unwrap().map(|entry| entry.unwrap().path());
    let of_name = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(part) || name.ends_with(part)
    };
    paths.filter(of_name).max().unwrap()
}

fn identity(db: &Path) -> String {
    let mark = fs::read_to_string(db.join("committed")).unwrap();
    mark.lines().nth(3).unwrap().split(' ').nth(2).unwrap().to_owned()
}

/// Checks that each command fails and names both databases.
fn is_refused(folder: &Folder, found: &str, marked: &str) {
    for command in COMMANDS {
        let run = on_x(folder, command);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{command:?}: {run:#?}");
        let says =
            format!("belongs to another database: its identity is {found}, and the file `committed` names {marked}");
        assert!(run.stderr.contains(&says) && run.stderr.contains("\nhint: put back the folder `store`"), "{run:#?}");
        assert!(!run.stderr.contains("older copy") && !run.stderr.contains("lost its last"), "{run:#?}");
    }
}

#[test]
fn the_store_or_the_mark_of_another_database_is_refused_by_every_command() {
    let folder = prepared();
    let [a, few, many] = ["a", "few", "many"].map(|db| folder.path().join(db));
    for other in [&few, &many] {
        let x = begin(&folder, "a");
        replace(&x, other);
        is_refused(&folder, &identity(other), &identity(&a));
        // With its own part back in place, the database works as before.
        replace(&x, &a);
        assert_eq!(on_x(&folder, &["list"]).stdout, folder.ok(&["--db", "a", "list"]).stdout);
        fs::copy(other.join("committed"), x.join("committed")).unwrap();
        is_refused(&folder, &identity(&a), &identity(other));
        // Does what the hint says.
        fs::remove_file(x.join("committed")).unwrap();
        assert_eq!(on_x(&folder, &["ingest", "-q", "few-docs"]).status, 0);
        assert_eq!(on_x(&folder, &["verify"]).status, 0);
        assert_eq!(identity(&x), identity(&a));
    }
    let x = begin(&folder, "a");
    replace(&x, &few);
    let run = on_x(&folder, &["list"]);
    let said = told(&folder, &run).replace(&identity(&few), "[few]").replace(&identity(&a), "[a]");
    assert_snapshot!(said, @r"
    status 2
    --- stderr
    error: the store of the database at x, or its log, belongs to another database: its identity is [few], and the file `committed` names [a]
    hint: put back the folder `store` that was here, or make a database of a backup with `fpdb restore --db NEW DIR`; if only the log is of the other database, `fpdb verify --db x --repair` leaves it out; if the store is the right one, delete the file `committed` beside it
    ");
    let run = folder.run(&["--db", "few", "merge", "x"]);
    assert!(run.status == 2 && run.stderr.contains("belongs to another database"), "{run:#?}");
}

#[test]
fn an_empty_database_does_not_take_the_store_of_another() {
    let folder = prepared();
    folder.ok(&["--db", "empty", "init", "--profile", "words"]);
    let x = begin(&folder, "empty");
    replace(&x, &folder.path().join("many"));
    is_refused(&folder, &identity(&folder.path().join("many")), &identity(&folder.path().join("empty")));
}

/// A database from a version without identities gets an identity with its next commit.
#[test]
fn a_golden_database_gets_an_identity_when_it_is_written() {
    let folder = prepared();
    let golden = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/golden/format-1/db");
    copy(&golden, &folder.path().join("golden"));
    folder.ok(&["--db", "golden", "list"]);
    assert_eq!(fs::read_to_string(folder.path().join("golden/committed")).unwrap().lines().count(), 1);
    folder.ok(&["--db", "golden", "ingest", "-q", "question.txt"]);
    let golden = folder.path().join("golden");
    assert_eq!(identity(&golden), fs::read_to_string(golden.join("store/IDENTITY")).unwrap().trim_end());
    let x = begin(&folder, "golden");
    replace(&x, &folder.path().join("a"));
    is_refused(&folder, &identity(&folder.path().join("a")), &identity(&golden));
}

/// A copy has the identity of its original. Here both have the same number of commits, but their counts of
/// documents differ.
#[test]
fn the_store_of_a_copy_that_has_gone_its_own_way_is_noticed() {
    let folder = prepared();
    folder.ok(&["--db", "copy", "rm", "-q", "a-docs/001.txt"]);
    folder.ok(&["--db", "a", "ingest", "-q", "few-docs"]);
    // One of the two databases has the longer list of tables.
    for (mark, store, says) in [
        ("copy", "a", "is damaged: it does not have the documents that were there after its last commit"),
        ("a", "copy", "is damaged: "),
    ] {
        let x = begin(&folder, mark);
        replace(&x, &folder.path().join(store));
        for command in [&["list"][..], &["ingest", "a-docs"], &["verify"]] {
            let run = on_x(&folder, command);
            assert!(run.status == 2 && run.stderr.contains(says), "{run:#?}");
        }
        let repaired = on_x(&folder, &["verify", "--repair"]);
        assert!(repaired.status == 2 && repaired.stdout.contains("  the last 1 commit: "), "{repaired:#?}");
        assert_eq!(on_x(&folder, &["list"]).stdout, folder.ok(&["--db", store, "list"]).stdout);
    }
}

#[test]
fn a_log_of_another_database_is_refused_and_left_out_by_a_repair() {
    let folder = prepared();
    let documents = folder.ok(&["--db", "a", "list"]).stdout;
    for other in ["few", "many"] {
        let x = begin(&folder, "a");
        // The rows of the log are also in tables.
        assert_eq!(on_x(&folder, &["rm", "-q", "a-docs/000.txt"]).status, 0);
        assert_eq!(on_x(&folder, &["ingest", "-q", "a-docs"]).status, 0);
        fs::copy(file(&folder.path().join(other), ".log"), file(&x, ".log")).unwrap();
        for command in &COMMANDS[..9] {
            let run = on_x(&folder, command);
            assert!(run.status == 2 && run.stderr.contains(", or its log, belongs to another database"), "{run:#?}");
        }
        let repaired = on_x(&folder, &["verify", "--repair"]);
        assert!(repaired.stdout.contains("its logs do not fit its tables, and are left out"), "{repaired:#?}");
        assert_eq!(on_x(&folder, &["verify"]).status, 0);
        // The last commit was in the log.
        assert_eq!(on_x(&folder, &["ingest", "-q", "a-docs"]).status, 0);
        let mut found: Vec<String> = on_x(&folder, &["list"]).stdout.lines().map(str::to_owned).collect();
        let mut expected: Vec<String> = documents.lines().map(str::to_owned).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(identity(&x), identity(&folder.path().join("a")));
    }
}

#[test]
fn a_list_of_another_database_is_refused_and_made_again_by_a_repair() {
    let folder = prepared();
    let documents = folder.ok(&["--db", "a", "list"]).stdout;
    for other in ["few", "many"] {
        let (x, other) = (begin(&folder, "a"), folder.path().join(other));
        fs::remove_file(file(&x, "MANIFEST")).unwrap();
        for part in ["MANIFEST", "CURRENT"] {
            let from = file(&other, part);
            fs::copy(&from, x.join("store").join(from.file_name().unwrap())).unwrap();
        }
        for command in &COMMANDS[..9] {
            let run = on_x(&folder, command);
            assert!(run.status == 2 && run.stderr.contains("\nhint: "), "{run:#?}");
            assert!(!run.stderr.contains("lost its last"), "{run:#?}");
        }
        let repaired = on_x(&folder, &["verify", "--repair"]);
        assert!(repaired.status == 0 && repaired.stdout.contains("nothing is lost"), "{repaired:#?}");
        assert_eq!(on_x(&folder, &["list"]).stdout, documents);
    }
}

#[test]
fn tables_of_another_database_are_damage() {
    let folder = prepared();
    let x = begin(&folder, "a");
    let mut taken = 0;
    for entry in fs::read_dir(folder.path().join("many/store")).unwrap().map(Result::unwrap) {
        let place = x.join("store").join(entry.file_name());
        if place.extension().is_some_and(|extension| extension == "sst") && place.exists() {
            fs::copy(entry.path(), place).unwrap();
            taken += 1;
        }
    }
    assert!(taken > 0);
    for command in &COMMANDS[..9] {
        let run = on_x(&folder, command);
        assert!(run.status == 2 && run.stderr.contains("orruption"), "{run:#?}");
    }
    // The files exist, so all documents can be read again.
    let repaired = on_x(&folder, &["verify", "--repair"]);
    assert!(repaired.stdout.contains("of damaged files"), "{repaired:#?}");
    assert_eq!(on_x(&folder, &["verify"]).status, 0);
}

/// The other files in the folder of a database do not determine its content.
#[test]
fn other_files_of_another_database_change_no_answer() {
    let folder = prepared();
    let documents = folder.ok(&["--db", "a", "list"]).stdout;
    let many = folder.path().join("many");
    folder.ok(&["--db", "bytes", "init", "--profile", "bytes"]);
    for part in ["OPTIONS", "IDENTITY", "lock", "incoming", "repaired", "FPDB"] {
        let x = begin(&folder, "a");
        match part {
            "OPTIONS" | "IDENTITY" => {
                fs::remove_file(file(&x, part)).unwrap();
                let from = file(&many, part);
                fs::copy(&from, x.join("store").join(from.file_name().unwrap())).unwrap();
            }
            "lock" => drop(fs::copy(many.join("lock"), x.join("lock")).unwrap()),
            "incoming" | "repaired" => copy(&many, &x.join(part)),
            _ => drop(fs::copy(folder.path().join("bytes/FPDB"), x.join("FPDB")).unwrap()),
        }
        assert_eq!(on_x(&folder, &["list"]).stdout, documents, "{part}");
        let verified = on_x(&folder, &["verify"]);
        let is_named = verified.stdout.contains("the file FPDB: its copy of the profile is damaged");
        assert_eq!((verified.status, is_named), if part == "FPDB" { (2, true) } else { (0, false) }, "{part}");
        assert_eq!(on_x(&folder, &["verify", "--repair"]).status, 0, "{part}");
        assert_eq!(on_x(&folder, &["verify"]).status, 0, "{part}");
        assert_eq!(on_x(&folder, &["list"]).stdout, documents, "{part}");
        assert_eq!(identity(&x), identity(&folder.path().join("a")), "{part}");
    }
}

/// All commands that make databases from databases still work, and a database keeps its identity.
#[test]
fn copies_backups_merges_and_repairs_are_databases_of_their_own() {
    let folder = prepared();
    let a = identity(&folder.path().join("a"));
    folder.ok(&["--db", "copy", "ingest", "-q", "few-docs"]);
    folder.ok(&["--db", "copy", "verify"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    folder.ok(&["--db", "restored", "restore", "-q", "copies"]);
    folder.ok(&["--db", "restored", "ingest", "-q", "few-docs"]);
    folder.ok(&["--db", "restored", "verify"]);
    folder.ok(&["--db", "restored", "backup", "-q", "copies"]);
    folder.ok(&["--db", "many", "merge", "-q", "a"]);
    folder.ok(&["--db", "many", "verify"]);
    let x = begin(&folder, "a");
    fs::remove_file(file(&x, "MANIFEST")).unwrap();
    assert_eq!(on_x(&folder, &["verify", "--repair"]).status, 0);
    assert_eq!(identity(&x), a);
    for number in [0, 1] {
        assert_eq!(on_x(&folder, &["rm", "-q", &format!("a-docs/00{number}.txt")]).status, 0);
    }
    assert_eq!(on_x(&folder, &["verify"]).status, 0);
    // After a database was moved, its earlier backups still belong to it.
    assert_eq!(on_x(&folder, &["backup", "-q", "copies"]).status, 0);
}
