//! Readers and a second writer beside a writer at work.

use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use fpdb::{Database, Document, IngestOptions, Profile, Task};
use serde_json::Value;

use super::{INGEST, Undisturbed, WHOLE, json, list, many_files, names, text};
use crate::oracle::Random;
use crate::support::Folder;

const FILES: u64 = 300;

/// A check of a growing database, which must show a commit at or after the one seen before.
struct Look<'a> {
    whole: &'a Undisturbed,
    /// The matches of the queries in the finished database.
    answers: &'a [Value],
}

/// Queries whose answers grow with the database.
const QUERY: [&str; 7] = ["query", "--top", "0", "docs/00/0001.txt", "docs/02/0130.txt", "docs/05/0299.txt", "-q"];

impl Look<'_> {
    /// Checks with every command that reads. Returns the number of documents seen.
    fn take(&self, random: &mut Random, least: usize) -> usize {
        let folder = &self.whole.folder;
        let documents = list(folder, "db");
        assert!(documents.len() >= least, "{} documents, {least} before", documents.len());
        assert!(documents[..] == self.whole.documents[..documents.len()], "not the first of an undisturbed run");

        // Matches are not ordered by id. They must be exactly the matches whose documents the seen commit
        // has.
        let seen = json(folder, "db", &QUERY);
        for (seen, last) in seen.iter().zip(self.answers) {
            let ids = |answer: &Value| -> Vec<u64> {
                answer["matches"].as_array().unwrap().iter().map(|found| found["id"].as_u64().unwrap()).collect()
            };
            let bound =
                ids(seen).into_iter().max().map_or(documents.len() as u64, |id| (id + 1).max(documents.len() as u64));
            let mut expected = last["matches"].as_array().unwrap().clone();
            expected.retain(|found| found["id"].as_u64().unwrap() < bound);
            assert_eq!(seen["matches"], Value::Array(expected), "the matches below {bound} of a commit");
        }
        if let Some(last) = names(&documents).last() {
            let some = random.one_of(&names(&documents));
            for answer in json(folder, "db", &["query", last, some, "-n", "50"]) {
                assert_eq!(answer["looked_up"], 50);
                // The document holds its own hashes.
                assert_eq!(answer["found"], 50);
            }
            let wide = ["query", "--window", "50", "--max-df", "1", last];
            assert_eq!(json(folder, "db", &wide)[0]["matches"][0]["document"], **last);
            assert_eq!(json(folder, "db", &["show", last])[0]["name"], **last);
        }
        let stats = json(folder, "db", &["stats"]).remove(0);
        assert_eq!(stats["postings"], stats["fingerprints"]);
        let count = stats["documents"].as_u64().unwrap() as usize;
        assert!(count >= documents.len(), "{count} documents, {} before", documents.len());
        count
    }
}

fn hammer(readers: u64) {
    let folder = Folder::new();
    many_files(&folder, FILES);
    let whole = Undisturbed::new(folder);
    let folder = &whole.folder;
    let answers = json(folder, WHOLE, &QUERY);
    folder.ok(&["--db", "db", "init", "-k", "6", "-w", "3"]);
    let ingest = [&["--db", "db", "-q"], &INGEST[..]].concat();
    let mut child = folder.command(&ingest).stdout(Stdio::null()).spawn().unwrap();
    let look = &Look { whole: &whole, answers: &answers };
    let ended = &AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 1..=readers {
            scope.spawn(move || {
                let (mut random, mut least) = (Random(seed), 0);
                while !ended.load(Ordering::SeqCst) {
                    least = look.take(&mut random, least);
                }
            });
        }
        let status = child.wait().unwrap();
        ended.store(true, Ordering::SeqCst);
        assert!(status.success());
    });
    assert_eq!(look.take(&mut Random(3), FILES as usize), FILES as usize);
}

#[test]
fn readers_see_whole_commits_while_an_ingest_runs() {
    hammer(2);
}

#[test]
#[ignore = "long: make soak"]
fn many_readers_see_whole_commits_while_an_ingest_runs() {
    for _ in 0..5 {
        hammer(6);
    }
}

