//! Tests of folds: the reads of a lookup before and after a fold, counted by the engine; and stopped folds,
//! which must continue.

use std::path::Path;
use std::sync::Mutex;

use super::codec::block::Posting;
use super::codec::format::{FOLD_KEY, MAIN, POSTINGS, posting_key, run_of_key};
use super::tests::{absent, fingerprint, hash, held, look_up, record, store_of};
use super::write::levels::QUERY_HASHES;
use super::write::run_writer::{self, Filters};
use super::{Batch, Committer, Store, StoreOptions};
use fpdb_host::error::Error;
use fpdb_host::progress::{Progress, Task};
use fpdb_host::stop::StopToken;
use fpdb_kernel::profile::Profile;

fn writer(root: &Path) -> Store {
    Store::open_writer(root, &StoreOptions::default()).unwrap()
}

fn reader(root: &Path) -> Store {
    Store::open_reader(root, &StoreOptions::default()).unwrap()
}

#[test]
fn after_a_compaction_there_is_one_run_and_a_cold_hash_costs_one_block() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    drop(store_of(&root, &[300, 100, 100, 50, 50, 20, 5, 5, 5, 1, 1, 1, 1]));
    let store = writer(&root);
    store.compact(&Task::new()).unwrap();
    assert_eq!(store.view().run_count(), 1);
    assert!(store.view().cold_blocks() <= 1.1);
    drop(store);
    // 640,000 postings are 1,250 blocks and 20 filters. Opening the run has read its first block.
    for (count, step) in [(15, 42_000), (400, 1600)] {
        let (found, reads) = look_up(&reader(&root), held(count, step));
        assert_eq!(found as u64, count);
        assert!(reads * 5 >= count * 4 && reads * 10 <= count * 11, "{reads} blocks for {count} hashes");
        let (found, reads) = look_up(&reader(&root), absent(count));
        assert_eq!(found, 0);
        // A lookup reads either one block for each hash, or all filters and a block for one hash in 256.
        assert!(reads <= count.min(20 + 4 + count / 256), "{reads} blocks for {count} hashes that are not there");
    }
}

#[test]
fn a_growing_store_reads_no_more_than_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    let store = Store::create(&root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
    let mut committer = Committer::new(&store);
    let mut number = 0;
    for commit in 0..100u64 {
        let mut batch = Batch::new(store.profile(), store.view().state().next_document, 1 << 30);
        // From 500 to 50,000 postings. Few are large.
        let size = 500 * (1 + commit * 7919 % 10) * if commit % 9 == 0 { 10 } else { 1 };
        batch.push((0..size as u32).map(u64::from).map(|at| fingerprint(hash(2 * (number + at)), at))).unwrap();
        batch.finish(record(commit, size)).unwrap();
        number += size;
        committer.commit(&store, &mut batch).unwrap();
        store.fold_excess(&Task::new()).unwrap();
        if commit % 10 != 9 {
            continue;
        }
        let cold = reader(&root);
        let said = cold.view().cold_blocks();
        let (found, reads) = look_up(&cold, held(QUERY_HASHES, number / QUERY_HASHES));
        assert_eq!(found as u64, QUERY_HASHES);
        let each = reads as f64 / QUERY_HASHES as f64;
        assert!(each <= said + 0.02, "commit {commit}: {each} blocks a hash, {said} said");
        assert!(said <= 1.1, "commit {commit}: {said}");
        assert!(cold.view().run_count() < 48, "commit {commit}");
    }
}

/// Stops its token at the n-th step. Remembers the postings done at the first step and at the last.
struct StopAt {
    token: StopToken,
    steps: Mutex<(u32, Option<u64>, u64)>,
    at: u32,
}

impl Progress for StopAt {
    fn step(&self, step: &'static str, done: u64, _total: u64) {
        if step == "postings folded" {
            let mut steps = self.steps.lock().unwrap();
            let (count, first, last) = &mut *steps;
            *count += 1;
            first.get_or_insert(done);
            *last = done;
            if *count == self.at {
                self.token.stop();
            }
        }
    }
}

/// Folds all runs in slices of `slice` postings, until step `at`. Returns the postings done at the first step
/// and the last.
fn fold_until(store: &Store, slice: u64, at: u32) -> (u64, u64) {
    let runs = store.view().runs_to_compact().unwrap();
    let watch = StopAt { token: StopToken::new(), steps: Mutex::default(), at };
    let outcome = store.fold(&runs, slice, &Task::new().progress(&watch).stop(&watch.token));
    let (steps, first, last) = *watch.steps.lock().unwrap();
    assert_eq!(matches!(outcome, Err(Error::Stopped)), steps >= at, "{outcome:?}");
    (first.unwrap(), last)
}

fn postings(store: &Store) -> Vec<Posting> {
    let mut all = Vec::new();
    store
        .for_each_posting(|posting| {
            all.push(posting);
            Ok(())
        })
        .unwrap();
    all
}

/// The runs that have rows, listed or not.
fn runs_with_rows(store: &Store) -> Vec<u32> {
    let mut runs = Vec::new();
    let mut rows = store.engine.rows(POSTINGS, "look").unwrap();
    rows.seek_to_first();
    while let Some(run) = rows.key().and_then(run_of_key) {
        runs.push(run);
        rows.seek(posting_key(run + 1, 0, 0));
    }
    runs
}

