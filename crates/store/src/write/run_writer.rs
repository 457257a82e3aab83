//! Run writer: encodes ascending postings as blocks and filters, and writes these to sorted files. A run is
//! written in parts, each a range of hashes, on all threads.

use rayon::prelude::*;

use crate::Store;
use crate::codec::block::{self, BLOCK_POSTINGS, Posting};
use crate::codec::filter::{self, ALL_PASS, FILTER_HASHES};
use crate::codec::format::{FILTERS, INCOMING, POSTINGS, filter_key, posting_key};
use crate::codec::records::RunRecord;
use crate::engine::sorted_file::{SortedFiles, WrittenFiles};
use fpdb_host::error::Result;

/// The filters that a run gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filters {
    /// Filters of all hashes of the run.
    Whole,
    /// One filter that lets every hash pass, for a run that is soon replaced. Making real filters takes more
    /// time than making blocks.
    AllPass,
}

/// Writes the postings of one part of a run.
pub(crate) struct RunPart<'a> {
    run: u32,
    blocks: SortedFiles<'a>,
    filters: SortedFiles<'a>,
    /// The block being filled.
    block: Vec<Posting>,
    /// The distinct hashes of the filter being filled.
    hashes: Vec<u64>,
    builder: filter::FilterBuilder,
    encoded: Vec<u8>,
    makes_filters: bool,
    /// The last hash and the continuation of the block before.
    before: Option<(u64, u32)>,
    /// The totals of the blocks written so far.
    record: Option<RunRecord>,
    filter_bytes: u64,
}

/// A written run, and the result of `fill` for each part. The run is `None` if it has no postings.
pub(crate) type WrittenRun<T> = (Option<(u32, RunRecord)>, Vec<T>);

/// A finished part of a run.
struct WrittenPart<T> {
    last_hash: Option<u64>,
    blocks: WrittenFiles,
    filters: WrittenFiles,
    record: Option<RunRecord>,
    outcome: T,
}

impl<'a> RunPart<'a> {
    /// A part of the run `run`, to be written to these files.
    pub(crate) fn new(run: u32, blocks: SortedFiles<'a>, filters: SortedFiles<'a>) -> Self {
        Self {
            run,
            blocks,
            filters,
            block: Vec::with_capacity(BLOCK_POSTINGS),
            hashes: Vec::with_capacity(FILTER_HASHES),
            builder: filter::FilterBuilder::default(),
            encoded: Vec::new(),
            makes_filters: true,
            before: None,
            record: None,
            filter_bytes: 0,
        }
    }

    /// Ends the part. Returns the files of its blocks and of its filters, and its totals. The totals are
    /// `None` if it has no postings.
    pub(crate) fn finish(mut self) -> Result<(WrittenFiles, WrittenFiles, Option<RunRecord>)> {
        self.write_block()?;
        self.write_filter()?;
        let record = self.record.map(|record| RunRecord { filter_bytes: self.filter_bytes, ..record });
        Ok((self.blocks.finish()?, self.filters.finish()?, record))
    }

    /// Adds a posting, which must not be below the previous one.
    pub(crate) fn push(&mut self, posting: Posting) -> Result<()> {
        self.add_hash(posting.hash)?;
        self.block.push(posting);
        if self.block.len() == BLOCK_POSTINGS { self.write_block() } else { Ok(()) }
    }

    /// Adds ascending postings. The first must not be below the previous posting.
    pub(crate) fn extend(&mut self, mut postings: &[Posting]) -> Result<()> {
        while !postings.is_empty() {
            let (these, others) = postings.split_at(postings.len().min(BLOCK_POSTINGS - self.block.len()));
            these.iter().try_for_each(|posting| self.add_hash(posting.hash))?;
            self.block.extend_from_slice(these);
            if self.block.len() == BLOCK_POSTINGS {
                self.write_block()?;
            }
            postings = others;
        }
        Ok(())
    }

