//! Writer: the type for changing a database.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rename::{self, Renaming};
use super::{Database, SelectedDocuments, ids_named, remembered};
use crate::archive::apply::Records;
use crate::ingest::first_names::first_document_but;
use crate::ingest::{self, IngestOptions, IngestSummary};
use crate::staging::{self, Assembly};
use fpdb_apply::Removals;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::schema::{Answer, Schema, is_zero};
use fpdb_host::setters::setters;
use fpdb_host::spill::TempSpace;
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::DocId;
use fpdb_reading::input::{Document, Source, absolute_name, enclosing_database, file_name_of};
use fpdb_store::{Backup, Batch, Committer, CompactionPlan, ContainerRecord, SourceRecord, Store};

/// A database that is open for writing. It has all methods of [`Database`] and those that change the
/// database. Only one process can have a writer. Threads may share the writer, and each change waits for the
/// previous change.
///
/// [`Self::reader`] returns handles that see each commit as soon as it is made. The database closes when the
/// writer and all its readers are dropped. Then another process can open a writer.
#[derive(Debug)]
pub struct DatabaseWriter {
    database: Database,
}

/// Options of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BackupOptions {
    /// The number of newest backups to keep in the folder. Default: `None`, all.
    pub keep: Option<usize>,
    /// Does not read the whole database first, and compares the files of earlier backups by their sizes only,
    /// not by checksums. Default: `false`.
    pub quick: bool,
}

impl BackupOptions {
    setters! { keep: Option<usize>, quick: bool }
}

/// The result of a removal. Also its JSON (`fpdb.rm/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Removal {
    pub(crate) schema: Schema<Self>,
    /// Documents deleted.
    pub removed: u64,
    /// Names that no document has; of a list of documents the first 20.
    pub unknown_names: Vec<String>,
    /// Numbers that no document has.
    pub unknown_ids: Vec<DocId>,
    /// Number of documents selected by prefix or value, removed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<u64>,
    /// Prefixes and values that no document has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<String>,
    /// Documents that a report lists as removable, removed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<u64>,
    /// Reported documents that stay: they have changed, or their survivors have changed or are gone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left: u64,
    /// The names of the first 20 documents that stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_names: Vec<String>,
    /// Contents that were kept out and are let in again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readmitted: Option<u64>,
}

impl Answer for Removal {
    const SCHEMA: &'static str = "fpdb.rm/1";
}

/// Maximum number of documents that one commit removes for a report or a selection, or keeps out: their
/// records stay in memory until the commit.
pub(super) const REMOVED_AT_ONCE: usize = 100_000;

/// Maximum number of documents that stay and are listed by name.
const LEFT_NAMES: usize = 20;

/// The result of a compaction. Also its JSON (`fpdb.compact/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Compaction {
    pub(crate) schema: Schema<Self>,
    /// Bytes on disk before, without logs.
    pub before: u64,
    /// Bytes on disk after, without logs.
    pub after: u64,
}

impl Answer for Compaction {
    const SCHEMA: &'static str = "fpdb.compact/1";
}

impl Deref for DatabaseWriter {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl Database {
    /// The documents that [`DatabaseWriter::remove_reported`] would delete.
    ///
    /// # Errors
    /// As `remove_reported`.
    pub fn select_reported(&self, report: impl AsRef<Path>, task: &Task<'_>) -> Result<Vec<DocId>> {
        // A selection does not lock other changes out, and must not see them.
        Ok(reported(&self.store.as_of_last_commit(), report.as_ref(), task)?.0)
    }

