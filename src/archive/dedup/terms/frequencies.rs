//! Frequencies: one pass over the postings counts the documents that hold each hash.
//!
//! A document stays if too few of its hashes have other holders: then no survivor can reach the threshold.
//! Hashes with several holders become *terms*: hashes with the same holders are one term. A term's key is
//! made of its df and its holders, so that the rarest terms of a document come first.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::archive::dedup::Activity;
use crate::archive::dedup::Monitor;
use crate::archive::dedup::ranking::{ComparedRanks, Rank};
use crate::archive::dedup::terms::holders::{HashUse, HolderReader};
use crate::archive::dedup::terms::source::{PostingSource, ranges_per_reader};
use fpdb_host::error::Result;

/// The figures of documents and hashes, from the postings.
#[derive(Debug, Default)]
pub(in crate::archive::dedup) struct Frequencies {
    pub(in crate::archive::dedup) ranges: Vec<RangeInclusive<u64>>,
    /// By rank, the number of the document's hashes that are in terms.
    pub(in crate::archive::dedup) shared: Vec<u32>,
    /// By rank, the number of postings of the document's hashes that are in terms.
    pub(in crate::archive::dedup) postings: Vec<u32>,
    /// Number of hashes above the df cap.
    pub(in crate::archive::dedup) common: u64,
    /// Number of hashes that boilerplate holds.
    pub(in crate::archive::dedup) boilerplate: u64,
}

/// Buffers increments of counts. An atomic increment waits until its count arrives from memory, and delays
/// all that follows; reads overlap. So the counts of many increments are read first, which brings them into
/// the cache.
struct Increments<'a> {
    counts: &'a [AtomicU64],
    waiting: Vec<(Rank, u64)>,
}

/// Number of increments made at a time: they and their counts fit in the first-level cache.
const INCREMENTS: usize = 256;

impl<'a> Increments<'a> {
    fn new(counts: &'a [AtomicU64]) -> Self {
        Self { counts, waiting: Vec::with_capacity(INCREMENTS) }
    }

    fn add(&mut self, rank: Rank, increment: u64) {
        self.waiting.push((rank, increment));
        if self.waiting.len() == INCREMENTS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let read =
            self.waiting.iter().fold(0, |all, &(rank, _)| all | self.counts[rank as usize].load(Ordering::Relaxed));
        std::hint::black_box(read);
        for (rank, increment) in self.waiting.drain(..) {
            self.counts[rank as usize].fetch_add(increment, Ordering::Relaxed);
        }
    }
}

impl Frequencies {
    /// Counts the holders of all hashes. Concurrent reads of postings take at most `memory` bytes.
    pub(in crate::archive::dedup) fn count(
        source: &dyn PostingSource,
        (documents, compared): (Rank, &ComparedRanks),
        max_df: Option<u64>,
        memory: u64,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        // The high half counts hashes, the low half their postings: one write for both.
        let counts: Vec<AtomicU64> = (0..documents).map(|_| AtomicU64::new(0)).collect();
        let (common, boilerplate) = (AtomicU64::new(0), AtomicU64::new(0));
        let ranges = source.ranges();
        let done = AtomicU64::new(0);
        let count_range = |range: &RangeInclusive<u64>| -> Result<()> {
            let mut reader = HolderReader::new(compared, max_df);
            let mut tally = monitor.tally(Activity::Counting, &done);
            let mut waiting = Increments::new(&counts);
            source.visit_batches(range, &mut |batch| {
                tally.add(batch.len() as u64)?;
                reader.read(batch, |hash| {
                    match hash {
                        HashUse::Own => {}
                        HashUse::Common => drop(common.fetch_add(1, Ordering::Relaxed)),
                        HashUse::Boilerplate => drop(boilerplate.fetch_add(1, Ordering::Relaxed)),
                        HashUse::Term(holders) => holders
                            .postings()
                            .for_each(|(rank, _, again)| waiting.add(rank, u64::from(!again) << 32 | 1)),
                    }
                    Ok(())
                })
            })?;
            waiting.flush();
            Ok(())
        };
        let least = ranges_per_reader(ranges.len(), documents, memory).max(1);
        ranges.par_iter().with_min_len(least).try_for_each(count_range)?;
        let counts = counts.into_iter().map(AtomicU64::into_inner);
        let (shared, postings) = counts.map(|count| ((count >> 32) as u32, count as u32)).unzip();
        Ok(Self { ranges, shared, postings, common: common.into_inner(), boilerplate: boilerplate.into_inner() })
    }
}
