//! Open: checks that a folder holds an intact database, and opens it for one writer or many readers.
//!
//! If a log or a list of tables was cut between two records, the engine sees an intact older database. So
//! `commit_mark` and `manifest` compare both with a file beside the store. A reader in another process also
//! sees one whole commit (`opening`).

pub(super) mod commit_mark;
pub(super) mod create;
mod delete;
pub(super) mod files;
pub(super) mod format_marker;
pub(super) mod linked_store;
pub(super) mod lock;
pub(super) mod making;
pub(super) mod manifest;
pub(super) mod open_files;
mod opening;
pub(super) mod place;
mod unfinished;
pub(super) mod version_edit;

use super::engine::options::DEFAULT_CACHE_BYTES;
use fpdb_host::{memory, pool};

/// Minimum of the default memory, which is usually a quarter of the machine's memory.
const LEAST_MEMORY: u64 = 1 << 20;

/// The memory, cache and files that a host allows a store.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// Bytes of memory for blocks and filters that were read.
    pub cache_bytes: usize,
    /// Approximate bytes of memory for an ingest or a merge, without the cache.
    pub memory: u64,
    /// Number of threads that work for the store.
    pub threads: usize,
    /// If true, raises the limit of open files of the process. Otherwise only checks the limit.
    pub raise_open_files: bool,
    /// If true, errors may name the documents that were read from a given path.
    pub tell_paths: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            cache_bytes: DEFAULT_CACHE_BYTES,
            memory: (memory::of_machine() / 4).max(LEAST_MEMORY),
            threads: pool::processors(),
            raise_open_files: false,
            tell_paths: true,
        }
    }
}

/// The id of a process that has ended.
#[cfg(test)]
fn ended_process() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}