    /// Counts the documents that [`DatabaseWriter::remove_reported`] would delete (`selected`), and deletes
    /// none.
    ///
    /// # Errors
    /// As `remove_reported`.
    pub fn count_reported(&self, report: impl AsRef<Path>, task: &Task<'_>) -> Result<Removal> {
        // A count does not lock other changes out, and must not see them.
        let (ids, removal) = reported(&self.store.as_of_last_commit(), report.as_ref(), task)?;
        Ok(Removal { selected: Some(ids.len() as u64), ..removal })
    }
}

/// Returns the documents that a report lists as removable and that, compared with the store, still are
/// removable. The [`Removal`] counts the others.
fn reported(store: &Store, report: &Path, task: &Task<'_>) -> Result<(Vec<DocId>, Removal)> {
    let temp = TempSpace::beside(store.root(), None)?;
    let Removals { listed, left, ids, unknown_names } = fpdb_apply::removals(&Records(store), report, &temp, task)?;
    let mut removal = Removal { reported: Some(listed), left: left.len(), unknown_names, ..Removal::default() };
    for id in left.iter().take(LEFT_NAMES) {
        removal.left_names.push(store.document(id)?.name);
    }
    Ok((ids.into_iter().map(DocId).collect(), removal))
}

impl DatabaseWriter {
    pub(super) fn of(store: Store) -> Self {
        Self { database: Database::of(store) }
    }

    /// The path of the damaged store, if opening this database finished a repair that was killed. The repair
    /// keeps the damaged store there.
    #[must_use]
    pub fn finished_repair(&self) -> Option<&Path> {
        self.store.finished_repair()
    }

    /// A reading handle that sees each commit of this writer as soon as it is made.
    #[must_use]
    pub fn reader(&self) -> Database {
        self.database.clone()
    }

    /// Deletes the database if no document was ever added and there are no other handles. Returns true if the
    /// database was deleted.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be removed.
    pub fn delete_if_empty(self) -> Result<bool> {
        match Arc::try_unwrap(self.database.store) {
            Ok(store) => store.delete_if_empty(),
            Err(_) => Ok(false),
        }
    }

    /// Adds documents from memory and stores their texts, so that passages are compared symbol by symbol. A
    /// document replaces a stored document of the same name if the two differ.
    ///
    /// # Errors
    /// The same as those of [`Self::ingest_with`].
    pub fn ingest<I>(&self, documents: I) -> Result<IngestSummary>
    where
        I: IntoIterator<Item = Document, IntoIter: Send>,
    {
        self.ingest_with(documents, &IngestOptions::default().store_text(true), &Task::new())
    }

    /// Adds the documents of `sources`, except those that are stored and unchanged. After a stop the run
    /// commits the complete documents and ends.
    ///
    /// # Errors
    /// Errors that end the run. The summary lists unreadable documents. [`Error::Stopped`] for a stop while
    /// another thread changes the database.
    pub fn ingest_sources(
        &self,
        sources: &[Source],
        options: &IngestOptions,
        task: &Task<'_>,
    ) -> Result<IngestSummary> {
        self.store.change_alone(task.token(), || ingest::ingest(&self.store, sources, options, task))
    }

    /// Like [`Self::ingest_sources`], but each group of sources in `runs` has its own options.
    ///
    /// # Errors
    /// The same as those of [`Self::ingest_sources`].
    #[doc(hidden)]
    pub fn ingest_runs(&self, runs: &[(&[Source], &IngestOptions)], task: &Task<'_>) -> Result<IngestSummary> {
        self.store.change_alone(task.token(), || ingest::ingest_runs(&self.store, runs, task))
    }

