//! Tests of tombstones: deleted documents stay hidden, and tombstones do not pile up in a store that is
//! written to for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::tests::{fingerprint, hash, record, replace_all};
use super::write::levels::SMALL_FAN_IN as FAN_IN;
use super::{Batch, Committer, Store, StoreOptions, View};
use fpdb_host::progress::Task;
use fpdb_kernel::profile::Profile;

#[test]
fn a_store_that_is_never_compacted_does_not_collect_tombstones() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    let store = Store::create(&root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
    let tombstones = (0..60).map(|version| {
        replace_all(&store, version);
        store.view().tombstone_count()
    });
    let most = tombstones.max().unwrap();
    assert!((3..=3 * FAN_IN as u64).contains(&most), "{most}: those of the runs that are not folded yet");
    assert!((0..177).all(|id| !store.view().is_live(id)) && (177..180).all(|id| store.view().is_live(id)));
    assert!(matches!(store.document(5), Err(fpdb_host::error::Error::NoSuchNumber { number: 5 })));
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
}

#[test]
fn a_tombstone_stays_while_a_run_may_hold_its_document() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    let options = StoreOptions::default();
    let store = Store::create(&root, &Profile::named("words").unwrap(), &options).unwrap();
    let commit = |documents: u32, hashes: u64, delete: &[u32]| {
        let first = store.view().state().next_document;
        let mut batch = Batch::new(store.profile(), first, 1 << 20);
        for &id in delete {
            batch.delete(id, store.document(id).unwrap());
        }
        for id in first..first + documents {
            let own = (0..hashes as u32).map(u64::from);
            batch.push(own.map(|at| fingerprint(hash(100 * u64::from(id) + at), at))).unwrap();
            batch.finish(record(u64::from(id), hashes)).unwrap();
        }
        Committer::new(&store).commit(&store, &mut batch).unwrap();
    };
    let held = |ids: &[u32]| {
        let hashes = |id: u32| (0..if id < 3 { 70 } else { 2 }).map(|at| hash(100 * u64::from(id) + at)).collect();
        ids.iter().map(|&id| (id, hashes(id))).collect::<Held>()
    };
    commit(3, 70, &[]);
    commit(1, 2, &[1]);
    // After these commits there are as many small runs as one fold merges.
    let last = FAN_IN as u32 + 2;
    (3..last).for_each(|id| commit(1, 2, &[id]));
    let counts = || (store.view().run_count(), store.view().tombstone_count());
    assert_eq!(counts(), (FAN_IN + 1, FAN_IN as u64));
    store.fold_excess(&Task::new()).unwrap();
    // The large run stays. It holds a deleted document.
    assert_eq!(counts(), (2, 1));
    assert_holds(&Store::open_reader(&root, &options).unwrap(), &held(&[0, 2, last]));
    store.compact(&Task::new()).unwrap();
    assert_eq!(counts(), (1, 0));
    assert_holds(&Store::open_reader(&root, &options).unwrap(), &held(&[0, 2, last]));
}

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Adds documents of `hashes` hashes each. Deletes the stored documents at the places `delete`.
    Commit {
        documents: u32,
        hashes: u64,
        delete: [usize; 3],
    },
    Fold,
    Compact,
    /// Opens a handle in this process that stays at the last commit.
    Keep,
    /// Opens a reader of the last commit, as another process does.
    Open,
}

fn operation() -> impl Strategy<Value = Op> {
    // Many small runs, which are folded, and some runs of a higher level, which stay.
    let hashes = prop_oneof![1 => Just(0), 20 => 1..3u64, 2 => 60..70u64];
    let commit = (0..4u32, hashes, any::<[u8; 3]>()).prop_map(|(documents, hashes, delete)| Op::Commit {
        documents,
        hashes,
        delete: delete.map(usize::from),
    });
    prop_oneof![40 => commit, 8 => Just(Op::Fold), 1 => Just(Op::Compact), 2 => Just(Op::Keep), 1 => Just(Op::Open)]
}

