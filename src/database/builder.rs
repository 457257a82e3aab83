//! Builder: the settings that a host chooses for an open database.

use std::borrow::Borrow;
use std::path::Path;

use super::{Database, DatabaseWriter};
use crate::ingest;
use fpdb_host::error::{Error, Result};
use fpdb_host::pool;
use fpdb_host::progress::Task;
use fpdb_kernel::profile::Profile;
use fpdb_store::{Store, StoreOptions, Verification};

const MEMORY_RANGE: &str = "at least 1 MiB and at most 16 TiB";

impl Database {
    /// A builder with the default settings.
    #[must_use]
    pub fn builder() -> DatabaseBuilder {
        DatabaseBuilder::new()
    }

    /// Creates an empty database at `path` and opens it for writing, with the defaults of
    /// [`DatabaseBuilder`].
    ///
    /// # Errors
    /// The same as those of [`DatabaseBuilder::create`].
    pub fn create(path: impl AsRef<Path>, profile: impl Borrow<Profile>) -> Result<DatabaseWriter> {
        Self::builder().create(path, profile)
    }

    /// Opens a database for reading, with the defaults of [`DatabaseBuilder`].
    ///
    /// # Errors
    /// The same as those of [`DatabaseBuilder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }

    /// Opens a database for writing, with the defaults of [`DatabaseBuilder`].
    ///
    /// # Errors
    /// The same as those of [`DatabaseBuilder::open_writer`].
    pub fn open_writer(path: impl AsRef<Path>) -> Result<DatabaseWriter> {
        Self::builder().open_writer(path)
    }
}

/// Opens and creates databases with the memory, threads and files that the host allows. Every setting has a
/// default.
///
/// An open database uses these resources of its process:
///
/// * memory for its cache, taken as needed, and for the work in progress;
/// * its own threads, which start when they are needed;
/// * an open file for each table, and the files it reads;
/// * for a reader, a temporary folder with the storage engine's log, removed on close.
///
/// The database changes no signal handler, thread pool or panic hook of the process. It raises the limit of
/// open files only with [`Self::raise_open_files`]. A panic in a reader of a foreign format is caught and
/// becomes an error of the document. The panic hook of the process still runs first, and usually writes to
/// standard error.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("db");
/// let profile = fpdb::Profile::named("prose").ok_or("no such profile")?;
/// let builder = fpdb::Database::builder().memory(256 << 20).cache(64 << 20).threads(2);
/// let writer = builder.create(&path, &profile)?;
/// # drop(writer);
/// let reader = builder.open(&path)?;
/// assert_eq!(reader.stats()?.documents, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct DatabaseBuilder {
    store: StoreOptions,
    give_up_missing: bool,
}

impl DatabaseBuilder {
    /// Minimum memory of a writer. With less, the fixed costs of a batch dominate. A reader refuses only 0.
    pub const LEAST_MEMORY: u64 = 1 << 20;

    /// Maximum memory and cache. No machine has more, so a larger number is a mistake.
    pub const MOST_MEMORY: u64 = 1 << 44;

    /// Maximum number of threads.
    pub const MOST_THREADS: usize = 1024;

