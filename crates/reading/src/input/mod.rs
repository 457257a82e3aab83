//! Input: here is a path, which documents are in it?
//!
//! A walk finds files; a file is a document, a compressed document, or a container whose members are documents,
//! containers among them again. Members are handed over as their bytes come, so that one of any size passes through.

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
mod limits;
mod measure;
mod member_name;
mod member_place;
mod metadata;
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
pub use limits::InputLimits;
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
