//! Filter cursor: a cursor in the filters of one run, for hashes in ascending order.

use std::sync::Arc;

use crate::codec::format::{FILTERS, filter_key, parse_filter_key};
use crate::codec::records::RunRecord;
use crate::engine;
use crate::handle::Store;
use crate::read::filter_use::FilterUse;
use crate::read::held_filters::{Depth, HeldFilters};
use crate::read::run_rows::{ReadPattern, current_filter, rows_of};
use fpdb_host::error::Result;

/// A cursor in the filters of one run.
pub(crate) struct FilterCursor<'a> {
    run: u32,
    rows: FilterRows<'a>,
}

enum FilterRows<'a> {
    Held(Arc<HeldFilters>),
    Read {
        rows: engine::rows::Rows<'a>,
        /// The current filter covers the hashes from this one to the last hash of the filter.
        from: Option<u64>,
    },
}

impl<'a> FilterRows<'a> {
    fn read(store: &'a Store, run: u32) -> Result<Self> {
        Ok(Self::Read { rows: rows_of(&store.engine, FILTERS, run, ReadPattern::Through)?, from: None })
    }
}

impl<'a> FilterCursor<'a> {
    pub(crate) fn new(store: &'a Store, run: u32) -> Result<Self> {
        // A run never changes, so filters read at any commit are the same.
        let rows = match store.filter_use.of_run(run) {
            Some(held) => FilterRows::Held(held),
            None => FilterRows::read(store, run)?,
        };
        Ok(Self { run, rows })
    }

    /// Loads the filters into memory at this depth, unless memory holds them already.
    pub(crate) fn hold(&mut self, filter_use: &FilterUse, record: &RunRecord, depth: Depth) -> Result<()> {
        let FilterRows::Read { rows, .. } = &mut self.rows else { return Ok(()) };
        self.rows = FilterRows::Held(filter_use.hold(self.run, record, rows, depth)?);
        Ok(())
    }

    /// Makes this cursor read whole filters row by row, unless memory holds them whole.
    pub(crate) fn read_whole(&mut self, store: &'a Store) -> Result<()> {
        if matches!(&self.rows, FilterRows::Held(held) if held.depth() < Depth::WHOLE) {
            self.rows = FilterRows::read(store, self.run)?;
        }
        Ok(())
    }

    /// True if the filters are in memory, so that [`Self::may_hold`] reads nothing from disk.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self.rows, FilterRows::Held(_))
    }

    /// False if the run certainly does not hold `hash`.
    pub(crate) fn may_hold(&mut self, hash: u64) -> Result<bool> {
        let (rows, from) = match &mut self.rows {
            FilterRows::Held(held) => return Ok(held.may_hold(hash)),
            FilterRows::Read { rows, from } => (rows, from),
        };
        let last = rows.key().and_then(parse_filter_key).map(|(_, last)| last);
        if from.is_none_or(|from| hash < from) || last.is_none_or(|last| last < hash) {
            rows.seek(filter_key(self.run, hash));
            *from = Some(hash);
        }
        // `None`: the hash is above the run's last hash.
        Ok(current_filter(rows)?.is_some_and(|(_, _, filter)| filter.may_hold(hash)))
    }
}
