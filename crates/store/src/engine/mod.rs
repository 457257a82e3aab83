//! Engine: RocksDB behind a wall. The only room that names it: the others read and write rows of families through
//! [`Engine`], and see its errors as errors of this library, classified by [`failure`].
//!
//! After a write has failed, nothing is written any more: what the engine has in memory and what is on the disk may
//! differ then. The next opening of the database goes on from what is on the disk.

pub(super) mod copies;
pub(super) mod failure;
pub(super) mod file_options;
pub(super) mod level;
mod moment;
pub(super) mod options;
pub(super) mod rows;
pub(super) mod sorted_file;
pub(super) mod table_file;
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
    WriteBatch, WriteOptions,
};

use crate::codec::format::FAMILIES;
use failure::{EngineError, failed, missing};
use fpdb_host::error::{Error, Result, StoreFailure};
pub use level::Level;
use level::Table;
use moment::Moment;
use options::{BlockCache, Tuning};
pub(crate) use rocksdb::Direction;
use rows::Rows;
use sorted_file::{SortedFiles, WrittenFiles};

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    /// A store that is not there yet.
    New,
    /// For reading and writing, by one process.
    Write,
    /// For reading, while no process writes it.
    Read,
    /// For reading beside a writer.
    ReadBesideWriter,
    /// For reading what is left of a damaged store.
    ReadDamaged,
    /// As [`Self::ReadDamaged`], through a list of tables of our own, with this many levels.
    ReadRebuilt { levels: u32 },
}

/// A value that stays where the engine holds it.
pub(super) type Value<'a> = DBPinnableSlice<'a>;

/// A row: key and value.
pub(super) type Row = (Box<[u8]>, Box<[u8]>);

/// Rows that are worth tables of their own: reading so many from the log takes some 20 ms.
const ROWS_WORTHWHILE: u64 = 20_000;

/// An open store: rows by family and key.
pub(super) struct Engine {
    db: Arc<DB>,
    /// The moment whose rows it shows; the last one where there is none.
    moment: Option<Moment>,
    tuning: Arc<Tuning>,
    cache: BlockCache,
    /// Set once a write has failed.
    failed: Arc<AtomicBool>,
    /// Shows rows that were deleted as a range.
    ignores_ranges: bool,
}