    /// The defaults: a quarter of the machine's memory, a cache of 192 MiB, a thread for each processor.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Approximate bytes of memory for one piece of work (an ingest, a merge, all pairs, a dedup), without
    /// the cache. Default: a quarter of the memory of the machine, or of the limit of the process. From
    /// [`Self::LEAST_MEMORY`] to [`Self::MOST_MEMORY`].
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.store.memory = bytes;
        self
    }

    /// Bytes of the cache for posting blocks and for filters, which recognise absent fingerprints. The
    /// default of 192 MiB holds the filters of 100 million fingerprints and 15,000 blocks. 0 is allowed, but
    /// slow. At most [`Self::MOST_MEMORY`].
    #[must_use]
    pub fn cache(mut self, bytes: usize) -> Self {
        self.store.cache_bytes = bytes;
        self
    }

    /// Number of threads that work for this database, at most [`Self::MOST_THREADS`]. Default: 0, one for
    /// each processor.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.store.threads = if threads == 0 { pool::processors() } else { threads };
        self
    }

    /// If `raise` is true, raises the limit of open files of the process as far as the system allows. A
    /// database keeps every table open, so that its commit stays readable. If the limit is too low, opening
    /// is an error.
    #[must_use]
    pub fn raise_open_files(mut self, raise: bool) -> Self {
        self.store.raise_open_files = raise;
        self
    }

    /// If `tell` is false, no error reveals that a document was read from a requested path: hints give only
    /// the stored names of documents. For hosts whose users must not learn of the host's files. Default:
    /// true.
    #[must_use]
    pub fn tell_paths(mut self, tell: bool) -> Self {
        self.store.tell_paths = tell;
        self
    }

    /// If `give_up` is true, lets [`Self::repair`] remove damaged documents whose files cannot be opened.
    #[must_use]
    pub fn give_up_missing(mut self, give_up: bool) -> Self {
        self.give_up_missing = give_up;
        self
    }

    /// Creates an empty database at `path` and opens it for writing.
    ///
    /// # Errors
    /// [`Error::DatabaseExists`]; [`Error::NotADatabase`] if something else exists at `path`; [`Error::Io`];
    /// [`Error::InvalidParameter`] for memory, a cache or threads out of their range.
    pub fn create(&self, path: impl AsRef<Path>, profile: impl Borrow<Profile>) -> Result<DatabaseWriter> {
        self.check_for_writer()?;
        Ok(DatabaseWriter::of(Store::create(path.as_ref(), profile.borrow(), &self.store)?))
    }

    /// Opens a database for reading, as of its last commit. Another process may write meanwhile.
    ///
    /// # Errors
    /// [`Error::NoDatabase`], [`Error::NotADatabase`], [`Error::FormatVersion`], [`Error::HashVersion`];
    /// [`Error::Damaged`], [`Error::CommitsLost`], [`Error::TablesLost`] and [`Error::CannotOpen`] if its
    /// files are damaged; [`Error::TooFewOpenFiles`]; [`Error::InvalidParameter`] for
    /// memory, a cache or threads out of their range.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Database> {
        self.check()?;
        Ok(Database::of(Store::open_reader(path.as_ref(), &self.store)?))
    }

    /// Opens a database for writing. One process at a time may do so.
    ///
    /// # Errors
    /// The errors of [`Self::open`], and [`Error::Locked`] if another process has the database open for
    /// writing.
    pub fn open_writer(&self, path: impl AsRef<Path>) -> Result<DatabaseWriter> {
        self.check_for_writer()?;
        Ok(DatabaseWriter::of(Store::open_writer(path.as_ref(), &self.store)?))
    }

    /// Creates a database at `path` from the backup `number` in `folder` (`None`: the newest), and opens the
    /// database for writing.
    ///
    /// # Errors
    /// [`Error::NotABackup`], [`Error::NoSuchBackup`], [`Error::DatabaseExists`], [`Error::DamagedBackup`].
    pub fn restore(
        &self,
        path: impl AsRef<Path>,
        folder: impl AsRef<Path>,
        number: Option<u32>,
    ) -> Result<DatabaseWriter> {
        self.check_for_writer()?;
        Ok(DatabaseWriter::of(Store::restore(path.as_ref(), folder.as_ref(), number, &self.store)?))
    }

    /// Repairs the damaged database at `path`, as far as possible. Writes a new store from the readable parts
    /// and from the unchanged texts of documents, and replaces the damaged store. Needs as much space as the
    /// database takes. Changes nothing if nothing is damaged.
    ///
    /// # Errors
    /// [`Error::Locked`]; [`Error::BeyondRepair`] if too little is readable; [`Error::SourcesMissing`] if
    /// files of damaged documents cannot be opened, unless [`Self::give_up_missing`] allows their loss;
    /// [`Error::Stopped`]. After an error the database is unchanged.
    pub fn repair(&self, path: impl AsRef<Path>, task: &Task<'_>) -> Result<Verification> {
        self.check()?;
        ingest::repair(path.as_ref(), &self.store, self.give_up_missing, task)
    }

    /// Checks the settings of a reader. A reader also works with less memory than a writer needs, but slowly.
    fn check(&self) -> Result<()> {
        let invalid = |name, value, expected| Err(Error::InvalidParameter { name, value, expected });
        let StoreOptions { cache_bytes, memory, threads, raise_open_files: _, tell_paths: _ } = self.store;
        if !(1..=Self::MOST_MEMORY).contains(&memory) {
            return invalid("memory", format!("{memory} bytes"), MEMORY_RANGE);
        }
        if u64::try_from(cache_bytes).map_or(true, |bytes| bytes > Self::MOST_MEMORY) {
            return invalid("cache", format!("{cache_bytes} bytes"), "at most 16 TiB");
        }
        if threads > Self::MOST_THREADS {
            return invalid("threads", threads.to_string(), "at most 1,024; 0 for one for each processor");
        }
        Ok(())
    }

    /// Checks the settings of a writer.
    fn check_for_writer(&self) -> Result<()> {
        self.check()?;
        if self.store.memory < Self::LEAST_MEMORY {
            let value = format!("{} bytes", self.store.memory);
            return Err(Error::InvalidParameter { name: "memory", value, expected: MEMORY_RANGE });
        }
        Ok(())
    }
}
