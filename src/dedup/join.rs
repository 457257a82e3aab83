//! Join: the survivor join. Documents are decided in order of rank, each by comparing it with survivors only.
//!
//! Survivors are indexed until the memory is full; the documents that come after are then compared with this *block* of
//! survivors, and those that are still open form the next blocks. A document is so compared with all survivors before it, in
//! order, and its witness is the first that justifies its removal, wherever blocks end. Within a block, a batch of documents
//! is first compared with the survivors before the batch, on all threads, and then with those in it, in order.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::decisions::{Decision, Decisions};
use super::index::SurvivorIndex;
use super::job::{Job, Stage};
use super::join_inputs::Join;
use super::justify::{Buffers, SearchResult, Wanted};
use super::probes::Probes;
use super::ranking::Rank;
use super::sets::distinct;
use super::{Activity, Monitor};
use crate::error::Result;

/// Terms that some document is probed by. No other has to be indexed.
pub(super) struct ProbedTerms(Vec<AtomicU64>);

impl ProbedTerms {
    fn new(terms: u32) -> Self {
        Self((0..=terms / 64).map(|_| AtomicU64::new(0)).collect())
    }

    fn add(&self, term: u32) {
        self.0[(term / 64) as usize].fetch_or(1 << (term % 64), Ordering::Relaxed);
    }

    pub(super) fn contains(&self, term: u32) -> bool {
        self.0[(term / 64) as usize].load(Ordering::Relaxed) >> (term % 64) & 1 == 1
    }
}

