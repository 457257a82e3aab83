//! Writing a run: postings in ascending order become blocks in sorted files.

use super::Store;
use super::block::{self, BLOCK_POSTINGS, Posting};
use super::format::{INCOMING, POSTINGS, posting_key};
use super::records::RunRecord;
use super::sorted_file::{SortedFiles, file_options};
use crate::error::Result;

/// Takes the postings of one run.
pub(super) struct RunWriter<'a> {
    run: u32,
    files: SortedFiles<'a>,
    /// The block being filled.
    block: Vec<Posting>,
    encoded: Vec<u8>,
    /// The last hash of the block before, and that block's continuation.
    before: Option<(u64, u32)>,
    record: Option<RunRecord>,
}

impl<'a> RunWriter<'a> {
    /// The options its files need, which must outlive it.
    pub(super) fn options() -> rocksdb::Options {
        file_options(POSTINGS)
    }

    /// A writer of the run `run`, which must be in nobody's list of runs yet; `options` are those of
    /// [`RunWriter::options`].
    pub(super) fn new(store: &Store, run: u32, options: &'a rocksdb::Options) -> Self {
        Self {
            run,
            files: SortedFiles::new(store.root.join(INCOMING), POSTINGS, options),
            block: Vec::with_capacity(BLOCK_POSTINGS),
            encoded: Vec::new(),
            before: None,
            record: None,
        }
    }

    /// Adds a posting, which must not be below the one before.
    pub(super) fn push(&mut self, posting: Posting) -> Result<()> {
        let document = posting.document;
        let record =
            self.record.get_or_insert(RunRecord { postings: 0, first_document: document, last_document: document });
        record.postings += 1;
        record.first_document = record.first_document.min(document);
        record.last_document = record.last_document.max(document);
        self.block.push(posting);
        if self.block.len() == BLOCK_POSTINGS { self.write_block() } else { Ok(()) }
    }

    fn write_block(&mut self) -> Result<()> {
        let (Some(first), Some(last)) = (self.block.first(), self.block.last()) else { return Ok(()) };
        let continuation = match self.before {
            Some((hash, continuation)) if hash == first.hash => continuation + 1,
            _ => 0,
        };
        self.encoded.clear();
        block::encode(&self.block, &mut self.encoded);
        self.files.put(&posting_key(self.run, first.hash, continuation), &self.encoded)?;
        self.before = Some((last.hash, continuation));
        self.block.clear();
        Ok(())
    }

    /// Hands the run to the store, on disk when this returns; `None` where it holds nothing. It is part of
    /// the database once its record is committed.
    pub(super) fn finish(mut self, store: &Store) -> Result<Option<(u32, RunRecord)>> {
        self.write_block()?;
        self.files.ingest(&store.db)?;
        Ok(self.record.map(|record| (self.run, record)))
    }
}
