//! Tests of the blocks that lookups read and of the memory of a batch, by the engine's own counters.

use std::path::Path;

use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

use super::{Batch, Committer, DocumentRecord, PUSHED_AT_ONCE, Posting, Store, StoreOptions};
use fpdb_host::progress::Task;
use fpdb_host::stop::StopToken;
use fpdb_kernel::columns::Fingerprint;
use fpdb_kernel::document::{Digest, Span};
use fpdb_kernel::profile::Profile;

/// SplitMix64: the n-th of a fixed sequence of distinct pseudorandom numbers.
pub(super) fn hash(n: u64) -> u64 {
    let z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(super) fn fingerprint(hash: u64, position: u64) -> Fingerprint {
    let span = Span { start: position * 6, end: position * 6 + 30 };
    Fingerprint { hash, position, span, first_line: 1 + position / 10, last_line: 1 + (position + 5) / 10 }
}

pub(crate) fn record(name: u64, fingerprints: u64) -> DocumentRecord {
    DocumentRecord {
        name: format!("{name}.txt"),
        source: None,
        bytes: fingerprints * 6 + 30,
        modified: None,
        digest: u128::from(name).to_be_bytes(),
        encoding: "UTF-8".into(),
        undecodable: 0,
        lines: fingerprints / 10 + 1,
        symbols: fingerprints + 2,
        kgrams: fingerprints,
        fingerprints,
        distinct: fingerprints,
        ingested_at: 0,
        member: None,
        format: "text".into(),
        extracted: false,
        metadata: Vec::new(),
        boilerplate: false,
        stored_text: false,
        text_view: crate::TextView(None),
    }
}

/// Creates a database with one run for each entry of `runs`, the run's number of documents. Each document has
/// 1,000 hashes of even numbers.
pub(super) fn store_of(root: &Path, runs: &[u64]) -> Store {
    let store = Store::create(root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
    let mut committer = Committer::new(&store);
    let mut number = 0;
    for &documents in runs {
        let mut batch = Batch::new(store.profile(), store.view().state().next_document, 1 << 30);
        for _ in 0..documents {
            let name = number;
            for position in 0..1000 {
                batch.push([fingerprint(hash(2 * number), position)].into_iter()).unwrap();
                number += 1;
            }
            batch.finish(record(name, 1000)).unwrap();
        }
        committer.commit(&store, &mut batch).unwrap();
    }
    drop(store);
    // The store is opened again, so that its cache is empty.
    Store::open_reader(root, &StoreOptions::default()).unwrap()
}

/// Looks up the hashes in ascending order. Returns the number found, and the table blocks read from files.
pub(super) fn look_up(store: &Store, mut hashes: Vec<u64>) -> (usize, u64) {
    hashes.sort_unstable();
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    let mut lookup = store.lookup(hashes.len()).unwrap();
    let found = hashes.iter().filter(|&&hash| !lookup.find(hash).unwrap().is_empty()).count();
    let reads = context.metric(PerfMetric::BlockReadCount);
    set_perf_stats(PerfStatsLevel::Disable);
    (found, reads)
}

pub(super) fn held(count: u64, step: u64) -> Vec<u64> {
    (0..count).map(|i| hash(2 * (i * step))).collect()
}

pub(super) fn absent(count: u64) -> Vec<u64> {
    (0..count).map(|i| hash(2 * i + 1)).collect()
}

#[test]
fn few_hashes_cost_one_block_each_whether_held_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(&folder.path().join("db"), &[300]);
    let (found, reads) = look_up(&store, held(20, 15_000));
    assert_eq!(found, 20);
    // Opening the store reads the first block of the run, to see that the run exists.
    assert!((19..=20).contains(&reads), "{reads} blocks");
    let (found, reads) = look_up(&store, absent(20));
    assert_eq!(found, 0);
    assert!(reads <= 20, "{reads} blocks");
}

#[test]
fn absent_hashes_cost_a_fiftieth_of_a_block_and_held_ones_one() {
    let folder = tempfile::tempdir().unwrap();
    for (name, runs) in [("one", &[300][..]), ("four", &[75; 4])] {
        let store = store_of(&folder.path().join(name), runs);
        // The count includes reading the filters once.
        let count = 20_000;
        let (found, reads) = look_up(&store, absent(count));
        assert_eq!(found, 0);
        assert!(reads * 50 <= count * runs.len() as u64, "{name}: {reads} blocks for {count} hashes");
        // There are 586 blocks, so most of these hashes lie in blocks of their own.
        let (found, reads) = look_up(&store, held(200, 1500));
        assert_eq!(found, 200);
        assert!(reads <= 205, "{name}: {reads} blocks for 200 hashes");
    }
}

#[test]
fn a_compaction_with_nothing_to_give_back_writes_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    drop(store_of(&root, &[3, 2, 1]));
    let tables = || {
        let entries = std::fs::read_dir(root.join("store")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut tables: Vec<_> = entries.filter(|name| name.to_string_lossy().ends_with(".sst")).collect();
        tables.sort();
        tables
    };
    let compact = || {
        let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
        store.compact(&Task::new()).unwrap();
        drop(store);
        tables()
    };
    let opened = tables();
    let compacted = compact();
    assert_ne!(compacted, opened, "tables of small commits became one");
    // The commit of the fold is in the log. The next opening writes it as tables.
    let compacted = compact();
    assert_eq!(compact(), compacted);
    assert_eq!(Store::open_reader(&root, &StoreOptions::default()).unwrap().verify(&Task::new()).unwrap().problems, []);
}

#[test]
fn filters_are_used_once_small_lookups_would_have_paid_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(&folder.path().join("db"), &[300]);
    let mut reads = Vec::new();
    for round in 0..40 {
        let hashes = (0..50).map(|i| hash(2 * (50 * round + i) + 1)).collect();
        reads.push(look_up(&store, hashes).1);
    }
    assert!(reads[0] >= 45, "{reads:?}");
    assert!(reads[30..].iter().sum::<u64>() <= 10, "{reads:?}");
}

