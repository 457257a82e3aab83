//! Kept runs: runs whose postings stay in memory during a *load*, which is a long ingest. So commits can be
//! frequent although runs are large.
//!
//! A load commits every few seconds, so that a crash costs little. But a lookup visits every run, so runs
//! must be few. So each of these commits writes a small run and keeps its sorted postings in memory. Once the
//! kept postings are worth a large run, one write merges them from memory and replaces the small runs. A
//! crash leaves the small runs, which are part of the database like any other; the next load folds them.
//!
//! * A small run has no filters ([`Filters::AllPass`]), since making them takes more time than making its
//!   blocks. So a query beside a load reads one block of each small run for each hash.
//! * [`MOST_ALIKE`] small runs become one larger run, which is kept as well. So a slow load with much memory
//!   has few runs.
//! * Memory: the kept postings, the batch that is written and the batch that fills take at most twice the
//!   share of one batch ([`Committer::batch_after`]).
//! * The price is 9% of the processor time of a load: it encodes each block twice, and merges from memory.
//!
//! Rejected: a log of the gathered postings, which the next writer reads. Such a log saves the blocks of the
//! small runs. But it is a second format with its own code for reading, and readers would not see its
//! documents.

use crate::codec::block::Posting;
use crate::read::run_reader::merge_parts;
use crate::write::batch::Batch;
use crate::write::commit::Committer;
use crate::write::posting_buffer::PostingBuffer;
use crate::write::run_writer::{self, Filters};
use crate::{Store, View};
use fpdb_host::error::Result;

/// The number of small runs of one rank that become one run.
const MOST_ALIKE: usize = 16;

/// The number of postings that one step of a merge takes from each of several sorted lists. All steps
/// together fit in the cache of a processor.
const STEP: usize = 1024;

/// A committed run without filters, and its postings in memory.
#[derive(Debug)]
pub(super) struct KeptRun {
    run: u32,
    /// 0 for the run of a batch. A merged run has the rank of the runs merged into it, plus one.
    rank: u32,
    /// The postings. Each segment is in ascending order.
    segments: Vec<PostingBuffer>,
}

impl KeptRun {
    pub(super) fn new(run: u32, postings: PostingBuffer) -> Self {
        Self { run, rank: 0, segments: vec![postings] }
    }

    fn bytes(&self) -> usize {
        self.segments.iter().map(PostingBuffer::bytes).sum()
    }
}

impl Committer {
    /// Adds a batch of a load to the database and empties it, as [`Self::commit`] does. More batches follow,
    /// unless the load `ends`. Until then postings may stay in memory, as long as they are less than a batch.
    pub fn commit_next(&mut self, store: &Store, batch: &mut Batch, ends: bool) -> Result<()> {
        let is_worth_a_run = ends || batch.held() >= batch.memory;
        if batch.is_empty() {
            // Only kept postings are left to write.
        } else if batch.has_runs() || (self.kept.is_empty() && is_worth_a_run) {
            self.commit(store, batch)?;
        } else {
            self.commit_and_keep(store, batch)?;
        }
        if ends || self.kept_bytes() >= batch.memory {
            let kept = std::mem::take(&mut self.kept);
            self.replace(store, &kept, Filters::Whole)?;
        }
        Ok(())
    }

    /// True if later commits will replace some of the runs. No fold may replace these.
    pub fn keeps_runs(&self) -> bool {
        !self.kept.is_empty()
    }

    /// An empty batch for the documents after `batch`, which is committed next. The new batch may take the
    /// memory that `batch` and the kept postings leave.
    pub fn batch_after(&self, batch: &Batch) -> Batch {
        let mut next = batch.next();
        let taken = self.kept_bytes() + batch.held();
        let left = (2 * batch.memory).saturating_sub(taken);
        // While postings are kept, the batch after the next one needs a part of the memory too.
        let limit = if taken < batch.memory { left / 2 } else { left };
        next.limit = limit.clamp(batch.memory / 8, batch.memory);
        next
    }

