//! Read: finds the documents that hold a hash.
//!
//! Keys are in the order of their hashes as numbers. So a lookup takes hashes in ascending order and reads
//! the disk in one direction (`lookup`). In each run a filter excludes most of the hashes that the run lacks
//! (`filter_use`), and a cursor finds the blocks of the other hashes. The hashes of several queries share one
//! pass (`gathered`).

mod documents;
pub(super) mod filter_cursor;
pub(super) mod filter_use;
pub(super) mod gathered;
mod held_filters;
pub(super) mod lookup;
mod posting_cache;
mod postings;
pub(super) mod run_reader;
pub(super) mod run_rows;
