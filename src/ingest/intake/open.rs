//! Open: documents that were stored for now are decided, once nothing more will be deleted that may justify leaving them out.

use super::Intake;
use crate::ingest::arrivals::{OpenDocument, Stream};
use fpdb_host::duplicate::Duplicate;
use fpdb_host::error::Result;
use fpdb_host::progress::Outcome;

impl Intake<'_> {
    /// Deletes the documents stored for now that one that stays justifies leaving out; the others count as added.
    pub(super) fn decide_open(&mut self) -> Result<()> {
        let Some(stream) = self.stream.take() else { return Ok(()) };
        for OpenDocument { id, outcome, justifications } in stream.into_open() {
            if !self.known().is_live(id) {
                // Another one of its name has taken its place.
                let counter =
                    if outcome == Outcome::Replaced { &mut self.summary.replaced } else { &mut self.summary.added };
                *counter += 1;
                continue;
            }
            let record = self.known().record(id)?;
            let justification = justifications.iter().find(|one| self.known().is_live(one.document));
            if let Some(justification) = justification {
                let name = self.known().record(justification.document)?.name;
                let duplicate = justification.duplicate(&record, &name);
                self.batch.delete(id, record);
                self.leave_out(&duplicate);
            } else {
                let is_identical = self.known().has_content(&record.digest, Some(id))?;
                self.count_added(&record, outcome, is_identical);
            }
            if self.batch.is_full() {
                self.commit()?;
                self.await_commit()?;
            }
        }
        Ok(())
    }

    /// Counts and reports a document that is left out.
    pub(super) fn leave_out(&mut self, duplicate: &Duplicate) {
        self.summary.duplicates += 1;
        self.summary.duplicate_bytes += duplicate.bytes;
        self.progress.duplicate(duplicate);
    }

    /// True if a document has justified that this run left out others: it is not deleted then.
    pub(super) fn relies_on(&self, id: u32) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.relies_on(id))
    }

    /// How many documents are stored for now.
    pub(super) fn open_documents(&self) -> usize {
        self.stream.as_ref().map_or(0, Stream::open)
    }
}
