//! Tuning: every option of the storage engine, with its reason.
//!
//! Options live on each column family's own `Options`: the engine's bindings pass table options given for
//! the whole database to no column family.

use memmap2::MmapOptions;
use rocksdb::{
    BlockBasedOptions, Cache, DBCompactionStyle, DBCompressionType, DBRecoveryMode, Options, SliceTransform,
};

use super::failure::{EngineError, missing};
use super::sorted_file::FILE_BYTES;
use crate::codec::format::{
    CONTAINERS, DIGESTS, DOCUMENTS, FAMILIES, FILTERS, NAMES, POSITIONS, POSTINGS, TEXTS, split_u32,
};
use fpdb_host::error::{Result, StoreFailure};

/// The default size of the block cache. 192 MiB hold the filters of 100 million hashes and
/// 15,000 posting blocks beside them. Reading from end to end leaves it alone.
pub(crate) const DEFAULT_CACHE_BYTES: usize = 192 << 20;

/// Small, for postings and positions do not pass through it.
const WRITE_BUFFER_BYTES: usize = 16 << 20;

/// A file of the log that the engine keeps of what it does. A commit takes some 2 KB.
const ENGINE_LOG_BYTES: usize = 4 << 20;

/// Address space the engine maps beside its cache: write buffers, the small caches it makes for options and never uses,
/// stacks of its threads.
const OTHER_BYTES: usize = 192 << 20;

/// One cache for all families, and, taken out of the same room, the filters of runs.
#[derive(Clone)]
pub(crate) struct BlockCache {
    cache: Cache,
    /// The room that blocks and filters share.
    bytes: usize,
}

impl BlockCache {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { cache: Cache::new_lru_cache(bytes), bytes }
    }

    /// The room that blocks and filters share.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Leaves so many bytes to what is held outside of it.
    pub(crate) fn leave(&self, bytes: usize) {
        self.cache.clone().set_capacity(self.bytes.saturating_sub(bytes));
    }

    /// Bytes of the blocks in it.
    pub(crate) fn usage(&self) -> usize {
        self.cache.get_usage()
    }
}

/// The options of one database.
pub(super) struct Tuning {
    pub(super) database: Options,
    /// The options of each family, the default one included.
    pub(super) families: Vec<(&'static str, Options)>,
}

impl Tuning {
    pub(super) fn new(cache: &BlockCache) -> Result<Self, EngineError> {
        // For options that are made anew the engine maps memory for a cache, and aborts where that is refused: all are
        // copies of these.
        let plain = Options::default();
        let families = FAMILIES.into_iter().map(|name| Ok((name, of_family(name, &plain, &cache.cache)?)));
        Ok(Self { database: database(&plain), families: families.collect::<Result<_, EngineError>>()? })
    }

    /// Lets each family have so many levels of tables.
    pub(super) fn set_levels(&mut self, levels: u32) {
        for (_, options) in &mut self.families {
            options.set_num_levels(i32::try_from(levels).unwrap_or(i32::MAX));
        }
    }

