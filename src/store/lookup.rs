//! Lookup: here is a hash, which documents hold it? One cursor per run, moved in ascending order of hash.

use std::sync::Arc;

use rocksdb::{DBRawIterator, ReadOptions};

use super::block::{Block, Posting};
use super::format::{POSTINGS, parse_posting_key, posting_key};
use super::{Store, View, failed, family};
use crate::error::{Error, Result};

/// Finds the postings of hashes.
pub(crate) struct Lookup<'a> {
    view: Arc<View>,
    cursors: Vec<RunCursor<'a>>,
    found: Vec<Posting>,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(store: &'a Store) -> Result<Self> {
        let mut view = store.view();
        let mut cursors = Self::cursors(store, &view)?;
        // Runs can be folded away between the two; a cursor that was there before keeps its run.
        while !Arc::ptr_eq(&view, &store.view()) {
            view = store.view();
            cursors = Self::cursors(store, &view)?;
        }
        Ok(Self { view, cursors, found: Vec::new() })
    }

    fn cursors(store: &'a Store, view: &View) -> Result<Vec<RunCursor<'a>>> {
        let cursor = |&(run, _): &_| Ok(RunCursor { run, blocks: blocks_of(store, run)? });
        view.runs.iter().map(cursor).collect()
    }

    /// As [`find`](Self::find), but for hashes that boilerplate holds.
    pub(crate) fn holders(&mut self, hash: u64) -> Result<Holders<'_>> {
        self.find(hash)?;
        let boilerplate = self.found.iter().any(|posting| self.view.is_boilerplate(posting.document));
        Ok(if boilerplate { Holders::Boilerplate } else { Holders::Documents(&self.found) })
    }

    /// The postings of `hash` in documents that are not deleted, ascending by document within each run.
    /// Fastest where calls come in ascending order of hash.
    pub(crate) fn find(&mut self, hash: u64) -> Result<&[Posting]> {
        self.found.clear();
        for cursor in &mut self.cursors {
            cursor.find(hash, &mut self.found)?;
        }
        self.found.retain(|posting| self.view.is_live(posting.document));
        Ok(&self.found)
    }
}

/// Who holds a hash.
pub(crate) enum Holders<'a> {
    /// Some boilerplate document, whoever else does.
    Boilerplate,
    /// The documents of these postings, ascending within each run.
    Documents(&'a [Posting]),
}

/// A place in one run.
struct RunCursor<'a> {
    run: u32,
    blocks: DBRawIterator<'a>,
}

impl RunCursor<'_> {
    /// Appends the postings of `hash` to `out`.
    fn find(&mut self, hash: u64, out: &mut Vec<Posting>) -> Result<()> {
        self.blocks.seek_for_prev(posting_key(self.run, hash, 0));
        while let Some((first_hash, block)) = current_block(&self.blocks)? {
            if first_hash > hash || !block.find(hash, out) {
                break;
            }
            self.blocks.next();
        }
        Ok(())
    }
}

/// The block an iterator stands on, with its first hash; `None` past the end.
pub(super) fn current_block<'a>(blocks: &'a DBRawIterator<'_>) -> Result<Option<(u64, Block<'a>)>> {
    let Some((key, value)) = blocks.item() else {
        blocks.status().map_err(failed("read postings"))?;
        return Ok(None);
    };
    let damaged = |detail| Error::Damaged { what: format!("posting block {}", hex(key)), detail };
    let (_, first_hash, _) = parse_posting_key(key).ok_or_else(|| damaged("its key is not 16 bytes"))?;
    let block = Block::decode(first_hash, value).map_err(damaged)?;
    Ok(Some((first_hash, block)))
}

/// An iterator over the blocks of one run.
pub(super) fn blocks_of(store: &Store, run: u32) -> Result<DBRawIterator<'_>> {
    let mut options = ReadOptions::default();
    options.set_iterate_lower_bound(posting_key(run, 0, 0));
    options.set_iterate_upper_bound(posting_key(run + 1, 0, 0));
    Ok(store.db.raw_iterator_cf_opt(family(&store.db, POSTINGS)?, options))
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
