//! Probes: the few terms of a document by which all survivors that could justify its removal are found.
//!
//! By the threshold: of n fingerprints a survivor must hold m, so it holds one of any n - m + 1 of them (prefix filter:
//! Bayardo, Ma and Srikant 2007; Xiao et al. 2008), and e + 1 of any n - m + 1 + e. Survivors are indexed whole, so each
//! document may take its own rarest terms, of which each is as many fingerprints as its weight. By the novelty bound: a survivor must hold a fingerprint in every stretch that is
//! longer than the bound. The cheaper of the two serves.

use std::ops::Range;

use super::buffers::ProbeBuffers;
use super::frequencies::{TermKey, df};
use super::join_inputs::Join;
use super::ranking::Rank;
use super::sets::{Term, weight};
use fpdb_host::error::Result;

/// Which survivors can justify the removal of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Probes {
    /// None can: the document stays.
    Nobody,
    /// Documents that hold at least `least` fingerprints of the first `count` terms.
    Rarest { count: usize, least: u32 },
    /// Documents that hold one of these terms, which stand in one stretch. Ascending.
    Stretch(Vec<TermKey>),
}

/// The summed df of the rarest terms from which on stretches are looked at, which costs a microsecond or more. A survivor in a
/// list takes some 10 nanoseconds.
const COSTLY: u64 = 2048;

/// A fingerprint that no other document holds.
const OWN: u32 = u32::MAX;

impl Join<'_> {
    /// The probes of a document that is not proved to stay by its number of fingerprints. `terms` are its terms.
    pub(super) fn probes(&self, rank: Rank, terms: &[Term], buffers: &mut ProbeBuffers) -> Result<Probes> {
        let held = weight(terms);
        let needed = self.threshold.least_shared(self.ranking.size(rank));
        if held < needed {
            return Ok(Probes::Nobody);
        }
        // No other document holds the other fingerprints.
        let unneeded = held - needed;
        let (mut count, mut probed, mut cost) = (0, 0, 0);
        while probed <= unneeded {
            probed += terms[count].weight;
            cost += df(terms[count].key());
            count += 1;
        }
        // More probes cost reading and save comparing.
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

    /// The stretch longer than `max_novel` symbols whose terms have the least summed df, as a range of ordinals. Leaves the term of
    /// each ordinal in `buffers`.
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
            // The least number of fingerprints that leaves so long a stretch when they are unmatched.
            let after = |end: usize| positions.get(end).copied().unwrap_or(symbols);
            while end <= first || after(end).saturating_sub(start) <= max_novel {
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
