//! Options: every option of RocksDB, with its reason.
//!
//! Each column family has its own options. RocksDB's bindings do not pass table options of the whole database
//! on to column families.
//!
//! **One block read for each lookup.** RocksDB shortens the keys in the index of a table. A hash between the
//! last hash of a block and its shortened form then costs a read of the block before. A lookup then reads
//! 1.47 blocks, counted over 20,000 lookups in 20 million postings. With keys of last hashes and unshortened
//! index keys, every lookup reads one block (`store::tests`).
//!
//! **Search by interpolation.** Hashes are uniform, so interpolation takes a tenth less time for a lookup
//! than bisection. Rejected, with the time that each saves:
//!
//! * eight index entries for each restart point (none);
//! * a cache with a hyper clock instead of least recently used (3%);
//! * filters in huge pages (5%);
//! * asking the filters of 64 hashes at once (5%).
//!
//! **Few tables.** A commit with less than 4 MiB of positions and texts writes them through the log. Families
//! without runs are compacted by size. Without these two rules 60 ingests of one file each left 318 tables;
//! with them they leave 33, and `compact` leaves 8.
//!
//! **Filters of names and digests.** An ingest asks for the name and the digest of each document, and most
//! are not stored. The filters save 9% of the processor time of an ingest of a million documents, at 10 bits
//! a key.
//!
//! **Not set: `track_and_verify_wals_in_manifest`.** This option notices a closed log that is missing or too
//! short. It does not cover the log in use, which holds the last commits, nor a cut list of tables, nor
//! secondary instances. The mark covers all of these (`store::open::commit_mark`).

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

/// The default size of the block cache. 192 MiB hold the filters of 100 million hashes and 15,000 posting
/// blocks beside them. Reading from end to end does not use the cache.
pub(crate) const DEFAULT_CACHE_BYTES: usize = 192 << 20;

/// The size of RocksDB's write buffers. Small, because postings and positions do not pass through them.
const WRITE_BUFFER_BYTES: usize = 16 << 20;

/// The size at which the engine starts a new file of its message log. A commit adds about 2 KB.
const ENGINE_LOG_BYTES: usize = 4 << 20;

/// Address space that the engine maps in addition to its cache, for write buffers, stacks of threads, and
/// small caches that the engine creates for options and never uses.
const OTHER_BYTES: usize = 192 << 20;

/// One cache of blocks for all column families. The filters of runs in memory reduce its capacity.
#[derive(Clone)]
pub(crate) struct BlockCache {
    cache: Cache,
    bytes: usize,
}

impl BlockCache {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { cache: Cache::new_lru_cache(bytes), bytes }
    }

    /// The bytes that blocks and filters share.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reduces the capacity of the cache by `bytes`, for filters that are held outside of it.
    pub(crate) fn leave(&self, bytes: usize) {
        self.cache.clone().set_capacity(self.bytes.saturating_sub(bytes));
    }

    /// The bytes of the blocks in the cache.
    pub(crate) fn usage(&self) -> usize {
        self.cache.get_usage()
    }
}

/// The options of one database.
pub(super) struct Tuning {
    pub(super) database: Options,
    /// The options of each column family, including the default one.
    pub(super) families: Vec<(&'static str, Options)>,
}

impl Tuning {
    pub(super) fn new(cache: &BlockCache) -> Result<Self, EngineError> {
        // For each new options object the engine maps memory for a cache, and it aborts the process if the
        // mapping fails. So all options are copies of this one.
        let plain = Options::default();
        let families = FAMILIES.into_iter().map(|name| Ok((name, of_family(name, &plain, &cache.cache)?)));
        Ok(Self { database: database(&plain), families: families.collect::<Result<_, EngineError>>()? })
    }

