//! The store of fpdb: here is a hash, which documents hold it? The only member that names the storage engine.
//!
//! Ingest only ever adds keys: no merge operator and no read-modify-write of postings. Postings and
//! positions are written as sorted files and handed to the engine whole; a commit is one synced write that
//! makes them visible together with the documents they belong to. The format is in
//! [`codec::format`].
//!
//! * `codec/`: the bytes of keys and values.
//! * `engine/`: RocksDB, its options and files.
//! * `open/`: making and opening a database.
//! * `read/`: from a hash to the documents that hold it.
//! * `write/`: from documents to a commit.
//! * `staged/`: files of a store that are made without one.
//! * `care/`: verify, repair, back up.

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
mod handle;
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

pub use care::backup::Backup;
pub use care::findings::{LostDocument, Problem, Repair, Verification};
pub use care::repair::{RepairStart, Repairing};
pub use codec::block::Posting;
pub use codec::format::{DECISIONS, FORMAT_VERSION};
pub use codec::positions::FingerprintPlace;
pub use codec::records::{ContainerRecord, DocumentRecord, SourceRecord};
pub use codec::varint;
pub use engine::Level;
pub use handle::Store;
pub use open::StoreOptions;
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
pub use write::levels::MANY_BLOCKS;
pub use write::ranges::of_hashes;
