//! Database: the one type through which everything is done.

mod care;
mod facts;

use std::fmt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

pub use self::facts::{CacheUse, DatabaseStats, DocumentInfo, StoredPart};
use crate::dedup::{self, DedupAnswer, DedupOptions};
use crate::document::DocId;
use crate::error::{Error, Result};
use crate::hash_counts::HashCounts;
use crate::ingest::{self, IngestOptions, IngestSummary};
use crate::input::{InputLimits, Source, tidied};
use crate::pairs::{self, PairsAnswer, PairsOptions};
use crate::profile::Profile;
use crate::progress::{Task, is_due};
use crate::query::{self, DocumentText, PhraseFinder, QueryAnswer, QueryOptions, Subject, SubjectReader, TextCache};
use crate::schema::Schema;
use crate::store::{Batch, Committer, DocumentRecord, FORMAT_VERSION, Store, StoreOptions};

/// An open database, which threads may share. Of those that change it one works at a time, and the others wait for it;
/// queries go on, of the last commit. What reads all postings ([`Self::pairs`], [`Self::dedup`], [`Self::verify`],
/// [`Self::count_hashes`]) waits for changes and keeps them waiting, but for those of other processes: to go on beside a
/// long ingest, open the database again, for reading.
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
/// let database = Database::create(&folder.join("db"), &profile)?;
/// database.ingest(&[Source::Path(stored)], &IngestOptions::default(), &Task::new())?;
///
/// let answers = database.query(&[QuerySource::File(suspect)], &QueryOptions::default())?;
/// let best = &answers[0].as_ref().map_err(|error| error.to_string())?.matches[0];
/// assert!(best.document.ends_with("stored.txt"));
/// assert!(!best.passages.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Database {
    store: Store,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("path", &self.store.root())
            .field("profile", self.profile())
            .finish_non_exhaustive()
    }
}

/// What to query with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuerySource {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// A stored document, by name: the one of that name that was added last. It is no match of itself.
    Stored(String),
    /// A stored document, by number. It is no match of itself.
    Number(DocId),
}

impl Database {
    /// Makes an empty database at `path` and opens it for writing.
    ///
    /// # Errors
    /// [`Error::DatabaseExists`], [`Error::NotADatabase`] where something else is there, [`Error::Io`].
    pub fn create(path: &Path, profile: &Profile) -> Result<Self> {
        Ok(Self { store: Store::create(path, profile, &StoreOptions::default())? })
    }

