//! Write: how do documents become part of the database, all of a batch or nothing?

pub(super) mod batch;
pub(super) mod commit;
pub(super) mod fold;
pub(super) mod levels;
pub(super) mod posting_buffer;
pub(super) mod ranges;
pub(super) mod run_writer;
