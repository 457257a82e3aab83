//! An archive that changes at random, ingested again and again with and without `--prune`: no content is
//! lost, and `--prune` removes missing documents.
//!
//! `FPDB_CHANGING=SEEDS` sets the number of seeds to try.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fpdb::{Database, DatabaseWriter, IngestOptions, IngestSummary, Profile, Source, Task};
use xxhash_rust::xxh3::xxh3_128;

use crate::bad_input::prose;
use crate::oracle::Random;
use crate::support::{Folder, gzip, remove_empty, zip};

/// Number of texts: few, so that many documents have the same text.
const TEXTS: usize = 10;

/// A random text, or a third of one.
fn text(random: &mut Random) -> String {
    let number = random.below(TEXTS);
    match random.below(4) {
        0 => prose(3 * number + random.below(3)),
        _ => (0..3).map(|part| prose(3 * number + part)).collect(),
    }
}

/// The endings of file names, which decide the kind of a file.
const ENDINGS: [&str; 7] = ["txt", "txt", "txt.gz", "jsonl", "jsonl.gz", "tar", "zip"];

/// The files of the folder, each with the names and texts of its members. A file that is one document has one
/// member, without a name.
#[derive(Default)]
struct Files {
    files: BTreeMap<PathBuf, Vec<(String, String)>>,
    /// Counts steps, to give files different times.
    clock: u64,
}

fn ending(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().split_once('.').unwrap().1.to_owned()
}

/// True if the members of the file have an order and no names.
fn has_lines(path: &Path) -> bool {
    ending(path).starts_with("jsonl")
}

fn has_names(path: &Path) -> bool {
    ["tar", "zip"].contains(&ending(path).as_str())
}

impl Files {
    /// Writes a file with these members.
    fn write(&mut self, path: &Path, members: Vec<(String, String)>, random: &mut Random) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines =
            || members.iter().map(|(_, text)| format!("{}\n", serde_json::json!({ "text": text }))).collect::<String>();
        let bytes = match ending(path).as_str() {
            "txt" => members[0].1.clone().into_bytes(),
            "txt.gz" => gzip(&members[0].1),
            "jsonl" => lines().into_bytes(),
            "jsonl.gz" => gzip(lines()),
            "tar" => {
                let mut archive = tar::Builder::new(Vec::new());
                for (name, text) in &members {
                    let mut header = tar::Header::new_gnu();
                    header.set_size(text.len() as u64);
                    header.set_mode(0o644);
                    archive.append_data(&mut header, name, text.as_bytes()).unwrap();
                }
                archive.into_inner().unwrap()
            }
            _ => zip(members.iter().map(|(name, text)| (name, text))),
        };
        fs::write(path, bytes).unwrap();
        self.files.insert(path.to_owned(), members);
        // No two files have the same time. Some files are so young that their times are not trusted.
        if random.below(3) > 0 {
            self.clock += 1;
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + self.clock);
            fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        }
    }

    fn members(path: &Path, random: &mut Random) -> Vec<(String, String)> {
        let count = if has_lines(path) || has_names(path) { 1 + random.below(5) } else { 1 };
        let names: BTreeSet<usize> = (0..count).map(|_| random.below(8)).collect();
        if has_names(path) {
            names.into_iter().map(|name| (format!("m{name}.txt"), text(random))).collect()
        } else {
            (0..count).map(|_| (String::new(), text(random))).collect()
        }
    }

    fn one(&self, random: &mut Random) -> Option<PathBuf> {
        let place = random.below(self.files.len().max(1));
        self.files.keys().nth(place).cloned()
    }

    fn fresh(folder: &Path, ending: &str, random: &mut Random) -> PathBuf {
        let below = random.one_of(&["", "a/", "b/c/"]);
        folder.join(format!("{below}{}.{ending}", random.below(6)))
    }

    /// Makes a random change.
    fn change(&mut self, folder: &Path, random: &mut Random) {
        let one = self.one(random);
        let Some(path) = one.filter(|_| random.below(5) > 0) else {
            let ending = random.one_of(&ENDINGS);
            let path = Self::fresh(folder, ending, random);
            let members = Self::members(&path, random);
            return self.write(&path, members, random);
        };
        let mut members = self.files[&path].clone();
        match random.below(9) {
            0 => {
                fs::remove_file(&path).unwrap();
                self.files.remove(&path);
            }
            // Copies a file, perhaps in another form.
            1 => {
                let ending = match (ending(&path), random.below(2)) {
                    _ if has_names(&path) => random.one_of(&["tar", "zip"]).to_owned(),
                    (ending, 0) => ending,
                    (ending, _) => ending.strip_suffix(".gz").map_or(format!("{ending}.gz"), str::to_owned),
                };
                let to = Self::fresh(folder, &ending, random);
                self.write(&to, members, random);
            }
            // Renames a file. Its time and bytes stay.
            2 | 3 => {
                let to = Self::fresh(folder, &ending(&path), random);
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::rename(&path, &to).unwrap();
                self.files.remove(&path);
                self.files.insert(to, members);
            }
            // Two files of one kind swap their names.
            4 => {
                let of_kind = |other: &&PathBuf| **other != path && ending(other) == ending(&path);
                let Some(other) = self.files.keys().find(of_kind).cloned() else { return };
                let between = folder.join("between");
                fs::rename(&path, &between).unwrap();
                fs::rename(&other, &path).unwrap();
                fs::rename(&between, &other).unwrap();
                let others = self.files.insert(path, self.files[&other].clone());
                self.files.insert(other, others.unwrap());
            }
            // A member is removed or added, or swaps its place or its text with another.
            5 if members.len() > 1 => {
                members.remove(random.below(members.len()));
                self.write(&path, members, random);
            }
            6 if has_lines(&path) => {
                members.insert(random.below(members.len() + 1), (String::new(), text(random)));
                self.write(&path, members, random);
            }
            7 if members.len() > 1 => {
                let (a, b) = (random.below(members.len()), random.below(members.len()));
                let of_a = std::mem::take(&mut members[a].1);
                let of_b = if a == b { of_a.clone() } else { std::mem::replace(&mut members[b].1, of_a) };
                members[a].1 = of_b;
                self.write(&path, members, random);
            }
            _ => {
                let place = random.below(members.len());
                members[place].1 = text(random);
                self.write(&path, members, random);
            }
        }
    }

    /// The names and texts of all documents.
    fn documents(&self) -> BTreeMap<String, &str> {
        let mut documents = BTreeMap::new();
        for (path, members) in &self.files {
            let file = path.to_str().unwrap();
            for (number, (name, text)) in (1..).zip(members) {
                let name = match () {
                    () if has_lines(path) => format!("{file}:{number}"),
                    () if has_names(path) => format!("{file}!{name}"),
                    () => file.to_owned(),
                };
                documents.insert(name, text.as_str());
            }
        }
        documents
    }
}

