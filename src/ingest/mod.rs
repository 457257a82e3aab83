//! Ingest: adds documents to the database.
//!
//! A walk finds documents and skips stored ones that have not changed. Workers read the others and make
//! fingerprints. One thread, the intake, takes the results in the order of the walk and commits each full
//! batch. So ids and answers do not depend on the number of workers.

mod fingerprinters;
pub(crate) mod first_names;
mod intake;
mod kept_out;
mod known;
mod merge;
mod messages;
mod options;
mod pipeline;
mod place_names;
mod prune;
mod record;
mod rename;
mod repair;
mod reread;
mod summary;
mod sweep;
mod walker;
mod worker;

use std::time::Instant;

use first_names::FirstNames;
use fpdb_host::error::Result;
use fpdb_host::progress::Task;
use fpdb_reading::input::{Document, InputLimits, Source};
use fpdb_store::Store;
use intake::with_intake;
use kept_out::KeptOutContents;
use prune::{Prune, SearchFailures};
use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;

pub(crate) use first_names::name_place;
pub(crate) use merge::merge;
pub(crate) use messages::ReadDocument;
pub use options::{IngestOptions, OnChange};
pub(crate) use record::{is_empty_file, record_of};
pub(crate) use repair::repair;
pub(crate) use reread::reread;
pub use summary::{IngestSummary, Skipped};

/// Bytes of memory for reading one document whole: each thread's share of the memory that batches leave free.
fn reading_memory(store: &Store, limits: &InputLimits) -> u64 {
    const LEAST: u64 = 64 << 20;
    let share = store.memory() / 4 / store.pool().threads().max(1) as u64;
    limits.reading_memory.min(share.max(LEAST))
}

/// Adds the documents of `sources` to the store.
pub(crate) fn ingest(
    store: &Store,
    sources: &[Source],
    options: &IngestOptions,
    task: &Task<'_>,
) -> Result<IngestSummary> {
    ingest_runs(store, &[(sources, options)], task)
}

/// Adds the documents of several runs to the store, each with its own options. A file may have moved from the
/// sources of one run to those of another. So all renamed files are found first, and documents whose files
/// are gone are deleted last.
pub(crate) fn ingest_runs(
    store: &Store,
    runs: &[(&[Source], &IngestOptions)],
    task: &Task<'_>,
) -> Result<IngestSummary> {
    let started = Instant::now();
    let limited = runs.iter().map(|(_, options)| within_memory(store, options)).collect::<Result<Vec<_>>>()?;
    let runs: Vec<(&[Source], &IngestOptions)> = runs.iter().map(|run| run.0).zip(&limited).collect();
    let names = runs.iter().map(|&(sources, options)| FirstNames::new(store, sources, options, task));
    let names = names.collect::<Result<Vec<_>>>()?;
    let kept_out = &KeptOutContents::of(store)?;
    let mut prune = if runs.iter().any(|run| run.1.prune) { Prune::of(store, &runs, task)? } else { None };
    let (mut renamed, mut given_in_dry_run) = (0, FxHashSet::default());
    let mut failures: Vec<SearchFailures> = runs.iter().map(|_| SearchFailures::default()).collect();
    if let Some(prune) = &mut prune {
        for ((&(sources, options), names), failures) in runs.iter().zip(&names).zip(&mut failures) {
            let mut found = rename::rename(store, sources, (options, names, kept_out), prune, task)?;
            renamed += found.committed;
            given_in_dry_run.extend(found.given_in_dry_run);
            *failures = found.unseen.take_failures();
            prune.keep(&found.renamed, found.unseen);
        }
    }
    let (mut summaries, mut met_in_dry_run) = (Vec::new(), RoaringBitmap::new());
    for (number, (failures, names)) in failures.into_iter().zip(&names).enumerate() {
        let (sources, options) = runs[number];
        let (is_first, is_last) = (number == 0, number + 1 == runs.len());
        let summary = with_intake(store, (options, kept_out), task, |intake| {
            intake.summary.renamed = if is_first { renamed } else { 0 };
            intake.given_in_dry_run.clone_from(&given_in_dry_run);
            pipeline::run(store, options, task, intake, |walker| walker.walk(sources, (names, kept_out), failures))?;
            if options.dry_run {
                intake.sweep.join(&mut met_in_dry_run);
            }
            if let Some(prune) = prune.as_ref().filter(|_| is_last) {
                intake.prune(prune, task.token())?;
            }
            intake.finish(task.token())
        })?;
        let is_interrupted = summary.interrupted;
        summaries.push((summary, &options.read.fields));
        if is_interrupted {
            break;
        }
    }
    Ok(IngestSummary::of_runs(summaries).ended(started))
}

/// Adds documents that the caller supplies to the store.
pub(crate) fn ingest_documents(
    store: &Store,
    documents: impl Iterator<Item = Document> + Send,
    options: &IngestOptions,
    task: &Task<'_>,
) -> Result<IngestSummary> {
    let started = Instant::now();
    let options = &within_memory(store, options)?;
    let kept_out = &KeptOutContents::of(store)?;
    let summary = with_intake(store, (options, kept_out), task, |intake| {
        pipeline::run(store, options, task, intake, |walker| {
            walker.take_supplied(documents);
            Ok(())
        })?;
        intake.finish(task.token())
    })?;
    Ok(summary.ended(started))
}

/// The options of a run, after a check. Their memory for reading is limited to the share of one thread, so
/// that the run keeps to its memory.
fn within_memory(store: &Store, options: &IngestOptions) -> Result<IngestOptions> {
    options.check()?;
    let mut options = options.clone();
    options.read.limits.reading_memory = reading_memory(store, &options.read.limits);
    Ok(options)
}
