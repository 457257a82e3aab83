//! Tests of frequent commits: small runs whose postings stay in memory until one run replaces them.

use std::path::Path;

use super::tests::{absent, fingerprint, hash, held, look_up, record, store_of};
use super::{Batch, Committer, Store, StoreOptions};
use fpdb_host::progress::Task;
use fpdb_kernel::profile::Profile;

/// Hashes of one document.
const EACH: u64 = 1000;

/// A batch of documents of these numbers, as `store_of` makes them.
fn fill(batch: &mut Batch, documents: std::ops::Range<u64>) {
    for number in documents {
        let fingerprints = (0..EACH).map(|at| fingerprint(hash(2 * (number * EACH + at)), at));
        batch.push(fingerprints.collect::<Vec<_>>().into_iter()).unwrap();
        batch.finish(record(number, EACH)).unwrap();
    }
}

fn create(root: &Path) -> Store {
    Store::create(root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap()
}

fn reader(root: &Path) -> Store {
    Store::open_reader(root, &StoreOptions::default()).unwrap()
}

/// Checks that the store holds the first `documents` documents, and no damage.
fn check(root: &Path, documents: u64) {
    let store = reader(root);
    assert_eq!(store.view().state().documents, documents);
    assert_eq!(store.view().posting_count(), documents * EACH);
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    assert_eq!(look_up(&store, held(documents, EACH)).0 as u64, documents);
    assert_eq!(look_up(&store, absent(100)).0, 0);
}

#[test]
fn each_commit_is_seen_and_a_load_leaves_as_few_runs_as_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (root, other) = (folder.path().join("db"), folder.path().join("other"));
    let store = create(&root);
    let mut committer = Committer::new(&store);
    let mut batch = Batch::new(store.profile(), 0, 1 << 30);
    for number in 0..40 {
        fill(&mut batch, number * 3..number * 3 + 3);
        committer.commit_next(&store, &mut batch, number == 39).unwrap();
        // Sixteen runs become one that is kept too.
        let runs = if number == 39 { 1 } else { (number + 1) / 16 + (number + 1) % 16 };
        assert_eq!(store.view().run_count() as u64, runs, "commit {number}");
        assert_eq!(committer.keeps_runs(), number < 39);
        if number % 13 == 0 {
            check(&root, number * 3 + 3);
        }
    }
    check(&root, 120);
    let once = store_of(&other, &[120]);
    assert_eq!(store.view().run_postings(), once.view().run_postings());
    assert_eq!(store.view().cold_blocks(), once.view().cold_blocks());
    for count in [120, 2000] {
        let reads = [&root, &other].map(|root| look_up(&reader(root), held(count, 120 * EACH / count)));
        assert_eq!(reads[0], reads[1]);
    }
}

#[test]
fn a_killed_load_leaves_runs_that_the_next_one_folds() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    let store = create(&root);
    let mut committer = Committer::new(&store);
    let mut batch = Batch::new(store.profile(), 0, 1 << 30);
    for number in 0..5 {
        fill(&mut batch, number * 10..number * 10 + 10);
        committer.commit_next(&store, &mut batch, false).unwrap();
    }
    drop((committer, store));
    check(&root, 50);
    let cold = reader(&root);
    assert_eq!(cold.view().run_count(), 5);
    let (said, (_, reads)) = (cold.view().cold_blocks(), look_up(&reader(&root), held(1536, 50 * EACH / 1536)));
    let each = reads as f64 / 1536.0;
    assert!(said >= each && said <= 5.0, "{said} said, {each} read");

    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    assert!(store.compaction_plan().unwrap().runs == 5);
    fill(&mut batch, 50..51);
    let mut batch_after = Committer::new(&store).batch_after(&batch);
    assert!(batch_after.is_empty());
    let mut committer = Committer::new(&store);
    committer.commit_next(&store, &mut batch, true).unwrap();
    store.fold_excess(&Task::new()).unwrap();
    assert_eq!(store.view().run_postings(), [50 * EACH, EACH]);
    fill(&mut batch_after, 51..52);
    committer.commit_next(&store, &mut batch_after, true).unwrap();
    check(&root, 52);
    assert!(store.view().cold_blocks() < 1.1);
}

#[test]
fn deleted_documents_leave_with_the_small_runs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    let store = create(&root);
    let mut committer = Committer::new(&store);
    let mut batch = Batch::new(store.profile(), 0, 1 << 30);
    fill(&mut batch, 0..3);
    committer.commit_next(&store, &mut batch, false).unwrap();
    fill(&mut batch, 3..6);
    // Deletes a document of an earlier commit, and one of this batch.
    for id in [1, 4] {
        batch.delete(id, record(u64::from(id), EACH));
    }
    committer.commit_next(&store, &mut batch, false).unwrap();
    assert_eq!((store.view().posting_count(), store.view().tombstone_count()), (6 * EACH, 2));
    committer.commit_next(&store, &mut batch, true).unwrap();
    assert_eq!((store.view().posting_count(), store.view().tombstone_count()), (4 * EACH, 0));
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    // All documents of a load are deleted.
    fill(&mut batch, 6..8);
    committer.commit_next(&store, &mut batch, false).unwrap();
    for id in [6, 7] {
        batch.delete(id, record(u64::from(id), EACH));
    }
    committer.commit_next(&store, &mut batch, true).unwrap();
    assert_eq!(store.view().run_count(), 1);
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
}

#[test]
fn kept_postings_and_batches_stay_within_their_memory() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(&folder.path().join("db"));
    let mut committer = Committer::new(&store);
    let share = 2 << 20;
    let mut batch = Batch::new(store.profile(), 0, share);
    let (mut most, mut runs, mut next) = (0, Vec::new(), 0..0);
    for round in 0..60 {
        // Some batches are committed early, others when they are full.
        let documents = if round % 7 < 4 { 15 } else { u64::MAX };
        while next.end - next.start < documents && !batch.is_full() {
            fill(&mut batch, next.end..next.end + 1);
            next.end += 1;
        }
        next.start = next.end;
        let mut after = committer.batch_after(&batch);
        most = most.max(committer.kept_bytes() + batch.held() + after.limit);
        assert!(after.limit >= share / 8, "round {round}");
        committer.commit_next(&store, &mut batch, false).unwrap();
        if !committer.keeps_runs() {
            runs.extend(store.view().run_postings().last().copied());
        }
        std::mem::swap(&mut batch, &mut after);
    }
    assert!(most <= 2 * share + share / 8, "{most} bytes");
    // Every run that is not replaced has the postings of a full batch.
    assert!(runs.iter().all(|&postings| postings as usize * 16 >= share * 9 / 10), "{runs:?}");
    assert!(runs.len() >= 4, "{runs:?}");
    committer.commit_next(&store, &mut batch, true).unwrap();
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
}
