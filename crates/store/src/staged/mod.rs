//! Staged: rows and sorted files of a store that are made without one, on many machines, and a store that takes such files
//! over.
//!
//! A *part* is the rows of one kind within fixed bounds. Its rows come strictly ascending, and become files that a store can
//! move in as they are. Parts share no key, whatever their number.

mod block;
mod files;
mod rows;
mod take;

pub use block::{BlockWriter, for_each_row};
pub use files::{PartContents, PartMaker, PartWriter, StagedFile};
pub use rows::{
    PartKind, StagedRow, digest_row, document_rows, failure_row, name_row, named, posting_of, posting_row, posting_sum,
};
pub use take::Assembled;
