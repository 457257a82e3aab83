//! Forget: what containers no longer hold and, on request, what is gone from folders.

use std::path::Path;

use super::Intake;
use crate::ingest::messages::ReadContainer;
use crate::ingest::prune::Prune;
use crate::ingest::record::{origin_of, trusted_mtime};
use crate::ingest::summary::IngestSummary;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_reading::input::{About, CLOSED};
use fpdb_store::ContainerRecord;

/// The documents of a container of which others may be stored than it holds now.
const ANY_NUMBER: u64 = u64::MAX;

/// The time of a container that is read again by the next run, whatever the time of its file.
const NO_TIME: (i64, u32) = (i64::MIN, 0);

impl Intake<'_> {
    /// Deletes what containers have held before and hold no longer.
    pub(super) fn sweep(&mut self) -> Result<()> {
        for id in self.sweep.unmet(self.store)? {
            let record = self.store.document(id)?;
            let versions = self.known().named(&record.name)?;
            if versions.into_iter().any(|version| self.sweep.is_of_this_run(version)) {
                // It is another version of one that is held.
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
        for (source, record) in self.sweep.swept() {
            self.batch.container(source, record);
        }
        Ok(())
    }

    /// Deletes the documents whose files are gone, unless the run is to stop.
    pub(in crate::ingest) fn prune(&mut self, prune: &Prune, stop: &StopToken) -> Result<()> {
        self.commit()?;
        self.await_commit()?;
        for (name, error) in &prune.empty {
            self.fail(name, error);
        }
        let mut kept = 0;
        for document in &prune.missing {
            if stop.is_stopped() {
                break;
            }
            let Some(record) = prune.still_missing(self.store, document.id)? else { continue };
            if prune.may_be_unseen(document) {
                kept += 1;
                continue;
            }
            self.progress.pruned(&record.name);
            self.summary.pruned += 1;
            self.batch.delete(document.id, record);
            if self.batch.is_full() {
                self.commit()?;
                self.await_commit()?;
            }
        }
        if kept > 0 {
            let error = Error::NotPruned { documents: kept, folder: prune.unlisted().map(Path::to_owned) };
            self.fail(&prune.unlisted().map_or("--prune".into(), |path| path.display().to_string()), &error);
        }
        for record in prune.elsewhere(self.store)? {
            self.progress.elsewhere(&record.name, record.source.as_deref().unwrap_or_default());
            self.summary.elsewhere += 1;
        }
        Ok(())
    }

    /// The stored documents of a name count as found again.
    pub(super) fn meet_all_named(&mut self, name: &str) -> Result<()> {
        if self.before.is_some() && self.sweep.follows_others() {
            for id in self.known().named(name)? {
                self.sweep.meet(id);
            }
        }
        Ok(())
    }

    /// A member that globs leave out stays as it is stored, and is not counted as one that its container gives.
    pub(super) fn keep_left_out(&mut self, name: &str) -> Result<()> {
        let met = self.sweep.met();
        self.meet_all_named(name)?;
        if let Some(before) = &mut self.before {
            before.met += self.sweep.met() - met;
        }
        Ok(())
    }

    /// A container that was read is one document now, if this is one: its members are in the database no longer, and it is not known.
    pub(super) fn closed(&mut self, about: &About) -> Result<()> {
        if about.member.as_deref() != Some(CLOSED) || !self.options.deletes_members() {
            return Ok(());
        }
        if let (Some(source), _) = origin_of(about)
            && self.store.container(&source)?.is_some()
        {
            self.batch.forget_container(source.clone());
            self.sweep.add_closed(source, about.name.clone());
        }
        Ok(())
    }

    /// Remembers a container. One all of whose members are stored as they are in it need not be read again.
    pub(super) fn close(&mut self, ReadContainer { name, file, whole }: ReadContainer) -> Result<()> {
        let Some(before) = self.before.take().filter(|_| whole) else { return Ok(()) };
        let IngestSummary { kept, failures, .. } = self.summary;
        if before.failures != failures {
            return Ok(());
        }
        let settings = self.options.settings(&name, &file.source);
        // One with members that are not stored as they are in it is looked at again.
        let all_stored = before.kept == kept;
        // It is remembered in any case, so that the next run sees if it holds less.
        let modified = trusted_mtime(&file).filter(|_| all_stored).unwrap_or(NO_TIME);
        let documents = if all_stored { self.documents() - before.documents } else { ANY_NUMBER };
        let record = ContainerRecord { bytes: file.bytes, modified, documents, settings };
        let met = self.sweep.met().saturating_sub(before.met);
        let has_shrunk = match self.options.prune {
            // It counts on that what is gone is forgotten, whatever is remembered of the container.
            true => self.sweep.follows_others(),
            false => {
                self.options.deletes_members() && self.sweep.has_shrunk(self.known(), (&name, &file, settings), met)?
            }
        };
        if has_shrunk {
            self.sweep.add(file.source.clone(), name, record);
        } else {
            self.batch.container(file.source.clone(), record);
        }
        self.commit_if_full()
    }
}
