//! Justify: the first survivor that justifies the removal of a document.
//!
//! The probes give candidates and how many probed terms each holds. Candidates are compared in order of rank; a comparison
//! ends as soon as the terms that are left cannot suffice.

use super::index::SurvivorIndex;
use super::join_inputs::Join;
use super::probes::{ProbeBuffers, Probes};
use super::ranking::Rank;
use super::sets::{TermEntry, distinct, ordinal, term};
use super::witness::Witness;
use crate::error::Result;

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchResult {
    Found(Witness),
    Nobody,
    /// The budget did not suffice.
    OverBudget,
}

/// Which survivors may be found.
pub(super) struct Wanted<'a> {
    /// Only ranks above this one.
    pub(super) after: Option<Rank>,
    /// Only these; all where `None`.
    pub(super) stays: Option<&'a (dyn Fn(Rank) -> bool + Sync)>,
}

/// Reused memory of one thread.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) entries: Vec<TermEntry>,
    other: Vec<TermEntry>,
    pub(super) probes: ProbeBuffers,
    /// For each survivor the number of probed terms it holds; 0 between searches.
    counts: Vec<u32>,
    candidates: Vec<u32>,
    ordinals: Vec<u32>,
    boundaries: Vec<u32>,
}

impl Join<'_> {
    /// The first of the wanted survivors that justifies the removal of a document. Adds to `cost` the posting reads up to
    /// its comparison: those of survivors of lower rank, in the lists and in comparisons, so that it does not depend on how
    /// the survivors are divided among indexes.
    pub(super) fn first_witness(
        &self,
        rank: Rank,
        index: &SurvivorIndex,
        wanted: &Wanted<'_>,
        cost: &mut u64,
        buffers: &mut Buffers,
    ) -> Result<SearchResult> {
        let mut entries = std::mem::take(&mut buffers.entries);
        let search = self.search(rank, self.sets.get(rank, &mut entries)?, index, wanted, cost, buffers);
        buffers.entries = entries;
        search
    }

    fn search(
        &self,
        rank: Rank,
        entries: &[TermEntry],
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
        let probes = self.probes(rank, entries, &mut buffers.probes)?;
        buffers.counts.resize(buffers.counts.len().max(members.len()), 0);
        buffers.candidates.clear();
        let most = self.budget.filter(|_| wanted.stays.is_none()).map_or(usize::MAX, |budget| {
            usize::try_from(budget.saturating_sub(*cost).saturating_add(1)).unwrap_or(usize::MAX)
        });
        let mut one = [0];
        let mut probe = |term: u32| {
            let holders = index.holders(term, &mut one);
            let from = if first == 0 { 0 } else { holders.partition_point(|&holder| (holder as usize) < first) };
            // More of one list exceed the budget by themselves.
            for &holder in holders[from..].iter().take(most) {
                let count = &mut buffers.counts[holder as usize];
                if *count == 0 {
                    buffers.candidates.push(holder);
                }
                *count += 1;
            }
        };
        let (probed, least) = match &probes {
            Probes::Nobody => return Ok(SearchResult::Nobody),
            Probes::Rarest { count, least } => {
                distinct(entries).take(*count as usize).for_each(&mut probe);
                (*count, *least)
            }
            Probes::Stretch(terms) => {
                terms.iter().copied().for_each(&mut probe);
                (0, 1)
            }
        };
        let mut candidates = std::mem::take(&mut buffers.candidates);
        candidates.sort_unstable();
        let mut search = Ok(SearchResult::Nobody);
        let mut left = candidates.iter();
        for &candidate in &mut left {
            let count = std::mem::take(&mut buffers.counts[candidate as usize]);
            let survivor = members[candidate as usize];
            if wanted.stays.is_some_and(|stays| !stays(survivor)) {
                continue;
            }
            *cost += u64::from(count);
            if self.budget.is_some_and(|budget| *cost > budget) {
                search = Ok(SearchResult::OverBudget);
                break;
            }
            if count < least {
                continue;
            }
            let known = if probed == 0 { 0 } else { count };
            let before = *cost;
            match self.compare(rank, entries, survivor, (probed, known), cost, buffers) {
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
        }
        if matches!(search, Ok(SearchResult::Nobody)) && self.budget.is_some_and(|budget| *cost > budget) {
            search = Ok(SearchResult::OverBudget);
        }
        buffers.candidates = candidates;
        search
    }

    /// Compares a document with a survivor that holds `known` of its first `probed` distinct terms.
    fn compare(
        &self,
        rank: Rank,
        entries: &[TermEntry],
        survivor: Rank,
        (probed, known): (u32, u32),
        cost: &mut u64,
        buffers: &mut Buffers,
    ) -> Result<Option<Witness>> {
        let (size, other_size) = (self.ranking.size(rank), self.ranking.size(survivor));
        let needed = self.threshold.needed(size, other_size);
        let left = distinct(entries).count() as u32 - probed;
        if known + left < needed {
            return Ok(None);
        }
        let mut other_buffer = std::mem::take(&mut buffers.other);
        let other = self.sets.get(survivor, &mut other_buffer)?;
        let mut shared = known;
        if left > 0 {
            *cost += u64::from(left);
            let mut theirs = other;
            let mut left = left;
            for term in distinct(entries).skip(probed as usize) {
                theirs = skip_to(theirs, term);
                shared += u32::from(holds(theirs, term));
                left -= 1;
                if shared + left < needed {
                    break;
                }
            }
        }
        let witness = if shared < needed {
            None
        } else {
            let novel = if shared == size { 0 } else { self.novel(rank, entries, other, buffers)? };
            let is_novel = self.max_novel.is_some_and(|most| novel > most);
            (!is_novel).then_some(Witness { rank: survivor, shared, novel })
        };
        buffers.other = other_buffer;
        Ok(witness)
    }

    /// The longest stretch, in symbols, of a document whose fingerprints a survivor does not hold: from the end of a shared
    /// k-gram, or the beginning of the document, to the start of the next one, or its end.
    fn novel(&self, rank: Rank, entries: &[TermEntry], other: &[TermEntry], buffers: &mut Buffers) -> Result<u64> {
        let id = self.ranking.id(rank);
        let (fingerprints, symbols) = self.source.extent(id)?;
        let Buffers { ordinals, boundaries, .. } = buffers;
        ordinals.clear();
        let mut theirs = other;
        for &entry in entries {
            theirs = skip_to(theirs, term(entry));
            if holds(theirs, term(entry)) {
                ordinals.push(ordinal(entry));
            }
        }
        ordinals.sort_unstable();
        // Unmatched stretches, each between two shared fingerprints or at an end.
        boundaries.clear();
        let mut stretches: Vec<(Option<u32>, Option<u32>)> = Vec::new();
        let mut before = None;
        for &ordinal in &*ordinals {
            if ordinal > before.map_or(0, |before| before + 1) {
                stretches.push((before, Some(ordinal)));
                boundaries.extend(before);
                boundaries.push(ordinal);
            }
            before = Some(ordinal);
        }
        if before.map_or(0, |before| before + 1) < fingerprints {
            stretches.push((before, None));
            boundaries.extend(before);
        }
        boundaries.dedup();
        let positions = self.source.positions(id, boundaries)?;
        let position = |ordinal: u32| boundaries.binary_search(&ordinal).ok().and_then(|index| positions.get(index));
        let length = |(start, end): &(Option<u32>, Option<u32>)| {
            let start = start.and_then(position).map_or(0, |start| start + self.k);
            let end = end.and_then(position).copied().unwrap_or(symbols);
            end.saturating_sub(start)
        };
        Ok(stretches.iter().map(length).max().unwrap_or(0))
    }
}

/// The entries from `term` on: by steps that double, since one set may be far larger than the other.
fn skip_to(entries: &[TermEntry], wanted: u32) -> &[TermEntry] {
    let mut step = 1;
    while step < entries.len() && term(entries[step]) < wanted {
        step *= 2;
    }
    let bound = entries.len().min(step + 1);
    let from = entries[..bound].partition_point(|&entry| term(entry) < wanted);
    &entries[from..]
}

/// True if the first entry is of this term.
fn holds(entries: &[TermEntry], wanted: u32) -> bool {
    entries.first().is_some_and(|&entry| term(entry) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_finds_the_first_entry_of_a_term() {
        let entries: Vec<TermEntry> = [1u64, 1, 4, 9, 9, 9, 12, 30, 31].iter().map(|term| term << 32 | 5).collect();
        for wanted in 0..40 {
            let rest = skip_to(&entries, wanted);
            let expected = entries.iter().position(|&entry| term(entry) >= wanted).unwrap_or(entries.len());
            assert_eq!(rest.len(), entries.len() - expected, "{wanted}");
            assert_eq!(holds(rest, wanted), entries.iter().any(|&entry| term(entry) == wanted));
        }
        assert!(skip_to(&[], 3).is_empty());
    }
}
