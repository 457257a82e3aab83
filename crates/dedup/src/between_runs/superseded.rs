//! Superseded: documents that an earlier run kept, although a newcomer would justify their removal.
//!
//! Earlier decisions stand, so such a document stays. It is listed with one newcomer that stays: the first
//! newcomer that ranks before the document, or else the first one that ranks after the document.

use rayon::prelude::*;

use crate::Activity;
use crate::Monitor;
use crate::answer::decisions::{Decisions, Witness};
use crate::join::Join;
use crate::join::ProbedTerms;
use crate::join::index::SurvivorIndex;
use crate::join::justify::{SearchResult, Wanted};
use crate::ranking::Rank;
use fpdb_host::error::{Error, Result};

/// A pinned document for which no superseding newcomer was found so far.
struct Asking {
    rank: Rank,
    cost: u64,
    found: SearchResult,
}

/// The side of the pinned document, in order of rank, on which the search looks for newcomers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Join<'_> {
    /// Returns the pinned documents that a newcomer on this side supersedes, each with the first such
    /// newcomer. Ascending by pinned document.
    fn first_newcomers(
        &self,
        (pinned, side): (impl Iterator<Item = Rank>, Side),
        probed: &ProbedTerms,
        decisions: &Decisions,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<(Rank, Witness)>> {
        let total = self.ranking.len();
        let mut asking: Vec<Asking> =
            pinned.map(|rank| Asking { rank, cost: 0, found: SearchResult::Nobody }).collect();
        let is_newcomer =
            |rank: Rank| self.ranking.leads(rank) && decisions.stays(rank) && !self.ranking.pinned.contains(rank);
        let mut index = SurvivorIndex::default();
        let mut buffer = Vec::new();
        let mut next = 0;
        while next < total && !asking.is_empty() {
            index.clear();
            while next < total && (index.members().is_empty() || !index.is_full(self.memory, self.buffered_bytes())) {
                if is_newcomer(next) {
                    index.add(next, probed.of(self.sets.get(next, &mut buffer)?));
                }
                next += 1;
            }
            asking.par_iter_mut().try_for_each_init(
                || self.buffers.lend(),
                |buffers, asking| {
                    let rank = asking.rank;
                    let is_on_side = |newcomer| (newcomer < rank) == (side == Side::Before);
                    let wanted = Wanted { after: None, stays: Some(&is_on_side) };
                    if asking.found == SearchResult::Nobody {
                        asking.found = self.first_witness(rank, &index, &wanted, &mut asking.cost, buffers)?;
                    }
                    Ok::<_, Error>(())
                },
            )?;
            monitor.at(Activity::Superseding, next.into(), total.into())?;
        }
        let found = asking.into_iter().filter_map(|asking| match asking.found {
            SearchResult::Found(witness) => Some((asking.rank, witness)),
            _ => None,
        });
        Ok(found.collect())
    }

    /// The pinned documents among `active` that newcomers before them supersede. Ascending.
    pub(crate) fn superseded_by_better(
        &self,
        active: &[bool],
        probed: &ProbedTerms,
        decisions: &Decisions,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<(Rank, Witness)>> {
        let pinned = self.ranking.pinned.iter().filter(|&rank| active[rank as usize]);
        let mut superseded = self.first_newcomers((pinned, Side::Before), probed, decisions, monitor)?;
        // Newcomers without fingerprints, or with another format than the pinned document, are found by their
        // bytes alone.
        let same_bytes = self.ranking.same_bytes.iter().filter(|(rank, _)| self.ranking.pinned.contains(*rank));
        for &(rank, twin) in same_bytes {
            let place = superseded.binary_search_by_key(&rank, |&(rank, _)| rank);
            let witness = self.ranking.as_identical(rank, twin);
            match place {
                _ if !decisions.stays(twin) => {}
                Ok(place) if superseded[place].1.rank > twin => superseded[place].1 = witness,
                Ok(_) => {}
                Err(place) => superseded.insert(place, (rank, witness)),
            }
        }
        Ok(superseded)
    }

    /// Adds to `superseded` the documents of `asking` that newcomers after them supersede. These newcomers
    /// must be decided already.
    pub(crate) fn add_superseded_by_later(
        &self,
        superseded: &mut Vec<(Rank, Witness)>,
        asking: Vec<Rank>,
        probed: &ProbedTerms,
        decisions: &Decisions,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let is_listed = |rank: &Rank| superseded.binary_search_by_key(rank, |&(rank, _)| rank).is_ok();
        let asking: Vec<Rank> = asking.into_iter().filter(|rank| !is_listed(rank)).collect();
        superseded.extend(self.first_newcomers((asking.into_iter(), Side::After), probed, decisions, monitor)?);
        superseded.sort_unstable_by_key(|&(rank, _)| rank);
        Ok(())
    }
}
