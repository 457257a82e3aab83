//! Frequencies: one pass over the postings counts the documents that hold each hash.
//!
//! A document stays if too few of its hashes have other holders: then no survivor can reach the threshold.
//! Hashes with several holders become *terms*: hashes with the same holders are one term. A term's key is
//! made of its df and its holders, so that the rarest terms of a document come first.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::archive::dedup::Activity;
use crate::archive::dedup::Monitor;
use crate::archive::dedup::ranking::{BOILERPLATE, ComparedRanks, RESERVED, Rank};
use crate::archive::dedup::terms::source::{PostingSource, ranges_per_reader};
use fpdb_host::error::Result;
use fpdb_store::Posting;

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

/// The compared documents that hold one hash.
#[derive(Debug, Default)]
pub(in crate::archive::dedup) struct HashHolders {
    /// Rank and ordinal of each posting, in order of document.
    pub(in crate::archive::dedup) postings: Vec<(Rank, u32)>,
    /// Number of documents that hold the hash.
    pub(in crate::archive::dedup) df: u32,
    ranks: Vec<Rank>,
}

/// Identifies a term. The highest 7 bits are the class of its df, and the other bits a digest of its holders'
/// ranks. Two different terms of one class have equal digests by chance, once in 2^57 pairs.
pub(in crate::archive::dedup) type TermKey = u64;

const DIGEST_BITS: u32 = 57;

/// How a hash is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archive::dedup) enum HashUse {
    /// Several documents hold the hash.
    Term,
    /// At most one document holds the hash.
    Own,
    /// More documents hold the hash than the df cap allows.
    Common,
    /// Boilerplate holds the hash.
    Boilerplate,
}

impl HashHolders {
    /// Takes the postings of a hash, and returns how the hash is used.
    pub(in crate::archive::dedup) fn take(
        &mut self,
        postings: &[Posting],
        compared: &ComparedRanks,
        max_df: Option<u64>,
    ) -> HashUse {
        self.postings.clear();
        self.df = 0;
        if let [one] = postings {
            return if compared.is_boilerplate(one.document) { HashUse::Boilerplate } else { HashUse::Own };
        }
        let mut last = None;
        for posting in postings {
            let rank = compared.of(posting.document);
            if rank == BOILERPLATE {
                return HashUse::Boilerplate;
            }
            if rank >= RESERVED {
                continue;
            }
            if last.replace(rank) != Some(rank) {
                self.df += 1;
            }
            self.postings.push((rank, posting.ordinal));
        }
        match self.df {
            0 | 1 => HashUse::Own,
            df if max_df.is_some_and(|most| u64::from(df) > most) => HashUse::Common,
            _ => HashUse::Term,
        }
    }

    /// The key of the term for hashes with these holders.
    pub(in crate::archive::dedup) fn key(&mut self) -> TermKey {
        self.ranks.clear();
        self.ranks.extend(self.postings.iter().map(|&(rank, _)| rank));
        self.ranks.dedup();
        df_class(self.df) << DIGEST_BITS | xxh3_64(bytemuck::cast_slice(&self.ranks)) >> (64 - DIGEST_BITS)
    }
}

/// The class of a df, 0 to 127: exact up to 15, then four classes for each doubling.
fn df_class(df: u32) -> u64 {
    let df = u64::from(df);
    if df < 16 {
        return df;
    }
    let highest = u64::from(df.ilog2());
    16 + (highest - 4) * 4 + (df >> (highest - 2) & 3)
}

/// The smallest df in the term's class: the term's df, or up to a fifth less.
pub(in crate::archive::dedup) fn df(term: TermKey) -> u64 {
    let class = term >> DIGEST_BITS;
    if class < 16 {
        return class;
    }
    (4 + class % 4) << (class / 4 - 2)
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
            let mut holders = HashHolders::default();
            let mut tally = monitor.tally(Activity::Counting, &done);
            let mut waiting = Increments::new(&counts);
            source.visit_hashes(range, &mut |_, held| {
                tally.add(held.len() as u64)?;
                match holders.take(held, compared, max_df) {
                    HashUse::Own => {}
                    HashUse::Common => drop(common.fetch_add(1, Ordering::Relaxed)),
                    HashUse::Boilerplate => drop(boilerplate.fetch_add(1, Ordering::Relaxed)),
                    HashUse::Term => {
                        let mut last = None;
                        for &(rank, _) in &holders.postings {
                            let is_new = last.replace(rank) != Some(rank);
                            waiting.add(rank, u64::from(is_new) << 32 | 1);
                        }
                    }
                }
                Ok(())
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
