//! Commits: hands full batches to the committing thread, waits for it, and drops unfinished documents.

use std::sync::Arc;

use super::{Intake, LastBatch, lock};
use fpdb_host::error::{Error, Result, StoreFailure};

impl Intake<'_> {
    /// Hands the batch to the committing thread after the previous commit.
    pub(in crate::ingest) fn commit(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.await_commit()?;
        let next = self.batch.next();
        let batch = std::mem::replace(&mut self.batch, next);
        let documents = self.documents();
        self.last = LastBatch { pending: Arc::clone(batch.pending()), awaited: Some(documents) };
        // The thread outlives this intake unless it panics; then no outcome comes.
        let _ = self.batches.send(batch);
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

    /// Commits if the batch has no room for another document, or if the store already has a part of it. A
    /// document that is only updated takes room too, because its record is rewritten.
    pub(super) fn commit_if_full(&mut self) -> Result<()> {
        if self.batch.is_full() || self.batch.has_runs() { self.commit() } else { Ok(()) }
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
}
