//! Store: here is a hash, which documents hold it? The only folder that names the storage engine.
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

mod care;
mod codec;
mod document_set;
mod engine;
#[cfg(test)]
mod fold_tests;
mod handle;
mod open;
mod past;
#[cfg(any(test, fuzzing))]
pub(crate) mod properties;
mod read;
mod sizes;
mod sources;
mod staged;
#[cfg(test)]
pub(crate) mod tests;
mod texts;
#[cfg(test)]
mod tombstone_tests;
mod turns;
mod view;
mod write;

pub use care::backup::Backup;
pub use care::findings::{LostDocument, Problem, Repair, Verification};
pub(crate) use care::repair::{RepairStart, Repairing};
pub(crate) use codec::block::Posting;
pub(crate) use codec::format::{DECISIONS, FORMAT_VERSION};
pub(crate) use codec::positions::FingerprintPlace;
pub(crate) use codec::records::{ContainerRecord, DocumentRecord, SourceRecord};
pub(crate) use codec::varint;
pub use engine::Level;
pub(crate) use handle::Store;
pub(crate) use open::StoreOptions;
pub(crate) use open::making::MAKING;
pub(crate) use read::lookup::{Holders, Lookup};
pub(crate) use sizes::LOGS;
pub(crate) use staged::{
    Assembled, BlockWriter, PartContents, PartKind, PartMaker, PartWriter, StagedFile, StagedRow, digest_row,
    document_rows, failure_row, for_each_row, name_row, named, posting_of, posting_row, posting_sum,
};
pub(crate) use texts::{TEXT_CHUNK_BYTES, chunks as text_chunks, compress, decompress};
pub(crate) use view::View;
pub(crate) use write::batch::{Batch, PUSHED_AT_ONCE, PendingDocuments};
pub(crate) use write::commit::Committer;
pub(crate) use write::levels::MANY_BLOCKS;
pub(crate) use write::ranges::of_hashes;
