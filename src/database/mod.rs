//! Database: the type for reading a database.

mod builder;
mod dry_run;
mod facts;
pub(crate) mod hash_counts;
mod kept_out;
mod measuring;
mod pairing;
mod query_batch;
mod query_below;
mod querying;
pub(crate) mod remembered;
mod rename;
mod selected;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use self::builder::DatabaseBuilder;
pub use self::facts::{CacheUse, DatabaseStats, DocumentInfo, KeptOut, RememberedSource, StoredPart};
pub use self::rename::Renaming;
pub use self::selected::SelectedDocuments;
pub use self::writer::{BackupOptions, Compaction, DatabaseWriter, Removal};
use crate::archive::apply::{Applied, ApplyOptions, ApplySummary, Lost, ProofOptions, ProofSummary, Records};
use crate::archive::dedup::{self, DedupAnswer, DedupOptions, DedupPlan, DedupRow, DedupSummary};
use crate::archive::repeats::{self, RepeatOptions, RepeatRow, RepeatSummary};
use crate::ingest::first_names::name_of_file;
use crate::nearest_name;
use crate::query::{self, DocumentText, TextSequence, UnitCache};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;
use fpdb_reading::input::{InputLimits, absolute_name, tidied};
use fpdb_store::{Store, Verification};

/// A database that is open for reading. Clones are cheap, and threads may share one.
///
/// A handle from [`Self::open`] shows the last commit before the call. [`Self::refreshed`] returns a handle
/// on the newest commit. A handle from [`DatabaseWriter::reader`] shows each commit as it is made.
///
/// Full scans exclude changes through the same writer: a scan waits for a change, and a change for a scan.
/// Full scans are [`Self::pairs`], [`Self::dedup`], [`Self::plan_dedup`], [`Self::for_each_repeat`],
/// [`Self::verify`] and [`Self::stats_with_hashes`]. Other processes and other handles are not affected, so
/// open the database again to scan during a long ingest. A call inside work that the call must wait for, such
/// as a removal inside a visitor, returns [`Error::WaitsForItself`]. Collect the documents instead, and
/// remove them after the scan.
///
/// ```
/// use fpdb::{Database, IngestOptions, Profile, QueryOptions, QuerySource, Source, Task};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let (stored, suspect) = (folder.join("stored.txt"), folder.join("suspect.txt"));
/// std::fs::write(&stored, "When in the Course of human events, it becomes necessary for one people")?;
/// std::fs::write(&suspect, "They wrote: in the course of human events it becomes necessary to copy")?;
///
/// let profile = Profile::named("prose").ok_or("no such profile")?;
/// let database = Database::create(folder.join("db"), &profile)?;
/// database.ingest_sources(&[Source::Path(stored)], &IngestOptions::default(), &Task::new())?;
///
/// let answers = database.query_each(&[QuerySource::File(suspect)], &QueryOptions::default(), &Task::new())?;
/// let best = &answers[0].as_ref().map_err(|error| error.to_string())?.matches[0];
/// assert!(best.document.ends_with("stored.txt"));
/// assert!(!best.passages.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Database {
    store: Arc<Store>,
    units: Arc<UnitCache>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("path", &self.store.root())
            .field("profile", self.profile())
            .finish_non_exhaustive()
    }
}

/// The documents with this name. If there are none, `name` counts as a path: the result is the documents with
/// the name that an ingest gives to this path.
fn ids_named(store: &Store, name: &str) -> Result<Vec<u32>> {
    let ids = store.documents_named(name)?;
    match tidied(name) {
        Some(tidied) if ids.is_empty() => store.documents_named(&tidied),
        _ => Ok(ids),
    }
}

