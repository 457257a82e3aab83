//! Commits: hands full batches to the committing thread, waits for it, and drops documents that are not to be.

use std::sync::Arc;

use super::{Intake, LastBatch, lock};
use fpdb_host::error::{Error, Result, StoreFailure};

impl Intake<'_> {
    /// Hands the batch to the committing thread, once that is done with the one before.
    pub(in crate::ingest) fn commit(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.await_commit()?;
        let next = self.batch.next();
        let batch = std::mem::replace(&mut self.batch, next);
        let documents = self.documents();
        self.last = LastBatch { pending: Arc::clone(batch.pending()), awaited: Some(documents) };
        // The thread ends after this intake only, unless it panics; then there will be no outcome either.
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

    /// Commits where the batch has no room for another document, or has part of one in the store already. A document that is
    /// only touched takes room as well: its record is written anew.
    pub(super) fn commit_if_full(&mut self) -> Result<()> {
        if self.batch.is_full() || self.batch.has_runs() { self.commit() } else { Ok(()) }
    }

    /// Drops what was taken of the current document.
    pub(super) fn abandon(&mut self) -> Result<()> {
        if self.batch.is_spilled() {
            self.await_commit()?;
            lock(self.committer).discard(self.store, &mut self.batch)?;
        }
        self.batch.abandon();
        Ok(())
    }
}
