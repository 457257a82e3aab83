//! Tuning: every option of the storage engine, with its reason.
//!
//! Options live on each column family's own `Options`: the engine's bindings pass table options given for
//! the whole database to no column family.

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompactionStyle, DBCompressionType, DBRecoveryMode, Options,
};

use crate::error::Result;
use crate::store::codec::format::{CONTAINERS, DOCUMENTS, FAMILIES, FILTERS, NAMES, POSITIONS, POSTINGS, TEXTS};
use crate::store::engine::sorted_file::FILE_BYTES;
use crate::store::failed;

/// What is kept in memory of what was read, as it is used: one cache for all families, and, taken out of the same
/// room, the filters of runs. 192 MiB hold the filters of 100 million hashes and 15,000 posting blocks beside them.
/// Reading from end to end leaves it alone.
pub(in crate::store) const CACHE_BYTES: usize = 192 << 20;

/// Small, for postings and positions do not pass through it.
const WRITE_BUFFER_BYTES: usize = 16 << 20;

/// Options of the whole database.
pub(in crate::store) fn database() -> Options {
    let mut options = Options::default();
    // Every table stays open: a reader beside a writer keeps the files it saw even once they are deleted.
    options.set_max_open_files(-1);
    // A synced commit that is damaged later is an error, not the silent end of history; only the torn
    // record of a commit that never returned is dropped.
    options.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
    options.set_keep_log_file_num(2);
    // The periodic statistics would go to a log nobody reads.
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    // One flush and one compaction beside the threads that fingerprint.
    options.set_max_background_jobs(2);
    // Of all families together: what is committed waits in memory for being worth a table, and is in the log.
    options.set_db_write_buffer_size(WRITE_BUFFER_BYTES);
    options
}

/// The cache of all families of one database.
pub(in crate::store) fn cache() -> Cache {
    Cache::new_lru_cache(CACHE_BYTES)
}

/// Every column family with its options, the default one included.
pub(in crate::store) fn families(cache: &Cache) -> Result<Vec<ColumnFamilyDescriptor>> {
    let descriptor = |name| Ok(ColumnFamilyDescriptor::new(name, of_family(name, cache)?));
    FAMILIES.into_iter().map(descriptor).collect()
}

/// Options of the sorted files written outside the store for `family`.
pub(in crate::store) fn sorted_file(family: &str) -> Result<Options> {
    of_family(family, &Cache::new_lru_cache(0))
}

fn of_family(name: &str, cache: &Cache) -> Result<Options> {
    match name {
        // Packed already (zstd takes off 1%); a posting block, or a filter, fills a table block by itself.
        // The index has the keys as they are: shortened, as they would be, half of all lookups read the block
        // before theirs first.
        POSTINGS | FILTERS => table(cache, 4 << 10, DBCompressionType::None)
            .get_options_from_string(
                "block_based_table_factory={index_shortening=kNoShortening;index_block_search_type=kInterpolation}",
            )
            .map_err(failed("set itself up")),
        // Read for the few documents that are shown: size before speed.
        POSITIONS | DOCUMENTS | NAMES => Ok(merged(table(cache, 16 << 10, DBCompressionType::Zstd))),
        // Compressed already; a chunk is read for itself.
        TEXTS => Ok(merged(table(cache, 16 << 10, DBCompressionType::None))),
        CONTAINERS => Ok(merged(table(cache, 4 << 10, DBCompressionType::Zstd))),
        // Digests are random bytes, and the rest is small.
        _ => Ok(merged(table(cache, 4 << 10, DBCompressionType::None))),
    }
}

/// Compacted by size, which merges the tables of small commits also where their keys do not overlap. By levels they would
/// be moved as they are: a table for each commit, and all tables are kept open. Those of runs are never compacted.
fn merged(mut options: Options) -> Options {
    options.set_compaction_style(DBCompactionStyle::Universal);
    options
}

fn table(cache: &Cache, block: usize, compression: DBCompressionType) -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_block_size(block);
    // The newest table format the engine's default does not yet choose costs older readers, of which
    // there are none; its checksums cover each block's place in the file.
    blocks.set_format_version(6);
    let mut options = Options::default();
    options.set_block_based_table_factory(&blocks);
    // As large as those written here: what is kept open is few files.
    options.set_target_file_size_base(FILE_BYTES);
    options.set_compression_type(compression);
    options.set_bottommost_compression_type(compression);
    options
}
