//! Read: finds the documents that hold a hash.

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