    #[inline]
    fn add_hash(&mut self, hash: u64) -> Result<()> {
        if self.makes_filters && self.hashes.last() != Some(&hash) {
            if self.hashes.len() == FILTER_HASHES {
                self.write_filter()?;
            }
            self.hashes.push(hash);
        }
        Ok(())
    }

    fn write_block(&mut self) -> Result<()> {
        let Some(&Posting { hash: last, .. }) = self.block.last() else { return Ok(()) };
        let continuation = match self.before {
            Some((hash, continuation)) if hash == last => continuation + 1,
            _ => 0,
        };
        self.encoded.clear();
        block::encode(&self.block, &mut self.encoded);
        self.blocks.put(&posting_key(self.run, last, continuation), &self.encoded)?;
        self.before = Some((last, continuation));
        let documents = || self.block.iter().map(|posting| posting.document);
        if let (Some(first_document), Some(last_document)) = (documents().min(), documents().max()) {
            let block = RunRecord { postings: self.block.len() as u64, first_document, last_document, filter_bytes: 0 };
            self.record = RunRecord::together(self.record.take().into_iter().chain([block]));
        }
        self.block.clear();
        Ok(())
    }

    fn write_filter(&mut self) -> Result<()> {
        let Some(&last) = self.hashes.last() else { return Ok(()) };
        self.encoded.clear();
        filter::encode(&self.hashes, &mut self.builder, &mut self.encoded);
        self.filter_bytes += self.encoded.len() as u64;
        self.filters.put(&filter_key(self.run, last), &self.encoded)?;
        self.hashes.clear();
        Ok(())
    }
}

/// Writes the run `run`, whose number must not be in use. Calls `fill` for each of `parts`, several at once.
/// `fill` pushes the postings of its part. The parts must ascend, and no hash may be in two of them.
///
/// Returns the run, which is then on disk, and the results of `fill`. The run is `None` if it has no
/// postings. The run becomes part of the database when its record is committed.
pub(crate) fn write_run<P: Send, T: Send>(
    store: &Store,
    run: u32,
    filters: Filters,
    parts: Vec<P>,
    fill: impl Fn(P, &mut RunPart<'_>) -> Result<T> + Sync,
) -> Result<WrittenRun<T>> {
    let incoming = store.root.join(INCOMING);
    let made = filters;
    let write = |(number, part): (usize, P)| {
        let files = |family| store.engine.sorted_files(&incoming, family, number);
        let mut writer = RunPart::new(run, files(POSTINGS)?, files(FILTERS)?);
        writer.makes_filters = made == Filters::Whole;
        let outcome = fill(part, &mut writer)?;
        writer.write_block()?;
        let last_hash = writer.before.map(|(hash, _)| hash);
        let (blocks, filters, record) = writer.finish()?;
        Ok(WrittenPart { last_hash, blocks, filters, record, outcome })
    };
    let parts: Vec<WrittenPart<T>> =
        store.pool().run(|| parts.into_par_iter().enumerate().map(write).collect::<Result<_>>())?;
    let mut record = RunRecord::together(parts.iter().filter_map(|part| part.record.clone()));
    let last_hash = parts.iter().filter_map(|part| part.last_hash).next_back();
    let count = parts.len();
    let (mut blocks, mut filters, mut outcomes) = (WrittenFiles::default(), WrittenFiles::default(), Vec::new());
    for part in parts {
        blocks.append(part.blocks);
        filters.append(part.filters);
        outcomes.push(part.outcome);
    }
    if let (Filters::AllPass, Some(record), Some(last_hash)) = (made, &mut record, last_hash) {
        let mut file = store.engine.sorted_files(&incoming, FILTERS, count)?;
        file.put(&filter_key(run, last_hash), &ALL_PASS)?;
        filters.append(file.finish()?);
        record.filter_bytes = ALL_PASS.len() as u64;
    }
    store.engine.ingest(FILTERS, filters)?;
    store.engine.ingest(POSTINGS, blocks)?;
    Ok((record.map(|record| (run, record)), outcomes))
}