fn is_noted(store: &Store) -> bool {
    store.engine.get(MAIN, FOLD_KEY, "look").unwrap().is_some()
}

/// A slice ends between two reports of progress. Reports come every 100,000 postings.
const SLICE: u64 = 90_000;

#[test]
fn a_fold_that_is_stopped_goes_on_in_this_process_and_in_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    drop(store_of(&root, &[300, 200, 100]));
    let mut store = writer(&root);
    let before = postings(&store);
    let mut done = 0;
    for (at, reopened) in [(3, false), (2, true), (1, true), (2, false)] {
        let (first, last) = fold_until(&store, SLICE, at);
        assert!(first >= done, "{first} follows {done}: what was done is not done again");
        // A stop loses at most one slice.
        done = last.saturating_sub(SLICE + 2 * (1 << 17));
        assert!(is_noted(&store));
        if reopened {
            drop(store);
            store = writer(&root);
        }
        assert_eq!(store.view().run_count(), 3);
        assert!(postings(&reader(&root)) == before, "readers see the old runs");
        assert!(store.compaction_plan().unwrap().postings <= 600_000 - done);
        assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    }
    // Rows that a killed process wrote without recording them.
    let run = *runs_with_rows(&store).last().unwrap();
    let stray = |hash, part: &mut run_writer::RunPart<'_>| part.push(Posting { hash, document: 0, ordinal: 0 });
    run_writer::write_run(&store, run, Filters::Whole, vec![u64::MAX - 5], stray).unwrap();
    drop(store);
    let store = writer(&root);
    store.compact(&Task::new()).unwrap();
    assert_eq!((store.view().run_count(), is_noted(&store)), (1, false));
    assert!(postings(&store) == before);
    assert_eq!(runs_with_rows(&store).len(), 1);
    assert_eq!(store.view().posting_count(), before.len() as u64);
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
}

#[test]
fn a_fold_that_is_stopped_is_given_up_once_something_is_committed() {
    let folder = tempfile::tempdir().unwrap();
    for (number, reopened) in [false, true].into_iter().enumerate() {
        let root = folder.path().join(number.to_string());
        drop(store_of(&root, &[300, 200, 100]));
        let mut store = writer(&root);
        fold_until(&store, SLICE, 3);
        let stopped = *runs_with_rows(&store).last().unwrap();
        // Deletes a document whose postings are partly folded, and adds one in a new run.
        let next = store.view().state().next_document;
        let mut batch = Batch::new(store.profile(), next, 1 << 20);
        batch.delete(1, store.document(1).unwrap());
        batch.push((0..10u32).map(u64::from).map(|at| fingerprint(hash(1 << 30 | at), at))).unwrap();
        batch.finish(record(u64::from(next), 10)).unwrap();
        Committer::new(&store).commit(&store, &mut batch).unwrap();
        assert!(store.view().runs.iter().all(|&(run, _)| run != stopped));
        let before = postings(&store);
        assert_eq!(before.len(), 600_000 - 1000 + 10);
        if reopened {
            drop(store);
            store = writer(&root);
            assert!(!is_noted(&store) && !runs_with_rows(&store).contains(&stopped), "its rows are removed");
        }
        store.compact(&Task::new()).unwrap();
        assert!(postings(&store) == before);
        assert_eq!((store.view().run_count(), store.view().tombstone_count(), is_noted(&store)), (1, 0, false));
        assert_eq!(runs_with_rows(&store).len(), 1);
        assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    }
}

#[test]
fn folds_in_slices_of_any_size_make_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut made = Vec::new();
    for (number, slice) in [1 << 30, 100_000, 33_333, 7_000].into_iter().enumerate() {
        let root = folder.path().join(number.to_string());
        drop(store_of(&root, &[20, 20, 5]));
        let store = writer(&root);
        let runs = store.view().runs_to_compact().unwrap();
        store.fold(&runs, slice, &Task::new()).unwrap();
        assert_eq!(store.view().run_count(), 1);
        assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
        made.push(postings(&store));
        let held = (0..45_000).map(|number| hash(2 * number)).collect();
        assert_eq!(look_up(&store, held).0, 45_000);
    }
    assert!(made.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Without the space for a fold the runs stay, and no commit fails because of it.
#[test]
fn runs_are_not_folded_without_the_space_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    drop(store_of(&root, &[1; 20]));
    let store = writer(&root);
    let needed = store.compaction_plan().unwrap().bytes;
    assert!(needed > 0);
    store.fold_excess_within(Some(needed / 2), &Task::new()).unwrap();
    assert_eq!(store.view().run_count(), 20);
    store.fold_excess_within(Some(2 * needed), &Task::new()).unwrap();
    assert_eq!(store.view().run_count(), 1);
}

/// A fold that cannot succeed fails once: later commits must not begin it again.
#[test]
fn a_failed_fold_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    drop(store_of(&root, &[1; 20]));
    let store = writer(&root);
    let damaged = store.view().runs[3].0;
    store.remove_run(damaged).unwrap();
    assert!(matches!(store.fold_excess(&Task::new()), Err(Error::Damaged { .. })));
    store.fold_excess(&Task::new()).unwrap();
    assert_eq!(store.view().run_count(), 20);
    assert!(matches!(store.compact(&Task::new()), Err(Error::Damaged { .. })));
}
