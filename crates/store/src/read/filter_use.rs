//! Filter use: decides when filters are read, and how much of them stays in memory.
//!
//! A filter saves the read of a block for each absent hash, and costs one read of its own. A filter is as
//! large as ten blocks, but filters are read in sequence. A disk reads a filter in sequence at least as fast
//! as one block at a random place.
//!
//! So a lookup of fewer hashes than a run has filters uses no filters: it reads one block for each hash,
//! whether or not the run holds the hash. Once such lookups have read as many blocks as the run has filters,
//! the filters are read and stay in memory.
//!
//! The largest run holds most of the hashes that lookups find, and a filter saves nothing for these. So the
//! filters of that run are read only after ten hashes were looked up for each filter. Reading the filters
//! then adds at most a tenth to the reads of the run.
//!
//! If a large number of hashes is looked up in ascending order, whole filters can pay for that lookup alone.
//! Such a lookup reads whole filters row by row, and ignores filters that memory holds only in part.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::codec::filter::FULL_FILTER_BYTES;
use crate::codec::records::RunRecord;
use crate::engine::options::BlockCache;
use crate::engine::rows::Rows;
use crate::read::held_filters::{Depth, HeldFilters};
use fpdb_host::error::Result;

/// The number of hashes looked up in the largest run for each of its filters before these filters are read.
pub(crate) const LARGEST_WORTH: u64 = 10;

/// The number of filters of a run, each one row.
pub(crate) fn rows_of_filters(run: &RunRecord) -> u64 {
    run.filter_bytes.div_ceil(FULL_FILTER_BYTES as u64)
}

/// The use that a lookup makes of the filters of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// The lookup reads blocks directly, without filters.
    Nothing,
    /// The lookup reads the filters in order and does not keep them.
    ReadOnce,
    /// The lookup reads the filters, and they stay in memory at this depth.
    Holding(Depth),
}

/// The use of the filters of all runs.
pub(crate) struct FilterUse {
    /// Filters in memory reduce the capacity of this cache.
    cache: BlockCache,
    /// The number of hashes looked up so far, by run.
    looked_up: Mutex<HashMap<u32, u64>>,
    /// The filters by run. Threads hold this lock only briefly, because no thread reads filters while it
    /// holds the lock.
    held: Mutex<HashMap<u32, Arc<RunFilters>>>,
}

/// The filters of one run.
#[derive(Default)]
struct RunFilters {
    held: OnceLock<Arc<HeldFilters>>,
    /// The thread that reads the filters holds this lock.
    reading: Mutex<()>,
}

impl RunFilters {
    fn size(&self) -> usize {
        self.held.get().map_or(0, |held| held.size())
    }
}

impl FilterUse {
    pub(crate) fn new(cache: BlockCache) -> Self {
        Self { cache, looked_up: Mutex::default(), held: Mutex::default() }
    }

    /// Announces a lookup of about `expected` hashes in all `runs`, in ascending order. Returns for each run
    /// how the lookup uses its filters.
    pub(crate) fn expect(&self, runs: &[(u32, RunRecord)], expected: u64) -> Vec<Worth> {
        let mut looked_up = self.looked_up.lock().unwrap_or_else(PoisonError::into_inner);
        let is_listed = |run: &u32| runs.iter().any(|(listed, _)| listed == run);
        if looked_up.len() > runs.len() {
            // Forgets runs that were folded into others.
            looked_up.retain(|run, _| is_listed(run));
            self.keep(|run, _| is_listed(run));
        }
        let depth = Depth::fitting(runs.iter().map(|(_, record)| record.filter_bytes).sum(), self.most_held());
        self.keep(|_, held| held.is_none_or(|held| held.depth() == depth));
        let largest = runs.iter().max_by_key(|(run, record)| (record.filter_bytes, *run)).map(|(run, _)| *run);
        let worth = |(run, record): &(u32, RunRecord)| {
            let so_far = looked_up.entry(*run).or_default();
            *so_far = so_far.saturating_add(expected);
            let filters = rows_of_filters(record) * if largest == Some(*run) { LARGEST_WORTH } else { 1 };
            let pays = |hashes: u64, kept_out: f64| hashes as f64 * kept_out >= filters as f64;
            if pays(expected, Depth::WHOLE.kept_out() - depth.kept_out()) {
                // Reading whole filters pays off for this lookup alone, because whole filters keep out more
                // hashes than the part in memory.
                Worth::ReadOnce
            } else if pays(*so_far, depth.kept_out()) {
                Worth::Holding(depth)
            } else {
                Worth::Nothing
            }
        };
        runs.iter().map(worth).collect()
    }

    /// Maximum bytes of filters that stay in memory. The cache gives up the same number of bytes, and keeps
    /// the rest for blocks.
    fn most_held(&self) -> u64 {
        self.cache.bytes() as u64 / 4 * 3
    }

    /// Drops the filters of all runs for which `is_kept` is false.
    fn keep(&self, is_kept: impl Fn(&u32, Option<&HeldFilters>) -> bool) {
        let mut held = self.held();
        let before = held.len();
        held.retain(|run, filters| is_kept(run, filters.held.get().map(|held| &**held)));
        if held.len() < before {
            self.make_room(&held);
        }
    }

    fn make_room(&self, held: &HashMap<u32, Arc<RunFilters>>) {
        self.cache.leave(held.values().map(|filters| filters.size()).sum());
    }

