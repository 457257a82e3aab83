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
#[cfg(feature = "cli")]
mod measure;
mod member_name;
mod member_place;
mod metadata;
mod names;
mod options;
mod pipe;
#[cfg(any(test, fuzzing))]
pub(crate) mod properties;
mod pump;
mod reach;
mod reader;
mod scope;
mod single_document;
mod stored;
mod supplied;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use crate::recognise::{Compression, Container};
pub(crate) use candidate::{About, Candidate, Content, FileFacts, WalkEvent, absolute_name, candidate_of, next_piece};
pub(crate) use container_batch::{ContainerBatch, HELD_BYTES};
pub(crate) use containers::JsonText;
pub use containers::RecordFields;
pub(crate) use enclosing::enclosing_database;
pub(crate) use expand::{Opened, ReadContext, expand_stream, open};
pub(crate) use extents::Extents;
pub(crate) use file_parts::{FileKind, compression_of, visit_with_extents};
pub(crate) use held::for_each_held;
pub use limits::InputLimits;
#[cfg(feature = "cli")]
pub(crate) use measure::measure;
pub(crate) use member_name::{CLOSED, StoredPlace, file_name_of, parts_of};
pub use metadata::MetadataTable;
pub(crate) use names::{NamePrefix, tidied};
pub use options::{ReadAs, ReadOptions, Source, WalkOptions};
pub(crate) use reach::{Reach, is_untouched};
pub(crate) use reader::{Reader, format_of, front_end_of_text};
pub(crate) use scope::{Scope, is_missing};
pub(crate) use single_document::single_document;
#[cfg(test)]
pub(crate) use stored::READINGS;
pub(crate) use stored::{SEARCHED_BYTES, stored_document};
pub use supplied::Document;
pub(crate) use supplied::in_memory;
pub(crate) use walk::{UNDER_WAY, walk};
