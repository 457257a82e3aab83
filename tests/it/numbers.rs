//! The numbers of documents: the same inputs in the same order give the same numbers. Failures, memory, and
//! the place at which a run was stopped and started again make no difference.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use fpdb::{
    Database, DatabaseWriter, Error, IngestOptions, IngestSummary, OnChange, Profile, Progress, Source, StopToken, Task,
};
use tempfile::TempDir;

use crate::support::gzip;

/// Text with this number of words, different for each `number`.
fn text(number: u64, words: usize) -> String {
    let mut state = number;
    let mut text = String::new();
    for _ in 0..words {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        text.push_str(&format!("{:x} ", z >> 40));
    }
    text
}

/// Stops the run once a number of pieces of documents have been read.
struct StopAfter<'a> {
    pieces: AtomicUsize,
    stop: &'a StopToken,
}

impl Progress for StopAfter<'_> {
    fn read(&self, _: u64) {
        if self.pieces.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.stop.stop();
        }
    }
}

/// Ingests a folder, and stops after `pieces` pieces.
fn ingest(database: &DatabaseWriter, folder: &Path, pieces: usize) -> IngestSummary {
    let stop = StopToken::new();
    let observer = StopAfter { pieces: pieces.into(), stop: &stop };
    database
        .ingest_sources(
            &[Source::Path(folder.to_owned())],
            &IngestOptions::default(),
            &Task::new().progress(&observer).stop(&stop),
        )
        .unwrap()
}

fn create(folder: &TempDir, name: &str, memory: u64) -> DatabaseWriter {
    let profile = Profile::named("prose").unwrap();
    Database::builder().memory(memory).create(folder.path().join(name), profile).unwrap()
}

/// Verifies the database. Returns the number and name of each document, and the number of postings.
fn content(database: &Database) -> (Vec<(u32, String)>, u64) {
    assert_eq!(database.verify(&Task::new()).unwrap().problems, []);
    let mut documents = Vec::new();
    database
        .for_each_document::<Error>(|document| {
            documents.push((document.id.0, document.name));
            Ok(())
        })
        .unwrap();
    (documents, database.stats().unwrap().postings)
}

#[test]
fn what_fails_takes_no_number_however_much_of_it_was_stored() {
    let folder = TempDir::new().unwrap();
    let documents = folder.path().join("documents");
    fs::create_dir(&documents).unwrap();
    fs::write(documents.join("a.txt"), text(1, 500)).unwrap();
    fs::write(documents.join("z.txt"), text(2, 500)).unwrap();
    let whole = create(&folder, "whole", 64 << 20);
    ingest(&whole, &documents, usize::MAX);

    let packed = gzip(text(3, 200_000));
    fs::write(documents.join("m.txt.gz"), &packed[..packed.len() - 100]).unwrap();
    for (name, memory) in [("little", 1 << 20), ("much", 256 << 20)] {
        let database = create(&folder, name, memory);
        let summary = ingest(&database, &documents, usize::MAX);
        assert_eq!((summary.added, summary.failed.len()), (2, 1), "{summary:?}");
        assert_eq!(content(&database), content(&whole), "{name}");
    }
}

#[test]
fn a_large_document_that_is_left_as_it_was_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let documents = folder.path().join("documents");
    fs::create_dir(&documents).unwrap();
    fs::write(documents.join("b.txt"), text(1, 100)).unwrap();
    let database = create(&folder, "database", 1 << 20);
    ingest(&database, &documents, usize::MAX);
    fs::write(documents.join("b.txt"), text(3, 200_000)).unwrap();
    fs::write(documents.join("a.txt"), text(2, 100)).unwrap();
    fs::write(documents.join("c.txt"), text(4, 100)).unwrap();
    let options = IngestOptions::default().on_change(OnChange::Keep);
    let source = [Source::Path(documents.clone())];
    let summary = database.ingest_sources(&source, &options, &Task::new()).unwrap();
    assert_eq!((summary.added, summary.kept), (2, 1));
    let (stored, postings) = content(&database);
    let names = ["b.txt", "a.txt", "c.txt"].map(|name| documents.join(name).display().to_string());
    assert_eq!(stored, (0..).zip(names).collect::<Vec<_>>());
    assert_eq!(postings, database.stats().unwrap().fingerprints);
}

#[test]
fn a_run_that_was_stopped_and_begun_again_gives_the_same_numbers() {
    let folder = TempDir::new().unwrap();
    let documents = folder.path().join("documents");
    fs::create_dir(&documents).unwrap();
    fs::write(documents.join("b.txt"), text(0, 200_000)).unwrap();
    for (number, name) in (1..).zip(["a", "c", "d", "e", "f", "z"]) {
        fs::write(documents.join(format!("{name}.txt")), text(number, 500)).unwrap();
    }
    let undisturbed = create(&folder, "undisturbed", 1 << 20);
    ingest(&undisturbed, &documents, usize::MAX);
    let expected = content(&undisturbed);
    let mut stopped = 0;
    for pieces in [0, 1, 2, 3, 5, 8, 12, 16, 20] {
        let memory = if pieces % 2 == 0 { 1 << 20 } else { 64 << 20 };
        let database = create(&folder, &format!("stopped-{pieces}"), memory);
        let summary = ingest(&database, &documents, pieces);
        stopped += usize::from(summary.interrupted && summary.added < 7);
        let (before, _) = content(&database);
        assert!(expected.0.starts_with(&before), "{pieces}: {before:?}");
        ingest(&database, &documents, usize::MAX);
        assert_eq!(content(&database), expected, "stopped after {pieces} pieces");
    }
    assert!(stopped > 2, "{stopped} were stopped before they were done");
}
