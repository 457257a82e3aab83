//! Killed at any moment: nothing committed is lost, nothing is counted twice, and readers see whole commits.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::oracle::Random;
use crate::support::{Folder, Run};

/// Small, so that there are many commits.
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

/// Most files are old enough for their time to vouch for their content, some are not.
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

fn json(folder: &Folder, db: &str, arguments: &[&str]) -> Vec<Value> {
    folder.ok(&[&["--db", db, "--format", "json"], arguments].concat()).json()
}

fn list(folder: &Folder, db: &str) -> Vec<Value> {
    let mut documents = json(folder, db, &["list"]);
    for document in &mut documents {
        document.as_object_mut().unwrap().remove("ingested_at").unwrap();
    }
    documents
}

fn names(documents: &[Value]) -> Vec<&str> {
    documents.iter().map(|document| document["name"].as_str().unwrap()).collect()
}

/// The answers to queries with stored documents, as far as they are about `present` ones.
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

    fn start(&self) -> Child {
        let arguments = [&["--db", KILLED, "-q"], &INGEST[..]].concat();
        let mut command = self.folder.command(&arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Starts an ingest and kills it after `seconds`. False where it had ended by then, which it must have well.
    fn kill_after(&self, seconds: f64) -> bool {
        let mut child = self.start();
        thread::sleep(Duration::from_secs_f64(seconds));
        child.kill().unwrap();
        let run = Run::of(&child.wait_with_output().unwrap());
        // A signal shows as -1.
        assert!(run.status == 0 || run.status == -1, "{run:?}");
        run.status == -1
    }

    /// Looks at the database as a killed run has left it: it holds the first documents of the undisturbed run,
    /// among them all it held before. Returns how many.
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
            let all = names(&documents);
            let present = all.iter().copied().collect();
            let is_small = |document: &&Value| document["symbols"].as_u64().unwrap() < 100_000;
            let small: Vec<&Value> = documents.iter().filter(is_small).collect();
            let some: Vec<&str> = (0..5).map(|_| random.one_of(&small)["name"].as_str().unwrap()).collect();
            let sampled = ["-n", "8", "--mode", "resemblance", "--no-passages"];
            let coarse = ["--window", "1000", "--no-passages"];
            for (queries, flags) in [(&all, &sampled[..]), (&all, &coarse), (&some, &[])] {
                let [got, expected] = [KILLED, WHOLE].map(|db| answers(&self.folder, db, queries, flags, &present));
                assert!(got == expected, "answers differ from those of an undisturbed run");
            }
        }
        documents.len()
    }

    /// Runs to the end, and compares all there is.
    fn finish(&self, before: usize, random: &mut Random) {
        let run = Run::of(&self.start().wait_with_output().unwrap());
        assert_eq!(run.status, 0, "{run:?}");
        assert_eq!(self.check(before, random), self.documents.len());
        std::fs::remove_dir_all(self.folder.path().join(KILLED)).unwrap();
    }

    /// Kills runs until `kills` of them have died of it, at moments that cover the whole of a run.
    fn survive(&self, kills: usize, random: &mut Random) {
        let (mut done, mut before, mut round) = (0, 0, 0);
        while done < kills {
            // Strides through the parts of a run, a random moment in each.
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
    // The moment of a kill is left to chance anyway.
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

#[test]
fn readers_see_whole_commits_while_an_ingest_runs() {
    let folder = Folder::new();
    many_files(&folder, 300);
    folder.ok(&["--db", "db", "init", "-k", "6", "-w", "3"]);
    let mut child =
        folder.command(&[&["--db", "db", "-q"], &INGEST[..]].concat()).stdout(Stdio::null()).spawn().unwrap();
    let read = |random: &mut Random, least: u64| {
        let documents = list(&folder, "db");
        assert!(documents.len() as u64 >= least, "{} documents, {least} before", documents.len());
        if let Some(last) = names(&documents).last() {
            let some = random.one_of(&names(&documents));
            for answer in json(&folder, "db", &["query", last, some, "-n", "50"]) {
                assert_eq!(answer["looked_up"], 50);
                // It holds its own hashes.
                assert_eq!(answer["found"], 50);
            }
            let wide = ["query", "--window", "50", "--max-df", "1", last];
            assert_eq!(json(&folder, "db", &wide)[0]["matches"][0]["document"], **last);
        }
        let stats = json(&folder, "db", &["stats"]).remove(0);
        assert_eq!(stats["postings"], stats["fingerprints"]);
        let count = stats["documents"].as_u64().unwrap();
        assert!(count >= documents.len() as u64, "{count} documents, {} before", documents.len());
        count
    };
    let (read, ended) = (&read, &AtomicBool::new(false));
    thread::scope(|scope| {
        for seed in [1, 2] {
            scope.spawn(move || {
                let (mut random, mut least) = (Random(seed), 0);
                while !ended.load(Ordering::SeqCst) {
                    least = read(&mut random, least);
                }
            });
        }
        let status = child.wait().unwrap();
        ended.store(true, Ordering::SeqCst);
        assert!(status.success());
    });
    assert_eq!(read(&mut Random(3), 300), 300);
}

#[test]
fn a_second_writer_is_told_who_holds_the_database() {
    let folder = Folder::new();
    folder.write("one.txt", text(1, 500));
    folder.ok(&["--db", "db", "ingest", "one.txt", "-k", "6", "-w", "3"]);
    // At work until its input ends.
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
    // The lock ended with its holder.
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
        // Killed, it leaves no document from its input.
        writer.kill().unwrap();
        writer.wait().unwrap();
    }
}

fn wait_for(file: &Path, text: &str) {
    while !std::fs::read_to_string(file).is_ok_and(|found| found.contains(text)) {
        thread::sleep(Duration::from_millis(5));
    }
}
