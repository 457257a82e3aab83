//! Known: the documents of the database as they will be once this run's batches are committed: the stored ones, those of the
//! batch that is being committed, and those of the batch that fills.

use super::intake::Intake;
use crate::error::Result;
use crate::store::{DocumentRecord, Settled};

impl Intake<'_> {
    /// The documents of a name, in order of arrival: stored ones, those of the last batch, those of this one.
    pub(super) fn documents_named(&self, name: &str) -> Result<Vec<u32>> {
        let (last, settled) = (&self.last.settled, self.batch.settled());
        // Those of the last batch are stored too by now, or not.
        let stored = self.store.documents_named(name)?.into_iter();
        let stored = stored.filter(|&id| last.record(id).is_none() && !last.deletes(id));
        let added = last.documents_named(name).iter().copied();
        let added = stored.chain(added).filter(|&id| !settled.deletes(id));
        Ok(added.chain(settled.documents_named(name).iter().copied()).collect())
    }

    /// The last of [`Intake::documents_named`]. However many there are, it is found at once.
    pub(super) fn newest_named(&self, name: &str) -> Result<Option<(u32, DocumentRecord)>> {
        let (last, settled) = (&self.last.settled, self.batch.settled());
        let added = last.documents_named(name).iter().rev().find(|&&id| !settled.deletes(id));
        let newest = match settled.documents_named(name).last().or(added) {
            Some(&newest) => Some(newest),
            None => self
                .store
                .newest_named(name, |id| last.record(id).is_none() && !last.deletes(id) && !settled.deletes(id))?,
        };
        newest.map(|id| Ok((id, self.record(id)?))).transpose()
    }

    /// The record of a document that is stored, or was settled in this run.
    pub(super) fn record(&self, id: u32) -> Result<DocumentRecord> {
        let known = |settled: &Settled| settled.record(id).or_else(|| settled.update(id)).cloned();
        let settled = known(self.batch.settled()).or_else(|| known(&self.last.settled));
        settled.map_or_else(|| self.store.document(id), Ok)
    }
}
