//! Frequencies: one pass over the postings counts how many documents hold each hash.
//!
//! Hashes that one document holds by itself prove that it stays: where fewer than the threshold are left, no survivor can
//! justify its removal. The others become *terms*: numbered by ascending df, then by hash, so that the rarest hashes of a
//! document come first.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::ranking::{BOILERPLATE, RESERVED, Rank, Ranking};
use super::source::{PostingSource, ranges_per_reader};
use super::{Activity, Monitor};
use crate::error::{Error, Result};
use crate::store::Posting;

/// The figures of documents and hashes, from the postings.
#[derive(Debug, Default)]
pub(super) struct Frequencies {
    pub(super) ranges: Vec<RangeInclusive<u64>>,
    /// For each range, how many of its terms have each df.
    pub(super) by_range: Vec<BTreeMap<u32, u64>>,
    /// By rank, the terms that a document holds.
    pub(super) shared: Vec<u32>,
    /// By rank, the postings of those.
    pub(super) postings: Vec<u32>,
    /// Hashes above the df cap.
    pub(super) common: u64,
    /// Hashes that boilerplate holds.
    pub(super) boilerplate: u64,
}

/// The documents that hold one hash, as far as they are compared.
#[derive(Debug, Default)]
pub(super) struct HashHolders {
    /// Rank and ordinal of each posting, in order of document.
    pub(super) postings: Vec<(Rank, u32)>,
    /// How many documents there are.
    pub(super) df: u32,
}

/// The use of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashUse {
    /// Several documents hold it.
    Term,
    /// At most one does.
    Own,
    /// More do than the df cap allows.
    Common,
    /// Boilerplate holds it.
    Boilerplate,
}

impl HashHolders {
    /// Takes the postings of a hash.
    pub(super) fn take(&mut self, postings: &[Posting], ranking: &Ranking, max_df: Option<u64>) -> HashUse {
        self.postings.clear();
        self.df = 0;
        if let [one] = postings {
            return if ranking.of(one.document) == BOILERPLATE { HashUse::Boilerplate } else { HashUse::Own };
        }
        let mut last = None;
        for posting in postings {
            let rank = ranking.of(posting.document);
            if rank == BOILERPLATE {
                return HashUse::Boilerplate;
            }
            if rank >= RESERVED || !ranking.leads(rank) {
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
}

impl Frequencies {
    /// Counts. The postings that are read at once keep to `memory`.
    pub(super) fn count(
        source: &dyn PostingSource,
        ranking: &Ranking,
        max_df: Option<u64>,
        memory: u64,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        // Terms in the high half, their postings in the low half: one write for both.
        let counts: Vec<AtomicU64> = (0..ranking.len()).map(|_| AtomicU64::new(0)).collect();
        let (common, boilerplate) = (AtomicU64::new(0), AtomicU64::new(0));
        let ranges = source.ranges();
        let done = AtomicU64::new(0);
        let count_range = |range: &RangeInclusive<u64>| -> Result<BTreeMap<u32, u64>> {
            let mut holders = HashHolders::default();
            let mut by_df = BTreeMap::new();
            let mut tally = monitor.tally(Activity::Counting, &done);
            source.visit_hashes(range, &mut |_, held| {
                tally.add(held.len() as u64)?;
                match holders.take(held, ranking, max_df) {
                    HashUse::Own => {}
                    HashUse::Common => drop(common.fetch_add(1, Ordering::Relaxed)),
                    HashUse::Boilerplate => drop(boilerplate.fetch_add(1, Ordering::Relaxed)),
                    HashUse::Term => {
                        let mut last = None;
                        for &(rank, _) in &holders.postings {
                            let is_new = last.replace(rank) != Some(rank);
                            counts[rank as usize].fetch_add(u64::from(is_new) << 32 | 1, Ordering::Relaxed);
                        }
                        *by_df.entry(holders.df).or_default() += 1;
                    }
                }
                Ok(())
            })?;
            Ok(by_df)
        };
        let least = ranges_per_reader(ranges.len(), ranking.len(), memory).max(1);
        let by_range: Vec<BTreeMap<u32, u64>> =
            ranges.par_iter().with_min_len(least).map(count_range).collect::<Result<_>>()?;
        let counts = counts.into_iter().map(AtomicU64::into_inner);
        let (shared, postings) = counts.map(|count| ((count >> 32) as u32, count as u32)).unzip();
        Ok(Self {
            ranges,
            by_range,
            shared,
            postings,
            common: common.into_inner(),
            boilerplate: boilerplate.into_inner(),
        })
    }

    /// The numbers of terms: for each range the number that the first term of each df gets, and the first term of each df.
    pub(super) fn number(&self) -> Result<(Vec<BTreeMap<u32, u32>>, Terms)> {
        let mut totals: BTreeMap<u32, u64> = BTreeMap::new();
        for (&df, &count) in self.by_range.iter().flatten() {
            *totals.entry(df).or_default() += count;
        }
        let mut next: BTreeMap<u32, u64> = BTreeMap::new();
        let mut terms = Terms::default();
        let mut total = 0;
        for (df, count) in totals {
            next.insert(df, total);
            terms.firsts.push((total as u32, df));
            total += count;
        }
        if total >= u64::from(u32::MAX) {
            return Err(Error::TooManyShared { found: total });
        }
        terms.count = total as u32;
        let firsts = self.by_range.iter().map(|by_df| {
            let first = |(&df, &count): (&u32, &u64)| {
                let next = next.entry(df).or_default();
                let first = *next as u32;
                *next += count;
                (df, first)
            };
            by_df.iter().map(first).collect()
        });
        Ok((firsts.collect(), terms))
    }
}

/// The figures of terms, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    /// How many there are.
    pub(super) count: u32,
    /// The first term of each df, and the df. Ascending.
    firsts: Vec<(u32, u32)>,
}

impl Terms {
    /// How many documents hold a term.
    pub(super) fn df(&self, term: u32) -> u32 {
        let after = self.firsts.partition_point(|&(first, _)| first <= term);
        after.checked_sub(1).and_then(|index| self.firsts.get(index)).map_or(0, |&(_, df)| df)
    }
}
