//! Tuning: every option of the storage engine, with its reason.
//!
//! Options live on each column family's own `Options`: the engine's bindings pass table options given for
//! the whole database to no column family.

use rocksdb::{BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType, DBRecoveryMode, Options};

use super::format::{BOILERPLATE, CONTAINERS, DIGESTS, DOCUMENTS, NAMES, POSITIONS, POSTINGS, TEXTS, TOMBSTONES};

/// One cache for all families. Lookups of one query touch each block once, so what matters is that the
/// blocks of a run of queries stay: 64 MiB hold some 15,000 posting blocks.
const CACHE_BYTES: usize = 64 << 20;

/// Options of the whole database.
pub(super) fn database() -> Options {
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
    options
}

/// Every column family with its options, the default one included.
pub(super) fn families() -> Vec<ColumnFamilyDescriptor> {
    let cache = Cache::new_lru_cache(CACHE_BYTES);
    let family = |name: &str, block: usize, compression: DBCompressionType| {
        ColumnFamilyDescriptor::new(name, table(&cache, block, compression))
    };
    vec![
        family("default", 4 << 10, DBCompressionType::None),
        // Packed already (zstd takes off 1%); a posting block fills a table block by itself.
        family(POSTINGS, 4 << 10, DBCompressionType::None),
        // Read for the few documents that are shown: size before speed.
        family(POSITIONS, 16 << 10, DBCompressionType::Zstd),
        family(DOCUMENTS, 16 << 10, DBCompressionType::Zstd),
        family(NAMES, 16 << 10, DBCompressionType::Zstd),
        // Digests are random bytes.
        family(DIGESTS, 4 << 10, DBCompressionType::None),
        // Compressed already; a chunk is read for itself.
        family(TEXTS, 16 << 10, DBCompressionType::None),
        family(TOMBSTONES, 4 << 10, DBCompressionType::None),
        family(BOILERPLATE, 4 << 10, DBCompressionType::None),
        family(CONTAINERS, 4 << 10, DBCompressionType::Zstd),
    ]
}

/// Options of the sorted files written outside the store for `family`; they must equal the family's own.
pub(super) fn sorted_file(family: &str) -> Options {
    let cache = Cache::new_lru_cache(0);
    match family {
        POSITIONS => table(&cache, 16 << 10, DBCompressionType::Zstd),
        _ => table(&cache, 4 << 10, DBCompressionType::None),
    }
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
    options.set_compression_type(compression);
    options.set_bottommost_compression_type(compression);
    options
}
