//! Tests of lookups for many queries together, by the engine's own counters.

use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

use super::tests::{hash, store_of};
use super::{Store, StoreOptions};
use fpdb_host::stop::StopToken;

#[test]
fn many_queries_together_read_each_block_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    drop(store_of(&root, &[300, 100]));
    let store = Store::open_reader(&root, &StoreOptions::default()).unwrap();
    // 100 queries of 50 hashes, half of them stored. 400,000 postings are 782 blocks.
    let queries: Vec<Vec<u64>> = (0..100)
        .map(|query| {
            let mut hashes: Vec<u64> = (0..50).map(|at| hash(2 * (query * 50 + at) * 37 + at % 2)).collect();
            hashes.sort_unstable();
            hashes
        })
        .collect();
    let mut all: Vec<u64> = queries.concat();
    all.sort_unstable();
    all.dedup();
    let stop = StopToken::new();
    let counted = |work: &mut dyn FnMut()| {
        set_perf_stats(PerfStatsLevel::EnableCount);
        let mut context = PerfContext::default();
        context.reset();
        work();
        context.metric(PerfMetric::BlockCacheHitCount) + context.metric(PerfMetric::BlockReadCount)
    };
    let mut gathered = None;
    let options = StoreOptions { threads: 1, ..StoreOptions::default() };
    let one = Store::open_reader(&root, &options).unwrap();
    let together = one.pool().run(|| Ok(counted(&mut || gathered = Some(one.gather(&all, 1 << 20, &stop).unwrap()))));
    let gathered = gathered.unwrap();
    let mut expected = Vec::new();
    let alone = counted(&mut || {
        for query in &queries {
            let mut lookup = store.lookup(query.len()).unwrap();
            expected.extend(query.iter().map(|&hash| lookup.find(hash).unwrap().to_vec()));
        }
    });
    let mut found = Vec::new();
    let afterwards = counted(&mut || {
        for query in &queries {
            let mut lookup = one.lookup_gathered(query.len(), &gathered);
            found.extend(query.iter().map(|&hash| lookup.find(hash).unwrap().to_vec()));
        }
    });
    assert!(found == expected && found.iter().filter(|found| !found.is_empty()).count() == 2500);
    let together = together.unwrap();
    assert!(together * 3 <= alone, "{together} blocks together, {alone} one by one");
    assert_eq!(afterwards, 0, "no lookup reads what was gathered");
    // If memory has no room for the postings, the lookup reads them itself.
    let little = one.gather(&all, 4096, &stop).unwrap();
    let mut lookup = one.lookup_gathered(50, &little);
    assert!(queries[99].iter().zip(&expected[4950..]).all(|(&hash, found)| lookup.find(hash).unwrap() == found));
}
