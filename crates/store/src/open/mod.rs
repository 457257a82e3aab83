//! Open: is there a database in this folder, is it whole, and who may write it?

pub(super) mod create;
mod delete;
pub(super) mod files;
pub(super) mod linked_store;
pub(super) mod lock;
pub(super) mod making;
pub(super) mod manifest;
pub(super) mod mark;
pub(super) mod marker;
pub(super) mod open_files;
mod opening;
mod owned_folder;
pub(super) mod place;
mod unfinished;
pub(super) mod version_edit;

use super::engine::options::DEFAULT_CACHE_BYTES;
use fpdb_host::{memory, pool};

/// A machine that has less than four times this is allowed it all the same.
const LEAST_MEMORY: u64 = 1 << 20;

/// The memory, cache and files that a host allows a store.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// Bytes of memory for blocks and filters that were read.
    pub cache_bytes: usize,
    /// Bytes of memory that an ingest or a merge may use beside that, about.
    pub memory: u64,
    /// Threads that work for it at once.
    pub threads: usize,
    /// Raises the process's limit of open files as far as the system lets it; else the limit is only checked.
    pub raise_open_files: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            cache_bytes: DEFAULT_CACHE_BYTES,
            memory: (memory::of_machine() / 4).max(LEAST_MEMORY),
            threads: pool::processors(),
            raise_open_files: false,
        }
    }
}
