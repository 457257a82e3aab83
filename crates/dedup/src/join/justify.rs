//! Justify: finds the first survivor that justifies the removal of a document.
//!
//! The probes give candidates. They also count the fingerprints of probed terms that each candidate holds.
//! Candidates are compared in order of rank. A comparison ends early if the remaining terms cannot reach the
//! threshold.

use crate::answer::decisions::Witness;
use crate::join::Join;
use crate::join::buffers::{Buffers, ProbeBuffers};
use crate::join::index::SurvivorIndex;
use crate::join::probes::Probes;
use crate::ranking::Rank;
use crate::terms::holders::TermKey;
use crate::terms::sets::{Term, weight};
use fpdb_host::error::Result;

/// The result of a search for a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchResult {
    Found(Witness),
    Nobody,
    /// The budget was too small.
    OverBudget,
}

/// The survivors a search may return.
pub(crate) struct Wanted<'a> {
    /// Only ranks above this one. `None`: any rank.
    pub(crate) after: Option<Rank>,
    /// Only survivors for which this returns true. `None`: all.
    pub(crate) stays: Option<&'a (dyn Fn(Rank) -> bool + Sync)>,
}

/// The document for which a witness is searched.
struct Subject<'a> {
    rank: Rank,
    terms: &'a [Term],
    /// Total weight of `terms`: the document's fingerprints in them.
    held: u32,
    /// The first `probed` terms are the probes; their matches in each candidate are counted already.
    probed: usize,
    /// Total weight of the probed terms.
    probed_weight: u32,
}

