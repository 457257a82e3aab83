//! Ingest: documents become part of the database.
//!
//! A walk finds documents and skips those that are stored already and have not been written to since;
//! workers read the others and make fingerprints; one thread takes these in the order of the walk, so that
//! ids and answers do not depend on the number of workers, and commits whenever a batch is full.

mod intake;
mod known;
mod merge;
mod pipeline;
mod record;
mod repair;
mod summary;
mod sweep;
mod worker;

use std::sync::Arc;
use std::time::Instant;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::input::{Document, InputLimits, MetadataTable, ReadOptions, Source, WalkOptions};
use crate::progress::Task;
use crate::setters::setters;
use crate::store::Store;
use intake::with_intake;

pub(crate) use merge::merge;
pub(crate) use repair::repair;
pub use summary::{Failure, IngestSummary, Skipped};

/// What to do with a document whose name is stored with other content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnChange {
    /// The stored document is deleted in favour of the new one.
    #[default]
    Replace,
    /// The stored document stays, the new one is left out.
    Keep,
    /// Both are kept, under one name.
    Both,
}

/// How to ingest.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct IngestOptions {
    /// What to do with documents that have changed.
    pub on_change: OnChange,
    /// Whether to keep the documents' bytes in the database, compressed: their passages can then be compared symbol
    /// by symbol once the files are gone. Documents stored without are taken in again.
    pub store_text: bool,
    /// Which files count.
    pub walk: WalkOptions,
    /// What is taken for a document, and how it is read.
    pub read: ReadOptions,
    /// The documents are boilerplate: never a match, and what they hold is ignored in others. A document that is
    /// boilerplate stays it until it is removed.
    pub boilerplate: bool,
    /// What is known of documents beside their content.
    pub metadata: Option<Arc<MetadataTable>>,
}

impl IngestOptions {
    setters! {
        on_change: OnChange,
        store_text: bool,
        walk: WalkOptions,
        read: ReadOptions,
        boilerplate: bool,
        metadata: Option<Arc<MetadataTable>>,
    }

    /// Whether a run can begin with these; it does so first.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](crate::Error::InvalidParameter) for a glob that does not parse.
    pub fn check(&self) -> Result<()> {
        self.walk.check()
    }

    /// A digest of what has a say in which documents the container of this name gives, and in what is kept of them.
    fn settings(&self, name: &str) -> u64 {
        let ReadOptions { front_end, closed, fields, limits: _, skip_quotes: _ } = &self.read;
        let table = self.metadata.as_ref().map(|table| table.digest());
        let (boilerplate, store_text) = (self.boilerplate, self.store_text);
        // A run that deletes nothing may leave what the container no longer holds.
        let deletes = self.on_change == OnChange::Replace;
        let settings =
            format!("{front_end:?} {closed} {fields:?} {boilerplate} {store_text} {table:?} {deletes} {name}");
        xxh3_64(settings.as_bytes())
    }
}

/// Bytes of memory that reading one document whole may take: a share of the memory that batches leave, for each thread.
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
    let summary = with_intake(store, options, task, |intake| {
        pipeline::run(store, options, task, intake, |walker| walker.walk(sources))?;
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
    let summary = with_intake(store, options, task, |intake| {
        pipeline::run(store, options, task, intake, |walker| {
            walker.take_supplied(documents);
            Ok(())
        })?;
        intake.finish(task.token())
    })?;
    Ok(summary.ended(started))
}

/// The options of a run, once they are checked, with no more memory for each thread's reading than the run has.
fn within_memory(store: &Store, options: &IngestOptions) -> Result<IngestOptions> {
    options.check()?;
    let mut options = options.clone();
    options.read.limits.reading_memory = reading_memory(store, &options.read.limits);
    Ok(options)
}
