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
    let started = Instant::now();
    let options = &within_memory(store, options)?;
    let names = &FirstNames::new(store, sources, options, task)?;
    let kept_out = &KeptOutContents::of(store)?;
    let mut prune = if options.prune { Prune::of(store, sources, options, task)? } else { None };
    let (mut renamed, mut given_in_dry_run, mut failures) = (0, FxHashSet::default(), SearchFailures::default());
    if let Some(prune) = &mut prune {
        let mut found = rename::rename(store, sources, (options, names, kept_out), prune, task)?;
        renamed = found.committed;
        given_in_dry_run = found.given_in_dry_run;
        failures = found.unseen.take_failures();
        prune.keep(&found.renamed, found.unseen);
    }
    let summary = with_intake(store, (options, kept_out), task, |intake| {
        intake.summary.renamed = renamed;
        intake.given_in_dry_run = given_in_dry_run;
        pipeline::run(store, options, task, intake, |walker| walker.walk(sources, (names, kept_out), failures))?;
        if let Some(prune) = &prune {
            intake.prune(prune, task.token())?;
        }
        intake.finish(task.token())
    })?;
    Ok(summary.ended(started))
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

/// Checks the options of a run, and limits the memory for reading in each thread so that the run keeps to its
/// memory.
fn within_memory(store: &Store, options: &IngestOptions) -> Result<IngestOptions> {
    options.check()?;
    let mut options = options.clone();
    options.read.limits.reading_memory = reading_memory(store, &options.read.limits);
    Ok(options)
}
