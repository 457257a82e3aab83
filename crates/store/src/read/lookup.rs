//! Lookup: here is a hash, which documents hold it? One cursor per run, moved in ascending order of hash.

use std::sync::Arc;

use crate::codec::block::{BLOCK_POSTINGS, Posting};
use crate::codec::format::{parse_posting_key, posting_key};
use crate::codec::records::RunRecord;
use crate::engine::rows::Rows;
use crate::handle::Store;
use crate::read::filter_cursor::FilterCursor;
use crate::read::filter_use::Worth;
use crate::read::posting_cache::PostingCache;
use crate::read::run_rows::{BLOCK_BYTES, ReadPattern, blocks_of, current_block};
use crate::view::View;
use fpdb_host::error::Result;

/// Finds the postings of hashes.
pub struct Lookup<'a> {
    view: Arc<View>,
    cursors: Vec<RunCursor<'a>>,
    found: Vec<Posting>,
    /// Postings found before, where they will be asked for again.
    cache: Option<PostingCache>,
}

impl Store {
    /// Prepares for finding `expected` hashes or so, in ascending order; how many decides what it is worth
    /// to read for them.
    pub fn lookup(&self, expected: usize) -> Result<Lookup<'_>> {
        Lookup::new(self, expected as u64, expected as u64)
    }

    /// The same for hashes that come in no order: about `expected` of them are worth the reading of filters, and blocks are read
    /// one by one.
    pub fn scattered_lookup(&self, expected: usize) -> Result<Lookup<'_>> {
        Lookup::new(self, 0, expected as u64)
    }
}

impl<'a> Lookup<'a> {
    /// Prepares for looking up so many hashes in order; filters are to be worth their reading for `expected`.
    fn new(store: &'a Store, in_order: u64, expected: u64) -> Result<Self> {
        let (view, cursors) = store.of_one_commit(|view| Self::cursors(store, view, in_order));
        let mut cursors = cursors?;
        let worth = store.filter_use.expect(&view.runs, expected, in_order > 0);
        for ((cursor, (_, record)), worth) in cursors.iter_mut().zip(&view.runs).zip(worth) {
            match (&mut cursor.filters, worth) {
                (Some(filters), Worth::Nothing) if filters.is_held() => {}
                (filters, Worth::Nothing) => *filters = None,
                (Some(filters), Worth::Holding(depth)) => filters.hold(&store.filter_use, record, depth)?,
                (Some(filters), Worth::ReadOnce) => filters.read_whole(store)?,
                (None, _) => {}
            }
        }
        Ok(Self { view, cursors, found: Vec::new(), cache: None })
    }

    fn cursors(store: &'a Store, view: &View, expected: u64) -> Result<Vec<RunCursor<'a>>> {
        view.runs.iter().map(|(run, record)| RunCursor::new(store, *run, record, expected)).collect()
    }

    /// The commit that is looked at.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Caches the postings it finds, for callers that look up each hash again.
    pub fn with_cache(self) -> Self {
        Self { cache: Some(PostingCache::default()), ..self }
    }

    /// As [`find`](Self::find), but for hashes that boilerplate holds.
    pub fn holders(&mut self, hash: u64) -> Result<Holders<'_>> {
        self.find(hash)?;
        let boilerplate = self.found.iter().any(|posting| self.view.is_boilerplate(posting.document));
        Ok(if boilerplate { Holders::Boilerplate } else { Holders::Documents(&self.found) })
    }

    /// The postings of `hash` in documents that are not deleted, ascending by document within each run.
    /// Fastest where calls come in ascending order of hash, and for hashes that were asked for before.
    pub(crate) fn find(&mut self, hash: u64) -> Result<&[Posting]> {
        self.found.clear();
        if let Some(found) = self.cache.as_ref().and_then(|cache| cache.get(hash)) {
            self.found.extend_from_slice(found);
            return Ok(&self.found);
        }
        for cursor in &mut self.cursors {
            cursor.find(hash, &mut self.found)?;
        }
        self.found.retain(|posting| self.view.is_live(posting.document));
        if let Some(cache) = &mut self.cache {
            cache.add(hash, &self.found);
        }
        Ok(&self.found)
    }
}

/// The documents that hold a hash.
pub enum Holders<'a> {
    /// A boilerplate document, and perhaps others.
    Boilerplate,
    /// The documents of these postings, ascending within each run.
    Documents(&'a [Posting]),
}

/// A place in one run.
struct RunCursor<'a> {
    run: u32,
    blocks: Rows<'a>,
    /// Where they are worth their reading.
    filters: Option<FilterCursor<'a>>,
    /// The block the cursor stands on is the first to look at for hashes from this one to its last.
    from: Option<u64>,
}

impl<'a> RunCursor<'a> {
    fn new(store: &'a Store, run: u32, record: &RunRecord, expected: u64) -> Result<Self> {
        let blocks_held = record.postings / BLOCK_POSTINGS as u64;
        // Where much of a large run will be visited, it is read from end to end.
        let dense = expected >= blocks_held / 4 && blocks_held > (store.engine.cache().bytes() / BLOCK_BYTES) as u64;
        let blocks = blocks_of(&store.engine, run, if dense { ReadPattern::Through } else { ReadPattern::Points })?;
        Ok(Self { run, blocks, filters: Some(FilterCursor::new(store, run)?), from: None })
    }

    /// Appends the postings of `hash` to `out`.
    fn find(&mut self, hash: u64, out: &mut Vec<Posting>) -> Result<()> {
        if let Some(filters) = &mut self.filters
            && !filters.may_hold(hash)?
        {
            return Ok(());
        }
        let last = self.blocks.key().and_then(parse_posting_key).map(|(_, last, _)| last);
        if self.from.is_none_or(|from| hash < from) || last.is_none_or(|last| last < hash) {
            self.blocks.seek(posting_key(self.run, hash, 0));
            self.from = Some(hash);
        }
        while let Some((_, block)) = current_block(&self.blocks)? {
            if !block.find(hash, out) {
                break;
            }
            self.blocks.next();
            self.from = hash.checked_add(1);
        }
        Ok(())
    }
}
