//! Input: finds the documents below a path.
//!
//! A walk (`find`) finds files. A file is a document, a compressed document (`decompress`), or a container
//! (`containers`). The members of a container are documents or further containers. `expand` goes through the
//! layers, and `read` reads one document. A member is passed on while its bytes arrive, so it may have any
//! size.

mod containers;
mod decompress;
mod expand;
mod find;
mod pieces;
#[cfg(all(any(test, fuzzing), feature = "all"))]
pub mod properties;
mod read;
mod temporary;
#[cfg(all(test, feature = "all"))]
mod tests;

pub use crate::extract::{InputLimit, InputLimits, LimitUnit};
pub use crate::recognise::{Compression, Container, Hint};
pub use containers::JsonText;
pub use containers::RecordFields;
pub use containers::{TextPath, TextStep, is_joined};
pub use expand::container_batch::{ContainerBatch, HELD_BYTES};
pub use expand::extents::Extents;
pub use expand::file_parts::{FileKind, compression_of, visit_with_extents};
pub use expand::member_name::{
    CLOSED, PARTS, StoredPlace, file_name_of, may_be_attached, member_today, parts_of, suffix_start,
};
pub use expand::{Opened, ReadContext, expand_stream, open};
pub use find::candidate::{About, Candidate, Content, FileFacts, WalkEvent, absolute_name, candidate_of};
pub use find::enclosing::{enclosing_database, resolved};
pub use find::globs::{glob_of_path, moved_glob};
pub use find::measure::measure;
pub use find::names::{NamePrefix, tidied};
pub use find::options::{ReadAs, ReadOptions, Source, WalkOptions};
pub use find::path_filter::PathFilter;
pub use find::reach::Reach;
pub use find::scope::{Scope, is_gone, is_hidden, is_missing};
pub use find::walk::{UNDER_WAY, is_under_way, walk};
pub use pieces::{PieceSender, Pieces};
pub use read::held::for_each_held;
pub use read::metadata::MetadataTable;
pub use read::reader::{Reader, format_of, front_end_of_text};
pub use read::single_document::{single_document, standard_input};
pub use read::stored::{SEARCHED_BYTES, failed_part, stored_document, without_field};
pub use read::supplied::Document;
