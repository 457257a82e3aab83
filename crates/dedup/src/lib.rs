//! Dedup: decides which documents of a store are removable. For each removable document it names the
//! *survivor*, a document that stays and justifies the removal. Dedup itself removes nothing.
//!
//! [`decide`] runs the *survivor join*, which needs no list of pairs. [`Decided::for_each`] then visits the
//! answer. [`plan`] estimates the cost of a run. A run goes through these modules:
//!
//! 1. `ranking`: the order of the documents. The module also finds documents with the same text. It reads
//!    their texts through [`ReadTexts`], which `fpdb` implements.
//! 2. `terms`: one pass over the postings finds the hashes that several documents hold, and transposes their
//!    postings into the terms of each document.
//! 3. `join`: probes the documents, in order, into an index of the survivors before them. A second pass
//!    reconsiders the survivors.
//! 4. `answer`: the decisions, and the rows of the report.
//!
//! `between_runs` is the data that a run leaves on disk: the job, from which an interrupted run continues,
//! and the record of decisions for [`DedupMode::Append`]. In that mode the survivors of earlier runs are
//! *pinned*: they stay. The run reads only the hashes of *newcomers*, the documents that no earlier run has
//! decided. `docs/dedup-reference.md` has the rule, its costs and the measurements.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]

mod answer;
mod between_runs;
mod by_source;
#[cfg(test)]
#[path = "../../../tests/counted_heap.rs"]
mod counted_heap;
mod join;
mod monitor;
mod options;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod oracle_append;
mod plan;
mod ranking;
mod terms;

use std::path::PathBuf;

use roaring::RoaringBitmap;

use answer::DecisionSource;
use answer::decisions::{Decision, Decisions, Witness};
use answer::outcome::RunOutcome;
use between_runs::job::Job;
use between_runs::job::job_path;
use between_runs::past::Past;
use between_runs::record::{RecordEntry, RecordFiles, RecordHeader};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::spill::TempSpace;
use fpdb_store::Store;
use join::Join;
use join::buffers::BufferPool;
use join::measure::Threshold;
use monitor::{Activity, Monitor};
use plan::{Counts, MemoryPlan};
use ranking::same_text::{SameText, SameTextMemory};
use ranking::{Extent, Rank, Ranking, Standing, check_choices};
use terms::newcomers::Newcomers;
use terms::places::Places;
use terms::sets::{Collected, Sets};
use terms::source::PostingSource;

pub use answer::Decided;
pub use answer::report::{
    DedupAnswer, DedupCauses, DedupRow, DedupSummary, LatestRun, Removable, SourceTotals, Superseded, Undecided,
};
pub use by_source::BySource;
pub use fpdb_apply::report_lines::Because;
pub use options::{DedupBy, DedupMode, DedupOptions, Keep};
pub use plan::DedupPlan;
pub use plan::plan;
pub use ranking::same_text::{DigestOf, ReadTexts, TextDigest};

/// Decides which documents are removable. `texts` reads the texts that may be the same.
///
/// # Errors
/// [`Error::Stopped`]; [`Error::TooLittleMemory`]; [`Error::JobInUse`]; [`Error::InvalidParameter`];
/// [`Error::NothingFits`], without the nearest name; a failure to read the store or to write temporary files.
/// With recorded decisions also [`Error::JobInUse`] if another run has locked them; [`Error::OtherRule`];
/// [`Error::DecisionsOfAnother`]; [`Error::DecisionsVersion`]; [`Error::DamagedDecisions`];
/// [`Error::LaterDecisions`].
pub fn decide(store: &Store, options: &DedupOptions, texts: &dyn ReadTexts, task: &Task<'_>) -> Result<Decided> {
    options.check()?;
    check_choices(store, options, task.token())?;
    let temp = TempSpace::beside(store.root(), options.temp_dir.as_deref())?;
    let plan = MemoryPlan::new(Counts::of(store), options, store.memory())?;
    let job = job_path(store.root(), &temp, options)?;
    let run = DedupRun { store, options, texts, task, temp: &temp, plan: &plan, job };
    if options.mode != DedupMode::Once {
        return run.decide_and_record();
    }
    let same_text = run.same_text()?;
    let open = &mut |_| Ok(Standing::Open);
    let ranking = Ranking::of_store(store, options, &same_text, open, (&temp, plan.sorting))?;
    let found = run.decide(ranking, store, "")?;
    let RunResult { outcome, job, common, boilerplate } = found;
    let threshold = Threshold::new(options.by, options.threshold);
    let (decisions, unread) = (DecisionSource::InMemory(Box::new(outcome), job), same_text.unread);
    Ok(Decided { decisions, threshold, common, boilerplate, unread })
}

