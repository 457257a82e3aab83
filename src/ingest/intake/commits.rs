//! Commits: hands full batches to the committing thread, waits for it, and drops unfinished documents.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Intake, NextBatch, lock};
use crate::ingest::summary::IngestSummary;
use fpdb_host::error::{Error, Result, StoreFailure};
use fpdb_store::{PendingDocuments, Store};

/// A batch is committed once its documents have `BYTES_AT_RISK` bytes, or its first document is
/// `TIME_AT_RISK` old. Meanwhile another such batch can be on its way to the disk, so a crash costs at most
/// two batches.
const BYTES_AT_RISK: u64 = 128 << 20;
const TIME_AT_RISK: Duration = Duration::from_secs(5);

/// The batch that was handed to the committing thread last.
#[derive(Default)]
pub(super) struct LastBatch {
    pub(super) pending: Arc<PendingDocuments>,
    /// The number of documents that are safe once the batch is committed; `None` once this was reported.
    pub(super) awaited: Option<u64>,
}

impl Intake<'_> {
    /// Hands the batch to the committing thread after the previous commit.
    pub(in crate::ingest) fn commit(&mut self) -> Result<()> {
        self.hand_over(false)
    }

    /// Commits everything that the run has read, and waits until it is committed.
    pub(in crate::ingest) fn commit_all(&mut self) -> Result<()> {
        self.hand_over(true)?;
        self.await_commit()
    }

    fn hand_over(&mut self, ends: bool) -> Result<()> {
        self.begun = None;
        if self.options.dry_run {
            // A dry run drops a full batch to free its memory. Later documents are then not compared with the
            // dropped ones, but the deletions of the dropped batch count to the end of the run.
            if self.batch.is_full() {
                self.deleted_in_dry_run.extend(self.batch.pending().deleted.keys());
                self.batch = self.batch.next();
            }
            return Ok(());
        }
        self.await_commit()?;
        if self.batch.is_empty() && !(ends && lock(self.committer).keeps_runs()) {
            return Ok(());
        }
        self.mark_unread();
        let next = lock(self.committer).batch_after(&self.batch);
        let batch = std::mem::replace(&mut self.batch, next);
        let documents = self.documents();
        self.last = LastBatch { pending: Arc::clone(batch.pending()), awaited: Some(documents) };
        // The committing thread outlives this intake unless the thread panics. Then no outcome comes.
        let _ = self.batches.send(NextBatch { batch, ends });
        Ok(())
    }

    /// Waits until the last batch is committed.
    pub(in crate::ingest) fn await_commit(&mut self) -> Result<()> {
        if let Some(documents) = self.last.awaited.take() {
            let ended = || Error::Store {
                action: "commit",
                failure: StoreFailure::Other,
                source: "the thread that commits has ended".into(),
            };
            self.outcomes.recv().unwrap_or_else(|_| Err(ended()))?;
            self.progress.committed(documents);
        }
        Ok(())
    }

    /// Commits if the batch has no room for another document, or if the store already has a part of the
    /// batch. Also commits if the batch holds more work than a crash may cost. A document that is only
    /// updated takes room too, because its record is rewritten.
    pub(super) fn commit_if_due(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let is_due = self.batch.document_bytes() >= BYTES_AT_RISK || begun.elapsed() >= TIME_AT_RISK;
        if is_due || self.batch.is_full() || self.batch.has_runs() { self.commit() } else { Ok(()) }
    }

    /// Makes room for more of the current document.
    pub(super) fn spill_if_full(&mut self) -> Result<()> {
        if self.options.dry_run || !self.batch.needs_spill() {
            return Ok(());
        }
        self.await_commit()?;
        lock(self.committer).spill(self.store, &mut self.batch)
    }

    /// Drops the fingerprints and text of the current document.
    pub(super) fn abandon(&mut self) -> Result<()> {
        if self.batch.is_spilled() {
            self.await_commit()?;
            lock(self.committer).discard(self.store, &mut self.batch)?;
        }
        self.batch.abandon();
        Ok(())
    }

    /// Drops the current document and all later ones.
    pub(super) fn break_off(&mut self) -> Result<()> {
        self.before = None;
        self.broken_off = true;
        self.abandon()
    }

    /// True if the batch must be committed before the next document.
    pub(in crate::ingest) fn is_full(&self) -> bool {
        self.batch.is_full()
    }

    /// Copies the fingerprints of the documents added since the last commit from the database `other`, and
    /// commits. `moved` pairs the id of each document in `other` with its id here. A dry run copies nothing.
    pub(in crate::ingest) fn adopt(&mut self, other: &Store, moved: &[(u32, u32)]) -> Result<()> {
        self.await_commit()?;
        if !self.options.dry_run {
            lock(self.committer).adopt(self.store, &mut self.batch, other, moved, self.task)?;
        }
        self.commit()
    }

    /// After a merge, takes over the sources that `other` remembers and the contents that it keeps out.
    /// Returns the summary with the number of contents not taken over. A dry run only counts them.
    pub(in crate::ingest) fn with_lists_of(&self, other: &Store, mut summary: IngestSummary) -> Result<IngestSummary> {
        if summary.interrupted {
            return Ok(summary);
        }
        summary.not_kept_out = if self.options.dry_run {
            let is_deleted = |id| self.deleted_in_dry_run.contains(id) || self.known().is_deleted(id);
            self.store.not_adopted(other, &is_deleted)?
        } else {
            self.store.adopt_sources(other)?;
            self.store.adopt_kept_out(other)?
        };
        Ok(summary)
    }
}