    /// Adds documents that the caller supplies, from memory or a reader, as [`Self::ingest_sources`] adds
    /// files. If several documents have the same name, the last of these counts. Unlike [`Self::ingest`], the
    /// default options store no text: see [`IngestOptions::store_text`].
    ///
    /// A thread of the ingest pulls documents from the iterator while others are processed. Small documents
    /// form groups of at most 256 documents or 128 KiB. Some sixteen groups for each thread may wait. A
    /// commit happens when a document arrives 5 seconds or 128 MiB of documents after the previous commit,
    /// when a batch is full, and when the iterator ends. No commit happens while the iterator waits. So a
    /// service that reads a queue calls this for each part of the queue (see `examples/service.rs`), and
    /// acknowledges the documents that [`Progress::committed`](crate::Progress::committed) counts. A stop
    /// drops pulled documents that are not committed. The stop takes effect between two documents, not while
    /// the iterator waits for one.
    ///
    /// # Errors
    /// The same as those of [`Self::ingest_sources`].
    pub fn ingest_with<I>(&self, documents: I, options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary>
    where
        I: IntoIterator<Item = Document, IntoIter: Send>,
    {
        self.store
            .change_alone(task.token(), || ingest::ingest_documents(&self.store, documents.into_iter(), options, task))
    }

    /// Adds the documents of `other`, which must have the same profile, without reading their texts again.
    /// The memory limits the number of documents in a commit (about 1 KiB each). After a stop there are no
    /// more commits, and the summary says `interrupted`. The same call continues the merge.
    ///
    /// # Errors
    /// [`Error::OtherProfile`]; a failure to read `other` or to write this database.
    pub fn merge(&self, other: &Database, options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary> {
        self.beside(other, task, || ingest::merge(&self.store, &other.store, options, task))
    }

    /// Adds the documents of `other`, which may have any profile, by reading their texts again. A text comes
    /// from `other` if it is stored there, else from the document's file. Copies names, metadata, times,
    /// marks of boilerplate and stored texts. Also copies the formats. A format is recognised anew if one
    /// profile is of source code and the other of text, or if the profile of `other` is of bytes. Also copies
    /// the remembered settings of paths and the list of contents that are kept out. A document whose text is
    /// gone or has changed is a failure in the summary. After a stop, the same call continues.
    ///
    /// # Errors
    /// A failure to read `other` or to write this database.
    pub fn reread(&self, other: &Database, options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary> {
        self.beside(other, task, || ingest::reread(&self.store, &other.store, options, task))
    }

    /// Changes this database, and keeps `other` unchanged meanwhile.
    fn beside<T>(&self, other: &Database, task: &Task<'_>, change: impl FnOnce() -> Result<T>) -> Result<T> {
        // The locks are always taken in the same order, so that two mutual merges do not deadlock.
        if Arc::as_ptr(&self.store) < Arc::as_ptr(&other.store) {
            return self.store.change_alone(task.token(), || {
                let _unchanged = other.store.keep_unchanged(task.token())?;
                change()
            });
        }
        // A merge with itself adds nothing.
        let others = !Arc::ptr_eq(&self.store, &other.store);
        let _unchanged = others.then(|| other.store.keep_unchanged(task.token())).transpose()?;
        self.store.change_alone(task.token(), change)
    }

    /// Adds the finished distributed build at `staging`, then removes the build. A database without documents
    /// takes over the files of the build in one commit. A database with documents adds the build's documents
    /// as [`Self::merge`] does, in several commits. The same call continues after an interruption, and
    /// removes a build that was added already.
    ///
    /// # Errors
    /// [`Error::NoBuild`], [`Error::UnfinishedBuild`], [`Error::DamagedBuild`], [`Error::IncoherentBuild`];
    /// [`Error::OtherProfile`]; [`Error::AlreadyAssembled`]; [`Error::Stopped`]; a failure to write the
    /// store.
    pub fn assemble(&self, staging: impl AsRef<Path>, task: &Task<'_>) -> Result<Assembly> {
        self.store.change_alone(task.token(), || staging::assemble(&self.store, staging.as_ref(), task))
    }

    /// Stores the options with which these files or folders are read, for [`Database::remembered`]: `walk`,
    /// `store_text`, and `read` without `limits` and `skip_quotes`. If all of these are defaults, deletes the
    /// stored options. An ingest uses no stored options by itself.
    ///
    /// # Errors
    /// A path that is not UTF-8 or cannot be made absolute; options of more than 1 MiB; a failure to write
    /// the store.
    pub fn remember<P: AsRef<Path>>(&self, sources: &[P], options: &IngestOptions) -> Result<()> {
        let settings = remembered::record(options)?;
        let record = |source: &P| {
            let path = absolute_name(source.as_ref())?;
            Ok(SourceRecord { path, settings: settings.clone() })
        };
        let records: Vec<SourceRecord> = sources.iter().map(record).collect::<Result<_>>()?;
        self.store.change_alone(&StopToken::new(), || self.store.remember_sources(&records))
    }

    /// Deletes documents by name, all versions of each, in one commit. [`Self::compact`] frees their space.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub fn remove<N: AsRef<str>>(&self, names: &[N]) -> Result<Removal> {
        self.remove_named_or_numbered(names, &[])
    }

    /// Deletes documents by number, in one commit. For a [`DedupAnswer`](crate::dedup::DedupAnswer), pass the
    /// [`remove_id`](crate::dedup::Removable::remove_id) of each removable document.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub fn remove_numbers(&self, ids: &[DocId]) -> Result<Removal> {
        self.remove_named_or_numbered::<&str>(&[], ids)
    }

    /// Deletes all versions of the documents with these names, and the documents with these numbers, in one
    /// commit. Their records stay in memory until then (about 1 KiB for each document).
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub fn remove_named_or_numbered<N: AsRef<str>>(&self, names: &[N], ids: &[DocId]) -> Result<Removal> {
        self.store.change_alone(&StopToken::new(), || {
            let (mut found, mut unknown_names) = (ids.to_vec(), Vec::new());
            for name in names {
                let ids = ids_named(&self.store, name.as_ref())?;
                if ids.is_empty() {
                    unknown_names.push(name.as_ref().to_owned());
                }
                found.extend(ids.into_iter().map(DocId));
            }
            Ok(Removal { unknown_names, ..self.remove_live(&found)? })
        })
    }

    /// Deletes the documents that [`Database::select`] selects. Each commit deletes at most 100,000
    /// documents. After an interruption, the same call deletes the others.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] without prefixes and fields, and for a prefix that every name has;
    /// [`Error::Stopped`]; a failure to read or write the store.
    pub fn remove_selected(
        &self,
        prefixes: &[String],
        fields: &[(String, String)],
        task: &Task<'_>,
    ) -> Result<Removal> {
        if prefixes.is_empty() && fields.is_empty() {
            let (name, value) = ("a selection", "empty".into());
            return Err(Error::InvalidParameter { name, value, expected: "a prefix or a field" });
        }
        self.store.change_alone(task.token(), || {
            let SelectedDocuments { ids, unmatched, .. } = self.select(prefixes, fields, task)?;
            let (removed, selected) = (self.remove_in_portions(&ids, task)?, Some(ids.len() as u64));
            Ok(Removal { removed, selected, unmatched, ..Removal::default() })
        })
    }

    /// Deletes the documents that the JSON report of a dedup lists as removable. Their files are not touched.
    /// A document is deleted only if the document and its survivor are still stored as the report says. A
    /// document also stays if its own file exists while the survivor's file is gone and the survivor's text
    /// is not stored. Documents that were deleted before count only in `reported`. Each commit deletes at
    /// most 100,000 documents. After an interruption, the same call deletes the others. A list of documents
    /// can replace the report, as for [`Database::apply`](crate::Database::apply). Listed documents need no
    /// survivor.
    ///
    /// # Errors
    /// [`Error::NotADedupReport`]; [`Error::InvalidParameter`] for a report of passages; [`Error::Io`];
    /// [`Error::Stopped`]; a failure to read or write the store.
    pub fn remove_reported(&self, report: impl AsRef<Path>, task: &Task<'_>) -> Result<Removal> {
        self.store.change_alone(task.token(), || {
            let (ids, removal) = reported(&self.store, report.as_ref(), task)?;
            Ok(Removal { removed: self.remove_in_portions(&ids, task)?, ..removal })
        })
    }

    fn remove_in_portions(&self, ids: &[DocId], task: &Task<'_>) -> Result<u64> {
        let mut removed = 0;
        for portion in ids.chunks(REMOVED_AT_ONCE) {
            task.step("documents removed", removed, ids.len() as u64)?;
            removed += self.remove_live(portion)?.removed;
        }
        Ok(removed)
    }

    /// Renames a file or a folder of documents: changes `old` and every name that lies in it, including
    /// members of archives and records. Everything is renamed in one commit, whose records are held in memory
    /// (about 1 KiB for each document).
    ///
    /// If a document's file still exists at its place, the document is read from there as before. If the file
    /// is gone and exists at the new name, the document is read from the new place from now on. An ingest of
    /// either place then finds the document again, under its new name.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`] if nothing has the old name; [`Error::NameTaken`] if another document has a
    /// new name; [`Error::InvalidParameter`] for a part of a file, and for an empty or unchanged name. After
    /// an error nothing is renamed.
    pub fn rename(&self, old: &str, new: &str) -> Result<Renaming> {
        self.store.change_alone(&StopToken::new(), || rename::rename(&self.store, old, new))
    }

    fn remove_live(&self, ids: &[DocId]) -> Result<Removal> {
        let mut batch = Batch::new(self.store.profile(), self.store.view().state().next_document, 0);
        let (mut removal, mut sources) = (Removal::default(), BTreeSet::new());
        for &id in ids {
            match self.store.document_numbered(id.0) {
                Err(Error::NoSuchNumber { .. }) => removal.unknown_ids.push(id),
                record => {
                    let record = record?;
                    // A document without a member may be a mail with attachments.
                    if let Some(source) = &record.source {
                        let name = file_name_of(&record.name, record.member.as_deref()).map(str::to_owned);
                        sources.extend(name.map(|name| (source.clone(), name)));
                    }
                    removal.removed += u64::from(!batch.pending().deletes(id.0));
                    batch.delete(id.0, record);
                }
            }
        }
        // The next ingest reads the containers of the removed documents again. Until then, the record of a
        // container keeps the number of documents before the removal, which tells removed documents from new
        // ones. The record of a container without a document left stays as it is.
        for (source, name) in sources {
            if let Some(container) = self.store.container(&source)?.filter(|container| container.documents > 0)
                && first_document_but(&self.store, &name, &source, |id| batch.pending().deletes(id))?.is_some()
            {
                let modified = ContainerRecord::unproven(container.modified);
                batch.container(source, ContainerRecord { modified, ..container });
            }
        }
        if !batch.is_empty() {
            Committer::new(&self.store).commit(&self.store, &mut batch)?;
        }
        Ok(removal)
    }

    /// The work that [`Self::compact`] would do now.
    ///
    /// # Errors
    /// Fails if the store cannot be measured.
    pub fn compaction_plan(&self) -> Result<CompactionPlan> {
        self.store.unless_gone(self.store.compaction_plan())
    }

    /// Folds all postings into one run, so that a lookup visits only one run, and frees the space of removed
    /// documents. Readers are not affected. A stopped or killed call loses some seconds of work: the next
    /// call continues, or starts again if a commit was made since.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written; [`Error::Stopped`].
    pub fn compact(&self, task: &Task<'_>) -> Result<Compaction> {
        self.store.change_alone(task.token(), || {
            let before = self.stats_without_lists()?.stored_bytes();
            self.store.compact(task)?;
            Ok(Compaction { schema: Schema::new(), before, after: self.stats_without_lists()?.stored_bytes() })
        })
    }

    /// Copies the database into `folder`, which may hold earlier backups of it. A damaged database is not
    /// copied, unless the backup is `quick`.
    ///
    /// # Errors
    /// [`Error::Damaged`] and other errors of a read for which [`Error::is_damage`] is true;
    /// [`Error::NotABackup`] if something else is in the folder, [`Error::OthersBackup`],
    /// [`Error::DamagedBackup`], [`Error::InsideDatabase`], [`Error::Stopped`].
    pub fn backup(&self, folder: impl AsRef<Path>, options: &BackupOptions, task: &Task<'_>) -> Result<Backup> {
        let folder = folder.as_ref();
        // The folder may hold backups, but must not lie inside a folder of backups.
        let within = folder.join("..");
        let around = if folder.exists() { within.as_path() } else { folder };
        if let Some(database) = enclosing_database(around, Some(self.store.root())) {
            return Err(Error::InsideDatabase { path: folder.to_owned(), database });
        }
        self.store.change_alone(task.token(), || self.store.backup(folder, options.keep, options.quick, task))
    }
}
