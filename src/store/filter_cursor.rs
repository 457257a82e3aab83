//! Filters at work: a cursor over those of one run, and the decision when they are worth their reading.
//!
//! A filter saves the reading of a block for a hash that is not there, and costs its own reading once, which
//! is that of ten blocks. So a lookup that is about to ask for few hashes of a large run does without, and
//! reads one block for each hash, held or not. Once lookups have read so much that way that it would have
//! paid for the filters, those are used, and stay in the cache; never, on the whole, is more than twice the
//! least possible read.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rocksdb::DBRawIterator;

use super::filter::Filter;
use super::format::{FILTERS, filter_key, parse_filter_key};
use super::lookup::{BLOCK_BYTES, Reading, hex, rows_of};
use super::options::CACHE_BYTES;
use super::records::RunRecord;
use super::{Store, failed};
use crate::error::{Error, Result};

/// Filters that do not stay in the cache save nothing from one lookup to the next; the rest of the cache is
/// for blocks.
const CACHED_FILTER_BYTES: u64 = CACHE_BYTES as u64 / 4 * 3;

/// How many hashes have been looked up in each run.
#[derive(Debug, Default)]
pub(super) struct FilterUse {
    looked_up: Mutex<HashMap<u32, u64>>,
}

impl FilterUse {
    /// `expected` hashes are about to be looked up in all `runs`, in ascending order: in which of them are the
    /// filters worth reading?
    pub(super) fn expect(&self, runs: &[(u32, RunRecord)], expected: u64) -> Vec<bool> {
        let mut looked_up = self.looked_up.lock().unwrap_or_else(PoisonError::into_inner);
        if looked_up.len() > runs.len() {
            // Some were folded into others.
            looked_up.retain(|run, _| runs.iter().any(|(listed, _)| listed == run));
        }
        let all_stay = runs.iter().map(|(_, record)| record.filter_bytes).sum::<u64>() <= CACHED_FILTER_BYTES;
        let pays = |hashes: u64, record: &RunRecord| hashes.saturating_mul(BLOCK_BYTES as u64) >= record.filter_bytes;
        let worth = |(run, record): &(u32, RunRecord)| {
            let so_far = looked_up.entry(*run).or_default();
            *so_far = so_far.saturating_add(expected);
            pays(expected, record) || all_stay && pays(*so_far, record)
        };
        runs.iter().map(worth).collect()
    }
}

/// A place in the filters of one run.
pub(super) struct FilterCursor<'a> {
    run: u32,
    rows: DBRawIterator<'a>,
    /// The filter the cursor stands on knows of the hashes from this one to its last.
    from: Option<u64>,
}

impl<'a> FilterCursor<'a> {
    pub(super) fn new(store: &'a Store, run: u32) -> Result<Self> {
        Ok(Self { run, rows: rows_of(store, FILTERS, run, Reading::Points)?, from: None })
    }

    /// False where the run surely does not hold `hash`.
    pub(super) fn may_hold(&mut self, hash: u64) -> Result<bool> {
        let last = self.rows.key().and_then(parse_filter_key).map(|(_, last)| last);
        if self.from.is_none_or(|from| hash < from) || last.is_none_or(|last| last < hash) {
            self.rows.seek(filter_key(self.run, hash));
            self.from = Some(hash);
        }
        let Some((key, value)) = self.rows.item() else {
            self.rows.status().map_err(failed("read filters"))?;
            // Above the run's last hash.
            return Ok(false);
        };
        let damaged = |detail| Error::Damaged { what: format!("filter {}", hex(key)), detail };
        parse_filter_key(key).ok_or_else(|| damaged("its key is not 12 bytes"))?;
        Ok(Filter::decode(value).map_err(damaged)?.may_hold(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u32, filter_bytes: u64) -> (u32, RunRecord) {
        (number, RunRecord { postings: 1, first_document: 0, last_document: 0, filter_bytes })
    }

    #[test]
    fn filters_are_read_once_the_blocks_read_without_them_would_have_paid_for_them() {
        let runs = [run(1, 1000), run(2, 100 * BLOCK_BYTES as u64)];
        let filters = FilterUse::default();
        assert_eq!(filters.expect(&runs, 1), [true, false]);
        assert_eq!(filters.expect(&runs, 98), [true, false]);
        assert_eq!(filters.expect(&runs, 1), [true, true]);
        assert_eq!(FilterUse::default().expect(&runs, 100), [true, true]);
        // Forgotten with the run.
        assert_eq!(filters.expect(&runs[..1], 1), [true]);
        assert_eq!(filters.expect(&runs, 1), [true, false]);
    }

    #[test]
    fn filters_that_do_not_stay_in_the_cache_are_read_for_large_lookups_only() {
        let runs = [run(1, CACHED_FILTER_BYTES), run(2, 1)];
        let filters = FilterUse::default();
        let enough = CACHED_FILTER_BYTES / BLOCK_BYTES as u64;
        assert_eq!(filters.expect(&runs, enough), [true, true]);
        assert_eq!(filters.expect(&runs, enough - 1), [false, true]);
        assert_eq!(filters.expect(&runs[..1], 1), [true]);
    }
}
