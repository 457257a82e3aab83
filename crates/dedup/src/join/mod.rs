//! Join: the survivor join. It decides documents in order of rank and compares each with survivors only.
//!
//! Survivors are indexed until the memory is full. The later documents are compared with this *block* of
//! survivors, and the documents still open form the next blocks. So a document is compared with all survivors
//! before it, in order. Its witness is the first survivor that justifies its removal. The division into
//! blocks does not change the witness.
//!
//! Within a block, documents are decided in batches. A batch is first compared, on all threads, with the
//! survivors before the batch. Then its documents are compared, in order, with the survivors inside the
//! batch.

pub(super) mod buffers;
pub(super) mod index;
pub(super) mod justify;
pub(super) mod measure;
pub(super) mod probes;
pub(super) mod second_pass;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::Activity;
use crate::Monitor;
use crate::answer::decisions::{Decision, Decisions};
use crate::between_runs::job::{Job, Stage};
use crate::join::buffers::{BufferPool, Buffers};
use crate::join::index::SurvivorIndex;
use crate::join::justify::{SearchResult, Wanted};
use crate::join::measure::Threshold;
use crate::join::probes::Probes;
use crate::ranking::{Rank, Ranking};
use crate::terms::holders::TermKey;
use crate::terms::places::Places;
use crate::terms::sets::{Sets, Term};
use fpdb_host::error::{Error, Result};

/// The input of the join. Other files define its methods for finding probes, comparing and deciding.
pub(crate) struct Join<'a> {
    pub(crate) ranking: &'a Ranking,
    pub(crate) sets: &'a Sets,
    pub(crate) places: &'a Places,
    pub(crate) threshold: Threshold,
    /// The longest unmatched stretch, in symbols, of a removable document. `None`: no limit.
    pub(crate) max_novel: Option<u64>,
    /// Maximum number of posting reads for one document. `None`: no limit.
    pub(crate) budget: Option<u64>,
    /// Number of symbols in a k-gram.
    pub(crate) k: u64,
    /// Bytes of memory for the index.
    pub(crate) memory: u64,
    /// Number of documents compared with the same survivors at a time.
    pub(crate) batch: u32,
    pub(crate) buffers: BufferPool,
}

/// The terms that are probes of at least one document, as a set of bits. Different terms can share a bit, so
/// the set can contain further terms. Terms outside the set need no index.
pub(crate) struct ProbedTerms(Vec<AtomicU64>);

impl ProbedTerms {
    /// Allocates for `terms`, the total number of terms of all documents.
    fn new(terms: u64) -> Self {
        let words = (terms / 64).clamp(1, 1 << 30).next_power_of_two();
        Self((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// The word that holds a term's bit, and the bit.
    fn place(&self, term: TermKey) -> (&AtomicU64, u64) {
        (&self.0[(term >> 6) as usize & (self.0.len() - 1)], 1 << (term & 63))
    }

    fn add(&self, term: TermKey) {
        let (word, bit) = self.place(term);
        word.fetch_or(bit, Ordering::Relaxed);
    }

    /// Yields the keys of those `terms` that may be in the set.
    pub(crate) fn of(&self, terms: &[Term]) -> impl Iterator<Item = TermKey> {
        terms.iter().map(Term::key).filter(|&term| {
            let (word, bit) = self.place(term);
            word.load(Ordering::Relaxed) & bit != 0
        })
    }
}

impl Join<'_> {
    /// Finds and returns the terms by which documents are probed. Documents that certainly stay become
    /// inactive.
    pub(crate) fn prepare(&self, active: &mut [bool], monitor: &Monitor<'_>) -> Result<ProbedTerms> {
        let probed = ProbedTerms::new(self.sets.len());
        let done = AtomicU64::new(0);
        active.par_iter_mut().enumerate().try_for_each_init(Buffers::default, |buffers, (rank, active)| {
            monitor.advance(Activity::Preparing, &done, 1)?;
            if !*active {
                return Ok::<_, Error>(());
            }
            let terms = self.sets.get(rank as Rank, &mut buffers.terms)?;
            match self.probes(rank as Rank, terms, &mut buffers.probes)? {
                Probes::Nobody => *active = false,
                Probes::Rarest { count, .. } => terms[..count].iter().for_each(|term| probed.add(term.key())),
                Probes::Stretch(terms) => terms.into_iter().for_each(|term| probed.add(term)),
            }
            Ok(())
        })?;
        Ok(probed)
    }

    /// Decides all documents, from the job's stage on.
    pub(crate) fn first_pass(
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
                while next < total && !(next > block && index.is_full(self.memory, self.buffered_bytes())) {
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

    /// Adds the survivors among these ranks to an index.
    pub(crate) fn index_survivors(
        &self,
        ranks: Range<Rank>,
        probed: &ProbedTerms,
        decisions: &Decisions,
        index: &mut SurvivorIndex,
    ) -> Result<()> {
        let mut buffer = Vec::new();
        for rank in ranks.filter(|&rank| self.ranking.leads(rank) && decisions.stays(rank)) {
            index.add(rank, probed.of(self.sets.get(rank, &mut buffer)?));
        }
        Ok(())
    }

    /// Compares open documents with the survivors of an index, on all threads. Returns the documents to
    /// record.
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
        let decided = open.map_init(
            || self.buffers.lend(),
            |buffers, rank| Ok((rank, self.decide(rank, index, decisions.get(rank), buffers)?)),
        );
        let mut decided: Vec<(Rank, Decision)> = decided.collect::<Result<_>>()?;
        decided.retain(|(_, decision)| *decision != Decision::Open { cost: 0 });
        for &(rank, decision) in &decided {
            decisions.set(rank, decision);
        }
        Ok(decided.into_iter().map(|(rank, _)| rank).collect())
    }

    /// Decides the open documents of a batch, in order, against the survivors of the batch. Documents with
    /// the same bytes as an earlier survivor are removable, whatever they share. Returns the documents that
    /// were decided.
    fn decide_batch(
        &self,
        batch: Range<Rank>,
        fresh: &mut SurvivorIndex,
        active: &[bool],
        probed: &ProbedTerms,
        decisions: &mut Decisions,
    ) -> Result<Vec<Rank>> {
        let mut buffers = self.buffers.lend();
        let mut decided = Vec::new();
        for rank in batch.filter(|&rank| self.ranking.leads(rank)) {
            let before = decisions.get(rank);
            let mut decision = before;
            if let Decision::Open { .. } = decision {
                if active[rank as usize] {
                    decision = self.decide(rank, fresh, decision, &mut buffers)?;
                }
                if let Decision::Open { .. } = decision {
                    decision = Decision::Stays;
                }
            }
            if let Some(twin) = self.ranking.same_bytes_before(rank).find(|&twin| decisions.stays(twin))
                && !self.ranking.pinned.contains(rank)
                && !matches!(decision, Decision::Removable(witness) if witness.rank <= twin)
            {
                decision = Decision::Removable(self.ranking.as_identical(rank, twin));
            }
            if decision != before {
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
            SearchResult::Found(witness) => Decision::Removable(witness),
            SearchResult::OverBudget => Decision::Undecided,
            SearchResult::Nobody => Decision::Open { cost },
        })
    }

    /// True if a document that stays after the first pass can still be removable, because of a survivor of
    /// larger rank.
    pub(crate) fn needs_second_pass(&self, larger_first: bool) -> bool {
        // Without the novelty bound, if a smaller document can replace a larger one, the larger one can also
        // replace the smaller one.
        self.max_novel.is_some() || !(larger_first || self.threshold.is_symmetric())
    }
}
