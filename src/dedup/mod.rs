//! Dedup: which documents are removable, each with the survivor that justifies it. Changes nothing by itself.
//!
//! Documents have one total order, most worth keeping first. A document goes if an earlier one that stays holds enough of its
//! fingerprints, by itself, and leaves no long stretch of it unmatched. Likeness is never passed on from document to
//! document: that is how other tools remove wrong ones. The answer does not depend on threads or memory, nor on where a run
//! was stopped. `docs/dedup.md` has the rule, the algorithm and its measurements.

mod answer;
mod decisions;
mod frequencies;
mod index;
mod job;
mod join;
mod justify;
mod measure;
mod monitor;
mod options;
#[cfg(test)]
mod oracle;
mod probes;
mod ranking;
mod report;
mod second_pass;
mod sets;
mod source;

use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::progress::Task;
use crate::spill::TempSpace;
use crate::store::Store;
use decisions::Decisions;
use frequencies::Frequencies;
use job::Job;
use join::Join;
use measure::Threshold;
use monitor::{Activity, Monitor};
use ranking::{Rank, Ranking};
use sets::Sets;
use source::PostingSource;

pub(crate) use answer::Decided;
pub use options::{DedupBy, DedupOptions, Keep};
pub use report::{Because, DedupAnswer, DedupCauses, DedupRow, DedupSummary, Removable, SourceTotals, Undecided};

/// Finds out which documents are removable.
pub(crate) fn decide(store: &Store, options: &DedupOptions, task: &Task<'_>) -> Result<Decided> {
    let view = store.view();
    let monitor = Monitor { task, postings: view.posting_count(), documents: view.state().documents };
    let temp = temp_space(store.root(), options.temp_dir.as_deref())?;
    let threshold = Threshold::new(options.by, options.threshold);
    let plan = Plan::new(view.state().documents, options)?;
    let (ranking, unmatched) = Ranking::of_store(store, options, &temp, plan.sorting)?;
    monitor.check()?;
    let mut decided = Decided {
        ranking,
        unmatched,
        by: options.by,
        threshold,
        decisions: None,
        job: None,
        common: 0,
        boilerplate: 0,
    };
    if threshold.compares() {
        let mut decisions = Decisions::new(decided.ranking.len(), options.budget.is_some());
        let state = view.state();
        let header = format!("commit {} of {}, {}", state.commits, state.committed_at, options.rule());
        let path = job_path(store.root(), &temp, options)?;
        let mut job = Job::resume(&path, &header, &decided.ranking, &mut decisions)?;
        let counted = join(store, &decided.ranking, options, &plan, &temp, (&mut decisions, &mut job), &monitor)?;
        (decided.common, decided.boilerplate) = counted;
        (decided.decisions, decided.job) = (Some(decisions), Some(job));
    }
    Ok(decided)
}

/// Decides all documents. Returns how many hashes the df cap and boilerplate have left out.
fn join(
    source: &dyn PostingSource,
    ranking: &Ranking,
    options: &DedupOptions,
    plan: &Plan,
    temp: &TempSpace,
    (decisions, job): (&mut Decisions, &mut Job),
    monitor: &Monitor<'_>,
) -> Result<(u64, u64)> {
    let threshold = Threshold::new(options.by, options.threshold);
    let frequencies = Frequencies::count(source, ranking, options.max_df, monitor)?;
    let left_out = (frequencies.common, frequencies.boilerplate);
    // Others are proved to stay by what nobody else holds.
    let may_go = |rank: Rank| {
        let size = ranking.size(rank);
        size > 0
            && rank >= ranking.protected
            && ranking.leads(rank)
            && frequencies.shared[rank as usize] >= threshold.least_shared(size)
    };
    let mut active: Vec<bool> = (0..ranking.len()).map(may_go).collect();
    let space = (temp, plan.sets);
    let sets = Sets::collect(source, ranking, frequencies, &active, options.max_df, space, monitor)?;
    let join = Join {
        source,
        ranking,
        sets: &sets,
        threshold,
        max_novel: options.max_novel,
        budget: options.budget,
        k: source.k(),
        memory: plan.rest.saturating_sub(sets.bytes()),
        batch: plan.batch,
    };
    let probed = join.prepare(&mut active, monitor)?;
    join.first_pass(&active, &probed, decisions, job, monitor)?;
    let larger_first = options.keep == Keep::Longest && options.prefer.is_empty() && ranking.protected == 0;
    if join.needs_second_pass(larger_first) {
        join.second_pass(&active, &probed, decisions, job, monitor)?;
    }
    Ok(left_out)
}

/// How the memory is divided.
struct Plan {
    /// For sorting documents.
    sorting: u64,
    /// For the sets of all documents, before they go to disk.
    sets: u64,
    /// For sets and the index of survivors.
    rest: u64,
    /// Documents that are compared with the same survivors at a time.
    batch: u32,
}

/// So many documents occupy all threads, and comparing them with each other costs little.
const BATCH: u32 = 2048;

/// Bytes that each document takes in the second pass, and beside those of the other rooms.
const BYTES_PER_DOCUMENT: u64 = 13;

impl Plan {
    fn new(documents: u64, options: &DedupOptions) -> Result<Self> {
        let cost = if options.budget.is_some() { decisions::BYTES_OF_COST } else { 0 };
        let each = ranking::BYTES_PER_DOCUMENT
            + decisions::BYTES_PER_DOCUMENT
            + sets::BYTES_PER_DOCUMENT
            + BYTES_PER_DOCUMENT
            + cost;
        let fixed = documents * each;
        // The index needs some room to make sense.
        let needed = fixed + fixed / 4;
        if options.memory < needed {
            return Err(Error::TooLittleMemory { needed, allowed: options.memory });
        }
        let rest = options.memory - fixed;
        Ok(Self {
            sorting: options.memory - documents * ranking::BYTES_PER_DOCUMENT,
            sets: rest / 2,
            rest,
            batch: BATCH,
        })
    }
}

/// Where temporary files go: the folder asked for, else that of the database; where nothing can be written there, the
/// system's folder for temporary files.
fn temp_space(root: &Path, asked: Option<&Path>) -> Result<TempSpace> {
    if let Some(folder) = asked {
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        return Ok(TempSpace::new(folder));
    }
    let root = root.canonicalize().map_err(Error::io("find", root))?;
    let beside = root.parent().unwrap_or(&root);
    let writable = tempfile::tempfile_in(beside).is_ok();
    Ok(TempSpace::new(if writable { beside.to_owned() } else { std::env::temp_dir() }.as_path()))
}

/// The file that the decisions of such a job are kept in. It does not depend on threads or memory.
fn job_path(root: &Path, temp: &TempSpace, options: &DedupOptions) -> Result<PathBuf> {
    let root = root.canonicalize().map_err(Error::io("find", root))?;
    let name = root.file_name().map_or_else(|| "fpdb".into(), |name| name.to_string_lossy());
    let digest = xxh3_64(format!("{}, {}", root.display(), options.rule()).as_bytes());
    Ok(temp.folder().join(format!("{name}.dedup-{digest:016x}.job")))
}