/// Filters may use three quarters of the cache. If they do not fit whole, fewer bits of each byte are held.
#[test]
fn filters_that_have_no_room_are_held_in_part_and_save_reads_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    drop(store_of(&root, &[300]));
    for (cache_bytes, passing) in
        [(1 << 20, 0.004), (400 << 10, 0.0625), (128 << 10, 0.25), (64 << 10, 0.5), (32 << 10, 0.75)]
    {
        let store = Store::open_reader(&root, &StoreOptions { cache_bytes, ..StoreOptions::default() }).unwrap();
        let mut reads = 0;
        for round in 0..60 {
            let hashes = (0..50).map(|i| hash(2 * (50 * round + i) + 1)).collect();
            let (found, read) = look_up(&store, hashes);
            assert_eq!(found, 0);
            reads += if round < 20 { 0 } else { read };
        }
        let each = reads as f64 / 2000.0;
        assert!(each <= passing * 1.1 + 0.005, "{cache_bytes} bytes of cache: {each} blocks a hash, not {passing}");
        assert_eq!(look_up(&store, held(1000, 300)).0, 1000);
        let (held_bytes, most) = store.cached_bytes();
        assert!(held_bytes <= most + (16 << 10), "{held_bytes} of {most}");
    }
}

#[test]
fn the_newest_of_a_name_is_found_without_a_look_at_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::create(&folder.path().join("db"), &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
    let (mut committer, versions) = (Committer::new(&store), 2000);
    let mut batch = Batch::new(store.profile(), 0, 1 << 30);
    for (number, name) in (0..3 * versions).zip(["a", "a\0", "b"].into_iter().cycle()) {
        batch.finish(DocumentRecord { name: name.into(), ..record(number, 0) }).unwrap();
    }
    committer.commit(&store, &mut batch).unwrap();
    let last = 3 * versions as u32 - 3;
    assert_eq!(store.documents_named("a").unwrap().len(), versions as usize);
    let mut looked_at = Vec::new();
    let mut newest = |name: &str, most: u32| {
        looked_at.clear();
        let newest = store.newest_named(name, |id| {
            looked_at.push(id);
            id <= most
        });
        (newest.unwrap(), looked_at.len())
    };
    assert_eq!(newest("a", u32::MAX), (Some(last), 1));
    assert_eq!(newest("a\0", u32::MAX), (Some(last + 1), 1));
    assert_eq!(newest("a", last - 3), (Some(last - 3), 2));
    assert_eq!(newest("c", u32::MAX), (None, 0));
    batch.delete(last, store.document(last).unwrap());
    committer.commit(&store, &mut batch).unwrap();
    assert_eq!(newest("a", u32::MAX), (Some(last - 3), 1), "what is deleted is none");
}

