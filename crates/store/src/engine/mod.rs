//! Engine: the only code that uses RocksDB. All other code reads and writes rows of column families through
//! [`Engine`], and gets errors of this library, which [`failure`] classifies.
//!
//! Once a write has failed, the engine writes nothing more, because its memory and the disk may differ. The
//! next opening of the database continues from the state on disk.
//!
//! Opening a database reads the log. So an ingest that leaves 20,000 rows or more in the log writes them as
//! tables. On a database of a million documents, a short query takes 0.03 s with tables and 0.18 s with the
//! rows in the log.

mod changes;
pub(super) mod copies;
pub(super) mod failure;
pub(super) mod file_options;
pub(super) mod level;
mod moment;
pub(super) mod options;
pub(super) mod refused_memory;
pub(super) mod rows;
pub(super) mod sorted_file;
pub(super) mod table_file;
pub(super) mod table_rows;
#[cfg(test)]
mod tampering;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rocksdb::properties::BACKGROUND_ERRORS;
use rocksdb::{
    BottommostLevelCompaction, ColumnFamily, ColumnFamilyDescriptor, CompactOptions, DB, DBPinnableSlice,
    DBRecoveryMode, FlushOptions, InfoLogger, IngestExternalFileOptions, IteratorMode, LogLevel, ReadOptions,
    WriteBatch,
};

use crate::codec::format::FAMILIES;
pub(super) use changes::Changes;
use failure::{EngineError, failed, missing};
use fpdb_host::error::{Error, Result, StoreFailure};
pub use level::Level;
use level::Table;
use moment::Moment;
use options::{BlockCache, Tuning};
pub(crate) use rocksdb::Direction;
use rows::Rows;
use sorted_file::{FILE_BYTES, SortedFiles, WrittenFiles};

/// The purpose that a store is opened for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    /// Creates a new store.
    New,
    /// To read and write, by one process.
    Write,
    /// To read, if no process writes to the store.
    Read,
    /// To read while another process may write.
    ReadBesideWriter,
    /// To read the remains of a damaged store.
    ReadDamaged,
    /// Like [`Self::ReadDamaged`], with a list of tables that fpdb has written. The list has this many
    /// levels.
    ReadRebuilt { levels: u32 },
}

/// A value, borrowed from the engine's memory.
pub(super) type Value<'a> = DBPinnableSlice<'a>;

/// A row: key and value.
pub(super) type Row = (Box<[u8]>, Box<[u8]>);

/// If the log has at least this many rows, they are written as tables. Reading as many from the log takes
/// about 20 ms.
const ROWS_WORTHWHILE: u64 = 20_000;

/// An open store: rows by column family and key.
pub(super) struct Engine {
    db: Arc<DB>,
    /// The snapshot to read from. `None`: read the latest rows.
    moment: Option<Moment>,
    tuning: Arc<Tuning>,
    cache: BlockCache,
    /// True once a write has failed.
    failed: Arc<AtomicBool>,
    /// True if range deletions are ignored, so that rows deleted as a range are shown.
    ignores_ranges: bool,
}

impl Engine {
    /// Opens the store in `folder`, with a cache of `cache_bytes` bytes.
    pub fn open(folder: &Path, access: Access, cache_bytes: usize) -> Result<Self, EngineError> {
        options::check_memory(cache_bytes)?;
        let cache = BlockCache::new(cache_bytes);
        let mut tuning = Tuning::new(&cache)?;
        if let Access::ReadRebuilt { levels } = access {
            tuning.set_levels(levels);
        }
        let mut options = tuning.database.clone();
        let families = tuning.families.iter().map(|(name, of)| ColumnFamilyDescriptor::new(*name, of.clone()));
        let db = match access {
            Access::New => {
                options.create_if_missing(true);
                options.create_missing_column_families(true);
                DB::open_cf_descriptors(&options, folder, families)
            }
            Access::Write => DB::open_cf_descriptors(&options, folder, families),
            // The engine writes no log file for such a reader.
            Access::Read => DB::open_cf_descriptors_read_only(&options, folder, families, false),
            // Beside a writer, the engine supports reading only as a secondary instance.
            Access::ReadBesideWriter => {
                // A secondary instance would put only a log file into its folder.
                options.set_info_logger(InfoLogger::new_callback_logger(LogLevel::Fatal, |_, _| {}));
                DB::open_cf_descriptors_as_secondary(&options, folder, folder, families)
            }
            Access::ReadDamaged | Access::ReadRebuilt { .. } => {
                // A table that cannot be opened then gives an error when it is read, not here.
                options.set_paranoid_checks(false);
                options.set_wal_recovery_mode(DBRecoveryMode::SkipAnyCorruptedRecord);
                // Other parts of the store may be open at the same time.
                options.set_max_open_files(TABLES_OF_DAMAGED);
                DB::open_cf_descriptors_read_only(&options, folder, families, false)
            }
        };
        let db = Arc::new(db.map_err(EngineError::of)?);
        // Only the list of tables shows whether a range deletion or an ingested table is later, and here the
        // list is lost. Range deletions delete only rows that no commit names, so ignoring them is safe.
        let ignores_ranges = matches!(access, Access::ReadRebuilt { .. });
        Ok(Self { db, moment: None, tuning: Arc::new(tuning), cache, failed: Arc::default(), ignores_ranges })
    }

