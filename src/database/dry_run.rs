//! Dry runs: report what an ingest or a merge would do. A dry run stores nothing, so it also works while a
//! writer has the database open.

use super::Database;
use crate::ingest::{self, IngestOptions, IngestSummary};
use fpdb_host::error::Result;
use fpdb_host::progress::Task;
use fpdb_reading::input::Source;

impl Database {
    /// Reports what an ingest of these sources would add, replace and remove. Reads the documents. Compares a
    /// new document only with those earlier new documents that are still in memory. So for very many new
    /// documents of equal names or contents, the numbers can differ from those of the ingest.
    ///
    /// # Errors
    /// As [`DatabaseWriter::ingest_sources`](crate::DatabaseWriter::ingest_sources).
    pub fn ingest_dry_run(
        &self,
        sources: &[Source],
        options: &IngestOptions,
        task: &Task<'_>,
    ) -> Result<IngestSummary> {
        ingest::ingest(&self.store, sources, &options.clone().dry_run(true), task)
    }

    /// Reports what [`DatabaseWriter::ingest_runs`](crate::DatabaseWriter::ingest_runs) would do.
    ///
    /// # Errors
    /// As [`DatabaseWriter::ingest_sources`](crate::DatabaseWriter::ingest_sources).
    #[doc(hidden)]
    pub fn ingest_runs_dry_run(&self, runs: &[(&[Source], &IngestOptions)], task: &Task<'_>) -> Result<IngestSummary> {
        let options: Vec<IngestOptions> = runs.iter().map(|run| run.1.clone().dry_run(true)).collect();
        let runs: Vec<(&[Source], &IngestOptions)> = runs.iter().map(|run| run.0).zip(&options).collect();
        ingest::ingest_runs(&self.store, &runs, task)
    }

    /// Reports what a merge of `other` would add, replace and remove. Memory limits the comparisons as in
    /// [`Self::ingest_dry_run`].
    ///
    /// # Errors
    /// As [`DatabaseWriter::merge`](crate::DatabaseWriter::merge).
    pub fn merge_dry_run(&self, other: &Self, options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary> {
        let _unchanged = other.store.keep_unchanged(task.token())?;
        ingest::merge(&self.store, &other.store, &options.clone().dry_run(true), task)
    }

    /// Reports what [`DatabaseWriter::reread`](crate::DatabaseWriter::reread) would add, replace and remove.
    ///
    /// # Errors
    /// As [`DatabaseWriter::reread`](crate::DatabaseWriter::reread).
    pub fn reread_dry_run(&self, other: &Self, options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary> {
        let _unchanged = other.store.keep_unchanged(task.token())?;
        ingest::reread(&self.store, &other.store, &options.clone().dry_run(true), task)
    }
}
