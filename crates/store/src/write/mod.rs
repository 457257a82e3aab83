//! Write: adds documents to the database, the whole batch or nothing.
//!
//! An ingest only adds rows and never reads postings to change them. A *commit* (`commit`) adds a batch
//! (`batch`) and makes one run of its postings (`run_writer`). A lookup visits every run, so runs must be
//! few. `levels` decides which runs are folded, and `fold` merges them. Frequent commits make small runs, and
//! `kept_runs` holds their postings in memory until one larger run replaces them.
//!
//! Ids depend neither on the memory allowed nor on the point at which an ingest was stopped. If a document
//! fails after part of it was written, its rows are removed, and the next document gets its id. A committed
//! id is never given again, even after its document was deleted: rows of the old document may still be in a
//! run.

pub(super) mod batch;
pub(super) mod commit;
pub(super) mod fold;
mod kept_runs;
pub(super) mod levels;
pub(super) mod posting_buffer;
pub(super) mod ranges;
pub(super) mod run_writer;