#[test]
fn a_second_writer_is_told_who_holds_the_database() {
    let folder = Folder::new();
    folder.write("one.txt", text(1, 500));
    folder.ok(&["--db", "db", "ingest", "one.txt", "-k", "6", "-w", "3"]);
    // This writer works until its input ends.
    let mut first = folder.command(&["--db", "db", "-q", "ingest", "-", "--name", "from input"]);
    let mut first = first.stdin(Stdio::piped()).spawn().unwrap();
    let pid = first.id().to_string();
    wait_for(&folder.path().join("db/lock"), &pid);

    let second = folder.run(&["--db", "db", "ingest", "one.txt"]);
    assert_eq!(second.status, 2, "{second:?}");
    assert!(second.stdout.is_empty(), "{second:?}");
    assert!(second.stderr.contains(&format!("is being written by process {pid}")), "{second:?}");
    assert_eq!(names(&list(&folder, "db")), ["one.txt"]);
    assert_eq!(json(&folder, "db", &["query", "one.txt"])[0]["matches"][0]["identical"], true);
    assert_eq!(json(&folder, "db", &["stats"])[0]["documents"], 1);

    std::io::Write::write_all(first.stdin.as_mut().unwrap(), text(2, 500).as_bytes()).unwrap();
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    assert_eq!(names(&list(&folder, "db")), ["one.txt", "from input"]);
    // The lock ended with the killed process.
    folder.ok(&["--db", "db", "ingest", "one.txt"]);
}

/// A writer that opens a database moves its last commits from the log into tables.
#[test]
fn a_writer_that_opens_hides_nothing_from_readers() {
    let folder = Folder::new();
    for round in 1..=12 {
        let name = format!("{round}.txt");
        folder.write(&name, text(round, 300));
        folder.ok(&["--db", "db", "ingest", &name, "-k", "6", "-w", "3"]);
        let mut writer = folder.command(&["--db", "db", "-q", "ingest", "-"]);
        let mut writer = writer.stdin(Stdio::piped()).spawn().unwrap();
        for _ in 0..4 {
            assert_eq!(list(&folder, "db").len() as u64, round);
        }
        // The killed writer leaves no document from its input.
        writer.kill().unwrap();
        writer.wait().unwrap();
    }
}

/// Each commit replaces both documents, so a reader that sees a whole commit sees two documents of one
/// version.
fn open_beside_commits(looks: u64) {
    let folder = Folder::new();
    let profile = Profile::named("words").unwrap();
    let writer = Database::builder().create(folder.path().join("db"), profile).unwrap();
    let commit = |version: u64| {
        let document = |name: &str| Document::new(name, format!("{name} of {}", text(version, 60)));
        let summary =
            writer.ingest_with([document("one"), document("two")], &IngestOptions::default(), &Task::new()).unwrap();
        assert_eq!(summary.added + summary.replaced, 2);
    };
    commit(0);
    let (ended, commits) = (AtomicBool::new(false), AtomicU64::new(1));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::SeqCst) {
                commit(commits.fetch_add(1, Ordering::SeqCst));
            }
        });
        // The writer must also be ended if a check fails.
        let seen = std::panic::catch_unwind(|| {
            let mut last = 0;
            for _ in 0..looks {
                let least = commits.load(Ordering::SeqCst) - 1;
                let documents = list(&folder, "db");
                assert_eq!(names(&documents), ["one", "two"]);
                let ids: Vec<u64> = documents.iter().map(|document| document["id"].as_u64().unwrap()).collect();
                assert!(ids[0].is_multiple_of(2) && ids[1] == ids[0] + 1, "{ids:?}: of one commit");
                assert!(ids[0] / 2 + 1 >= least && ids[0] >= last, "{ids:?} after {least} commits and {last}");
                last = ids[0];
            }
        });
        ended.store(true, Ordering::SeqCst);
        seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    assert_eq!(writer.verify(&Task::new()).unwrap().problems, []);
}

#[test]
fn a_reader_opens_beside_a_writer_that_commits_all_the_time() {
    open_beside_commits(10);
}

#[test]
#[ignore = "long: make soak"]
fn a_reader_opens_many_times_beside_a_writer_that_commits_all_the_time() {
    open_beside_commits(200);
}

fn wait_for(file: &Path, text: &str) {
    while !std::fs::read_to_string(file).is_ok_and(|found| found.contains(text)) {
        thread::sleep(Duration::from_millis(5));
    }
}