    /// Gives each family this many levels of tables.
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

/// Checks that there is memory to open a store, because the engine ends the process if an allocation fails.
///
/// # Errors
/// `OutOfMemory` if there is not enough memory.
pub(super) fn check_memory(cache_bytes: usize) -> Result<(), EngineError> {
    let bytes = cache_bytes.saturating_add(OTHER_BYTES);
    // The mapping is released at once. No page is touched.
    MmapOptions::new()
        .len(bytes)
        .map_anon()
        .map(drop)
        .map_err(|error| EngineError { failure: StoreFailure::OutOfMemory, source: error.into() })
}

/// The options of the whole database.
fn database(plain: &Options) -> Options {
    let mut options = plain.clone();
    // Every table stays open: a reader beside a writer keeps the files it saw even after they are deleted.
    options.set_max_open_files(-1);
    // If a synced commit is damaged later, opening fails instead of dropping later commits silently. Only the
    // torn record of a commit that never returned is dropped.
    options.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
    // The message log, which only people read, has at most two files of this size, however long a writer is
    // open.
    options.set_keep_log_file_num(2);
    options.set_max_log_file_size(ENGINE_LOG_BYTES);
    // The engine would write periodic statistics to a log that nobody reads.
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    // One flush and one compaction run beside the threads that fingerprint.
    options.set_max_background_jobs(2);
    // One limit for all families together. Committed rows are in the log, and wait in memory until they are
    // worth a table.
    options.set_db_write_buffer_size(WRITE_BUFFER_BYTES);
    options
}

fn of_family(name: &str, plain: &Options, cache: &Cache) -> Result<Options, EngineError> {
    let table = |block, compression| table(plain, cache, block, compression);
    Ok(match name {
        // Posting blocks and filters are packed already (zstd saves 1%), and each fills a table block by
        // itself. The module comment gives the reasons for the two settings of the index.
        POSTINGS | FILTERS => table(4 << 10, DBCompressionType::None)
            .get_options_from_string(
                "block_based_table_factory={index_shortening=kNoShortening;index_block_search_type=kInterpolation}",
            )
            .map_err(EngineError::of)?,
        // These rows are read only for the few documents that are shown, so size matters more than speed.
        POSITIONS | DOCUMENTS => merged(table(16 << 10, DBCompressionType::Zstd)),
        NAMES => asked_for(plain, cache, 16 << 10, DBCompressionType::Zstd),
        // Digests are random bytes, so they do not compress.
        DIGESTS => asked_for(plain, cache, 4 << 10, DBCompressionType::None),
        // Texts are compressed already, and their chunks are read one by one.
        TEXTS => merged(table(16 << 10, DBCompressionType::None)),
        CONTAINERS => merged(table(4 << 10, DBCompressionType::Zstd)),
        // The other families are small.
        _ => merged(table(4 << 10, DBCompressionType::None)),
    })
}

/// Options with compaction by size, which merges the tables of small commits even if their keys do not
/// overlap. Compaction by levels would move such tables unchanged. Each commit would then leave an open
/// table. Tables of runs are never compacted.
fn merged(mut options: Options) -> Options {
    options.set_compaction_style(DBCompactionStyle::Universal);
    options
}

/// Options for the names or the digests. Filters hold the keys without their documents. At 10 bits a key they
/// let one in a hundred absent keys pass.
fn asked_for(plain: &Options, cache: &Cache, block: usize, compression: DBCompressionType) -> Options {
    let mut blocks = blocks(cache, block);
    blocks.set_bloom_filter(10.0, false);
    blocks.set_whole_key_filtering(false);
    let mut options = merged(table_of(plain, &blocks, compression));
    options.set_prefix_extractor(SliceTransform::create("fpdb.without-document", without_document, Some(has_document)));
    // Rows in memory have such a filter too. It takes 640 KiB: 20 bits a row, for the largest possible number
    // of rows.
    options.set_memtable_prefix_bloom_ratio(0.01);
    options
}

/// The key without the document at its end.
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
    // The engine's default is an older version, for old readers, which fpdb does not have. The checksums of
    // version 6 also cover the position of each block in the file.
    blocks.set_format_version(6);
    blocks
}

fn table_of(plain: &Options, blocks: &BlockBasedOptions, compression: DBCompressionType) -> Options {
    let mut options = plain.clone();
    options.set_block_based_table_factory(blocks);
    // Tables get the same size as sorted files, so that few files stay open.
    options.set_target_file_size_base(FILE_BYTES);
    options.set_compression_type(compression);
    options.set_bottommost_compression_type(compression);
    options
}