    /// Reads the filters of a run from its `rows`, and keeps them in memory. If memory holds them already,
    /// returns them without a read.
    pub(crate) fn hold(
        &self,
        run: u32,
        record: &RunRecord,
        rows: &mut Rows<'_>,
        depth: Depth,
    ) -> Result<Arc<HeldFilters>> {
        self.hold_with(run, || HeldFilters::read(run, record, rows, depth))
    }

    fn hold_with(&self, run: u32, read: impl FnOnce() -> Result<HeldFilters>) -> Result<Arc<HeldFilters>> {
        let filters = Arc::clone(self.held().entry(run).or_default());
        // Other threads that need the filters of this run wait, instead of reading them too.
        let reading = filters.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = filters.held.get() {
            return Ok(Arc::clone(held));
        }
        let read = Arc::new(read()?);
        let held = Arc::clone(filters.held.get_or_init(|| read));
        drop(reading);
        self.make_room(&self.held());
        Ok(held)
    }

    /// The filters of a run, if they are in memory.
    pub(crate) fn of_run(&self, run: u32) -> Option<Arc<HeldFilters>> {
        self.held().get(&run)?.held.get().map(Arc::clone)
    }

    /// Bytes of the filters in memory and of the cached blocks.
    pub(crate) fn cached_bytes(&self) -> usize {
        self.held().values().map(|filters| filters.size()).sum::<usize>() + self.cache.usage()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<u32, Arc<RunFilters>>> {
        // An entry is inserted in one call, so a panic cannot leave half of one.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::options::DEFAULT_CACHE_BYTES;
    use Worth::{Holding, Nothing, ReadOnce};
    use fpdb_host::error::Error;

    fn run(number: u32, filter_bytes: u64) -> (u32, RunRecord) {
        (number, RunRecord { postings: 1, first_document: 0, last_document: 0, filter_bytes })
    }

    const FULL: u64 = FULL_FILTER_BYTES as u64;

    #[test]
    fn filters_are_read_once_the_blocks_read_without_them_would_have_paid_for_them() {
        let held = Holding(Depth::WHOLE);
        // One hash in 256 passes, so a hundred filters pay off after 101 hashes.
        let runs = [run(1, 1000), run(2, 100 * FULL), run(3, 101 * FULL)];
        let new = || FilterUse::new(BlockCache::new(DEFAULT_CACHE_BYTES));
        let filters = new();
        assert_eq!(filters.expect(&runs, 2), [held, Nothing, Nothing]);
        assert_eq!(filters.expect(&runs, 98), [held, Nothing, Nothing]);
        assert_eq!(filters.expect(&runs, 1), [held, held, Nothing]);
        assert_eq!(filters.expect(&runs, 1000), [held; 3], "those of the largest after ten times as many");
        assert_eq!(new().expect(&runs, 101), [held, held, Nothing]);
        // The count of a run is dropped with the run.
        assert_eq!(filters.expect(&runs[..1], 10), [held]);
        assert_eq!(filters.expect(&runs, 10), [held, Nothing, Nothing]);
    }

    #[test]
    fn where_filters_have_no_room_fewer_bits_stay_and_large_lookups_read_them_whole() {
        let filters = FilterUse::new(BlockCache::new(DEFAULT_CACHE_BYTES));
        let runs = [run(1, filters.most_held()), run(2, filters.most_held() + 1), run(3, FULL)];
        let depth = Depth::fitting(2 * filters.most_held() + 1 + FULL, filters.most_held());
        assert_eq!(depth.kept_out(), 0.75);
        let rows = rows_of_filters(&runs[0].1);
        let partly = Holding(depth);
        // Whole filters keep out a quarter more of the absent hashes. So they pay off above four hashes a
        // filter.
        assert_eq!(filters.expect(&runs, 2 * rows), [partly, Nothing, ReadOnce]);
        assert_eq!(filters.expect(&runs, 1), [partly, Nothing, partly]);
        assert_eq!(filters.expect(&runs, 5 * rows), [ReadOnce, Nothing, ReadOnce]);
        assert_eq!(filters.expect(&runs, 5 * rows), [ReadOnce, Nothing, ReadOnce]);
        assert_eq!(filters.expect(&runs, 2 * rows), [partly, partly, ReadOnce]);
        assert_eq!(filters.expect(&runs, 50 * rows), [ReadOnce; 3]);
        assert_eq!(filters.expect(&runs[2..], 11), [Holding(Depth::WHOLE)]);
    }

    #[test]
    fn nothing_waits_for_the_filters_of_another_run() {
        let filters = FilterUse::new(BlockCache::new(DEFAULT_CACHE_BYTES));
        let first = filters.hold_with(1, || Ok(HeldFilters::none())).unwrap();
        let second = filters.hold_with(2, || {
            // These calls would deadlock if they waited for the thread that reads.
            assert!(Arc::ptr_eq(&filters.of_run(1).unwrap(), &first));
            assert!(filters.of_run(2).is_none());
            assert_eq!(filters.expect(&[run(1, 1), run(2, 1)], 20), [Holding(Depth::WHOLE); 2]);
            assert!(filters.cached_bytes() < DEFAULT_CACHE_BYTES);
            Ok(HeldFilters::none())
        });
        let again = filters.hold_with(2, || unreachable!("they are held")).unwrap();
        assert!(Arc::ptr_eq(&second.unwrap(), &again));
        let damaged = || Err(Error::Damaged { what: "the filters".into(), detail: "they are gone" });
        assert!(filters.hold_with(3, damaged).is_err());
        assert!(filters.of_run(3).is_none());
        assert!(filters.hold_with(3, || Ok(HeldFilters::none())).is_ok());
    }
}