/// The inputs of one run.
struct DedupRun<'a> {
    store: &'a Store,
    options: &'a DedupOptions,
    texts: &'a dyn ReadTexts,
    task: &'a Task<'a>,
    temp: &'a TempSpace,
    plan: &'a MemoryPlan,
    /// The file that keeps the run's state.
    job: PathBuf,
}

/// The result of a run.
struct RunResult {
    outcome: RunOutcome,
    /// The job that keeps the run's state.
    job: Option<Job>,
    common: u64,
    boilerplate: u64,
}

impl DedupRun<'_> {
    fn monitor(&self) -> Monitor<'_> {
        let view = self.store.view();
        Monitor { task: self.task, postings: view.posting_count(), documents: view.state().documents }
    }

    /// Finds the documents of the same text, if the rule is [`DedupBy::ExactText`].
    fn same_text(&self) -> Result<SameText> {
        match self.options.by {
            DedupBy::ExactText => {
                let memory = SameTextMemory { sorting: self.plan.sorting, reading: self.plan.rest / 2 };
                SameText::find(self.store, self.texts, (self.temp, memory), &self.monitor())
            }
            _ => Ok(SameText::default()),
        }
    }

    /// Decides all ranked documents except pinned ones. `past` names the earlier run that the decisions
    /// depend on; it is empty if there is none.
    fn decide(&self, mut ranking: Ranking, source: &dyn PostingSource, past: &str) -> Result<RunResult> {
        let Self { store, options, temp, plan, .. } = *self;
        let (view, monitor) = (store.view(), self.monitor());
        monitor.check()?;
        let extents = std::mem::take(&mut ranking.extents);
        let mut found = RunResult {
            outcome: RunOutcome { ranking, decisions: None, superseded: Vec::new(), by: options.by },
            job: None,
            common: 0,
            boilerplate: 0,
        };
        let ranking = &found.outcome.ranking;
        if !Threshold::new(options.by, options.threshold).compares() {
            let superseded = ranking.same_bytes.iter().map(|&(rank, by)| (rank, ranking.as_identical(rank, by)));
            found.outcome.superseded = superseded.collect();
            return Ok(found);
        }
        let mut decisions = Decisions::new(ranking.len(), options.budget.is_some());
        for rank in &ranking.pinned {
            decisions.set(rank, Decision::Stays);
        }
        let state = view.state();
        let header = format!("commit {} of {}, {}{past}", state.commits, state.committed_at, options.rule());
        let mut job = Job::resume(&self.job, &header, ranking, &mut decisions)?;
        let joined = join(source, (ranking, extents), options, plan, temp, (&mut decisions, &mut job), &monitor)?;
        (found.common, found.boilerplate) = (joined.common, joined.boilerplate);
        found.outcome.superseded = joined.superseded;
        (found.outcome.decisions, found.job) = (Some(decisions), Some(job));
        Ok(found)
    }

    /// Decides all documents without a valid earlier decision, and writes the next record. The record is in
    /// place before the answer is given, so a run killed later gives the same answer again.
    fn decide_and_record(&self) -> Result<Decided> {
        let Self { store, options, temp, plan, .. } = *self;
        let files = RecordFiles::lock(store.root())?;
        let (stored, database, rule) = (store.document_ids()?, store.made_as()?, options.rule());
        let read = || match options.mode {
            DedupMode::Append => Past::read(&files, &stored, &database, &rule),
            _ => Ok(Past::none(&stored)),
        };
        let mut past = read()?;
        let mut header = past.header().cloned().unwrap_or_default();
        let same_text = self.same_text()?;
        let standing = &mut |id| past.standing(id);
        let ranking = Ranking::of_store(store, options, &same_text, standing, (temp, plan.sorting))?;
        past.check_ends_before(store.view().state().next_document, &files)?;
        let open: RoaringBitmap = open_documents(&ranking).collect();
        let decides = !open.is_empty() || past.header().is_none();
        if decides {
            let found = if past.header().is_some() {
                let newcomers = Newcomers::new(store, open);
                self.decide(ranking, &newcomers, &format!(", after run {}", header.run))?
            } else {
                self.decide(ranking, store, "")?
            };
            header = RecordHeader {
                database: database.clone(),
                rule: rule.clone(),
                run: header.run + 1,
                common: found.common,
                boilerplate: found.boilerplate,
            };
            let mut past = read()?;
            files.write(&header, stored.iter().map(|id| next_entry(&found.outcome, &mut past, id, header.run)))?;
        }
        let RecordHeader { common, boilerplate, .. } = header;
        let threshold = Threshold::new(options.by, options.threshold);
        let decisions = DecisionSource::Recorded { files, stored, database, rule, job: self.job.clone(), decides };
        Ok(Decided { decisions, threshold, common, boilerplate, unread: same_text.unread })
    }
}

