//! Forget: deletes documents that containers no longer hold and, on request, documents whose files are gone.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Intake, RunCounts};
use crate::ingest::known::stored;
use crate::ingest::messages::ReadContainer;
use crate::ingest::options::{OnChange, ReadOutcome};
use crate::ingest::place_names::PlaceNames;
use crate::ingest::prune::{Emptied, LastFile, Prune};
use crate::ingest::record::{is_empty_file, origin_of, trusted_mtime};
use crate::ingest::summary::IngestSummary;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Outcome;
use fpdb_host::skip_reason::SkipReason;
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::Format;
use fpdb_reading::input::{About, CLOSED};
use fpdb_store::{ContainerRecord, DocumentRecord, Store};

/// Maximum number of documents that an error names, and maximum bytes of these names. The first name may be
/// longer.
const NAMED_DOCUMENTS: usize = 10;
const NAMED_BYTES: usize = 4 << 10;

impl Intake<'_> {
    /// Deletes the documents that containers no longer hold.
    pub(super) fn sweep(&mut self) -> Result<()> {
        for id in self.sweep.left(self.store) {
            let record = self.store.document(id)?;
            if self.is_still_held(&record)? {
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

    /// True if the container of this document still holds another version of it. A container of the same name
    /// elsewhere does not count.
    fn is_still_held(&self, record: &DocumentRecord) -> Result<bool> {
        for version in self.known().named(&record.name)? {
            if self.sweep.is_of_this_run(version) && self.known().record(version)?.source == record.source {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Deletes the documents whose files are gone, unless the run stops.
    pub(in crate::ingest) fn prune(&mut self, prune: &Prune, stop: &StopToken) -> Result<()> {
        self.commit_all()?;
        let (mut kept, mut last, mut emptied) = (0, LastFile::default(), Emptied::default());
        let mut gone_sources: BTreeMap<&str, PlaceNames> = BTreeMap::new();
        for document in &prune.missing {
            if stop.is_stopped() {
                break;
            }
            // A dry run has not stored the new place of a document that it found.
            if self.options.dry_run && self.sweep.is_of_this_run(document.id) {
                continue;
            }
            let Some(record) = prune.still_missing(self.store, document.id, &mut last)? else { continue };
            if prune.may_be_unseen(document) {
                kept += 1;
                continue;
            }
            if emptied.keeps(&prune.scopes, &record) {
                continue;
            }
            if let Some(source) = prune.gone_source(&record) {
                gone_sources.entry(source).or_default().add(&record.name);
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
        for (path, names) in emptied.documents {
            let (documents, names) = (names.number, names.there(self.store)?);
            self.fail(&path.display().to_string(), &Error::EmptyFolder { path, documents, names });
        }
        for (source, names) in gone_sources {
            let (documents, names) = (names.number, names.there(self.store)?);
            self.fail(source, &Error::GoneSource { path: source.into(), documents, names });
        }
        if kept > 0 {
            let error = Error::NotPruned { documents: kept, folder: prune.unlisted().map(Path::to_owned) };
            self.fail(&prune.unlisted().map_or("--prune".into(), |path| path.display().to_string()), &error);
        }
        let is_met = |id| self.options.dry_run && self.sweep.is_of_this_run(id);
        for record in prune.elsewhere(self.known(), is_met)? {
            self.progress.elsewhere(&record.name, record.source.as_deref().unwrap_or_default());
            self.summary.elsewhere += 1;
        }
        Ok(())
    }

    /// Counts an added document as moved if an earlier run stored `other`, a document of the same content,
    /// and the file of `other` is gone.
    pub(super) fn note_moved(&mut self, other: u32, record: &DocumentRecord) -> Result<()> {
        // If several added documents have one content, the later ones count as moved from the same document
        // as the first.
        let first = self.moved.get(&record.digest).copied();
        if record.source.is_none() || first.is_none() && self.known().is_added(other) {
            return Ok(());
        }
        let id = first.unwrap_or(other);
        // The run may have deleted the document since.
        let Some(other) = stored(self.store, id)? else { return Ok(()) };
        if other.source.as_deref().is_some_and(|source| self.last_file.is_missing(source)) {
            self.progress.moved(&other.name, &record.name);
            self.summary.moved += 1;
            self.moved.insert(record.digest, id);
        }
        Ok(())
    }

    /// The counts of the run so far.
    pub(super) fn counts(&self) -> RunCounts {
        let IngestSummary { kept, failures, skips, kept_out, left_out, .. } = self.summary;
        let Self { passing_failures, stale_versions, .. } = *self;
        let documents = self.documents();
        RunCounts { documents, kept, failures, skips, left_out, kept_out, passing_failures, stale_versions }
    }

    /// Handles a file or member that globs leave out. Its stored documents stay.
    pub(super) fn leave_out(&mut self, name: &str) -> Result<()> {
        self.summary.left_out += 1;
        self.meet_all_named(name)
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

    /// Handles a skipped file. Its stored documents stay: the document that the file was, or the members that
    /// the file held as a container.
    pub(super) fn keep_members_of(&mut self, about: &About) -> Result<()> {
        if self.before.is_some()
            && matches!(about.member.as_deref(), None | Some(CLOSED))
            && let (Some(source), _) = origin_of(about)
            && !self.sweep.unmet(self.store, &about.name, &source)?.is_empty()
        {
            self.before = None;
        }
        Ok(())
    }

    /// Marks, in the batch, the container that is being read. Until it was read whole, the stored documents
    /// may match no version of its file. So the next run must read the container again.
    pub(super) fn mark_unread(&mut self) {
        if let Some(source) = self.unread.as_ref().filter(|_| !self.batch.is_empty()) {
            self.batch.container(source.clone(), ContainerRecord::UNREAD);
        }
    }

    /// Marks the container at this path as read only in part, if the database `other` marks it so.
    pub(in crate::ingest) fn take_over_mark(&mut self, other: &Store, source: Option<&str>) -> Result<()> {
        if let Some(source) = source
            && other.is_unread(source)?
        {
            self.batch.container(source.to_owned(), ContainerRecord::UNREAD);
        }
        Ok(())
    }

    /// The record of a mail file. The next run reads the file again if that run keeps other headers. `None`
    /// if no headers are kept, and for other documents.
    pub(super) fn remembered_mail(&self, record: &DocumentRecord) -> Option<(String, ContainerRecord)> {
        let DocumentRecord { name, source: Some(source), modified: Some(modified), .. } = record else { return None };
        let read = &self.options.read;
        let is_mail_file = record.format == Format::Mail.name() && record.member.is_none();
        if !is_mail_file || read.fields.keep.is_empty() || read.reads_attachments() {
            return None;
        }
        let settings = self.options.settings(name, source, ReadOutcome::default());
        Some((
            source.clone(),
            ContainerRecord { bytes: record.bytes, modified: *modified, documents: 1, settings, left: Vec::new() },
        ))
    }

    /// Replaces the stored documents of a name by a document with another content, and returns the id of the
    /// new document. `newest` is the newest of them.
    pub(super) fn replace(
        &mut self,
        mut record: DocumentRecord,
        newest: &DocumentRecord,
        is_repeated: bool,
    ) -> Result<u32> {
        if let (Some(old), Some(new)) = (&newest.source, &record.source)
            && old != new
        {
            self.progress.replaced_from(&record.name, old, new);
            self.summary.replaced_from_other_places += 1;
        }
        let is_of_this_file = newest.source == record.source;
        for id in self.known().named(&record.name)? {
            let old = self.known().record(id)?;
            if is_of_this_file && old.source.is_some() && old.source != record.source {
                continue;
            }
            self.sweep.meet(id);
            record.boilerplate |= old.boilerplate;
            self.batch.delete(id, old);
        }
        let name = record.name.clone();
        let id = self.add(record, Outcome::Replaced)?;
        if is_repeated {
            // The earlier part counts as the document, and this one does not count again.
            self.summary.replaced -= 1;
            self.skip(name, SkipReason::SameName);
        }
        Ok(id)
    }

    /// True if two parts of one file that this run has read have the same name, and only one of them stays.
    pub(super) fn is_repeated(&self, other: u32, stored: &DocumentRecord, record: &DocumentRecord) -> bool {
        let is_same_file = record.source.is_some() && stored.source == record.source;
        is_same_file && self.options.on_change != OnChange::Both && self.sweep.is_of_this_run(other)
    }

    /// If a file that held text is empty now, keeps its stored document, and returns true. As with
    /// [containers](Self::close), `prune` confirms that this is meant.
    pub(super) fn keep_emptied(&mut self, record: &DocumentRecord) -> Result<bool> {
        if !is_empty_file(record) || record.member.is_some() || self.options.prune || !self.replaces() {
            return Ok(false);
        }
        match self.known().newest_like(&record.name, record.source.as_deref())? {
            Some((id, stored)) if stored.bytes > 0 && stored.source == record.source => {
                self.sweep.meet(id);
                self.abandon()?;
                self.fail(&record.name, &Error::EmptyFile { documents: 1 });
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Counts a new document that has the content of the document `other`.
    pub(super) fn count_identical(&mut self, other: u32, record: &DocumentRecord) -> Result<()> {
        let is_of_container = record.source.is_some() && self.known().record(other)?.source == record.source;
        if is_of_container && !self.sweep.is_of_this_run(other) {
            self.alike_in_containers.insert(other);
        } else {
            self.summary.identical += 1;
        }
        Ok(())
    }

    /// The number of documents in `alike_in_containers` that are still stored. The others have moved: an
    /// earlier part of their container has left it, and all numbers of later parts have changed.
    pub(super) fn stayed_in_containers(&self) -> u64 {
        let is_deleted = |id| self.known().is_deleted(id) || self.deleted_in_dry_run.contains(id);
        let stays = |&id: &u32| self.store.view().is_live(id) && !is_deleted(id);
        self.alike_in_containers.iter().filter(stays).count() as u64
    }

    /// Handles the stored versions of a document whose new version is kept out. Deletes the versions that the
    /// new version would have replaced; the others stay. In both cases the sweep must not delete them.
    pub(super) fn drop_versions_before(&mut self, kept_out: &DocumentRecord) -> Result<()> {
        for id in self.known().named(&kept_out.name)? {
            let old = self.known().record(id)?;
            if old.source != kept_out.source {
                continue;
            }
            self.sweep.meet(id);
            if self.replaces() {
                self.progress.removed(&old.name);
                self.summary.removed += 1;
                self.summary.list_removed(&old.name);
                self.batch.delete(id, old);
            } else {
                self.stale_versions += 1;
            }
        }
        Ok(())
    }

    /// Remembers a container. If all its members are stored unchanged, or failed for good, the next run need
    /// not read it.
    pub(super) fn close(&mut self, ReadContainer { name, file, whole }: ReadContainer) -> Result<()> {
        let Some(before) = self.before.take() else { return Ok(()) };
        let now = self.counts();
        let has_failed = before.failures != now.failures;
        if before.passing_failures != now.passing_failures || !(whole || has_failed) {
            return Ok(());
        }
        self.unread = None;
        let members = |counts: &RunCounts| counts.documents + counts.skips + counts.left_out;
        let is_empty = members(&before) == members(&now) && !self.options.prune;
        let deletes = self.options.deletes_members();
        let mut not_read = None;
        let mut unmet = if deletes { self.sweep.unmet(self.store, &name, &file.source)? } else { Vec::new() };
        if has_failed && !unmet.is_empty() {
            // The documents of parts that failed stay. The failures are reported, so these documents need no
            // further message.
            let mut gone = Vec::new();
            for id in std::mem::take(&mut unmet) {
                let stored = self.store.document(id)?.name;
                gone.extend(Some((id, stored)).filter(|(_, stored)| !self.noted.may_have_failed(stored)));
            }
            if whole {
                // All bytes of the container were read, and no other part can hold these documents.
                unmet.extend(gone.into_iter().map(|(id, _)| id));
            } else if !gone.is_empty() {
                let documents = gone.len() as u64;
                let mut names: Vec<String> = Vec::new();
                for (_, stored) in gone.into_iter().take(NAMED_DOCUMENTS) {
                    let bytes = names.iter().chain([&stored]).map(String::len).sum::<usize>();
                    if !names.is_empty() && bytes > NAMED_BYTES {
                        break;
                    }
                    names.push(stored);
                }
                not_read = Some(Error::NotReadWhole { documents, names });
            }
        }
        if is_empty && !unmet.is_empty() {
            // An empty or unreadable file rarely means that its documents shall be deleted. The file is not
            // remembered, so the next run fails again.
            let error = Error::EmptyFile { documents: unmet.len() as u64 };
            self.fail(&name, &error);
            return self.commit_if_due();
        }
        let kept_out = self.kept_out.digest().filter(|_| before.kept_out != now.kept_out);
        let settings = self.options.settings(&name, &file.source, ReadOutcome { has_failed, kept_out });
        // The next run reads the container again if some members are not stored as they are now.
        let are_current = before.kept == now.kept && before.stale_versions == now.stale_versions;
        let unproven = file.modified.map(|modified| (modified.seconds, modified.nanoseconds));
        let modified = match trusted_mtime(&file).or(unproven.map(ContainerRecord::unproven)) {
            Some(modified) if are_current => modified,
            _ => ContainerRecord::UNREAD.modified,
        };
        let documents = now.documents - before.documents;
        let mut noted = std::mem::take(&mut self.noted);
        if let Some(error) = not_read {
            self.fail(&name, &error);
            noted.note_container(&name, error.chain());
        }
        let left = noted.of(&name);
        let record = ContainerRecord { bytes: file.bytes, modified, documents, settings, left };
        if unmet.is_empty() {
            self.batch.container(file.source.clone(), record);
        } else {
            self.sweep.add(unmet, file.source.clone(), record);
        }
        self.commit_if_due()
    }
}