    /// The memory of the kept postings, in bytes.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.kept.iter().map(KeptRun::bytes).sum()
    }

    fn commit_and_keep(&mut self, store: &Store, batch: &mut Batch) -> Result<()> {
        let run = self.next_run(store);
        let postings = self.write(store, batch, Filters::AllPass)?;
        self.commit_written(store, batch)?;
        if postings.len() > 0 {
            self.kept.push(KeptRun::new(run, postings));
        }
        while let Some(alike) = self.alike() {
            let mut kept = self.kept.split_off(alike);
            let run = self.replace(store, &kept, Filters::AllPass)?;
            let rank = kept.first().map_or(0, |first| first.rank) + 1;
            let segments = kept.drain(..).flat_map(|run| run.segments).collect();
            self.kept.extend(run.map(|run| KeptRun { run, rank, segments }));
        }
        Ok(())
    }

    /// The index of the first run of the last rank. `None` if too few runs have that rank to become one run.
    fn alike(&self) -> Option<usize> {
        let rank = self.kept.last()?.rank;
        let first = self.kept.iter().position(|run| run.rank == rank)?;
        (self.kept.len() - first >= MOST_ALIKE).then_some(first)
    }

    /// Replaces these runs by one run, which it makes from the postings in memory. Returns the number of the
    /// new run; `None` if all its documents have been deleted.
    fn replace(&mut self, store: &Store, kept: &[KeptRun], filters: Filters) -> Result<Option<u32>> {
        if kept.is_empty() {
            return Ok(None);
        }
        let view = View::clone(&store.view());
        let run = self.next_run(store);
        let ranges = store.hash_ranges(store.pool().threads());
        let has_deleted = view.has_deleted();
        let (written, _) = run_writer::write_run(store, run, filters, ranges, |hashes, part| {
            let inside = |segment: &'_ PostingBuffer| {
                let postings = segment.as_slice();
                let start = postings.partition_point(|posting| posting.hash < *hashes.start());
                let end = postings.partition_point(|posting| posting.hash <= *hashes.end());
                start..end
            };
            let segments = kept.iter().flat_map(|run| &run.segments);
            let parts = segments.map(|segment| &segment.as_slice()[inside(segment)]).collect();
            merge_slices(parts, &mut |postings| {
                if has_deleted {
                    postings.retain(|posting| view.is_live(posting.document));
                }
                part.extend(postings)
            })
        })?;
        let record = written.map(|(_, record)| record);
        let is_written = record.is_some();
        let runs: Vec<u32> = kept.iter().map(|kept| kept.run).collect();
        store.replace_runs(store.engine.changes(), view, &runs, (run, record))?;
        Ok(is_written.then_some(run))
    }
}

/// Calls `visit` with the postings of ascending parts, in one ascending order, in batches. The documents of
/// each part are above those of the parts before it.
fn merge_slices(mut parts: Vec<&[Posting]>, visit: &mut dyn FnMut(&mut Vec<Posting>) -> Result<()>) -> Result<()> {
    let (mut taken, mut merged) = (Vec::new(), Vec::new());
    loop {
        parts.retain(|part| !part.is_empty());
        if parts.is_empty() {
            return Ok(());
        }
        // No part has more than `STEP` postings below the bound.
        let bound = parts.iter().filter_map(|part| part.get(STEP)).min().copied();
        taken.clear();
        for part in &mut parts {
            let step = &part[..part.len().min(STEP)];
            let (these, others) =
                part.split_at(bound.map_or(part.len(), |bound| step.partition_point(|it| *it < bound)));
            taken.push(these);
            *part = others;
        }
        merged.clear();
        // The documents of the parts ascend, so only hashes are compared.
        merge_parts(&taken, &|posting: &Posting| posting.hash, &mut merged);
        visit(&mut merged)?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn slices_are_merged(sizes in prop::collection::vec((1u64..5, 0u32..3000), 0..6)) {
            let part = |(index, (step, size)): (u32, (u64, u32))| -> Vec<Posting> {
                (0..size).map(|at| Posting { hash: u64::from(at) * step, document: index, ordinal: at }).collect()
            };
            let parts: Vec<Vec<Posting>> = (0..).zip(sizes).map(part).collect();
            let mut merged = Vec::new();
            merge_slices(parts.iter().map(Vec::as_slice).collect(), &mut |batch| {
                merged.append(batch);
                Ok(())
            }).unwrap();
            let mut expected = parts.concat();
            expected.sort_unstable();
            prop_assert_eq!(merged, expected);
        }
    }
}
