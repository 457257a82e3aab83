//! Write: adds documents to the database, the whole batch or nothing.

pub(super) mod batch;
pub(super) mod commit;
pub(super) mod fold;
mod kept;
pub(super) mod levels;
pub(super) mod posting_buffer;
pub(super) mod ranges;
pub(super) mod run_writer;
