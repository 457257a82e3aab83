//! Staged: makes rows and sorted files of a store without opening one, on many machines. One store then takes
//! the files over.
//!
//! A *part* is the rows of one kind within fixed bounds. Its rows ascend strictly, and become files that a
//! store takes over unchanged. Parts share no key, whatever their number.

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
