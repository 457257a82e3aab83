//! Known: the documents of the database as they will be once this run's batches are committed: the stored ones, those of the
//! batch that is being committed, and those of the batch that fills.

use super::intake::Intake;
use crate::error::Result;
use crate::store::{DocumentRecord, PendingDocuments};

impl Intake<'_> {
    /// The documents of a name, in order of arrival: stored ones, those of the last batch, those of this one.
    pub(super) fn documents_named(&self, name: &str) -> Result<Vec<u32>> {
        let (last, filling) = (&self.last.pending, self.batch.pending());
        // Those of the last batch are stored too by now, or not.
        let stored = self.store.documents_named(name)?.into_iter();
        let stored = stored.filter(|&id| last.record(id).is_none() && !last.deletes(id));
        let added = last.documents_named(name).iter().copied();
        let added = stored.chain(added).filter(|&id| !filling.deletes(id));
        Ok(added.chain(filling.documents_named(name).iter().copied()).collect())
    }

    /// The last of [`Intake::documents_named`]. However many there are, it is found at once.
    pub(super) fn newest_named(&self, name: &str) -> Result<Option<(u32, DocumentRecord)>> {
        let (last, filling) = (&self.last.pending, self.batch.pending());
        let added = last.documents_named(name).iter().rev().find(|&&id| !filling.deletes(id));
        let newest = match filling.documents_named(name).last().or(added) {
            Some(&newest) => Some(newest),
            None => self
                .store
                .newest_named(name, |id| last.record(id).is_none() && !last.deletes(id) && !filling.deletes(id))?,
        };
        newest.map(|id| Ok((id, self.record(id)?))).transpose()
    }

    /// The record of a document that is stored, or that this run adds.
    pub(super) fn record(&self, id: u32) -> Result<DocumentRecord> {
        let known = |pending: &PendingDocuments| pending.record(id).or_else(|| pending.update(id)).cloned();
        let pending = known(self.batch.pending()).or_else(|| known(&self.last.pending));
        pending.map_or_else(|| self.store.document(id), Ok)
    }
}
