//! Read: which documents hold this hash?

pub(super) mod filter_cursor;
pub(super) mod held_filters;
pub(super) mod lookup;
pub(super) mod posting_cache;
pub(super) mod run_reader;
