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
mod sweep;
mod worker;

use std::collections::BTreeMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::input::{Document, InputLimits, MetadataTable, ReadOptions, Source, WalkOptions};
use crate::progress::Task;
use crate::setters::setters;
use crate::store::Store;
use intake::with_intake;

pub(crate) use merge::merge;
pub(crate) use repair::repair;

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
    /// [`Error::InvalidParameter`] for a glob that does not parse.
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

/// What an ingest has done.
#[derive(Debug, Default)]
pub struct IngestSummary {
    /// New documents.
    pub added: u64,
    /// Documents that took the place of a stored one.
    pub replaced: u64,
    /// Documents stored already.
    pub unchanged: u64,
    /// Changed documents left out on request.
    pub kept: u64,
    /// Stored documents deleted because the container they came from no longer holds them.
    pub removed: u64,
    /// Added or replacing documents whose content another stored document has.
    pub identical: u64,
    /// Bytes, symbols and fingerprints of the added and replacing documents.
    pub bytes: u64,
    /// See `bytes`.
    pub symbols: u64,
    /// See `bytes`.
    pub fingerprints: u64,
    /// Sequences that were no characters in the document's encoding, and the documents that had some.
    pub undecodable: u64,
    /// See `undecodable`.
    pub undecodable_documents: u64,
    /// Formats of the added and replacing documents, and how many are in each.
    pub formats: BTreeMap<String, u64>,
    /// Rows of the metadata table that no document matches.
    pub unmatched: Vec<String>,
    /// Stored documents that are boilerplate from now on.
    pub made_boilerplate: u64,
    /// Documents that could not be read.
    pub failures: u64,
    /// The first [`IngestSummary::LISTED`] of them, by name.
    pub failed: Vec<(String, Error)>,
    /// What was left out.
    pub skips: u64,
    /// The first [`IngestSummary::LISTED`] of it, by name, and why.
    pub skipped: Vec<(String, &'static str)>,
    /// True where the run was told to stop; what was committed is safe, and running again continues.
    pub interrupted: bool,
}

impl IngestSummary {
    /// How many failures, and how many files left out, a summary lists by name. [`crate::Progress`] gets all of them.
    pub const LISTED: usize = 1000;

    /// Counts a failure, and lists it while there are few.
    fn fail(&mut self, name: String, error: Error) {
        self.failures += 1;
        if self.failed.len() < Self::LISTED {
            self.failed.push((name, error));
        }
    }

    /// Counts what is left out, and lists it while there is little.
    fn skip(&mut self, name: String, reason: &'static str) {
        self.skips += 1;
        if self.skipped.len() < Self::LISTED {
            self.skipped.push((name, reason));
        }
    }

    /// Its counts as they are now; what is listed by name is left out.
    fn counts(&self) -> Self {
        let (unmatched, failed, skipped) = (Vec::new(), Vec::new(), Vec::new());
        Self { formats: self.formats.clone(), unmatched, failed, skipped, ..*self }
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
    let options = &within_memory(store, options)?;
    with_intake(store, options, task, |intake| {
        pipeline::run(store, options, task, intake, |walker| walker.walk(sources))?;
        intake.finish(task.token())
    })
}

/// Adds documents that the caller supplies to the store.
pub(crate) fn ingest_documents(
    store: &Store,
    documents: impl Iterator<Item = Document> + Send,
    options: &IngestOptions,
    task: &Task<'_>,
) -> Result<IngestSummary> {
    let options = &within_memory(store, options)?;
    with_intake(store, options, task, |intake| {
        pipeline::run(store, options, task, intake, |walker| {
            walker.take_supplied(documents);
            Ok(())
        })?;
        intake.finish(task.token())
    })
}

/// The options of a run, once they are checked, with no more memory for each thread's reading than the run has.
fn within_memory(store: &Store, options: &IngestOptions) -> Result<IngestOptions> {
    options.check()?;
    let mut options = options.clone();
    options.read.limits.reading_memory = reading_memory(store, &options.read.limits);
    Ok(options)
}
