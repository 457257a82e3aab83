//! Lookup: finds the documents that hold a hash. A lookup has one cursor for each run, which moves in
//! ascending order of hash.

use std::sync::Arc;

use crate::codec::block::{BLOCK_POSTINGS, Posting};
use crate::codec::format::{parse_posting_key, posting_key};
use crate::codec::records::RunRecord;
use crate::engine::rows::Rows;
use crate::handle::Store;
use crate::read::filter_cursor::FilterCursor;
use crate::read::filter_use::Worth;
use crate::read::gathered::Gathered;
use crate::read::posting_cache::PostingCache;
use crate::read::run_rows::{BLOCK_BYTES, ReadPattern, blocks_of, current_block};
use crate::view::View;
use fpdb_host::error::Result;

/// Finds the postings of hashes, as of one commit.
pub struct Lookup<'a> {
    view: Arc<View>,
    cursors: Vec<RunCursor<'a>>,
    /// The store, and the number of hashes to expect, as long as there are no cursors.
    unopened: Option<(&'a Store, u64)>,
    /// Postings that were looked up before, for several lookups.
    gathered: Option<&'a Gathered>,
    found: Vec<Posting>,
    /// The postings found so far, for callers that look up hashes again.
    cache: Option<PostingCache>,
}

impl Store {
    /// Prepares to look up about `expected` hashes in ascending order. This number decides whether filters
    /// are read.
    pub fn lookup(&self, expected: usize) -> Result<Lookup<'_>> {
        Lookup::new(self, expected as u64)
    }

    /// Like [`Self::lookup`], for hashes whose postings are mostly in `gathered` already. This store must
    /// show the commit at which the postings were gathered ([`Self::as_of_last_commit`]).
    pub fn lookup_gathered<'a>(&'a self, expected: usize, gathered: &'a Gathered) -> Lookup<'a> {
        Lookup {
            view: self.view(),
            cursors: Vec::new(),
            unopened: Some((self, expected as u64)),
            gathered: Some(gathered),
            found: Vec::new(),
            cache: None,
        }
    }
}

impl<'a> Lookup<'a> {
    /// Opens a cursor in each run. `expected` is the number of hashes, which come in ascending order. The
    /// number decides whether filters are read.
    fn new(store: &'a Store, expected: u64) -> Result<Self> {
        let (view, cursors) = store.of_one_commit(|view| Self::cursors(store, view, expected));
        let mut cursors = cursors?;
        let worth = store.filter_use.expect(&view.runs, expected);
        for ((cursor, (_, record)), worth) in cursors.iter_mut().zip(&view.runs).zip(worth) {
            match (&mut cursor.filters, worth) {
                (Some(filters), Worth::Nothing) if filters.is_held() => {}
                (filters, Worth::Nothing) => *filters = None,
                (Some(filters), Worth::Holding(depth)) => filters.hold(&store.filter_use, record, depth)?,
                (Some(filters), Worth::ReadOnce) => filters.read_whole(store)?,
                (None, _) => {}
            }
        }
        Ok(Self { view, cursors, unopened: None, gathered: None, found: Vec::new(), cache: None })
    }

    fn cursors(store: &'a Store, view: &View, expected: u64) -> Result<Vec<RunCursor<'a>>> {
        view.runs.iter().map(|(run, record)| RunCursor::new(store, *run, record, expected)).collect()
    }

    /// The commit that this lookup reads.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Caches all postings found from now on, for callers that look up each hash again.
    pub fn with_cache(self) -> Self {
        Self { cache: Some(PostingCache::default()), ..self }
    }

    /// Like `find`, except that it returns no postings if a boilerplate document holds the hash.
    pub fn holders(&mut self, hash: u64) -> Result<Holders<'_>> {
        self.find(hash)?;
        let boilerplate = self.found.iter().any(|posting| self.view.is_boilerplate(posting.document));
        Ok(if boilerplate { Holders::Boilerplate } else { Holders::Documents(&self.found) })
    }

    /// Number of postings of `hash` in documents that are not deleted.
    ///
    /// # Errors
    /// Errors from reading the store.
    pub fn postings_of_hash(&mut self, hash: u64) -> Result<usize> {
        match self.cache.as_ref().and_then(|cache| cache.get(hash)) {
            Some(found) => Ok(found.len()),
            None => Ok(self.find(hash)?.len()),
        }
    }

    /// The postings of `hash` in documents that are not deleted, ascending by document within each run.
    /// Fastest if hashes come in ascending order, or were looked up before.
    pub(crate) fn find(&mut self, hash: u64) -> Result<&[Posting]> {
        self.found.clear();
        if let Some(found) = self.cache.as_ref().and_then(|cache| cache.get(hash)) {
            self.found.extend_from_slice(found);
            return Ok(&self.found);
        }
        if let Some(found) = self.gathered.and_then(|gathered| gathered.get(hash)) {
            self.found.extend_from_slice(found);
            return Ok(&self.found);
        }
        if let Some((store, expected)) = self.unopened.take() {
            self.cursors = Self::new(store, expected)?.cursors;
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
    /// A boilerplate document holds the hash. Other documents may hold it too.
    Boilerplate,
    /// The postings of these documents, ascending by document within each run.
    Documents(&'a [Posting]),
}

/// A cursor in one run.
struct RunCursor<'a> {
    run: u32,
    blocks: Rows<'a>,
    /// `None` if reading the filters does not pay.
    filters: Option<FilterCursor<'a>>,
    /// The current block serves the hashes from this one to the last hash of the block. `None` if unknown.
    from: Option<u64>,
}

impl<'a> RunCursor<'a> {
    fn new(store: &'a Store, run: u32, record: &RunRecord, expected: u64) -> Result<Self> {
        let blocks_held = record.postings / BLOCK_POSTINGS as u64;
        // If the lookup visits much of a large run, the run is read from end to end.
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
