//! Sweep: what a container has held before and holds no longer is deleted, once it has been read whole.

use super::intake::Intake;
use crate::error::Result;
use crate::input::FileFacts;
use crate::store::ContainerRecord;

/// A container that may have held more when it was read before.
pub(super) struct Shrunk {
    pub(super) name: String,
    /// What it is remembered by, once the documents that it no longer holds are deleted.
    pub(super) record: Option<ContainerRecord>,
}

impl Intake<'_> {
    /// Whether documents may be stored of a container that it no longer holds; it holds `met` of them.
    pub(super) fn has_shrunk(&mut self, name: &str, file: &FileFacts, met: u64) -> Result<bool> {
        let settings = self.options.settings(name);
        let had = self.store.container(&file.source)?.filter(|record| record.settings == settings);
        let had = had.map(|record| record.documents);
        // Where it was not remembered, or by a run that deletes nothing, there may be more if some was met.
        let fewer = had.map_or(met > 0, |had| met < had);
        // It can have been one document itself.
        Ok(fewer || self.documents_named(name)?.iter().any(|&id| !self.is_of_this_run(id)))
    }

    /// Whether this run has added or met a document.
    fn is_of_this_run(&self, id: u32) -> bool {
        id >= self.first || self.met.contains(id)
    }

    /// A document of an earlier run has been found again, or something that takes its place.
    pub(super) fn meet(&mut self, id: u32) {
        if id < self.first {
            self.met.insert(id);
        }
    }

    /// Deletes what containers have held before and hold no longer.
    pub(super) fn sweep(&mut self) -> Result<()> {
        let shrunk = std::mem::take(&mut self.shrunk);
        if shrunk.is_empty() {
            return Ok(());
        }
        let mut gone = Vec::new();
        self.store.for_each_document(|id, record| {
            let container = record.source.as_ref().and_then(|source| shrunk.get(source));
            if container.is_some_and(|container| record.name.starts_with(&container.name)) && !self.is_of_this_run(id) {
                gone.push(id);
            }
            Ok(true)
        })?;
        for id in gone {
            let record = self.store.document(id)?;
            let newest = self.newest_named(&record.name)?;
            if newest.is_some_and(|(newest, _)| newest != id && self.is_of_this_run(newest)) {
                // It is an older version of one that is held.
                continue;
            }
            self.progress.removed(&record.name);
            self.summary.removed += 1;
            self.batch.delete(id, record);
            if self.batch.is_full() {
                self.commit()?;
                self.await_commit()?;
            }
        }
        for (source, Shrunk { record, .. }) in shrunk {
            if let Some(record) = record {
                self.batch.container(source, record);
            }
        }
        Ok(())
    }
}
