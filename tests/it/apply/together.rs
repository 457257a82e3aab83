//! Two runs at once. The report of each lists the survivors of the other as removable.

use std::fs;
use std::process::Stdio;

use fpdb::apply::{Action, ApplyOptions};
use fpdb::{Database, Task};

use super::{files, report, text};
use crate::support::Folder;

/// Pairs of files with the same text, and two databases of them. The report of each database keeps the other
/// file of each pair.
fn pairs(folder: &Folder, count: u64) {
    for number in 0..count {
        folder.write(&format!("a/{number}.txt"), text(number));
        folder.write(&format!("b/{number}.txt"), text(number));
    }
    for (database, side) in [("one", "^a/"), ("other", "^b/")] {
        folder.ok(&["--db", database, "ingest", "-q", "--profile", "words", "a", "b"]);
        let report = format!("{database}.jsonl");
        let dedup = ["--db", database, "dedup", "--prefer", side, "--format", "json", "-o", &report, "-q"];
        folder.ok(&dedup);
    }
}

/// Runs both at once, and returns their exit statuses.
fn both(folder: &Folder, databases: [&str; 2], action: &[&str]) -> [Option<i32>; 2] {
    let children = [("one.jsonl", databases[0]), ("other.jsonl", databases[1])].map(|(report, database)| {
        let arguments = [&["--db", database, "apply", report, "--yes", "-q"], action].concat();
        folder.command(&arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    });
    children.map(|mut child| child.wait().unwrap().code())
}

#[test]
fn two_runs_that_take_each_others_survivors_leave_every_text() {
    const COUNT: u64 = 150;
    for action in [&["--remove"][..], &["--link", "sym"], &["--link", "hard"], &["--move", "gone"]] {
        for round in 0..3 {
            let folder = Folder::new();
            pairs(&folder, COUNT);
            // With one database, the second run is refused. Two databases share no lock.
            let databases = if round == 0 { ["one", "one"] } else { ["one", "other"] };
            let statuses = both(&folder, databases, action);
            assert!(statuses.contains(&Some(0)) || round > 0, "{action:?}: {statuses:?}");
            let left = [files(&folder.path().join("a")), files(&folder.path().join("b"))].concat();
            for number in 0..COUNT {
                let held = left.iter().any(|(_, bytes)| *bytes == text(number).into_bytes());
                assert!(held, "{action:?}: text {number} is in no place");
            }
            let hidden = |(name, _): &&(String, Vec<u8>)| name.contains("fpdb-part");
            assert_eq!(left.iter().filter(hidden).count(), 0, "{action:?}");
        }
    }
}

#[test]
fn one_run_at_a_time_acts_on_the_files_of_a_database() {
    let folder = Folder::new();
    pairs(&folder, 3);
    let lock = fs::File::create(folder.path().join("one/acting")).unwrap();
    lock.lock().unwrap();
    let run = folder.run(&["--db", "one", "apply", "one.jsonl", "--remove", "--yes"]);
    assert_eq!(run.status, 2, "{run:#?}");
    assert!(run.stderr.contains("removes, moves, links or marks files of the database"), "{run:#?}");
    // A copy changes no source file, and neither does a dry run.
    folder.ok(&["--db", "one", "apply", "one.jsonl", "--write", "clean", "--yes", "-q"]);
    folder.ok(&["--db", "one", "apply", "one.jsonl", "--remove", "-q"]);
    drop(lock);
    folder.ok(&["--db", "one", "apply", "one.jsonl", "--remove", "--yes", "-q"]);
    assert_eq!(files(&folder.path().join("b")).len(), 0);
}

/// A dry run does not lock documents, and takes all of them as they were at its beginning.
#[test]
fn a_removal_meanwhile_changes_no_dry_run() {
    let folder = Folder::new();
    for name in ["a/0", "a/1", "b/0", "b/1"] {
        folder.write(&format!("in/{name}.txt"), text(name.ends_with('1').into()));
    }
    assert_eq!(report(&folder).len(), 2);
    let database = Database::open_writer(folder.path().join(".fpdb")).unwrap();
    let mut acts = Vec::new();
    let options = ApplyOptions::new(Action::Remove);
    let summary = database.apply(&folder.path().join("report.jsonl"), &options, &Task::new(), |applied| {
        if acts.is_empty() {
            database.remove(&["in/a/1.txt"]).unwrap();
        }
        acts.push(applied.act.name());
        Ok::<(), fpdb::Error>(())
    });
    assert_eq!((summary.unwrap().applied, acts), (2, vec!["remove", "remove"]));
}