impl Engine {
    /// Opens the store in `folder`, with a cache of so many bytes.
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
            // The engine keeps no log of its own for such a reader.
            Access::Read => DB::open_cf_descriptors_read_only(&options, folder, families, false),
            // Beside a writer the engine defines reading for a secondary instance only.
            Access::ReadBesideWriter => {
                // It would write a log of its own into the second folder, of which nothing else becomes.
                options.set_info_logger(InfoLogger::new_callback_logger(LogLevel::Fatal, |_, _| {}));
                DB::open_cf_descriptors_as_secondary(&options, folder, folder, families)
            }
            Access::ReadDamaged | Access::ReadRebuilt { .. } => {
                // Tables that cannot be opened show when they are read.
                options.set_paranoid_checks(false);
                options.set_wal_recovery_mode(DBRecoveryMode::SkipAnyCorruptedRecord);
                // Parts of the store may be open beside it.
                options.set_max_open_files(TABLES_OF_DAMAGED);
                DB::open_cf_descriptors_read_only(&options, folder, families, false)
            }
        };
        let db = Arc::new(db.map_err(EngineError::of)?);
        // The order of range deletions and of tables that were handed in whole stands in the list alone. Ranges are only ever deleted
        // of rows that no commit names.
        let ignores_ranges = matches!(access, Access::ReadRebuilt { .. });
        Ok(Self { db, moment: None, tuning: Arc::new(tuning), cache, failed: Arc::default(), ignores_ranges })
    }

    /// The same store, to be read as it is now, whatever is written afterwards. Tables that are removed as a whole are not
    /// kept for it.
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

    /// The cache of what was read.
    pub(super) fn cache(&self) -> &BlockCache {
        &self.cache
    }

    /// True once a write has failed; outlives the engine.
    pub(super) fn failure_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.failed)
    }

    /// The value of a key; `action` says what it is read for, if that fails.
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

    /// A cursor over the rows of a family from the key `first` to the one before `after`. With `through` they are read from
    /// end to end: ahead, and past the cache.
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

    /// The rows of a family in order of key, from the first key that is not below `from` on.
    pub(super) fn entries(
        &self,
        family: &str,
        from: &[u8],
        action: &'static str,
    ) -> Result<impl Iterator<Item = Result<Row>> + '_> {
        self.entries_in(family, self.all_rows(), IteratorMode::From(from, Direction::Forward), action)
    }

    /// The same rows, read past the cache: for scans, which read each row once.
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

    /// The rows of the names or of the digests whose keys are that of `from` but for the document: in this direction, from
    /// the document in `from` on. Where there are none, the filters mostly say so.
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

    /// No changes yet.
    pub(super) fn changes(&self) -> Changes<'_> {
        Changes { engine: self, batch: WriteBatch::default() }
    }

    /// Hands sorted files to the store, which takes them over; they are on the disk when this returns. Where it fails they
    /// are removed.
    pub(super) fn ingest(&self, family: &str, files: WrittenFiles) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        // Snapshots may show these rows: no view that was there before lists their runs or documents. Else the engine would number
        // the rows anew for as long as there is a snapshot.
        options.set_snapshot_consistency(false);
        let family = self.family(family)?;
        let paths = files.paths();
        self.writing("take in a sorted file", || self.db.ingest_external_file_cf_opts(family, &options, paths))?;
        // Moving links a file into the store; the name it had here may remain.
        files.remove()
    }

    /// Writers of sorted files for a family.
    pub(super) fn sorted_files<'a>(
        &'a self,
        folder: &Path,
        family: &'static str,
        part: usize,
    ) -> Result<SortedFiles<'a>> {
        Ok(SortedFiles::new(folder, family, part, self.tuning.of(family)?))
    }

    /// Removes the tables of a family that lie between two keys as a whole.
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

    /// Makes tables of the rows that are in memory and in the log, if they are many: who opens the store reads the log first.
    /// True if it has made some.
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

    /// Rows of a family that are in no table yet.
    fn unwritten(&self, family: &str) -> Result<u64> {
        let mut rows = 0;
        for property in ["rocksdb.num-entries-active-mem-table", "rocksdb.num-entries-imm-mem-tables"] {
            let some = self.db.property_int_value_cf(self.family(family)?, property);
            rows += some.map_err(failed("measure itself"))?.unwrap_or(0);
        }
        Ok(rows)
    }

    /// Compacts a family; with `all` also tables without deletions, unless there is only one.
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
        // The engine does not return what kept it from compacting, but counts it.
        if self.background_failures() > 0 {
            self.failed.store(true, Ordering::Relaxed);
            let log = self.db.path().join("LOG");
            let source = format!("the end of {} says why; nothing is lost", log.display()).into();
            return Err(Error::Store { action: "compact its tables", failure: StoreFailure::Other, source });
        }
        Ok(())
    }

    /// True where a family is one table without deletions: to write it again would give nothing back.
    pub(super) fn is_compact(&self, family: &str) -> Result<bool> {
        if self.unwritten(family)? > 0 {
            return Ok(false);
        }
        let tables = self.db.live_files().map_err(failed("measure itself"))?;
        let mut tables = tables.iter().filter(|table| table.column_family_name == family);
        let first = tables.next();
        Ok(first.is_none_or(|first| first.num_deletions == 0) && tables.next().is_none())
    }

    /// Follows the process that writes the store.
    pub(super) fn catch_up(&self) -> Result<()> {
        self.db.try_catch_up_with_primary().map_err(failed("catch up with the writer"))
    }

    /// The tables of the store, by level: number of the level, tables, bytes.
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

    /// The tables of the store, whole or damaged.
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

    /// The engine's name of the store, which stays with it when it is moved; `None` where it cannot be told.
    pub(super) fn identity(&self) -> Result<Option<String>> {
        let mut identity = self.db.get_db_identity().map_err(failed("tell its identity"))?;
        if identity.is_empty() {
            // The engine does not tell a secondary instance. The writer has put the file there when it opened the store.
            let path = self.db.path().join("IDENTITY");
            identity = match fs::read(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                read => read.map_err(Error::io("read", &path))?,
            };
        }
        let identity = String::from_utf8_lossy(&identity).trim_end().to_owned();
        Ok(Some(identity).filter(|identity| !identity.is_empty()))
    }

    /// For reading rows whatever their keys have in common. Some families have filters for keys that differ only in their ends.
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

    /// False once a write has failed, also one that the engine made by itself.
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

    /// Writes, unless an earlier write has failed.
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

/// The tables of a damaged store that are kept open.
const TABLES_OF_DAMAGED: i32 = 128;

/// The bytes that are read ahead of one reader that reads from end to end. Several dozen may be at work at once.
const READ_AHEAD: usize = 512 << 10;

#[expect(
    deprecated,
    reason = "only for speed: a damaged store is read without its list, where nothing else orders range deletions"
)]
fn ignore_ranges(options: &mut ReadOptions) {
    options.set_ignore_range_deletions(true);
}

/// Changes of rows that are made together.
pub(super) struct Changes<'a> {
    engine: &'a Engine,
    batch: WriteBatch,
}

impl Changes<'_> {
    pub(super) fn put(&mut self, family: &str, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.batch.put_cf(self.engine.family(family)?, key, value);
        Ok(())
    }

    pub(super) fn delete(&mut self, family: &str, key: impl AsRef<[u8]>) -> Result<()> {
        self.batch.delete_cf(self.engine.family(family)?, key);
        Ok(())
    }

    /// Deletes the rows from the key `first` to the one before `after`.
    pub(super) fn delete_between(&mut self, family: &str, first: &[u8], after: &[u8]) -> Result<()> {
        self.batch.delete_range_cf(self.engine.family(family)?, first, after);
        Ok(())
    }

    /// Makes the changes; they are on the disk when this returns.
    pub(super) fn commit(self, action: &'static str) -> Result<()> {
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        self.engine.writing(action, || self.engine.db.write_opt(self.batch, &synced))
    }

    /// Makes the changes; they are on the disk when later ones have been committed.
    pub(super) fn write(self, action: &'static str) -> Result<()> {
        self.engine.writing(action, || self.engine.db.write(self.batch))
    }
}