    /// Opens a database for reading, as of its last commit. A writer may be at work in another process.
    ///
    /// # Errors
    /// [`Error::NoDatabase`], [`Error::NotADatabase`], [`Error::FormatVersion`]; [`Error::Damaged`],
    /// [`Error::CommitsLost`], [`Error::TablesLost`] and [`Error::CannotOpen`] where files of it are not as they were
    /// written; [`Error::TooFewOpenFiles`].
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { store: Store::open_reader(path, &StoreOptions::default())? })
    }

    /// Opens a database for writing.
    ///
    /// # Errors
    /// As [`Database::open`], and [`Error::Locked`] where another process writes.
    pub fn open_writer(path: &Path) -> Result<Self> {
        Ok(Self { store: Store::open_writer(path, &StoreOptions::default())? })
    }

    /// The settings pinned when the database was made.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        self.store.profile()
    }

    /// Adds the documents of `sources`; those that are stored and have not changed are left alone. Needs a
    /// database opened for writing. Once the task is stopped, the run commits the documents it has whole and ends.
    ///
    /// # Errors
    /// [`Error::OpenedForReading`], and only what ends the run; documents that cannot be read are listed in the summary.
    pub fn ingest(&self, sources: &[Source], options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary> {
        let _alone = self.store.change_alone()?;
        ingest::ingest(&self.store, sources, options, task)
    }

    /// Adds the documents of `other`, which must have the same profile, as if they had been ingested; their
    /// texts are not read again. As many go into one commit as `options.memory` has room for their records, some 1 KiB
    /// each. Once the task is stopped, no more are committed: the summary is then of what was, and says that it is not all;
    /// the same call goes on another time.
    ///
    /// # Errors
    /// [`Error::OtherProfile`], [`Error::OpenedForReading`], and what keeps either from being read or written.
    pub fn merge(&self, other: &Self, options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary> {
        // Two that merge each other wait for each other in the same order.
        let (alone, unchanged);
        if std::ptr::from_ref(self) < std::ptr::from_ref(other) {
            alone = self.store.change_alone()?;
            unchanged = Some(other.store.keep_unchanged());
        } else {
            // None of its own documents is new to it.
            unchanged = (!std::ptr::eq(self, other)).then(|| other.store.keep_unchanged());
            alone = self.store.change_alone()?;
        }
        let summary = ingest::merge(&self.store, &other.store, options, task);
        drop((alone, unchanged));
        summary
    }

    /// Deletes documents, all versions of each name, at once and together. Needs a database opened for
    /// writing. Their space comes back with [`Database::compact`].
    ///
    /// Returns the number of documents deleted, and the names that no document has.
    ///
    /// # Errors
    /// [`Error::OpenedForReading`], and what keeps the store from being read or written.
    pub fn remove(&self, names: &[String]) -> Result<(u64, Vec<String>)> {
        let _alone = self.store.change_alone()?;
        let (mut found, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            let ids = self.ids_named(name)?;
            if ids.is_empty() {
                unknown.push(name.clone());
            }
            found.extend(ids.into_iter().map(DocId));
        }
        let (removed, _) = self.remove_live(&found)?;
        Ok((removed, unknown))
    }

    /// Deletes documents by number, at once and together. Needs a database opened for writing.
    ///
    /// Returns the number of documents deleted, and the numbers that no document has.
    ///
    /// # Errors
    /// [`Error::OpenedForReading`], and what keeps the store from being read or written.
    pub fn remove_numbers(&self, ids: &[DocId]) -> Result<(u64, Vec<DocId>)> {
        let _alone = self.store.change_alone()?;
        self.remove_live(ids)
    }

    fn remove_live(&self, ids: &[DocId]) -> Result<(u64, Vec<DocId>)> {
        let view = self.store.view();
        let mut batch = Batch::new(view.state().next_document, 0);
        let (mut removed, mut unknown) = (0, Vec::new());
        for &id in ids {
            if !view.is_live(id.0) {
                unknown.push(id);
                continue;
            }
            removed += u64::from(!batch.settled().deletes(id.0));
            batch.delete(id.0, self.store.document(id.0)?);
        }
        if !batch.is_empty() {
            Committer::new(&self.store).commit(&self.store, &mut batch)?;
        }
        Ok((removed, unknown))
    }

    /// Answers queries, in parallel; the answers are in the order of the sources.
    ///
    /// # Errors
    /// Options that make no sense for any query, such as a window below the database's. What is wrong with
    /// one source is its own result.
    pub fn query(&self, sources: &[QuerySource], options: &QueryOptions) -> Result<Vec<Result<QueryAnswer>>> {
        // Checked once, so that it is not reported for every source.
        SubjectReader::new(self.store.profile(), options.window, &options.read, None)?;
        let phrases = PhraseFinder::of(options.phrases.as_ref(), self.store.profile())?;
        let texts = TextCache::of_queries(sources.len());
        let answers = sources
            .par_iter()
            .map_init(
                || None,
                |reader, source| {
                    let reader = match reader {
                        Some(reader) => reader,
                        None => reader.insert(SubjectReader::new(
                            self.store.profile(),
                            options.window,
                            &options.read,
                            phrases.as_ref(),
                        )?),
                    };
                    self.answer(reader, source, options, &texts)
                },
            )
            .collect();
        Ok(answers)
    }

    /// Answers one of many queries, each with options of its own, that compare the same texts.
    pub(crate) fn query_with(
        &self,
        source: &QuerySource,
        options: &QueryOptions,
        texts: &TextCache,
    ) -> Result<QueryAnswer> {
        let phrases = PhraseFinder::of(options.phrases.as_ref(), self.store.profile())?;
        let mut reader = SubjectReader::new(self.store.profile(), options.window, &options.read, phrases.as_ref())?;
        self.answer(&mut reader, source, options, texts)
    }

    fn answer(
        &self,
        reader: &mut SubjectReader<'_>,
        source: &QuerySource,
        options: &QueryOptions,
        texts: &TextCache,
    ) -> Result<QueryAnswer> {
        if let QuerySource::File(_) = source {
            // Read once: it may be standard input.
            let subject = self.subject(reader, source)?;
            return self.store.settled(|| query::answer(&self.store, &subject, options, texts));
        }
        // Another document may have its name by now.
        self.store.settled(|| query::answer(&self.store, &self.subject(reader, source)?, options, texts))
    }

    fn subject(&self, reader: &mut SubjectReader<'_>, source: &QuerySource) -> Result<Subject> {
        match source {
            QuerySource::File(path) => reader.read(path),
            QuerySource::Stored(name) => match self.ids_named(name)?.last() {
                Some(&newest) => reader.read_stored(&self.store, newest),
                None => Err(Error::NoSuchDocument { name: name.clone() }),
            },
            QuerySource::Number(id) => reader.read_stored(&self.store, id.0),
        }
    }

    /// All pairs of documents that share enough, best first. Reads every posting twice, and once more for each further
    /// block of documents that the memory allowed makes necessary.
    ///
    /// # Errors
    /// What keeps the postings from being read; [`Error::InvalidParameter`] for what is no regular expression;
    /// [`Error::Stopped`].
    pub fn pairs(&self, options: &PairsOptions, task: &Task<'_>) -> Result<PairsAnswer> {
        let _unchanged = self.store.keep_unchanged();
        pairs::pairs(&self.store, options, task)
    }

    /// Which documents are removable, each with the survivor that justifies it. Deletes nothing.
    ///
    /// # Errors
    /// What keeps the documents and postings from being read; [`Error::Stopped`].
    pub fn dedup(&self, options: &DedupOptions, task: &Task<'_>) -> Result<DedupAnswer> {
        let _unchanged = self.store.keep_unchanged();
        dedup::dedup(&self.store, options, task)
    }

    /// Calls `visit` with each document, in order of number.
    ///
    /// # Errors
    /// What `visit` returns, and what keeps the store from being read.
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

    /// The document of a number.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] where there is none, and what keeps its record from being read.
    pub fn document(&self, id: DocId) -> Result<DocumentInfo> {
        Ok(DocumentInfo::new(id.0, self.store.document(id.0)?))
    }

    /// The documents of a name, oldest first; more than one where versions are kept. A path that is spelled otherwise than
    /// their name, such as `./a.txt`, finds them too.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`] where there is none.
    pub fn documents_named(&self, name: &str) -> Result<Vec<DocumentInfo>> {
        let ids = self.ids_named(name)?;
        if ids.is_empty() {
            return Err(Error::NoSuchDocument { name: name.to_owned() });
        }
        Ok(self.records(&ids)?.into_iter().map(|(id, record)| DocumentInfo::new(id, record)).collect())
    }

    /// The records of documents, but of those that have been deleted since.
    fn records(&self, ids: &[u32]) -> Result<Vec<(u32, DocumentRecord)>> {
        let mut records = Vec::with_capacity(ids.len());
        for &id in ids {
            match self.store.document(id) {
                Err(Error::NoSuchNumber { .. }) => {}
                record => records.push((id, record?)),
            }
        }
        Ok(records)
    }

    /// The documents of a name as it is, else of the name that an ingest gives this path.
    fn ids_named(&self, name: &str) -> Result<Vec<u32>> {
        let ids = self.store.documents_named(name)?;
        match tidied(name) {
            Some(tidied) if ids.is_empty() => self.store.documents_named(&tidied),
            _ => Ok(ids),
        }
    }

    /// The text of a document, as the offsets of its passages count it: stored with it, or read again from where it
    /// was read and compared by digest. `None` where it can no longer be had.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] where there is none, and what keeps the store from being read.
    pub fn text_of(&self, document: DocId) -> Result<Option<DocumentText>> {
        self.text_within(document, &InputLimits::default())
    }

    /// As [`Database::text_of`], within limits of the caller's choice: a document that was ingested with larger ones than the
    /// default needs them again.
    ///
    /// # Errors
    /// As there.
    pub fn text_within(&self, document: DocId, limits: &InputLimits) -> Result<Option<DocumentText>> {
        query::text_of(&self.store, document.0, *limits)
    }

    /// The names of the other documents with the same bytes.
    ///
    /// # Errors
    /// What keeps the store from being read.
    pub fn identical_to(&self, document: &DocumentInfo) -> Result<Vec<String>> {
        let ids = self.store.documents_with(&document.digest)?;
        let others: Vec<u32> = ids.into_iter().filter(|&id| id != document.id.0).collect();
        Ok(self.records(&others)?.into_iter().map(|(_, record)| record.name).collect())
    }

    /// What the database holds, from its records: quick however large it is.
    ///
    /// # Errors
    /// What keeps the store from being measured.
    pub fn stats(&self) -> Result<DatabaseStats> {
        let view = self.store.view();
        let state = view.state();
        let (bytes, capacity) = self.store.cached_bytes();
        let part = |(part, bytes): (&'static str, u64)| StoredPart { part: part.into(), bytes };
        Ok(DatabaseStats {
            schema: Schema::new(),
            path: self.store.root().to_owned(),
            format: FORMAT_VERSION,
            profile: *self.store.profile(),
            documents: state.documents,
            bytes: state.bytes,
            symbols: state.symbols,
            fingerprints: state.fingerprints,
            distinct: None,
            singletons: None,
            df: None,
            postings: view.posting_count(),
            deleted: view.tombstone_count(),
            runs: view.run_count() as u64,
            run_postings: view.run_postings(),
            levels: self.store.levels()?,
            cache: CacheUse { bytes, capacity },
            stored: self.store.bytes_by_part()?.into_iter().map(part).collect(),
            committed_at: (state.committed_at != 0).then_some(state.committed_at),
        })
    }

    /// Counts distinct hashes by the documents that hold them. Reads every posting.
    ///
    /// # Errors
    /// What keeps the postings from being read; [`Error::Stopped`].
    pub fn count_hashes(&self, task: &Task<'_>) -> Result<HashCounts> {
        let _unchanged = self.store.keep_unchanged();
        let mut counts = HashCounts::default();
        let mut hashes = 0;
        self.store.for_each_hash(|postings, holders| {
            counts.add(postings, holders.len());
            hashes += 1;
            if is_due(hashes) { task.step("fingerprints counted", hashes, 0) } else { Ok(()) }
        })?;
        Ok(counts)
    }
}