impl Join<'_> {
    /// Bytes that each survivor of an index takes in the buffers of all threads.
    pub(crate) fn buffered_bytes(&self) -> u64 {
        let counts = if self.budget.is_some() { 2 } else { 1 };
        // A thread can hold buffers while it waits for other threads.
        counts * size_of::<u32>() as u64 * (rayon::current_num_threads() as u64 + 1)
    }

    /// The first wanted survivor that justifies the removal of a document. Adds posting reads, in lists and
    /// comparisons, to `cost`. Only reads for survivors up to the found one count. So the cost does not
    /// depend on how survivors are divided into indexes.
    pub(crate) fn first_witness(
        &self,
        rank: Rank,
        index: &SurvivorIndex,
        wanted: &Wanted<'_>,
        cost: &mut u64,
        buffers: &mut Buffers,
    ) -> Result<SearchResult> {
        let mut terms = std::mem::take(&mut buffers.terms);
        let search = self.search(rank, self.sets.get(rank, &mut terms)?, index, wanted, cost, buffers);
        buffers.terms = terms;
        search
    }

    fn search(
        &self,
        rank: Rank,
        terms: &[Term],
        index: &SurvivorIndex,
        wanted: &Wanted<'_>,
        cost: &mut u64,
        buffers: &mut Buffers,
    ) -> Result<SearchResult> {
        let members = index.members();
        let first = wanted.after.map_or(0, |after| members.partition_point(|&rank| rank <= after));
        if first == members.len() {
            return Ok(SearchResult::Nobody);
        }
        let probes = self.probes(rank, terms, &mut buffers.probes)?;
        buffers.counts.resize(buffers.counts.len().max(members.len()), 0);
        if self.budget.is_some() {
            buffers.reads.resize(buffers.reads.len().max(members.len()), 0);
        }
        buffers.candidates.clear();
        let most = self.budget.filter(|_| wanted.stays.is_none()).map_or(usize::MAX, |budget| {
            usize::try_from(budget.saturating_sub(*cost).saturating_add(1)).unwrap_or(usize::MAX)
        });
        let mut one = [0];
        let mut probe = |term: TermKey, weight: u32| {
            let holders = index.holders(term, &mut one);
            let from = if first == 0 { 0 } else { holders.partition_point(|&holder| (holder as usize) < first) };
            // If one list has more holders than `most`, the list alone exceeds the budget.
            for &holder in holders[from..].iter().take(most) {
                let count = &mut buffers.counts[holder as usize];
                if *count == 0 {
                    buffers.candidates.push(holder);
                }
                *count += weight;
                if let Some(reads) = buffers.reads.get_mut(holder as usize) {
                    *reads += 1;
                }
            }
        };
        let (probed, least) = match &probes {
            Probes::Nobody => return Ok(SearchResult::Nobody),
            Probes::Rarest { count, least } => {
                terms[..*count].iter().for_each(|term| probe(term.key(), term.weight));
                (*count, *least)
            }
            Probes::Stretch(terms) => {
                terms.iter().for_each(|&term| probe(term, 1));
                (0, 1)
            }
        };
        let subject = Subject { rank, terms, held: weight(terms), probed, probed_weight: weight(&terms[..probed]) };
        let mut candidates = std::mem::take(&mut buffers.candidates);
        if self.budget.is_none() {
            // Few candidates hold enough, so only those are sorted. With a budget all of them count.
            candidates.retain(|&candidate| {
                let count = &mut buffers.counts[candidate as usize];
                *count = if *count < least { 0 } else { *count };
                *count > 0
            });
        }
        candidates.sort_unstable();
        let mut search = Ok(SearchResult::Nobody);
        let mut left = candidates.iter();
        for &candidate in &mut left {
            let count = std::mem::take(&mut buffers.counts[candidate as usize]);
            let reads = buffers.reads.get_mut(candidate as usize).map_or(0, std::mem::take);
            let survivor = members[candidate as usize];
            if wanted.stays.is_some_and(|stays| !stays(survivor)) {
                continue;
            }
            *cost += u64::from(reads);
            if self.budget.is_some_and(|budget| *cost > budget) {
                search = Ok(SearchResult::OverBudget);
                break;
            }
            if count < least {
                continue;
            }
            let known = if probed == 0 { 0 } else { count };
            let before = *cost;
            match self.compare(&subject, survivor, known, cost, buffers) {
                Ok(None) => {}
                found => {
                    *cost = before;
                    search = found.map(|found| found.map_or(SearchResult::Nobody, SearchResult::Found));
                    break;
                }
            }
        }
        for &candidate in left {
            buffers.counts[candidate as usize] = 0;
            if let Some(reads) = buffers.reads.get_mut(candidate as usize) {
                *reads = 0;
            }
        }
        if matches!(search, Ok(SearchResult::Nobody)) && self.budget.is_some_and(|budget| *cost > budget) {
            search = Ok(SearchResult::OverBudget);
        }
        buffers.candidates = candidates;
        search
    }

    /// Compares a document with a survivor that holds `known` fingerprints of the document's probed terms.
    /// Returns the witness if the survivor justifies the removal.
    fn compare(
        &self,
        subject: &Subject<'_>,
        survivor: Rank,
        known: u32,
        cost: &mut u64,
        buffers: &mut Buffers,
    ) -> Result<Option<Witness>> {
        let Subject { rank, terms, held, probed, probed_weight } = *subject;
        let (size, other_size) = (self.ranking.size(rank), self.ranking.size(survivor));
        let needed = self.threshold.needed(size, other_size);
        let mut left = held - probed_weight;
        if known + left < needed {
            return Ok(None);
        }
        let mut other_buffer = std::mem::take(&mut buffers.other);
        let other = self.sets.get(survivor, &mut other_buffer)?;
        let mut shared = known;
        *cost += (terms.len() - probed) as u64;
        let mut theirs = other;
        for term in &terms[probed..] {
            shared += if take(&mut theirs, term.key()) { term.weight } else { 0 };
            left -= term.weight;
            if shared + left < needed {
                break;
            }
        }
        let witness = if shared < needed {
            None
        } else {
            let novel = if shared == size { 0 } else { self.novel(rank, terms, other, buffers)? };
            let is_novel = self.max_novel.is_some_and(|most| novel > most);
            (!is_novel).then_some(Witness { rank: survivor, shared, novel })
        };
        buffers.other = other_buffer;
        Ok(witness)
    }

    /// The longest stretch of a document, in symbols, without a fingerprint that the survivor holds. A
    /// stretch starts at the end of a shared k-gram or at the start of the document. It ends at the start of
    /// the next shared k-gram or at the document's end.
    fn novel(&self, rank: Rank, terms: &[Term], other: &[Term], buffers: &mut Buffers) -> Result<u64> {
        let id = self.ranking.id(rank);
        let Buffers { ordinals, probes: ProbeBuffers { positions, .. }, shared, .. } = buffers;
        let symbols = self.places.get(id, positions)?;
        ordinals.clear();
        shared.clear();
        let mut theirs = other;
        shared.extend(terms.iter().map(|term| take(&mut theirs, term.key())));
        self.sets.runs(rank, |number, run| {
            if shared[number] {
                ordinals.extend(run);
            }
        })?;
        ordinals.sort_unstable();
        // Each unmatched stretch lies between two shared fingerprints, or at an end of the document. It has
        // an unmatched fingerprint, so the positions differ.
        let (mut novel, mut next) = (0, 0);
        let mut start = 0;
        let at = |ordinal: u32| positions.get(ordinal as usize).copied().unwrap_or(symbols);
        for &ordinal in &*ordinals {
            if at(next) < at(ordinal) {
                novel = novel.max(at(ordinal).saturating_sub(start));
            }
            (start, next) = (at(ordinal) + self.k, ordinal + 1);
        }
        if (next as usize) < positions.len() {
            novel = novel.max(symbols.saturating_sub(start));
        }
        Ok(novel)
    }
}

/// Skips the terms before `wanted`, and returns true if the next term is the wanted one. Steps double
/// (galloping search), since the set of one document can be far larger than that of the other.
fn take(left: &mut &[Term], wanted: TermKey) -> bool {
    let terms = *left;
    let mut step = 1;
    while step < terms.len() && terms[step].key() < wanted {
        step *= 2;
    }
    let bound = terms.len().min(step + 1);
    let from = terms[..bound].partition_point(|term| term.key() < wanted);
    *left = &terms[from..];
    left.first().is_some_and(|term| term.key() == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_finds_the_first_term_from_a_key_on() {
        let terms: Vec<Term> = [1u64, 4, 9, 12, 30, 31].iter().map(|&key| Term::new(key << 40, 5)).collect();
        for wanted in (0..40).map(|key| key << 40) {
            let mut rest = &terms[..];
            let is_held = take(&mut rest, wanted);
            let expected = terms.iter().position(|term| term.key() >= wanted).unwrap_or(terms.len());
            assert_eq!(rest.len(), terms.len() - expected, "{wanted}");
            assert_eq!(is_held, terms.iter().any(|term| term.key() == wanted));
        }
        assert!(!take(&mut &[][..], 3));
    }
}