    /// A handle of the same store that shows its current rows, even if other rows are written later. The
    /// handle does not protect tables that are removed whole.
    pub(super) fn as_it_is(&self) -> Self {
        Self {
            db: Arc::clone(&self.db),
            moment: Some(Moment::now(&self.db)),
            tuning: Arc::clone(&self.tuning),
            cache: self.cache.clone(),
            failed: Arc::clone(&self.failed),
            ignores_ranges: self.ignores_ranges,
        }
    }

    /// The cache of blocks.
    pub(super) fn cache(&self) -> &BlockCache {
        &self.cache
    }

    /// The flag that is set once a write has failed. The flag outlives the engine.
    pub(super) fn failure_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.failed)
    }

    /// The value of a key. `action` names the purpose of the read in an error.
    pub(super) fn get(&self, family: &str, key: impl AsRef<[u8]>, action: &'static str) -> Result<Option<Value<'_>>> {
        let family = self.family(family)?;
        let value = match &self.moment {
            Some(moment) => moment.rows().get_pinned_cf(family, key),
            None if self.ignores_ranges => self.db.get_pinned_cf_opt(family, key, &self.all_rows()),
            None => self.db.get_pinned_cf(family, key),
        };
        value.map_err(failed(action))
    }

    /// A cursor over all rows of a family.
    pub(super) fn rows(&self, family: &str, action: &'static str) -> Result<Rows<'_>> {
        self.rows_within(family, self.all_rows(), action)
    }

    /// A cursor over the rows of a family from the key `first` up to `after`, exclusive. With `through` it
    /// reads ahead and does not fill the cache, for reading from end to end.
    pub(super) fn rows_between(
        &self,
        family: &str,
        (first, after): (&[u8], &[u8]),
        through: bool,
        action: &'static str,
    ) -> Result<Rows<'_>> {
        let mut options = self.all_rows();
        options.set_iterate_lower_bound(first);
        options.set_iterate_upper_bound(after);
        if through {
            options.fill_cache(false);
            options.set_readahead_size(READ_AHEAD);
        }
        self.rows_within(family, options, action)
    }

    fn rows_within(&self, family: &str, options: ReadOptions, action: &'static str) -> Result<Rows<'_>> {
        let family = self.family(family)?;
        let rows = match &self.moment {
            Some(moment) => moment.rows().raw_iterator_cf_opt(family, options),
            None => self.db.raw_iterator_cf_opt(family, options),
        };
        Ok(Rows::new(rows, action))
    }

    /// The rows of a family in order of key, from the first key at or above `from`.
    pub(super) fn entries(
        &self,
        family: &str,
        from: &[u8],
        action: &'static str,
    ) -> Result<impl Iterator<Item = Result<Row>> + use<'_>> {
        self.entries_in(family, self.all_rows(), IteratorMode::From(from, Direction::Forward), action)
    }

    /// The rows of a family whose keys begin with `prefix`, in order of key, from the key `prefix` and
    /// `first` together.
    pub(super) fn entries_with(
        &self,
        family: &str,
        (prefix, first): (&'static [u8], &[u8]),
        action: &'static str,
    ) -> Result<impl Iterator<Item = Result<Row>> + use<'_>> {
        let entries = self.entries(family, &[prefix, first].concat(), action)?;
        Ok(entries.take_while(move |entry| !entry.as_ref().is_ok_and(|(key, _)| !key.starts_with(prefix))))
    }

    /// Like [`Self::entries`], but does not fill the cache: for scans, which read each row once.
    pub(super) fn scanned_entries(
        &self,
        family: &str,
        from: &[u8],
        action: &'static str,
    ) -> Result<impl Iterator<Item = Result<Row>> + '_> {
        let mut options = self.all_rows();
        options.fill_cache(false);
        self.entries_in(family, options, IteratorMode::From(from, Direction::Forward), action)
    }

    /// The rows of one name or one digest: their keys equal `from` except for the document. The rows start at
    /// the document in `from` and go in `direction`. If there are no such rows, a filter usually shows this,
    /// and no block is read.
    pub(super) fn entries_of_one(
        &self,
        family: &str,
        from: &[u8],
        direction: Direction,
        action: &'static str,
    ) -> Result<impl Iterator<Item = Result<Row>> + use<'_>> {
        let mut options = ReadOptions::default();
        options.set_prefix_same_as_start(true);
        self.entries_in(family, options, IteratorMode::From(from, direction), action)
    }

    fn entries_in(
        &self,
        family: &str,
        options: ReadOptions,
        mode: IteratorMode<'_>,
        action: &'static str,
    ) -> Result<impl Iterator<Item = Result<Row>> + use<'_>> {
        let family = self.family(family)?;
        let entries = match &self.moment {
            Some(moment) => moment.rows().iterator_cf_opt(family, options, mode),
            None => self.db.iterator_cf_opt(family, options, mode),
        };
        Ok(entries.map(move |entry| entry.map_err(failed(action))))
    }

    /// An empty set of changes.
    pub(super) fn changes(&self) -> Changes<'_> {
        Changes { engine: self, batch: WriteBatch::default() }
    }

    /// Hands sorted files to the store. They are on disk and part of the store when this returns. On an error
    /// they are removed.
    pub(super) fn ingest(&self, family: &str, files: WrittenFiles) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        // Snapshots may show these rows, because no earlier view lists their runs or documents. With snapshot
        // consistency the engine would renumber the rows while any snapshot exists.
        options.set_snapshot_consistency(false);
        let family = self.family(family)?;
        let paths = files.paths();
        self.writing("take in a sorted file", || self.db.ingest_external_file_cf_opts(family, &options, paths))?;
        // The engine links each file into the store. The old name of the file may remain.
        files.remove()
    }

    /// A writer of sorted files for a family.
    pub(super) fn sorted_files<'a>(
        &'a self,
        folder: &Path,
        family: &'static str,
        part: usize,
    ) -> Result<SortedFiles<'a>> {
        Ok(SortedFiles::new(folder, family, part, self.tuning.of(family)?))
    }

    /// Removes the tables of a family that lie completely between two keys.
    pub(super) fn delete_files_between(
        &self,
        family: &str,
        first: &[u8],
        after: &[u8],
        action: &'static str,
    ) -> Result<()> {
        let family = self.family(family)?;
        self.writing(action, || self.db.delete_file_in_range_cf(family, first, after))
    }

    /// If many rows are in memory and in the log, writes them as tables, because the next opening replays the
    /// log. Returns true if it has written tables.
    pub(super) fn settle(&self) -> Result<bool> {
        let mut rows = 0;
        for name in FAMILIES {
            rows += self.unwritten(name)?;
        }
        if rows < ROWS_WORTHWHILE {
            return Ok(false);
        }
        let families = FAMILIES.into_iter().map(|name| self.family(name)).collect::<Result<Vec<_>>>()?;
        self.writing("write its tables", || self.db.flush_cfs_opt(&families, &FlushOptions::default()))?;
        Ok(true)
    }

    /// The number of rows of a family that are in no table yet.
    fn unwritten(&self, family: &str) -> Result<u64> {
        let mut rows = 0;
        for property in ["rocksdb.num-entries-active-mem-table", "rocksdb.num-entries-imm-mem-tables"] {
            let some = self.db.property_int_value_cf(self.family(family)?, property);
            rows += some.map_err(failed("measure itself"))?.unwrap_or(0);
        }
        Ok(rows)
    }

    /// Compacts a family. With `all`, also rewrites tables without deletions, unless they are merged already.
    pub(super) fn compact(&self, family: &str, all: bool) -> Result<()> {
        self.check_sound("compact its tables")?;
        if all && self.is_compact(family)? {
            return Ok(());
        }
        let mut options = CompactOptions::default();
        if all {
            options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        }
        self.db.compact_range_cf_opt(self.family(family)?, None::<&[u8]>, None::<&[u8]>, &options);
        // The engine does not return the errors of a compaction, but counts them.
        if self.background_failures() > 0 {
            self.failed.store(true, Ordering::Relaxed);
            let log = self.db.path().join("LOG");
            let source = format!("the end of {} says why; nothing is lost", log.display()).into();
            return Err(Error::Store { action: "compact its tables", failure: StoreFailure::Other, source });
        }
        Ok(())
    }

    /// True if rewriting the tables of a family would free nothing.
    pub(super) fn is_compact(&self, family: &str) -> Result<bool> {
        if self.unwritten(family)? > 0 {
            return Ok(false);
        }
        let mut tables = self.db.live_files().map_err(failed("measure itself"))?;
        tables.retain(|table| table.column_family_name == family);
        Ok(level::are_merged(&tables, FILE_BYTES))
    }

    /// Reads the latest commits of the process that writes the store.
    pub(super) fn catch_up(&self) -> Result<()> {
        self.db.try_catch_up_with_primary().map_err(failed("catch up with the writer"))
    }

    /// The levels of the store that have tables.
    pub(super) fn levels(&self) -> Result<Vec<Level>> {
        let mut levels: BTreeMap<u32, Level> = BTreeMap::new();
        for file in self.db.live_files().map_err(failed("measure itself"))? {
            let number = file.level.unsigned_abs();
            let level = levels.entry(number).or_insert(Level { level: number, files: 0, bytes: 0 });
            level.files += 1;
            level.bytes += file.size as u64;
        }
        Ok(levels.into_values().collect())
    }

    /// The tables of the store, including damaged ones.
    pub(super) fn tables(&self) -> Result<Vec<Table>> {
        let number = |name: &str| name.rsplit('/').next()?.strip_suffix(".sst")?.parse().ok();
        let files = self.db.live_files().map_err(failed("list its tables"))?;
        let tables = files.into_iter().filter_map(|file| {
            let (family, level) = (file.column_family_name, file.level.unsigned_abs());
            Some(Table { family, number: number(&file.name)?, level })
        });
        Ok(tables.collect())
    }

    /// The bytes of the tables of a family.
    pub(super) fn table_bytes(&self, family: &str) -> Result<u64> {
        let bytes = self.db.property_int_value_cf(self.family(family)?, "rocksdb.live-sst-files-size");
        Ok(bytes.map_err(failed("measure itself"))?.unwrap_or(0))
    }

    /// The engine's identifier of the store, which does not change if the store is moved. `None` if no
    /// identifier can be read.
    pub(super) fn identity(&self) -> Result<Option<String>> {
        let mut identity = self.db.get_db_identity().map_err(failed("tell its identity"))?;
        if identity.is_empty() {
            // The engine returns no identifier for a secondary instance. The writer wrote this file when it
            // opened the store.
            let path = self.db.path().join("IDENTITY");
            identity = match fs::read(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                read => read.map_err(Error::io("read", &path))?,
            };
        }
        let identity = String::from_utf8_lossy(&identity).trim_end().to_owned();
        Ok(Some(identity).filter(|identity| !identity.is_empty()))
    }

    /// Options for reading rows in full key order. Without them, families with filters by prefix return only
    /// rows of one prefix.
    fn all_rows(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        if self.ignores_ranges {
            ignore_ranges(&mut options);
        }
        options
    }

    fn background_failures(&self) -> u64 {
        self.db.property_int_value(BACKGROUND_ERRORS).ok().flatten().unwrap_or(0)
    }

    fn family(&self, name: &str) -> Result<&ColumnFamily> {
        self.db.cf_handle(name).ok_or_else(|| missing(&format!("the column family {name}")))
    }

    /// False once a write has failed, including writes that the engine starts itself.
    pub(super) fn is_sound(&self) -> bool {
        if self.background_failures() > 0 {
            self.failed.store(true, Ordering::Relaxed);
        }
        !self.failed.load(Ordering::Relaxed)
    }

    fn check_sound(&self, action: &'static str) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            let source = "an earlier write has failed; open the database again to go on".into();
            return Err(Error::Store { action, failure: StoreFailure::Stopped, source });
        }
        Ok(())
    }

    /// Calls `write`, unless an earlier write has failed.
    fn writing<T>(
        &self,
        action: &'static str,
        write: impl FnOnce() -> std::result::Result<T, rocksdb::Error>,
    ) -> Result<T> {
        self.check_sound(action)?;
        write().map_err(|error| {
            self.failed.store(true, Ordering::Relaxed);
            failed(action)(error)
        })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.is_sound();
    }
}

/// Maximum number of tables of a damaged store that stay open.
const TABLES_OF_DAMAGED: i32 = 128;

/// The bytes that one cursor reads ahead if it reads from end to end. Several dozen such cursors may be in
/// use at once.
const READ_AHEAD: usize = 512 << 10;

#[expect(
    deprecated,
    reason = "only for speed: a damaged store is read without its list, where nothing else orders range deletions"
)]
fn ignore_ranges(options: &mut ReadOptions) {
    options.set_ignore_range_deletions(true);
}