#[test]
fn a_full_batch_holds_what_it_may_and_little_more() {
    let memory = 8 << 20;
    for (what, length) in [("tiny documents", 1), ("short ones", 900), ("one that does not end", u64::MAX)] {
        let mut batch = Batch::new(&Profile::PROSE, 0, memory);
        let (mut number, mut most) = (0u64, 0);
        while !batch.is_full() {
            for _ in 0..PUSHED_AT_ONCE as u64 / length.min(PUSHED_AT_ONCE as u64) {
                let pushed: Vec<Fingerprint> =
                    (0..length.min(PUSHED_AT_ONCE as u64)).map(|i| fingerprint(hash(number + i), number + i)).collect();
                batch.push(pushed.iter().copied()).unwrap();
                number += pushed.len() as u64;
                most = most.max(batch.held());
                if length < PUSHED_AT_ONCE as u64 {
                    batch.finish(record(number, length)).unwrap();
                }
                if batch.is_full() {
                    break;
                }
            }
        }
        // The limits allow one more call of `push`: its postings, and the memory of their positions.
        assert!(batch.held() <= memory + (1 << 20), "{what}: {} bytes", batch.held());
        assert!(number as usize * size_of::<Posting>() <= memory, "{what}: {number} postings");
        // A spill would not free the records of the tiny documents.
        assert_eq!(batch.needs_spill(), length != 1, "{what}");
    }
}

/// A failed change leaves rows in the store. The next change uses their numbers again.
#[test]
fn a_change_that_fails_leaves_nothing_to_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    let store = Store::create(&root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
    let batch_of = |name: u64, hashes: std::ops::Range<u64>| {
        let mut batch = Batch::new(store.profile(), store.view().state().next_document, 1 << 30);
        let count = hashes.end - hashes.start;
        let pushed: Vec<Fingerprint> = hashes.zip(0..).map(|(n, position)| fingerprint(hash(n), position)).collect();
        batch.push(pushed.into_iter()).unwrap();
        batch.finish(record(name, count)).unwrap();
        batch
    };
    let commit = |name: u64, hashes| {
        store
            .change_alone(&StopToken::new(), || Committer::new(&store).commit(&store, &mut batch_of(name, hashes)))
            .unwrap();
    };
    commit(0, 0..1000);
    let failed = store.change_alone(&StopToken::new(), || {
        Committer::new(&store).spill(&store, &mut batch_of(1, 1000..9000))?;
        Err::<(), _>(fpdb_host::error::Error::Stopped)
    });
    assert!(failed.is_err());
    commit(2, 20_000..20_500);
    let problems = store.verify(&Task::new()).unwrap().problems;
    assert!(problems.is_empty(), "{problems:?}");
    let count = |hashes: std::ops::Range<u64>| {
        let mut hashes: Vec<u64> = hashes.map(hash).collect();
        hashes.sort_unstable();
        let mut lookup = store.lookup(hashes.len()).unwrap();
        hashes.iter().filter(|&&hash| !lookup.find(hash).unwrap().is_empty()).count()
    };
    assert_eq!((count(0..1000), count(1000..9000), count(20_000..20_500)), (1000, 0, 500));
}

#[test]
fn a_number_that_no_document_has_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    let store = Store::create(&root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
    let mut committer = Committer::new(&store);
    let mut batch = Batch::new(store.profile(), 0, 1 << 30);
    for name in 0..3 {
        batch.push([fingerprint(hash(name), 0)].into_iter()).unwrap();
        batch.finish(record(name, 1)).unwrap();
    }
    committer.commit(&store, &mut batch).unwrap();
    batch.delete(1, store.document(1).unwrap());
    committer.commit(&store, &mut batch).unwrap();
    let is_unknown = |number| matches!(store.document_numbered(number), Err(fpdb_host::error::Error::NoSuchNumber { number: told }) if told == number);
    assert!(is_unknown(1) && is_unknown(3) && !is_unknown(2));
    // A compaction removes the last posting, and with it the tombstone.
    store.compact(&Task::new()).unwrap();
    assert!(is_unknown(1) && is_unknown(3) && !is_unknown(2));
}

