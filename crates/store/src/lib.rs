//! The store of fpdb: returns the documents that hold a given hash. Only this member of the workspace uses
//! RocksDB, the storage engine.
//!
//! Words used in every file here:
//!
//! * A *posting* is one fingerprint of one document, under its hash.
//! * A *run* is one sorted batch of postings. It is written once and never changed.
//! * A *fold* merges several runs into one.
//! * A *view* is the state of the database at one commit, in memory.
//! * A *tombstone* marks a deleted document, until no run holds postings of it.
//!
//! Ingest only adds keys. It uses no merge operator and never reads postings to rewrite them. It writes
//! postings and positions as *tables*, files of sorted rows, which the engine takes over whole. A commit is
//! one synced write. It makes postings, positions and their documents visible together. `codec/format.rs`
//! describes the format.
//!
//! Nothing that grows with the corpus is one value: blocks, filters, chunks of positions and texts, and sets
//! of documents are bounded in size.
//!
//! Every table stays open, so that a reader can still read the rows of its commit. So there must be few
//! tables (`engine::options`), and a table has up to 256 MB.
//!
//! * `codec/`: the bytes of keys and values.
//! * `engine/`: RocksDB, its options and files.
//! * `open/`: creates and opens a database.
//! * `read/`: from a hash to the documents that hold it.
//! * `write/`: from documents to a commit.
//! * `staged/`: makes files of a store without opening one.
//! * `care/`: verifies, repairs and backs up.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]
#![deny(clippy::undocumented_unsafe_blocks)]

mod care;
mod codec;
mod document_set;
mod engine;
#[cfg(test)]
mod fold_tests;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
#[cfg(test)]
mod gathered_tests;
mod handle;
mod kept_out;
#[cfg(test)]
mod kept_runs_tests;
mod name_places;
mod open;
mod past;
#[cfg(any(test, fuzzing))]
mod properties;
mod read;
mod sizes;
mod sources;
mod staged;
#[cfg(test)]
mod tests;
mod texts;
#[cfg(test)]
mod tombstone_tests;
mod turns;
mod view;
mod write;

pub use care::backup::{Backup, ListedBackup, backups, kept_out_since, verify_backups};
pub use care::findings::{DamagedStore, LostDocument, Problem, Repair, Verification};
pub use care::repair::{RepairStart, Repairing};
pub use codec::block::Posting;
pub use codec::container_record::{ContainerRecord, LeftMembers};
pub use codec::fields::{check_field, field_key};
pub use codec::format::{DECISIONS, FORMAT_VERSION};
pub use codec::positions::FingerprintPlace;
pub use codec::records::{DocumentRecord, KeptOutRecord, SourceRecord, TextCounts, TextView, ViewCounts};
pub use codec::varint;
pub use engine::Level;
pub use engine::refused_memory::abort_on_refused_memory;
pub use handle::{AsOf, Store};
pub use name_places::NamePlace;
pub use open::StoreOptions;
pub use read::gathered::Gathered;
pub use read::lookup::{Holders, Lookup};
pub use sizes::LOGS;
pub use staged::{
    Assembled, BlockWriter, PartContents, PartKind, PartMaker, PartWriter, StagedFile, StagedRow, digest_row,
    document_rows, failure_row, for_each_row, name_row, named, posting_of, posting_row, posting_sum,
};
pub use texts::{TEXT_CHUNK_BYTES, chunks as text_chunks, compress, decompress};
pub use view::View;
pub use write::batch::{Batch, PUSHED_AT_ONCE, PendingDocuments};
pub use write::commit::Committer;
pub use write::fold::CompactionPlan;
pub use write::levels::MANY_BLOCKS;
pub use write::ranges::of_hashes;
