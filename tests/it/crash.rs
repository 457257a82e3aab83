//! Runs are killed at any moment. Nothing committed is lost, nothing is counted twice, and readers see whole
//! commits.

mod at_risk;
mod order;
mod readers;
mod steps;

use std::collections::BTreeSet;
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::oracle::Random;
use crate::support::{Folder, Run};

/// An ingest with little memory, so that there are many commits.
const INGEST: [&str; 8] = ["ingest", "docs", "--memory", "1MiB", "-k", "6", "-w", "3"];

/// Random letters; the first half of each text is also in its neighbours.
fn text(number: u64, symbols: usize) -> String {
    let (mut shared, mut own) = (Random(number / 4 * 1_000_003), Random(number * 1_000_003 + 500_000));
    let mut text = String::with_capacity(symbols * 21 / 20);
    for i in 0..symbols {
        let random = if i < symbols / 2 { &mut shared } else { &mut own };
        text.push(char::from(b'a' + random.below(26) as u8));
        if i % 20 == 19 {
            text.push('\n');
        }
    }
    text
}

/// Writes a document. Four of five files get a time that is old enough for an ingest to trust.
fn write(folder: &Folder, name: &str, number: u64, symbols: usize) {
    let path = folder.write(&format!("docs/{name}"), text(number, symbols));
    if number % 5 != 4 {
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000_000 + number);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
}

fn many_files(folder: &Folder, files: u64) {
    for number in 0..files {
        write(folder, &format!("{:02}/{number:04}.txt", number / 50), number, 1500 + number as usize % 7 * 500);
    }
}

/// The lines of a command. Matches lack the times of files, which are present only if a file was not changed
/// for some seconds.
fn json(folder: &Folder, db: &str, arguments: &[&str]) -> Vec<Value> {
    let mut lines = folder.ok(&[&["--db", db, "--format", "json"], arguments].concat()).json();
    for found in lines.iter_mut().filter_map(|line| line.get_mut("matches")?.as_array_mut()).flatten() {
        found.as_object_mut().unwrap().remove("modified");
    }
    lines
}

fn list(folder: &Folder, db: &str) -> Vec<Value> {
    let mut documents = json(folder, db, &["list"]);
    for document in &mut documents {
        let fields = document.as_object_mut().unwrap();
        fields.remove("ingested_at").unwrap();
        // This field is present only if the file was not changed for some seconds.
        fields.remove("modified");
    }
    documents
}

fn names(documents: &[Value]) -> Vec<&str> {
    documents.iter().map(|document| document["name"].as_str().unwrap()).collect()
}

/// The answers to queries with stored documents, limited to matches in `present`.
fn answers(folder: &Folder, db: &str, queries: &[&str], flags: &[&str], present: &BTreeSet<&str>) -> Vec<Value> {
    let queries = queries.iter().flat_map(|name| ["--document", name]);
    let arguments: Vec<&str> =
        ["query", "--top", "0"].into_iter().chain(queries).chain(flags.iter().copied()).collect();
    let mut answers = json(folder, db, &arguments);
    for answer in &mut answers {
        for changing in ["found", "corpus_containment", "matching_documents"] {
            answer.as_object_mut().unwrap().remove(changing).unwrap();
        }
        answer["matches"].as_array_mut().unwrap().retain(|found| present.contains(found["document"].as_str().unwrap()));
    }
    answers
}

/// A folder of documents, and the database of an undisturbed run.
struct Undisturbed {
    folder: Folder,
    documents: Vec<Value>,
    seconds: f64,
}

const WHOLE: &str = "undisturbed";
const KILLED: &str = "killed";

impl Undisturbed {
    fn new(folder: Folder) -> Self {
        let start = Instant::now();
        folder.ok(&[&["--db", WHOLE], &INGEST[..]].concat());
        let seconds = start.elapsed().as_secs_f64();
        let documents = list(&folder, WHOLE);
        Self { folder, documents, seconds }
    }

    fn ingest(&self) -> Command {
        self.folder.command(&[&["--db", KILLED, "-q"], &INGEST[..]].concat())
    }

