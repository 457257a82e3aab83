//! Forget: deletes documents that containers no longer hold and, on request, documents whose files are gone.

use std::path::Path;

use super::Intake;
use crate::ingest::messages::ReadContainer;
use crate::ingest::prune::{Emptied, LastFile, Prune};
use crate::ingest::record::{origin_of, trusted_mtime};
use crate::ingest::summary::IngestSummary;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_reading::input::{About, CLOSED};
use fpdb_store::{ContainerRecord, DocumentRecord};

/// The recorded number of documents of a container whose stored documents may differ from its present ones.
const ANY_NUMBER: u64 = u64::MAX;

/// The time of a container that the next run must read again even if its file is unchanged.
const NO_TIME: (i64, u32) = (i64::MIN, 0);

impl Intake<'_> {
    /// Deletes the documents that containers no longer hold.
    pub(super) fn sweep(&mut self) -> Result<()> {
        for id in self.sweep.unmet(self.store)? {
            let record = self.store.document(id)?;
            let versions = self.known().named(&record.name)?;
            if versions.into_iter().any(|version| self.sweep.is_of_this_run(version)) {
                // Another version of a document that the container still holds.
                continue;
            }
            self.progress.removed(&record.name);
            self.summary.removed += 1;
            self.summary.list_removed(&record.name);
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

    /// Deletes the documents whose files are gone, unless the run stops.
    pub(in crate::ingest) fn prune(&mut self, prune: &Prune, stop: &StopToken) -> Result<()> {
        self.commit_all()?;
        let (mut kept, mut last, mut emptied) = (0, LastFile::default(), Emptied::default());
        for document in &prune.missing {
            if stop.is_stopped() {
                break;
            }
            let Some(record) = prune.still_missing(self.store, document.id, &mut last)? else { continue };
            if prune.may_be_unseen(document) {
                kept += 1;
                continue;
            }
            if emptied.keeps(&prune.scope, &record) {
                continue;
            }
            self.progress.pruned(&record.name);
            self.summary.pruned += 1;
            self.summary.list_removed(&record.name);
            self.batch.delete(document.id, record);
            if self.batch.is_full() {
                self.commit()?;
                self.await_commit()?;
            }
        }
        for (path, documents) in emptied.documents {
            self.fail(&path.display().to_string(), &Error::EmptyFolder { path, documents });
        }
        if kept > 0 {
            let error = Error::NotPruned { documents: kept, folder: prune.unlisted().map(Path::to_owned) };
            self.fail(&prune.unlisted().map_or("--prune".into(), |path| path.display().to_string()), &error);
        }
        for record in prune.elsewhere(self.known())? {
            self.progress.elsewhere(&record.name, record.source.as_deref().unwrap_or_default());
            self.summary.elsewhere += 1;
        }
        Ok(())
    }

    /// Counts an added document if the other one of its content was stored before, and the file of that one
    /// is gone.
    pub(super) fn note_moved(&mut self, other: u32, record: &DocumentRecord) -> Result<()> {
        if record.source.is_none() || self.known().is_added(other) {
            return Ok(());
        }
        let other = self.known().record(other)?;
        if other.source.as_deref().is_some_and(|source| self.last_file.is_missing(source)) {
            self.progress.moved(&other.name, &record.name);
            self.summary.moved += 1;
        }
        Ok(())
    }

    /// Counts the stored documents of a name as found again.
    pub(super) fn meet_all_named(&mut self, name: &str) -> Result<()> {
        if self.before.is_some() && self.sweep.follows_others() {
            for id in self.known().named(name)? {
                self.sweep.meet(id);
            }
        }
        Ok(())
    }

    /// Handles a member that globs leave out: its stored document stays, and its container counts without it.
    pub(super) fn keep_left_out(&mut self, name: &str) -> Result<()> {
        let met = self.sweep.met();
        self.meet_all_named(name)?;
        if let Some(before) = &mut self.before {
            before.met += self.sweep.met() - met;
        }
        Ok(())
    }

    /// Handles a skipped file: the documents that it held as a container stay, like one that was the file.
    pub(super) fn keep_members_of(&mut self, about: &About) -> Result<()> {
        if matches!(about.member.as_deref(), None | Some(CLOSED))
            && let (Some(source), _) = origin_of(about)
            && self.store.container(&source)?.is_some_and(|known| known.documents > 0)
        {
            self.before = None;
        }
        Ok(())
    }

    /// Handles a container that is now read as one document: its members are deleted, and it is no longer
    /// remembered as a container.
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

    /// Remembers a container. If all its members are stored unchanged, the next run need not read it.
    pub(super) fn close(&mut self, ReadContainer { name, file, whole }: ReadContainer) -> Result<()> {
        let Some(before) = self.before.take().filter(|_| whole) else { return Ok(()) };
        let IngestSummary { kept, failures, .. } = self.summary;
        if before.failures != failures {
            return Ok(());
        }
        let settings = self.options.settings(&name, &file.source);
        // The next run reads it again, because some members are not stored as they are.
        let all_stored = before.kept == kept;
        // Remembered in any case, so that the next run notices missing members.
        let modified = trusted_mtime(&file).filter(|_| all_stored).unwrap_or(NO_TIME);
        let documents = if all_stored { self.documents() - before.documents } else { ANY_NUMBER };
        let record = ContainerRecord { bytes: file.bytes, modified, documents, settings };
        let met = self.sweep.met().saturating_sub(before.met);
        let has_shrunk = match self.options.prune {
            // The caller expects deleted members to be forgotten even if the container is not remembered.
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
        self.commit_if_due()
    }
}