#[derive(Clone, Debug)]
struct Stored {
    id: u32,
    name: String,
    text: String,
}

/// The stored documents. `texts` has all texts that ever existed, by digest.
fn stored(database: &Database, texts: &BTreeMap<[u8; 16], String>) -> Vec<Stored> {
    let mut stored = Vec::new();
    database
        .for_each_document(|document| {
            let text = texts[&document.digest].clone();
            assert_eq!(document.bytes, text.len() as u64);
            stored.push(Stored { id: document.id.0, name: document.name, text });
            Ok::<_, fpdb::Error>(())
        })
        .unwrap();
    stored
}

/// The settings of the ingest in one round.
#[derive(Clone, Copy, Debug)]
struct Round {
    prunes: bool,
    stores_texts: bool,
}

impl Round {
    fn random(random: &mut Random) -> Self {
        Self { prunes: random.below(2) == 0, stores_texts: random.below(6) == 0 }
    }

    fn options(self) -> IngestOptions {
        IngestOptions::default().prune(self.prunes).store_text(self.stores_texts)
    }

    /// Compares the database with the folder.
    fn check(self, before: &[Stored], after: &[Stored], files: &Files, summary: &IngestSummary) {
        let documents = files.documents();
        assert_eq!((summary.failures, summary.documents), (0, documents.len() as u64));
        let ids: BTreeSet<u32> = after.iter().map(|one| one.id).collect();
        assert_eq!(ids.len(), after.len());
        for one in after {
            match documents.get(&one.name) {
                Some(text) => assert!(one.text == **text, "{} has another text", one.name),
                // The database may still hold a missing document, but must not have added it.
                None => {
                    assert!(!self.prunes, "{} is gone", one.name);
                    assert!(before.iter().any(|old| old.id == one.id), "{} is not there", one.name);
                }
            }
        }
        for name in documents.keys() {
            let versions = after.iter().filter(|one| one.name == *name).count();
            assert_eq!(versions, 1, "{name}");
        }
    }
}

fn try_seed(seed: u64, rounds: usize) {
    let folder = Folder::new();
    let corpus = folder.path().join("corpus");
    fs::create_dir(&corpus).unwrap();
    let database: DatabaseWriter =
        Database::create(folder.path().join("db"), Profile::named("prose").unwrap()).unwrap();
    let (mut random, mut files, mut texts) = (Random(seed * 7919 + 1), Files::default(), BTreeMap::new());
    let mut before = Vec::new();
    for number in 0..rounds {
        for _ in 0..1 + random.below(6) {
            files.change(&corpus, &mut random);
        }
        if files.files.is_empty() {
            continue;
        }
        for text in files.documents().into_values() {
            texts.insert(xxh3_128(text.as_bytes()).to_be_bytes(), text.to_owned());
        }
        remove_empty(&corpus);
        let round = Round::random(&mut random);
        let sources = [Source::Path(corpus.clone())];
        let summary = database.ingest_sources(&sources, &round.options(), &Task::new()).unwrap();
        eprintln!("seed {seed}, round {number}: {round:?} {summary:?}");
        let after = stored(&database, &texts);
        round.check(&before, &after, &files, &summary);
        before = after;
    }
    assert!(database.verify(&Task::new()).unwrap().problems.is_empty());
}

#[test]
fn no_document_is_lost_whatever_changes() {
    let seeds = std::env::var("FPDB_CHANGING").ok().map_or(6, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        try_seed(seed, 25);
    }
}
