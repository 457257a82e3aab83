//! Probes: a few terms of a document through which the join finds all survivors that could justify its
//! removal.
//!
//! Two rules give probes. The join uses the rule whose probes cost less.
//!
//! - Threshold: a survivor must hold m of the document's n fingerprints. So the survivor holds at least one
//!   of any `n-m+1` of these fingerprints, and e + 1 of any `n-m+1+e` (prefix filter: Bayardo, Ma and Srikant
//!   2007; Xiao et al. 2008). Survivors are indexed with all their terms, so each document can use its own
//!   rarest terms. A term counts as many fingerprints as its weight.
//! - Novelty bound (`max_novel`): a survivor must hold a fingerprint in every stretch that is longer than
//!   the bound.

use std::ops::Range;

use crate::join::Join;
use crate::join::buffers::ProbeBuffers;
use crate::ranking::Rank;
use crate::terms::holders::{TermKey, df};
use crate::terms::sets::{Term, weight};
use fpdb_host::error::Result;

/// The survivors that can justify the removal of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Probes {
    /// No survivor can: the document stays.
    Nobody,
    /// Survivors that hold at least `least` fingerprints of the first `count` terms.
    Rarest { count: usize, least: u32 },
    /// Survivors that hold one of these terms, all from one stretch. Ascending.
    Stretch(Vec<TermKey>),
}

/// The smallest summed df of the rarest terms at which a stretch is searched for. Finding a stretch takes
/// some ten microseconds, about as long as comparing places with one survivor.
const COSTLY: u64 = 64;

/// Marks a fingerprint that no other document holds.
const OWN: u32 = u32::MAX;

impl Join<'_> {
    /// The probes of a document with these `terms`.
    pub(crate) fn probes(&self, rank: Rank, terms: &[Term], buffers: &mut ProbeBuffers) -> Result<Probes> {
        let held = weight(terms);
        let needed = self.threshold.least_shared(self.ranking.size(rank));
        if held < needed {
            return Ok(Probes::Nobody);
        }
        // Fingerprints outside `terms` count as shared with no document.
        let unneeded = held - needed;
        let (mut count, mut probed, mut cost) = (0, 0, 0);
        while probed <= unneeded {
            probed += terms[count].weight;
            cost += df(terms[count].key());
            count += 1;
        }
        // Each further probe costs reads and saves comparisons.
        let mut spent = 0;
        for term in &terms[count..] {
            spent += df(term.key());
            if spent > cost {
                break;
            }
            probed += term.weight;
            count += 1;
        }
        let rarest = Probes::Rarest { count, least: probed - unneeded };
        let Some(max_novel) = self.max_novel.filter(|_| cost >= COSTLY) else { return Ok(rarest) };
        Ok(match self.cheapest_stretch(rank, terms, max_novel, buffers)? {
            None => rarest,
            Some((0, _)) => Probes::Nobody,
            Some((stretch, _)) if stretch >= cost => rarest,
            Some((_, ordinals)) => {
                let mut inside: Vec<u32> =
                    buffers.terms[ordinals].iter().copied().filter(|&number| number != OWN).collect();
                inside.sort_unstable();
                inside.dedup();
                Probes::Stretch(inside.into_iter().map(|number| terms[number as usize].key()).collect())
            }
        })
    }

    /// Finds the stretch longer than `max_novel` symbols whose terms have the least summed df. Returns this
    /// sum and the range of ordinals. `None` if no stretch is longer. Stores the term of each ordinal in
    /// `buffers`.
    fn cheapest_stretch(
        &self,
        rank: Rank,
        terms: &[Term],
        max_novel: u64,
        buffers: &mut ProbeBuffers,
    ) -> Result<Option<(u64, Range<usize>)>> {
        let id = self.ranking.id(rank);
        let ProbeBuffers { terms: numbers, inside, positions } = buffers;
        let symbols = self.places.get(id, positions)?;
        if symbols <= max_novel {
            return Ok(None);
        }
        numbers.clear();
        numbers.resize(positions.len(), OWN);
        self.sets.runs(rank, |number, run| {
            let run = run.start as usize..run.end as usize;
            if let Some(run) = numbers.get_mut(run) {
                run.fill(number as u32);
            }
        })?;
        inside.clear();
        inside.resize(terms.len(), 0);
        let mut best: Option<(u64, Range<usize>)> = None;
        let (mut end, mut cost) = (0, 0);
        for first in 0..positions.len() {
            let start = first.checked_sub(1).map_or(0, |before| positions[before] + self.k);
            // Finds the smallest `end` for which a stretch longer than `max_novel` remains if the
            // fingerprints `first..end` are unmatched. The fingerprint at `end` lies after the position of
            // `first`.
            let after = |end: usize| positions.get(end).copied().unwrap_or(symbols);
            while end <= first || after(end) <= positions[first] || after(end).saturating_sub(start) <= max_novel {
                if end == positions.len() {
                    return Ok(best);
                }
                if numbers[end] != OWN {
                    let number = numbers[end] as usize;
                    if inside[number] == 0 {
                        cost += df(terms[number].key());
                    }
                    inside[number] += 1;
                }
                end += 1;
            }
            if best.as_ref().is_none_or(|&(least, _)| cost < least) {
                best = Some((cost, first..end));
            }
            if numbers[first] != OWN {
                let number = numbers[first] as usize;
                inside[number] -= 1;
                if inside[number] == 0 {
                    cost -= df(terms[number].key());
                }
            }
        }
        Ok(best)
    }
}
