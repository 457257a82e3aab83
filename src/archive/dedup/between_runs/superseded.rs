//! Superseded: documents that an earlier run kept, although a newcomer would justify their removal.
//!
//! The order puts the newcomer first, but earlier decisions stand, so the document stays. It is listed with
//! the first such newcomer that stays.

use rayon::prelude::*;

use crate::archive::dedup::Activity;
use crate::archive::dedup::Monitor;
use crate::archive::dedup::answer::decisions::Decisions;
use crate::archive::dedup::join::ProbedTerms;
use crate::archive::dedup::join::index::SurvivorIndex;
use crate::archive::dedup::join::inputs::Join;
use crate::archive::dedup::join::justify::{SearchResult, Wanted};
use crate::archive::dedup::join::witness::Witness;
use crate::archive::dedup::ranking::Rank;
use crate::archive::dedup::same_bytes;
use fpdb_host::error::{Error, Result};

/// A pinned document without a superseding newcomer so far.
struct Asking {
    rank: Rank,
    cost: u64,
    found: SearchResult,
}

impl Join<'_> {
    /// For each active pinned document, the first newcomer that supersedes it, if there is one. Ascending.
    pub(in crate::archive::dedup) fn superseded(
        &self,
        active: &[bool],
        probed: &ProbedTerms,
        decisions: &Decisions,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<(Rank, Witness)>> {
        let total = self.ranking.len();
        let pinned = self.ranking.pinned.iter().filter(|&rank| active[rank as usize]);
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
                    let wanted = Wanted { after: None, stays: Some(&|newcomer| newcomer < rank) };
                    if asking.found == SearchResult::Nobody {
                        asking.found = self.first_witness(rank, &index, &wanted, &mut asking.cost, buffers)?;
                    }
                    Ok::<_, Error>(())
                },
            )?;
            monitor.at(Activity::Superseding, next.into(), total.into())?;
        }
        let mut superseded: Vec<(Rank, Witness)> = asking
            .into_iter()
            .filter_map(|asking| match asking.found {
                SearchResult::Found(witness) => Some((asking.rank, witness)),
                _ => None,
            })
            .collect();
        // Documents without fingerprints are found by their bytes alone.
        for &(rank, twin) in &self.ranking.outranked {
            let place = superseded.binary_search_by_key(&rank, |&(rank, _)| rank);
            let (_, witness) = same_bytes(self.ranking, (rank, twin));
            match place {
                _ if !decisions.stays(twin) => {}
                Ok(place) if superseded[place].1.rank > twin => superseded[place].1 = witness,
                Ok(_) => {}
                Err(place) => superseded.insert(place, (rank, witness)),
            }
        }
        Ok(superseded)
    }
}