    /// The options of a family.
    pub(super) fn of(&self, family: &str) -> Result<&Options> {
        let found = self.families.iter().find(|(name, _)| *name == family);
        found.map(|(_, options)| options).ok_or_else(|| missing(&format!("the column family {family}")))
    }
}

/// Sees to it that there is memory for opening a store: the engine ends the process where it is refused any.
pub(super) fn check_memory(cache_bytes: usize) -> Result<(), EngineError> {
    let bytes = cache_bytes.saturating_add(OTHER_BYTES);
    // Mapped and given back at once; no page of it is ever touched.
    MmapOptions::new()
        .len(bytes)
        .map_anon()
        .map(drop)
        .map_err(|error| EngineError { failure: StoreFailure::OutOfMemory, source: error.into() })
}

/// Options of the whole database.
fn database(plain: &Options) -> Options {
    let mut options = plain.clone();
    // Every table stays open: a reader beside a writer keeps the files it saw even once they are deleted.
    options.set_max_open_files(-1);
    // A synced commit that is damaged later is an error, not the silent end of history; only the torn
    // record of a commit that never returned is dropped.
    options.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
    // Its log of what it does, which only people read, has two files of this size at most, however long a writer is open.
    options.set_keep_log_file_num(2);
    options.set_max_log_file_size(ENGINE_LOG_BYTES);
    // The periodic statistics would go to a log that is never read.
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    // One flush and one compaction beside the threads that fingerprint.
    options.set_max_background_jobs(2);
    // For all families together: committed rows wait in memory until they are worth a table, and are in the log.
    options.set_db_write_buffer_size(WRITE_BUFFER_BYTES);
    options
}

fn of_family(name: &str, plain: &Options, cache: &Cache) -> Result<Options, EngineError> {
    let table = |block, compression| table(plain, cache, block, compression);
    Ok(match name {
        // Packed already (zstd takes off 1%); a posting block, or a filter, fills a table block by itself.
        // The index has the keys as they are: shortened, as they would be, half of all lookups read the block
        // before theirs first.
        POSTINGS | FILTERS => table(4 << 10, DBCompressionType::None)
            .get_options_from_string(
                "block_based_table_factory={index_shortening=kNoShortening;index_block_search_type=kInterpolation}",
            )
            .map_err(EngineError::of)?,
        // Read for the few documents that are shown: size before speed.
        POSITIONS | DOCUMENTS => merged(table(16 << 10, DBCompressionType::Zstd)),
        NAMES => asked_for(plain, cache, 16 << 10, DBCompressionType::Zstd),
        // Digests are random bytes.
        DIGESTS => asked_for(plain, cache, 4 << 10, DBCompressionType::None),
        // Compressed already; a chunk is read for itself.
        TEXTS => merged(table(16 << 10, DBCompressionType::None)),
        CONTAINERS => merged(table(4 << 10, DBCompressionType::Zstd)),
        // The rest is small.
        _ => merged(table(4 << 10, DBCompressionType::None)),
    })
}

/// Compacted by size, which merges the tables of small commits also where their keys do not overlap. By levels they would
/// be moved as they are: a table for each commit, and all tables are kept open. Tables of runs are never compacted.
fn merged(mut options: Options) -> Options {
    options.set_compaction_style(DBCompactionStyle::Universal);
    options
}

/// Tables of the names or the digests: an ingest asks for those of each document, and mostly there are none. Filters of the keys
/// without their documents say so. They take 10 bits a key, and let one in a hundred pass.
fn asked_for(plain: &Options, cache: &Cache, block: usize, compression: DBCompressionType) -> Options {
    let mut blocks = blocks(cache, block);
    blocks.set_bloom_filter(10.0, false);
    blocks.set_whole_key_filtering(false);
    let mut options = merged(table_of(plain, &blocks, compression));
    options.set_prefix_extractor(SliceTransform::create("fpdb.without-document", without_document, Some(has_document)));
    // The rows that are in memory have one too: 640 KiB, which is 20 bits for each of as many as there can be.
    options.set_memtable_prefix_bloom_ratio(0.01);
    options
}

/// A key without the document at its end.
fn without_document(key: &[u8]) -> &[u8] {
    split_u32(key).map_or(key, |(rest, _)| rest)
}

fn has_document(key: &[u8]) -> bool {
    split_u32(key).is_some()
}

fn table(plain: &Options, cache: &Cache, block: usize, compression: DBCompressionType) -> Options {
    table_of(plain, &blocks(cache, block), compression)
}

fn blocks(cache: &Cache, block: usize) -> BlockBasedOptions {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_block_size(block);
    // The newest table format the engine's default does not yet choose costs older readers, of which
    // there are none; its checksums cover each block's place in the file.
    blocks.set_format_version(6);
    blocks
}

fn table_of(plain: &Options, blocks: &BlockBasedOptions, compression: DBCompressionType) -> Options {
    let mut options = plain.clone();
    options.set_block_based_table_factory(blocks);
    // As large as those written here: what is kept open is few files.
    options.set_target_file_size_base(FILE_BYTES);
    options.set_compression_type(compression);
    options.set_bottommost_compression_type(compression);
    options
}
