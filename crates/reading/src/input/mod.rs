//! Input: finds the documents below a path.
//!
//! A walk finds files. A file is a document, a compressed document, or a container. The members of a
//! container are documents or further containers. A member is passed on while its bytes arrive, so it may
//! have any size.

mod bzip2;
mod candidate;
mod container_batch;
mod containers;
mod decompress;
mod decompress_thread;
mod enclosing;
mod expand;
mod extents;
mod file_parts;
mod gzip;
mod held;
mod measure;
mod member_name;
mod member_place;
mod metadata;
mod meter;
mod names;
mod options;
mod pipe;
#[cfg(all(any(test, fuzzing), feature = "all"))]
pub mod properties;
mod pump;
mod reach;
mod reader;
mod scope;
mod single_document;
mod stored;
mod supplied;
#[cfg(all(test, feature = "all"))]
mod tests;
mod walk;

pub use crate::extract::{InputLimit, InputLimits, LimitUnit};
pub use crate::recognise::{Compression, Container};
pub use candidate::{About, Candidate, Content, FileFacts, WalkEvent, absolute_name, candidate_of, next_piece};
pub use container_batch::{ContainerBatch, HELD_BYTES};
pub use containers::JsonText;
pub use containers::RecordFields;
pub use enclosing::enclosing_database;
pub use expand::{Opened, ReadContext, expand_stream, open};
pub use extents::Extents;
pub use file_parts::{FileKind, compression_of, visit_with_extents};
pub use held::for_each_held;
pub use measure::measure;
pub use member_name::{CLOSED, StoredPlace, file_name_of, parts_of};
pub use metadata::MetadataTable;
pub use names::{NamePrefix, tidied};
pub use options::{ReadAs, ReadOptions, Source, WalkOptions};
pub use reach::Reach;
pub use reader::{Reader, format_of, front_end_of_text};
pub use scope::{Scope, is_missing};
pub use single_document::single_document;
pub use stored::{SEARCHED_BYTES, stored_document};
pub use supplied::Document;
pub use supplied::in_memory;
pub use walk::{PathFilter, UNDER_WAY, walk};
