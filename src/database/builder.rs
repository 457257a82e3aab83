//! Builder: what the host decides of a database that it opens.

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
    /// The settings that a host may choose for a database that it opens.
    #[must_use]
    pub fn builder() -> DatabaseBuilder {
        DatabaseBuilder::new()
    }

    /// Makes an empty database at `path` and opens it for writing, with the defaults of [`DatabaseBuilder`].
    ///
    /// # Errors
    /// As [`DatabaseBuilder::create`].
    pub fn create(path: impl AsRef<Path>, profile: impl Borrow<Profile>) -> Result<DatabaseWriter> {
        Self::builder().create(path, profile)
    }

    /// Opens a database for reading, with the defaults of [`DatabaseBuilder`].
    ///
    /// # Errors
    /// As [`DatabaseBuilder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }

    /// Opens a database for writing, with the defaults of [`DatabaseBuilder`].
    ///
    /// # Errors
    /// As [`DatabaseBuilder::open_writer`].
    pub fn open_writer(path: impl AsRef<Path>) -> Result<DatabaseWriter> {
        Self::builder().open_writer(path)
    }
}

/// Opens and creates databases with the memory, threads and files that the host allows. Every setting has a
/// default.
///
/// Beside the folder it is given, an open database uses of its process: memory for its cache (it takes a part
/// of it as it needs it) and for what it works on; its own threads, which start when they are needed; an open
/// file for each of its tables, and the files it reads; and, where it reads, a folder for the storage
/// engine's log in the folder for temporary files, which goes when the database is closed. It changes no
/// signal handler and no pool of threads of the process, its limit of open files only where
/// [`Self::raise_open_files`] says so, and its panic hook never: a panic inside a reader of a foreign format
/// is caught and becomes an error of the document, after the process's hook has been called, which usually
/// writes to standard error.
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
    /// Below this the fixed costs of a batch dominate, and a writer refuses the setting. A reader refuses 0
    /// alone.
    pub const LEAST_MEMORY: u64 = 1 << 20;

    /// Above this it is a slip of the pen: no machine has that much.
    pub const MOST_MEMORY: u64 = 1 << 44;

    /// More threads than this are refused.
    pub const MOST_THREADS: usize = 1024;

    /// The defaults: a quarter of the machine's memory, a cache of 192 MiB, a thread for each processor.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of memory that one piece of work (an ingest, a merge, all pairs, a dedup) may use, about, beside
    /// the cache. The default is a quarter of what the machine has, or of what the process may use of it. At
    /// least [`Self::LEAST_MEMORY`], at most [`Self::MOST_MEMORY`].
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.store.memory = bytes;
        self
    }

    /// Bytes of memory for what was read: posting blocks, and the filters that tell absent fingerprints. The
    /// default of 192 MiB holds the filters of 100 million fingerprints and 15,000 blocks beside them. 0 is
    /// allowed and slow; at most [`Self::MOST_MEMORY`].
    #[must_use]
    pub fn cache(mut self, bytes: usize) -> Self {
        self.store.cache_bytes = bytes;
        self
    }

    /// Threads that work for this database at once, at most [`Self::MOST_THREADS`]. The default, 0, is one
    /// for each processor.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.store.threads = if threads == 0 { pool::processors() } else { threads };
        self
    }

    /// Raises the limit of open files of the process as far as the system allows, if `raise` is true. A
    /// database keeps every table open, so that a reader goes on seeing what it saw. Without this, a database
    /// with more tables than open files are allowed is an error.
    #[must_use]
    pub fn raise_open_files(mut self, raise: bool) -> Self {
        self.store.raise_open_files = raise;
        self
    }

    /// Lets [`Self::repair`] remove damaged documents whose files cannot be opened, if `give_up` is true.
    #[must_use]
    pub fn give_up_missing(mut self, give_up: bool) -> Self {
        self.give_up_missing = give_up;
        self
    }

    /// Makes an empty database at `path` and opens it for writing.
    ///
    /// # Errors
    /// [`Error::DatabaseExists`]; [`Error::NotADatabase`] where something else is there; [`Error::Io`];
    /// [`Error::InvalidParameter`] for memory, a cache or threads out of their range.
    pub fn create(&self, path: impl AsRef<Path>, profile: impl Borrow<Profile>) -> Result<DatabaseWriter> {
        self.check_for_writer()?;
        Ok(DatabaseWriter::of(Store::create(path.as_ref(), profile.borrow(), &self.store)?))
    }

    /// Opens a database for reading, as of its last commit. A writer may be at work in another process.
    ///
    /// # Errors
    /// [`Error::NoDatabase`], [`Error::NotADatabase`], [`Error::FormatVersion`], [`Error::HashVersion`];
    /// [`Error::Damaged`], [`Error::CommitsLost`], [`Error::TablesLost`] and [`Error::CannotOpen`] where
    /// files of it are not as they were written; [`Error::TooFewOpenFiles`]; [`Error::InvalidParameter`] for
    /// memory, a cache or threads out of their range.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Database> {
        self.check()?;
        Ok(Database::of(Store::open_reader(path.as_ref(), &self.store)?))
    }

    /// Opens a database for writing. One process at a time may do so.
    ///
    /// # Errors
    /// As [`Self::open`]; [`Error::Locked`] where another process writes.
    pub fn open_writer(&self, path: impl AsRef<Path>) -> Result<DatabaseWriter> {
        self.check_for_writer()?;
        Ok(DatabaseWriter::of(Store::open_writer(path.as_ref(), &self.store)?))
    }

    /// Makes a database at `path` of the backup `number` in `folder`, or the newest, and opens it for
    /// writing.
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

    /// Rebuilds what can be rebuilt of the damaged database at `path`: a new store is written from what can
    /// be read, and from the texts of documents that have not changed, and takes the place of the damaged
    /// one. Needs as much space as the database takes. Changes nothing where nothing is wrong.
    ///
    /// # Errors
    /// [`Error::Locked`]; [`Error::BeyondRepair`] where too little is left to begin with;
    /// [`Error::SourcesMissing`] where it would give up documents whose files cannot be opened, unless
    /// [`Self::give_up_missing`] allows that; [`Error::Stopped`]. The database is then as it was.
    pub fn repair(&self, path: impl AsRef<Path>, task: &Task<'_>) -> Result<Verification> {
        self.check()?;
        ingest::repair(path.as_ref(), &self.store, self.give_up_missing, task)
    }

    /// As a reader needs its settings; a reader also works with less memory than the least, more slowly.
    fn check(&self) -> Result<()> {
        let invalid = |name, value, expected| Err(Error::InvalidParameter { name, value, expected });
        let StoreOptions { cache_bytes, memory, threads, raise_open_files: _ } = self.store;
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

    /// As a writer needs its settings.
    fn check_for_writer(&self) -> Result<()> {
        self.check()?;
        if self.store.memory < Self::LEAST_MEMORY {
            let value = format!("{} bytes", self.store.memory);
            return Err(Error::InvalidParameter { name: "memory", value, expected: MEMORY_RANGE });
        }
        Ok(())
    }
}