    fn start(&self) -> Child {
        self.ingest().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Starts an ingest and kills it after `seconds`. Returns false if the ingest had already ended without
    /// an error.
    fn kill_after(&self, seconds: f64) -> bool {
        let mut child = self.start();
        thread::sleep(Duration::from_secs_f64(seconds));
        child.kill().unwrap();
        let run = Run::of(&child.wait_with_output().unwrap());
        // A signal shows as -1.
        assert!(run.status == 0 || run.status == -1, "{run:?}");
        run.status == -1
    }

    /// Checks the database after a killed run. It must have the first documents of the undisturbed run, and
    /// all documents that it had before. Returns the number of its documents.
    fn check(&self, before: usize, random: &mut Random) -> usize {
        if !self.folder.path().join(KILLED).exists() {
            assert_eq!(before, 0);
            return 0;
        }
        let documents = list(&self.folder, KILLED);
        assert!(documents.len() >= before, "{} documents, {before} before the kill", documents.len());
        assert!(documents[..] == self.documents[..documents.len()], "not what an undisturbed run makes");
        let stats = json(&self.folder, KILLED, &["stats"]).remove(0);
        assert_eq!(stats["documents"], documents.len());
        for (of_all, of_one) in [("bytes", "bytes"), ("symbols", "symbols"), ("postings", "fingerprints")] {
            let sum: u64 = documents.iter().map(|document| document[of_one].as_u64().unwrap()).sum();
            assert_eq!(stats[of_all], sum, "{of_all}");
        }
        assert_eq!(stats["postings"], stats["fingerprints"]);
        assert_eq!(json(&self.folder, KILLED, &["verify"])[0]["problems"], Value::Array(vec![]));
        if !documents.is_empty() {
            let present = names(&documents).into_iter().collect();
            let mut choose = |of: &[&Value], count: usize| -> Vec<String> {
                (0..count).map(|_| random.one_of(of)["name"].as_str().unwrap().to_owned()).collect()
            };
            let many = choose(&documents.iter().collect::<Vec<_>>(), 30);
            let is_small = |document: &&Value| document["symbols"].as_u64().unwrap() < 100_000;
            let small: Vec<&Value> = documents.iter().filter(is_small).collect();
            let some = choose(&small, 5);
            let sampled = ["-n", "8", "--mode", "resemblance", "--no-passages"];
            let coarse = ["--window", "1000", "--no-passages"];
            for (queries, flags) in [(&many, &sampled[..]), (&many, &coarse), (&some, &[])] {
                let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
                let [got, expected] = [KILLED, WHOLE].map(|db| answers(&self.folder, db, &queries, flags, &present));
                assert!(got == expected, "answers differ from those of an undisturbed run");
            }
        }
        documents.len()
    }

    /// Runs to the end, and compares everything with the undisturbed run.
    fn finish(&self, before: usize, random: &mut Random) {
        let run = Run::of(&self.start().wait_with_output().unwrap());
        assert_eq!(run.status, 0, "{run:?}");
        assert_eq!(self.check(before, random), self.documents.len());
        std::fs::remove_dir_all(self.folder.path().join(KILLED)).unwrap();
    }

    /// Kills runs until `kills` of them have died, at moments that cover a whole run.
    fn survive(&self, kills: usize, random: &mut Random) {
        let (mut done, mut before, mut round) = (0, 0, 0);
        while done < kills {
            // The time of a run has `kills` parts. Each kill comes at a random moment of the seventh part
            // after the last one.
            let part = (round * 7 % kills) as f64 + (random.next() >> 11) as f64 / (1u64 << 53) as f64;
            round += 1;
            if self.kill_after(part / kills as f64 * self.seconds) {
                done += 1;
                before = self.check(before, random);
            } else {
                self.finish(before, random);
                before = 0;
            }
        }
        self.finish(before, random);
    }
}

fn seed() -> Random {
    // The moment of a kill is random anyway.
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    eprintln!("seed {seed}");
    Random(seed)
}

#[test]
fn a_killed_ingest_loses_nothing_and_counts_nothing_twice() {
    let folder = Folder::new();
    many_files(&folder, 300);
    Undisturbed::new(folder).survive(15, &mut seed());
}

#[test]
fn a_document_larger_than_a_batch_is_whole_or_absent() {
    let folder = Folder::new();
    for (name, number, symbols) in [("a", 0, 900), ("b", 1, 1_000_000), ("c", 2, 2000), ("d", 3, 0)] {
        write(&folder, name, number, symbols);
    }
    Undisturbed::new(folder).survive(5, &mut seed());
}

#[test]
#[ignore = "long: make soak"]
fn two_hundred_kills() {
    let folder = Folder::new();
    many_files(&folder, 1500);
    write(&folder, "07/large.txt", 9, 2_000_000);
    Undisturbed::new(folder).survive(200, &mut seed());
}