impl Join<'_> {
    /// Finds out which terms documents are probed by. Documents that are proved to stay are no longer active.
    pub(super) fn prepare(&self, active: &mut [bool], monitor: &Monitor<'_>) -> Result<ProbedTerms> {
        let probed = ProbedTerms::new(self.sets.terms.count);
        let done = AtomicU64::new(0);
        active.par_iter_mut().enumerate().try_for_each_init(Buffers::default, |buffers, (rank, active)| {
            monitor.advance(Activity::Preparing, &done, 1)?;
            if !*active {
                return Ok(());
            }
            let entries = self.sets.get(rank as Rank, &mut buffers.entries)?;
            match self.probes(rank as Rank, entries, &mut buffers.probes)? {
                Probes::Nobody => *active = false,
                Probes::Rarest { count, .. } => {
                    distinct(entries).take(count as usize).for_each(|term| probed.add(term));
                }
                Probes::Stretch(terms) => terms.into_iter().for_each(|term| probed.add(term)),
            }
            Ok(())
        })?;
        Ok(probed)
    }

    /// Decides all documents, from where the job stands on.
    pub(super) fn first_pass(
        &self,
        active: &[bool],
        probed: &ProbedTerms,
        decisions: &mut Decisions,
        job: &mut Job,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let total = self.ranking.len();
        let mut index = SurvivorIndex::default();
        let mut fresh = SurvivorIndex::default();
        while let Stage::First { block, end, next } = job.stage() {
            if block == total {
                job.set_stage(Stage::Second { next: total });
                break;
            }
            index.clear();
            self.index_survivors(block..end.unwrap_or(next), probed, decisions, &mut index)?;
            let mut next = next;
            if end.is_none() {
                while next < total && !(next > block && index.is_full(self.memory)) {
                    let batch = next..total.min(next.saturating_add(self.batch));
                    let mut decided = self.search_batch(batch.clone(), &index, active, decisions)?;
                    fresh.clear();
                    decided.extend(self.decide_batch(batch.clone(), &mut fresh, active, probed, decisions)?);
                    self.index_survivors(batch.clone(), probed, decisions, &mut index)?;
                    next = batch.end;
                    job.append(Stage::First { block, end: None, next }, &decided, decisions)?;
                    monitor.at(Activity::Deciding, next.into(), total.into())?;
                }
            }
            let end = end.unwrap_or(next);
            while next < total {
                let batch = next..total.min(next.saturating_add(self.batch));
                let decided = self.search_batch(batch.clone(), &index, active, decisions)?;
                next = batch.end;
                job.append(Stage::First { block, end: Some(end), next }, &decided, decisions)?;
                monitor.at(Activity::Comparing, next.into(), total.into())?;
            }
            job.set_stage(Stage::First { block: end, end: None, next: end });
        }
        Ok(())
    }

    /// Adds the survivors of these ranks to an index.
    pub(super) fn index_survivors(
        &self,
        ranks: Range<Rank>,
        probed: &ProbedTerms,
        decisions: &Decisions,
        index: &mut SurvivorIndex,
    ) -> Result<()> {
        let mut buffer = Vec::new();
        for rank in ranks.filter(|&rank| self.ranking.leads(rank) && decisions.stays(rank)) {
            let entries = self.sets.get(rank, &mut buffer)?;
            index.add(rank, distinct(entries).filter(|&term| probed.contains(term)));
        }
        Ok(())
    }

    /// Compares open documents with the survivors of an index, on all threads. Returns those that are to be noted.
    fn search_batch(
        &self,
        batch: Range<Rank>,
        index: &SurvivorIndex,
        active: &[bool],
        decisions: &mut Decisions,
    ) -> Result<Vec<Rank>> {
        if index.members().is_empty() {
            return Ok(Vec::new());
        }
        let open = batch.into_par_iter().filter(|&rank| active[rank as usize] && decisions.is_open(rank));
        let decided = open.map_init(Buffers::default, |buffers, rank| {
            Ok((rank, self.decide(rank, index, decisions.get(rank), buffers)?))
        });
        let mut decided: Vec<(Rank, Decision)> = decided.collect::<Result<_>>()?;
        decided.retain(|(_, decision)| *decision != Decision::Open { cost: 0 });
        for &(rank, decision) in &decided {
            decisions.set(rank, decision);
        }
        Ok(decided.into_iter().map(|(rank, _)| rank).collect())
    }

    /// Decides the documents of a batch that are still open, in order, by the survivors of the batch. Returns them.
    fn decide_batch(
        &self,
        batch: Range<Rank>,
        fresh: &mut SurvivorIndex,
        active: &[bool],
        probed: &ProbedTerms,
        decisions: &mut Decisions,
    ) -> Result<Vec<Rank>> {
        let mut buffers = Buffers::default();
        let mut decided = Vec::new();
        for rank in batch.filter(|&rank| self.ranking.leads(rank)) {
            if decisions.is_open(rank) {
                let decision = match active[rank as usize] {
                    true => self.decide(rank, fresh, decisions.get(rank), &mut buffers)?,
                    false => Decision::Stays,
                };
                let decision = if let Decision::Open { .. } = decision { Decision::Stays } else { decision };
                decisions.set(rank, decision);
                decided.push(rank);
            }
            self.index_survivors(rank..rank + 1, probed, decisions, fresh)?;
        }
        Ok(decided)
    }

    fn decide(&self, rank: Rank, index: &SurvivorIndex, so_far: Decision, buffers: &mut Buffers) -> Result<Decision> {
        let Decision::Open { mut cost } = so_far else { return Ok(so_far) };
        let wanted = Wanted { after: None, stays: None };
        Ok(match self.first_witness(rank, index, &wanted, &mut cost, buffers)? {
            SearchResult::Found(witness) => Decision::Goes(witness),
            SearchResult::OverBudget => Decision::Undecided,
            SearchResult::Nobody => Decision::Open { cost },
        })
    }

    /// True if a document that stays after the first pass may have to go: only a survivor of a higher rank could have been
    /// missed.
    pub(super) fn needs_second_pass(&self, larger_first: bool) -> bool {
        // Without the novelty bound, a larger document that is justified by a smaller one justifies it too.
        self.max_novel.is_some() || !(larger_first || self.threshold.is_symmetric())
    }
}