/// Passes each row of `tell` to `visit`. The two have different error types. So after an error of `visit`,
/// `tell` ends with [`Error::Stopped`], and the error of `visit` is returned.
fn visiting<R, T, E: From<Error>>(
    mut visit: impl FnMut(R) -> std::result::Result<(), E>,
    tell: impl FnOnce(&mut dyn FnMut(R) -> Result<()>) -> Result<T>,
) -> std::result::Result<T, E> {
    let mut failed = None;
    let told = tell(&mut |row| {
        visit(row).map_err(|error| {
            failed = Some(error);
            Error::Stopped
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(told?),
    }
}

impl Database {
    fn of(store: Store) -> Self {
        Self { store: Arc::new(store), units: Arc::default() }
    }

    /// The folder of the database, as the caller gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.store.root()
    }

    /// The settings fixed when the database was created.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        self.store.profile()
    }

    /// Runs `work` on the threads of this database.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        self.store.unless_gone(self.store.pool().run(work))
    }

    /// Finds removable documents, each with the survivor that justifies it. Deletes nothing. The answer is
    /// held in memory: for large archives use [`Database::for_each_removable`].
    ///
    /// # Errors
    /// The same as those of [`Database::for_each_removable`].
    pub fn dedup(&self, options: &DedupOptions, task: &Task<'_>) -> Result<DedupAnswer> {
        let mut answer = DedupAnswer::default();
        answer.summary = self.for_each_removable(options, task, |row| {
            match row {
                DedupRow::Removable(row) => answer.removable.push(row),
                DedupRow::Undecided(row) => answer.undecided.push(row),
                DedupRow::Superseded(row) => answer.superseded.push(row),
            }
            Ok::<(), Error>(())
        })?;
        Ok(answer)
    }

    /// Calls `visit` with each removable document, then with each undecided one, then with each superseded
    /// one, in order of ingestion. Deletes nothing. Uses temporary files and no more memory than the database
    /// may use, for any size of the archive. A call with the same options continues a stopped job.
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::TooLittleMemory`]; [`Error::JobInUse`]; [`Error::InvalidParameter`]; the
    /// error of `visit`; a failure to read the store or to write temporary files.
    pub fn for_each_removable<E: From<Error>>(
        &self,
        options: &DedupOptions,
        task: &Task<'_>,
        visit: impl FnMut(DedupRow) -> std::result::Result<(), E>,
    ) -> std::result::Result<DedupSummary, E> {
        let _unchanged = self.store.keep_unchanged(task.token())?;
        let decided = self.run(|| dedup::decide(&self.store, options, task))?;
        visiting(visit, |visit| decided.for_each(&self.store, visit))
    }

    /// Finds the passages of at least [`RepeatOptions::min_length`] symbols that repeat, symbol by symbol,
    /// text of an earlier document or earlier text of the same document. Calls `visit` with each passage, and
    /// with each document whose text is unavailable, in order of document and place. Changes nothing. Uses
    /// temporary files and no more memory than the database may use.
    ///
    /// # Errors
    /// [`Error::PassageLength`] for a length out of range; [`Error::TooLittleMemory`]; [`Error::Stopped`];
    /// the error of `visit`; a failure to read the store or to write temporary files.
    pub fn for_each_repeat<E: From<Error>>(
        &self,
        options: &RepeatOptions,
        task: &Task<'_>,
        visit: impl FnMut(RepeatRow) -> std::result::Result<(), E>,
    ) -> std::result::Result<RepeatSummary, E> {
        let _unchanged = self.store.keep_unchanged(task.token())?;
        let search = repeats::RepeatSearch::new(&self.store, options)?;
        let found = self.run(|| search.find(task))?;
        visiting(visit, |visit| search.for_each(found, task, visit))
    }

    /// Acts on the JSON report of a dedup, or reports the actions of a dry run. Calls `visit` with each file
    /// concerned. First compares removable documents and survivors with the database: skips files that have
    /// changed, and documents whose survivors have changed. Does not change the database. The same call
    /// continues a stopped or killed run, because a log holds the finished actions.
    ///
    /// To copy or to mark, a list of documents can replace the report; listed documents have no survivors. A
    /// list is JSON lines `{"document": NAME}`, the JSON of stored documents, or the JSON of queries, which
    /// lists their matches. [`ApplyOptions::lists`] adds lists to a report.
    ///
    /// [`DedupAnswer::write_report`] makes a report of an answer in memory:
    ///
    /// ```
    /// # use fpdb::apply::{Action, ApplyOptions};
    /// # use fpdb::dedup::{DedupBy, DedupOptions};
    /// # use fpdb::{Database, Profile, Source, Task};
    /// # fn main() -> fpdb::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path();
    /// # std::fs::create_dir(folder.join("letters")).unwrap();
    /// # for name in ["a.txt", "copy.txt"] { std::fs::write(folder.join("letters").join(name), "My dear friend").unwrap(); }
    /// let db = Database::create(folder.join("letters.db"), Profile::PROSE)?;
    /// db.ingest_sources(&[Source::Path(folder.join("letters"))], &Default::default(), &Task::new())?;
    /// let answer = db.dedup(&DedupOptions::of(&Profile::PROSE, DedupBy::Exact), &Task::new())?;
    /// let report = folder.join("report.jsonl");
    /// answer.write_report(&report)?;
    /// let options = ApplyOptions::new(Action::Remove).act(true);
    /// let summary = db.apply(&report, &options, &Task::new(), |_| Ok::<(), fpdb::Error>(()))?;
    /// assert_eq!(summary.applied, 1);
    /// # assert!(folder.join("letters/a.txt").exists() != folder.join("letters/copy.txt").exists());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotADedupReport`]; [`Error::UnsuitedReport`] if the report lists entries that the action
    /// cannot use; [`Error::InsideDatabase`] for a target folder inside a database; [`Error::PlaceTaken`] if
    /// other files are where copies would go; [`Error::Stopped`]; [`Error::JobInUse`];
    /// [`Error::DocumentsInUse`]; the error of `visit`; a full disk. The error of a single file is passed to
    /// `visit` and counted.
    pub fn apply<E: From<Error>>(
        &self,
        report: &Path,
        options: &ApplyOptions,
        task: &Task<'_>,
        visit: impl FnMut(Applied) -> std::result::Result<(), E>,
    ) -> std::result::Result<ApplySummary, E> {
        let store = self.store.as_of_last_commit();
        visiting(visit, |visit| fpdb_apply::apply(&Records(&store), report, options, task, visit))
    }

    /// True if [`apply`](Self::apply) has copied files of this database to this folder, as the log beside the
    /// folder says. An ingest of the folder would add the copies as duplicates.
    ///
    /// # Errors
    /// [`Error::Io`] if the log cannot be read; [`Error::Damaged`].
    pub fn is_copy(&self, folder: &Path) -> Result<bool> {
        fpdb_apply::is_copy(folder, &self.store.identity()?)
    }

    /// Reads the survivors of a dedup report again, in their places or in a copy. Calls `visit` with each
    /// removable document whose content and survivor are both missing.
    ///
    /// # Errors
    /// [`Error::NotADedupReport`]; [`Error::UnsuitedReport`] for passages and lists; [`Error::Io`];
    /// [`Error::Stopped`]; the error of `visit`. An unreadable file is no error: its documents are missing.
    pub fn prove_applied<E: From<Error>>(
        &self,
        report: &Path,
        options: &ProofOptions,
        task: &Task<'_>,
        visit: impl FnMut(Lost) -> std::result::Result<(), E>,
    ) -> std::result::Result<ProofSummary, E> {
        let store = self.store.as_of_last_commit();
        visiting(visit, |visit| fpdb_apply::prove(&Records(&store), report, options, task, visit))
    }

    /// Estimates the cost of a dedup with these options: passes over the postings, memory and disk. Decides
    /// nothing.
    ///
    /// # Errors
    /// Those of [`Database::for_each_removable`], except [`Error::TooLittleMemory`].
    pub fn plan_dedup(&self, options: &DedupOptions) -> Result<DedupPlan> {
        let _unchanged = self.store.keep_unchanged(&StopToken::new())?;
        self.run(|| dedup::plan(&self.store, options))
    }

    /// Calls `visit` with each document, in order of number.
    ///
    /// # Errors
    /// Returns the error of `visit`, and fails if the store cannot be read.
    pub fn for_each_document<E: From<Error>>(
        &self,
        mut visit: impl FnMut(DocumentInfo) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut outcome = Ok(());
        self.store.for_each_document(|id, record| {
            outcome = visit(DocumentInfo::new(id, record));
            Ok(outcome.is_ok())
        })?;
        outcome
    }

    /// At most `most` documents from this number on, in order of number. To page through all documents,
    /// continue after the last number until a page is empty.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn documents_from(&self, first: DocId, most: usize) -> Result<Vec<DocumentInfo>> {
        let mut page = Vec::new();
        self.store.for_each_document_from(first.0, |id, record| {
            if page.len() < most {
                page.push(DocumentInfo::new(id, record));
            }
            Ok(page.len() < most)
        })?;
        Ok(page)
    }

    /// The document with this number.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`]; a failure to read its record.
    pub fn document(&self, id: DocId) -> Result<DocumentInfo> {
        Ok(DocumentInfo::new(id.0, self.store.document_numbered(id.0)?))
    }

    /// The stored name, or the beginning of one, that is most similar to `typed`, a name that no document
    /// has. `None` if none is similar. If documents lie below `typed`, the result is this folder with `/` at
    /// its end, or this archive with `!`. A folder or archive that begins with `typed` is nearer than a name
    /// that ends with `typed`. Both are nearer than a name that only resembles `typed`. Compares 100,000
    /// names at most.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn nearest_name(&self, typed: &str) -> Result<Option<String>> {
        let store = self.store.as_of_last_commit();
        self.store.unless_gone(nearest_name::nearest_name(&store, typed, &StopToken::new()))
    }

    /// The documents with a name, oldest first. There are several if versions are kept. Another spelling of
    /// the path, such as `./a.txt`, finds the same documents.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`] if there is none. [`Self::nearest_name`] finds the most similar name.
    pub fn documents_named(&self, name: &str) -> Result<Vec<DocumentInfo>> {
        let store = self.store.as_of_last_commit();
        let document = |id| Ok(DocumentInfo::new(id, store.document(id)?));
        let documents = ids_named(&store, name)?.into_iter().map(document).collect::<Result<Vec<_>>>()?;
        match documents.is_empty() {
            true => Err(Error::NoSuchDocument { name: name.to_owned(), nearest: None }),
            false => Ok(documents),
        }
    }

    /// The name of the document that was read from the file at `path`, whatever folder its ingest ran in. For
    /// a container of documents, the name of the container.
    ///
    /// # Errors
    /// A path that is not UTF-8; a failure to read the store.
    pub fn name_of_file(&self, path: impl AsRef<Path>) -> Result<Option<String>> {
        name_of_file(&self.store.as_of_last_commit(), &absolute_name(path.as_ref())?)
    }

    /// The newest document with a name: the last of [`Self::documents_named`]. Reads only its record.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`] if there is none; a failure to read the store.
    pub fn newest_named(&self, name: &str) -> Result<DocumentInfo> {
        let store = self.store.as_of_last_commit();
        let newest = |name: &str| store.newest_named(name, |_| true);
        let id = match (newest(name)?, tidied(name)) {
            (None, Some(tidied)) => newest(&tidied)?,
            (found, _) => found,
        };
        let id = id.ok_or_else(|| Error::NoSuchDocument { name: name.to_owned(), nearest: None })?;
        Ok(DocumentInfo::new(id, store.document(id)?))
    }

    /// The text of a document to which the offsets of its passages refer. The text comes from the database,
    /// or is read again from its file and verified by its digest. `None` if the text is gone or has changed.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`]; a failure to read the store.
    pub fn text_of(&self, document: DocId) -> Result<Option<DocumentText>> {
        self.text_within(document, &InputLimits::default())
    }

    /// Like [`Database::text_of`], with other limits. A document that was ingested with larger limits than
    /// the defaults needs these limits again.
    ///
    /// # Errors
    /// The same as those of [`Database::text_of`].
    pub fn text_within(&self, document: DocId, limits: &InputLimits) -> Result<Option<DocumentText>> {
        query::text_of(&self.store, document.0, limits.clone())
    }

    /// Reads the texts of many documents in this order.
    pub(crate) fn texts_in_order(&self, documents: &[DocId], limits: &InputLimits) -> TextSequence<'_> {
        TextSequence::new(&self.store, documents.iter().map(|id| id.0).collect(), limits.clone())
    }

    /// The names of the other documents with the same bytes.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn identical_to(&self, document: &DocumentInfo) -> Result<Vec<String>> {
        self.first_identical_to(document, usize::MAX)
    }

    /// The names of the first `most` other documents with the same bytes, in order of arrival. Reads only
    /// their records.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn first_identical_to(&self, document: &DocumentInfo, most: usize) -> Result<Vec<String>> {
        let store = self.store.as_of_last_commit();
        // The document itself may be one of them.
        let ids = store.first_documents_with(&document.digest, most.saturating_add(1))?;
        let others = ids.into_iter().filter(|&id| id != document.id.0);
        others.take(most).map(|id| Ok(store.document(id)?.name)).collect()
    }

    /// A handle on the last commit. `None` if this handle already shows the last commit. This handle and its
    /// clones keep showing their commit.
    ///
    /// A service whose writer is another process calls this before each request or at intervals, and replaces
    /// its handle. Without a new commit the call reads one short file, in about 10 microseconds. With a new
    /// commit the call opens the database again with the settings of this handle, in about 20 milliseconds
    /// for a small database. The new handle has a new cache. A handle from [`DatabaseWriter::reader`] needs
    /// no refresh.
    ///
    /// ```
    /// use fpdb::{Database, Document, IngestOptions, Profile, Task};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("db");
    /// let writer = Database::create(&path, &Profile::named("prose").ok_or("no such profile")?)?;
    /// let mut reader = Database::open(&path)?;
    /// writer.ingest_with([Document::new("a", "a text")], &IngestOptions::default(), &Task::new())?;
    /// assert_eq!(reader.stats()?.documents, 0);
    /// if let Some(newer) = reader.refreshed()? {
    ///     reader = newer;
    /// }
    /// assert_eq!(reader.stats()?.documents, 1);
    /// assert!(reader.refreshed()?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Self::open`]. If this database was replaced by another one at the same path, the new
    /// handle shows the other database.
    pub fn refreshed(&self) -> Result<Option<Self>> {
        Ok(self.store.newer()?.map(Self::of))
    }

    /// The identifier of the commit that this handle shows. No other commit has it, in any database.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn commit_id(&self) -> Result<String> {
        Ok(format!("{}/{}", self.store.identity()?, self.store.view().state().commits))
    }

    /// The numbers of the boilerplate documents, ascending.
    #[doc(hidden)]
    pub fn boilerplate(&self) -> Vec<DocId> {
        let view = self.store.view();
        let ids = if view.boilerplate_count() > 0 { 0..view.state().next_document } else { 0..0 };
        ids.filter(|&id| view.is_boilerplate(id)).map(DocId).collect()
    }

    /// The options that are [remembered](DatabaseWriter::remember) for a file or folder: the fields of
    /// [`IngestOptions`] that differ from the defaults. Empty if no field differs. [`options_from_json`] adds
    /// them to the other options of an ingest, and refuses fields that this version does not know.
    ///
    /// # Errors
    /// A path that is not UTF-8 or cannot be made absolute; a failure to read the store.
    ///
    /// [`IngestOptions`]: crate::IngestOptions
    /// [`options_from_json`]: crate::options_from_json
    pub fn remembered(&self, source: impl AsRef<Path>) -> Result<Map<String, Value>> {
        let record = self.store.source(&absolute_name(source.as_ref())?)?;
        Ok(record.map_or_else(Map::new, |record| remembered::options(&record.settings)))
    }

    /// All files and folders with [remembered](DatabaseWriter::remember) options, by path.
    ///
    /// # Errors
    /// A failure to read the store.
    pub fn remembered_sources(&self) -> Result<Vec<RememberedSource>> {
        Ok(self.store.sources()?.into_iter().map(RememberedSource::of).collect())
    }

    /// Checks all postings, positions, documents, names and counts against each other and against the
    /// checksums of the engine.
    ///
    /// # Errors
    /// Fails if the check is impossible; [`Error::Stopped`]. Damage is not an error: the result lists it.
    pub fn verify(&self, task: &Task<'_>) -> Result<Verification> {
        let _unchanged = self.store.keep_unchanged(task.token())?;
        self.store.unless_gone(self.store.verify(task))
    }
}
