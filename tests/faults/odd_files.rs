//! Odd files: a device, a pipe or a folder in the place of a file of a database. Each command soon ends with
//! an error that names this file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Folder, Run};

/// The name of a thing that is not a regular file, and a function that makes it.
type Oddity = (&'static str, fn(&Path));

/// The files of a database, by path below it; one file of each kind.
fn kinds(database: &Path) -> Vec<PathBuf> {
    let mut kinds: Vec<PathBuf> = ["FPDB", "lock", "committed"].map(PathBuf::from).into();
    for prefix in ["CURRENT", "IDENTITY", "MANIFEST", "OPTIONS", "0"] {
        let entries = fs::read_dir(database.join("store")).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<PathBuf> =
            entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(prefix)).collect();
        found.sort();
        // Keeps one table and one log of the files whose names begin with a digit.
        found.dedup_by(|a, b| a.extension() == b.extension());
        kinds.extend(found.into_iter().map(|path| path.strip_prefix(database).unwrap().to_owned()));
    }
    kinds
}

#[test]
fn odd_files_in_a_database_keep_no_command_from_ending() {
    let folder = Folder::new();
    for number in 0..6 {
        folder.write(&format!("docs/{number}.txt"), format!("words of document number {number} ").repeat(200));
    }
    folder.ok(&["--db", "whole", "-q", "ingest", "docs", "--profile", "words"]);
    let whole = folder.path().join("whole");
    let names = kinds(&whole);
    assert!(names.len() >= 9, "{names:?}");
    let commands: [&[&str]; 4] = [&["list"], &["verify"], &["ingest", "docs", "-q"], &["verify", "--repair"]];
    let odd: [Oddity; 4] = [
        ("/dev/zero", |path| symlink("/dev/zero", path).unwrap()),
        ("/dev/full", |path| symlink("/dev/full", path).unwrap()),
        ("a pipe", |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())),
        ("a folder", |path| fs::create_dir(path).unwrap()),
    ];
    for (number, name) in names.iter().enumerate() {
        // Over several runs, each kind of file is replaced by each kind of oddity. This run tries two of
        // them.
        for (oddity, make) in [odd[number % 4], odd[(number + 1) % 4]] {
            let database = folder.path().join("odd");
            super::trial::copy(&whole, &database).unwrap();
            fs::remove_file(database.join(name)).unwrap();
            make(&database.join(name));
            for command in commands {
                let run = Run::to_its_end(&mut folder.command(&[&["--db", "odd"], command].concat()));
                let what = format!("{} is {oddity}, {command:?}: {run:#?}", name.display());
                assert!(!run.stderr.contains("panicked"), "{what}");
                assert!(run.status == 0 || run.status == 2, "{what}");
                if run.status == 2 && command[0] != "verify" {
                    assert!(run.stderr.contains("error: "), "{what}");
                }
            }
            fs::remove_dir_all(&database).unwrap();
        }
    }
}