/// The hashes of each document.
type Held = BTreeMap<u32, BTreeSet<u64>>;

/// Checks that the store shows exactly these documents and their postings.
fn assert_holds(store: &Store, held: &Held) {
    let mut found = Held::new();
    store
        .for_each_document(|id, _| {
            found.insert(id, BTreeSet::new());
            Ok(true)
        })
        .unwrap();
    store
        .for_each_posting(|posting| {
            let hashes = found.get_mut(&posting.document).expect("a document that is there");
            assert!(hashes.insert(posting.hash));
            Ok(())
        })
        .unwrap();
    assert_eq!(&found, held);
    let mut by_hash = BTreeMap::<u64, BTreeSet<u32>>::new();
    for (&id, hashes) in held {
        hashes.iter().for_each(|&hash| assert!(by_hash.entry(hash).or_default().insert(id)));
    }
    let mut lookup = store.lookup(by_hash.len()).unwrap();
    for (&hash, ids) in &by_hash {
        let found: BTreeSet<u32> = lookup.find(hash).unwrap().iter().map(|posting| posting.document).collect();
        assert_eq!(&found, ids);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// Runs each entry of `parts` with the store opened anew.
    #[test]
    fn deleted_documents_stay_hidden_when_their_tombstones_go(
        parts in prop::collection::vec(prop::collection::vec(operation(), 1..60), 1..3),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("db");
        let options = StoreOptions::default();
        drop(Store::create(&root, &Profile::named("words").unwrap(), &options).unwrap());
        let (mut held, mut deleted) = (Held::new(), BTreeSet::new());
        for operations in parts {
            let store = Store::open_writer(&root, &options).unwrap();
            let (mut kept, mut opened) = (Vec::new(), Vec::new());
            for operation in operations {
                match operation {
                    Op::Commit { documents, hashes, delete } => {
                        let first = store.view().state().next_document;
                        let mut batch = Batch::new(store.profile(), first, 1 << 20);
                        for place in delete {
                            let id = held.keys().nth(place % held.len().max(1)).copied();
                            // Some documents stay for ever, between the others.
                            if let Some(id) = id.filter(|id| id % 7 != 0) {
                                batch.delete(id, store.document(id).unwrap());
                                held.remove(&id);
                                deleted.insert(id);
                            }
                        }
                        for id in first..first + documents {
                            // Documents whose ids are equal modulo 3 have the same hashes.
                            let own: Vec<u64> = (0..hashes).map(|at| hash(3 * at + u64::from(id % 3))).collect();
                            batch.push(own.iter().enumerate().map(|(at, &hash)| fingerprint(hash, at as u64))).unwrap();
                            batch.finish(record(u64::from(id), hashes)).unwrap();
                            held.insert(id, own.into_iter().collect());
                        }
                        Committer::new(&store).commit(&store, &mut batch).unwrap();
                    }
                    Op::Fold => store.fold_excess(&Task::new()).unwrap(),
                    Op::Compact => {
                        store.compact(&Task::new()).unwrap();
                        prop_assert_eq!(store.view().tombstone_count(), 0);
                    }
                    Op::Keep => kept.push((store.as_of_last_commit(), held.clone())),
                    Op::Open => opened.push((Store::open_reader(&root, &options).unwrap(), held.clone())),
                }
                let view = store.view();
                prop_assert!(held.keys().all(|&id| view.is_live(id)) && !deleted.iter().any(|&id| view.is_live(id)));
                // Loads the view as a new process does, without the ids that this handle remembers.
                *store.view.write().unwrap() = Arc::new(View::load(&store.engine).unwrap());
                assert_holds(&store, &held);
                *store.view.write().unwrap() = view;
            }
            kept.iter().for_each(|(store, held)| assert_holds(store, held));
            opened.iter().for_each(|(store, held)| assert_holds(store, held));
            prop_assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
            deleted.clear();
        }
    }
}
