//! Probes: the few terms of a document by which all survivors that could justify its removal are found.
//!
//! By the threshold: of n fingerprints a survivor must hold m, so it holds one of any n - m + 1 of them (prefix filter:
//! Bayardo, Ma and Srikant 2007; Xiao et al. 2008), and e + 1 of any n - m + 1 + e. Survivors are indexed whole, so each
//! document may take its own rarest terms. By the novelty bound: a survivor must hold a fingerprint in every stretch that is
//! longer than the bound. The cheaper of the two serves.

use std::ops::Range;

use super::join_inputs::Join;
use super::ranking::Rank;
use super::sets::{TermEntry, distinct, ordinal, term};
use crate::error::Result;

/// Which survivors can justify the removal of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Probes {
    /// None can: the document stays.
    Nobody,
    /// Documents that hold at least `least` of the first `count` distinct terms.
    Rarest { count: u32, least: u32 },
    /// Documents that hold one of these terms, which stand in one stretch. Ascending.
    Stretch(Vec<u32>),
}

/// The summed df of the rarest terms from which on stretches are looked at: reading positions costs as much.
const COSTLY: u64 = 256;

/// Reused memory.
#[derive(Default)]
pub(super) struct ProbeBuffers {
    dfs: Vec<u32>,
    ordinals: Vec<u32>,
}

impl Join<'_> {
    /// The probes of a document that is not proved to stay by its number of terms. `entries` are its sorted entries.
    pub(super) fn probes(&self, rank: Rank, entries: &[TermEntry], buffers: &mut ProbeBuffers) -> Result<Probes> {
        let size = self.ranking.size(rank);
        let held = distinct(entries).count() as u32;
        let needed = self.threshold.least_shared(size);
        if held < needed {
            return Ok(Probes::Nobody);
        }
        // No other document holds the other fingerprints.
        let first = held - needed + 1;
        let terms = &self.sets.terms;
        let mut dfs = distinct(entries).map(|term| u64::from(terms.df(term)));
        let cost: u64 = dfs.by_ref().take(first as usize).sum();
        // More probes cost reading and save comparing.
        let mut spent = 0;
        let extra = dfs.take_while(|df| {
            spent += df;
            spent <= cost
        });
        let extra = extra.count() as u32;
        let rarest = Probes::Rarest { count: first + extra, least: 1 + extra };
        let Some(max_novel) = self.max_novel.filter(|_| cost >= COSTLY) else { return Ok(rarest) };
        Ok(match self.cheapest_stretch(rank, entries, max_novel, buffers)? {
            None => rarest,
            Some((0, _)) => Probes::Nobody,
            Some((stretch, _)) if stretch >= cost => rarest,
            Some((_, ordinals)) => {
                let inside = entries.iter().filter(|&&entry| ordinals.contains(&ordinal(entry)));
                let mut terms: Vec<u32> = inside.map(|&entry| term(entry)).collect();
                terms.dedup();
                Probes::Stretch(terms)
            }
        })
    }

    /// The stretch longer than `max_novel` symbols whose fingerprints have the least summed df, as a range of ordinals.
    fn cheapest_stretch(
        &self,
        rank: Rank,
        entries: &[TermEntry],
        max_novel: u64,
        buffers: &mut ProbeBuffers,
    ) -> Result<Option<(u64, Range<u32>)>> {
        let id = self.ranking.id(rank);
        let (fingerprints, symbols) = self.source.extent(id)?;
        if symbols <= max_novel {
            return Ok(None);
        }
        let ProbeBuffers { dfs, ordinals } = buffers;
        dfs.clear();
        dfs.resize(fingerprints as usize, 0);
        for &entry in entries {
            if let Some(df) = dfs.get_mut(ordinal(entry) as usize) {
                *df = self.sets.terms.df(term(entry));
            }
        }
        ordinals.clear();
        ordinals.extend(0..fingerprints);
        let positions = self.source.positions(id, ordinals)?;
        let mut best: Option<(u64, Range<u32>)> = None;
        let (mut end, mut cost) = (0, 0);
        for first in 0..positions.len() {
            let start = first.checked_sub(1).map_or(0, |before| positions[before] + self.k);
            // The least number of fingerprints that leaves so long a stretch when they are unmatched.
            let after = |end: usize| positions.get(end).copied().unwrap_or(symbols);
            while end <= first || after(end).saturating_sub(start) <= max_novel {
                if end == positions.len() {
                    return Ok(best);
                }
                cost += u64::from(dfs[end]);
                end += 1;
            }
            if best.as_ref().is_none_or(|&(least, _)| cost < least) {
                best = Some((cost, first as u32..end as u32));
            }
            cost -= u64::from(dfs[first]);
        }
        Ok(best)
    }
}