/// Ids of the documents to decide, in order of rank.
fn open_documents(ranking: &Ranking) -> impl Iterator<Item = u32> + '_ {
    (0..ranking.len()).filter(|&rank| !ranking.pinned.contains(rank)).map(|rank| ranking.id(rank))
}

/// The decision about a document after a run.
fn next_entry(outcome: &RunOutcome, past: &mut Past<'_>, document: u32, run: u32) -> Result<RecordEntry> {
    if let Some(fate) = outcome.fate(document) {
        return Ok(RecordEntry { document, run, fate });
    }
    let earlier = past.entry(document)?.ok_or_else(|| Error::Damaged {
        what: format!("document {document}"),
        detail: "it was not there when documents were ranked",
    })?;
    Ok(outcome.fate_after(earlier, run))
}

/// The result of a join, except its decisions.
struct JoinResult {
    /// Number of hashes ignored because of the df cap.
    common: u64,
    /// Number of hashes ignored because boilerplate holds them.
    boilerplate: u64,
    superseded: Vec<(Rank, Witness)>,
}

/// Decides all documents except the pinned ones, which stay.
fn join(
    source: &dyn PostingSource,
    (ranking, extents): (&Ranking, Vec<Extent>),
    options: &DedupOptions,
    plan: &MemoryPlan,
    temp: &TempSpace,
    (decisions, job): (&mut Decisions, &mut Job),
    monitor: &Monitor<'_>,
) -> Result<JoinResult> {
    let threshold = Threshold::new(options.by, options.threshold);
    let compared = ranking.compared();
    // A document stays if other documents hold too few of its hashes.
    let is_active = |rank: Rank, shared: u32| {
        let size = ranking.size(rank);
        size > 0 && rank >= ranking.protected && ranking.leads(rank) && shared >= threshold.least_shared(size)
    };
    let (documents, space) = ((&compared, &extents[..]), (temp, plan.sets));
    let collected = Sets::collect(source, documents, options.max_df, &is_active, space, monitor)?;
    let Collected { sets, mut active, common, boilerplate } = collected;
    drop(compared);
    let space = (temp, plan.rest / terms::places::SHARE);
    let places = Places::read((source, ranking), &active, &extents, space, monitor)?;
    drop(extents);
    let join = Join {
        ranking,
        sets: &sets,
        places: &places,
        threshold,
        max_novel: options.max_novel,
        budget: options.budget,
        k: source.k(),
        memory: plan.rest.saturating_sub(sets.bytes() + places.bytes() + size_of_val(&ranking.same_bytes[..]) as u64),
        batch: plan.batch,
        buffers: BufferPool::default(),
    };
    let probed = join.prepare(&mut active, monitor)?;
    join.first_pass(&active, &probed, decisions, job, monitor)?;
    let mut superseded = join.superseded_by_better(&active, &probed, decisions, monitor)?;
    let asking: Vec<Rank> = ranking.pinned.iter().filter(|&rank| active[rank as usize]).collect();
    let larger_first = options.keep == Keep::Longest && options.prefer.is_empty() && ranking.protected == 0;
    // A pinned document can justify the removal of a newcomer before it, whatever the order.
    if join.needs_second_pass(larger_first) || !ranking.pinned.is_empty() {
        // Pinned documents and superseding newcomers are not reconsidered.
        let newcomers = superseded.iter().map(|(_, witness)| witness.rank);
        for rank in ranking.pinned.iter().chain(newcomers) {
            active[rank as usize] = false;
        }
        join.second_pass(&active, &probed, decisions, job, monitor)?;
    }
    if join.needs_second_pass(larger_first) {
        // If a second pass is needed, newcomers after a pinned document can also justify the document's
        // removal.
        join.add_superseded_by_later(&mut superseded, asking, &probed, decisions, monitor)?;
    }
    Ok(JoinResult { common, boilerplate, superseded })
}