#[test]
fn many_rows_in_the_log_become_tables_and_few_do_not() {
    for (documents, tables) in [(100, 0), (7_000, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("db");
        let store = Store::create(&root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
        let mut batch = Batch::new(store.profile(), 0, 64 << 20);
        for number in 0..documents {
            batch.finish(record(number, 0)).unwrap();
        }
        Committer::new(&store).commit(&store, &mut batch).unwrap();
        store.settle().unwrap();
        let made =
            ["documents", "names", "digests"].map(|family| u64::from(store.engine.table_bytes(family).unwrap() > 0));
        assert_eq!(made.iter().sum::<u64>(), tables, "{documents} documents");
        let reader = Store::open_reader(&root, &StoreOptions::default()).unwrap();
        assert_eq!(reader.documents_named("99.txt").unwrap(), [99]);
        assert_eq!(reader.documents_with(&99u128.to_be_bytes()).unwrap(), [99]);
        assert_eq!(reader.newest_named("none.txt", |_| true).unwrap(), None);
    }
}

/// Many documents have one content, and many contents have one name. The search finds a document without
/// visiting the others.
#[test]
fn one_of_many_equal_documents_is_found_at_once() {
    const CONTENT: [u8; 16] = [7; 16];
    for many in [100, 10_000] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("db");
        let store = Store::create(&root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
        let mut batch = Batch::new(store.profile(), 0, 64 << 20);
        for number in 0..many {
            let equal = DocumentRecord { digest: CONTENT, ..record(number, 0) };
            batch.finish(equal).unwrap();
            batch.finish(DocumentRecord { name: "versions".into(), ..record(many + number, 0) }).unwrap();
        }
        batch.finish(DocumentRecord { name: "versions".into(), digest: CONTENT, ..record(0, 0) }).unwrap();
        let last = u32::try_from(2 * many).unwrap();
        Committer::new(&store).commit(&store, &mut batch).unwrap();
        set_perf_stats(PerfStatsLevel::EnableCount);
        let mut context = PerfContext::default();
        context.reset();
        assert_eq!(store.newest_with(&CONTENT, |_| true).unwrap(), Some(last));
        assert_eq!(store.newest_with(&[9; 16], |_| true).unwrap(), None);
        let version = |name: &str, digest: &Digest| store.newest_version(name, digest, |_| Ok(true)).unwrap();
        assert_eq!(version("versions", &CONTENT), Some(last));
        assert_eq!(version("0.txt", &CONTENT), Some(0));
        assert_eq!(version("versions", &u128::from(many).to_be_bytes()), Some(1));
        assert_eq!(version("none", &CONTENT), None);
        assert_eq!(version("versions", &[9; 16]), None);
        let rows = context.metric(PerfMetric::InternalKeySkippedCount);
        set_perf_stats(PerfStatsLevel::Disable);
        assert!(rows < 40, "{rows} rows were stepped over, with {many} equal documents");
    }
}

/// Replaces all documents with those of this version, and folds runs.
pub(super) fn replace_all(store: &Store, version: u64) {
    let mut committer = Committer::new(store);
    let mut batch = Batch::new(store.profile(), store.view().state().next_document, 1 << 20);
    let mut old = Vec::new();
    store
        .for_each_document(|id, record| {
            old.push((id, record));
            Ok(true)
        })
        .unwrap();
    for number in 0..3 {
        batch
            .push(
                (0..40u32)
                    .map(u64::from)
                    .map(|position| fingerprint(hash(100 * version + 10 * number + position), position)),
            )
            .unwrap();
        batch.finish(record(number, 40)).unwrap();
    }
    for (id, record) in old {
        batch.delete(id, record);
    }
    committer.commit(store, &mut batch).unwrap();
    store.fold_excess(&Task::new()).unwrap();
}

#[test]
fn a_store_as_of_a_commit_stays_as_it_is_until_nobody_reads_it() {
    use super::codec::format::{RUN_FAMILIES, posting_key, run_of_key};

    let everything = |store: &Store| {
        let (mut documents, mut postings) = (Vec::new(), Vec::new());
        store
            .for_each_document(|id, record| {
                let named = store.documents_named(&record.name).unwrap();
                let places = store.places(id, &[0, 17, 39]).unwrap();
                documents.push((id, store.document(id).unwrap(), named, places));
                Ok(true)
            })
            .unwrap();
        store
            .for_each_posting(|posting| {
                postings.push(posting);
                Ok(())
            })
            .unwrap();
        let mut lookup = store.lookup(postings.len()).unwrap();
        let held: Vec<usize> = postings.iter().map(|posting| lookup.find(posting.hash).unwrap().len()).collect();
        (format!("{documents:?}"), postings, held)
    };
    let runs = |store: &Store| {
        let mut runs = std::collections::BTreeSet::new();
        for name in RUN_FAMILIES {
            let mut rows = store.engine.rows(name, "look").unwrap();
            rows.seek_to_first();
            while let Some(run) = rows.key().and_then(run_of_key) {
                runs.insert(run);
                rows.seek(posting_key(run + 1, 0, 0));
            }
        }
        runs.len()
    };
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::named("words").unwrap();
    let store = Store::create(&folder.path().join("db"), &profile, &StoreOptions::default()).unwrap();
    (0..5).for_each(|version| replace_all(&store, version));
    let before = everything(&store);
    assert_eq!(before.1.len(), 120);
    let kept = store.as_of_last_commit();
    for version in 5..15 {
        replace_all(&store, version);
        assert!(everything(&kept) == before, "version {version}");
        // Another reader opens a later commit and closes it.
        drop(store.as_of_last_commit());
    }
    store.compact(&Task::new()).unwrap();
    store.discard_unfinished().unwrap();
    assert!(everything(&kept) == before);
    assert_eq!((store.view().run_count(), runs(&store)), (1, 6), "the runs that are read stay");
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    drop(kept);
    assert_eq!(runs(&store), 1);
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    assert_ne!(everything(&store), before);
}
