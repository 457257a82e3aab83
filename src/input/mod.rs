//! Input: here is a path, which documents are in it?
//!
//! A walk finds files; a file is a document, a compressed document, or a container whose members are documents,
//! containers among them again. Members are handed over as their bytes come, so that one of any size passes through.

mod bzip2;
mod container_batch;
mod containers;
mod decompress;
mod decompress_thread;
mod enclosing;
mod expand;
mod gzip;
mod limits;
#[cfg(feature = "cli")]
mod measure;
mod metadata;
mod names;
mod pipe;
#[cfg(any(test, fuzzing))]
pub(crate) mod properties;
mod reader;
mod single_document;
mod stored;
mod supplied;
#[cfg(test)]
mod tests;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::document::{Format, Language, Modified};
use crate::error::{Error, Result};
use crate::normalize::language_of;
use crate::setters::setters;

pub(crate) use crate::recognise::{Compression, holds_records};
pub(crate) use container_batch::ContainerBatch;
pub use containers::RecordFields;
pub(crate) use enclosing::enclosing_database;
pub(crate) use expand::{Opened, Reading, expand_stream, open};
pub use limits::InputLimits;
#[cfg(feature = "cli")]
pub(crate) use measure::measure;
pub use metadata::MetadataTable;
pub(crate) use names::{NamePrefix, tidied};
pub(crate) use reader::{Reader, STANDARD_INPUT, format_of};
pub(crate) use single_document::single_document;
pub(crate) use stored::{CLOSED, SEARCHED_BYTES, stored_document};
pub use supplied::Document;
pub(crate) use supplied::in_memory;
pub(crate) use walk::walk;
use walk::{candidate_of, name_of};

/// Where documents are to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, or a folder with all that is below it.
    Path(PathBuf),
    /// Standard input, as one document of this name.
    StandardInput {
        /// The document's name.
        name: String,
    },
}

impl Source {
    /// What a document is called that is all of it.
    ///
    /// # Errors
    /// [`Error::PathNotUtf8`].
    pub fn name(&self) -> Result<String> {
        match self {
            Self::Path(path) => name_of(path),
            Self::StandardInput { name } => Ok(name.clone()),
        }
    }
}

/// Which files of a folder are documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkOptions {
    /// Leaves out files and folders whose name begins with a dot.
    pub skip_hidden: bool,
    /// Follows symbolic links below a folder; those named themselves are followed in any case.
    pub follow: bool,
    /// Leaves out what one of these globs matches, in the syntax of `.gitignore`.
    pub exclude: Vec<String>,
}

impl WalkOptions {
    setters! { skip_hidden: bool, follow: bool, exclude: Vec<String> }
}

/// What is taken for a document, and how it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Which front-end reads the documents.
    pub front_end: ReadAs,
    /// Takes containers and compressed files as documents, as they are.
    pub closed: bool,
    /// Where the text of a record is.
    pub fields: RecordFields,
    /// What a file may unfold to.
    pub limits: InputLimits,
    /// Of a query document, ignores what stands in quotation marks. Documents that are stored count whole.
    pub skip_quotes: bool,
}

impl ReadOptions {
    setters! {
        front_end: ReadAs,
        closed: bool,
        fields: RecordFields,
        limits: InputLimits,
        skip_quotes: bool,
    }
}

/// Which front-end reads documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadAs {
    /// The one that a document's name and first bytes tell; those of no front-end are left out.
    #[default]
    Auto,
    /// That of the programming language a document's name tells; plain text where it tells none.
    Code,
    /// One for all.
    Format(Format),
}

impl ReadAs {
    /// The front-end of a document that was read in the format of this name.
    pub(crate) fn of(format: &str) -> Self {
        Format::named(format).map_or(Self::Auto, Self::Format)
    }

    /// Whether a document read in the format of this name would do: then it need not be read again. `hint` as in
    /// [`About`].
    pub(crate) fn allows(self, format: &str, hint: &str) -> bool {
        match self {
            Self::Auto => true,
            Self::Code => {
                // Without an extension it is the first line that tells.
                let is_text = || language_of(hint, b"").is_none() && Path::new(hint).extension().is_some();
                Language::ALL.iter().any(|language| language.name() == format)
                    || format == Format::Text.name() && is_text()
            }
            Self::Format(asked) => asked.name() == format,
        }
    }
}

/// A document to be read.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) about: About,
    pub(crate) content: Content,
}

/// What is known of a document before it is read.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) name: String,
    /// The name of a file like it, for what its ending tells of its format; may be empty.
    pub(crate) hint: String,
    /// The file it is, or is in; `None` for standard input.
    pub(crate) file: Option<Arc<FileFacts>>,
    /// Which part of the file, as its name says it; `None` for the whole, [`CLOSED`] where it would be unfolded usually.
    pub(crate) member: Option<String>,
    pub(crate) metadata: Vec<(String, String)>,
    /// Whether the file has had a document of this name before this one.
    pub(crate) repeated: bool,
}

/// Where the bytes of a document come from.
#[derive(Debug)]
pub(crate) enum Content {
    /// The file.
    File,
    /// The file, decompressed.
    Compressed(Compression),
    /// The pipe at this path, which can be read once.
    Pipe(PathBuf),
    /// These are all of them.
    Whole(Vec<u8>),
    /// They come piece by piece, and end with an empty one or with an error.
    Pieces(Receiver<Result<Vec<u8>>>),
}

/// The next piece of [`Content::Pieces`]; `None` after the last.
///
/// # Errors
/// The one it ends with; [`Error::ReaderFailed`] where it breaks off: the reader of its container has panicked.
pub(crate) fn next_piece(pieces: &Receiver<Result<Vec<u8>>>) -> Result<Option<Vec<u8>>> {
    let broken_off = || Error::ReaderFailed { detail: "it broke off".into() };
    let piece = pieces.recv().unwrap_or_else(|_| Err(broken_off()))?;
    Ok((!piece.is_empty()).then_some(piece))
}

/// What the file system says of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileFacts {
    pub(crate) path: PathBuf,
    /// The absolute path.
    pub(crate) source: String,
    pub(crate) bytes: u64,
    pub(crate) modified: Option<Modified>,
    /// When it was looked at, in seconds since 1970.
    pub(crate) seen: i64,
}

/// One step of a walk.
#[derive(Debug)]
pub(crate) enum Found {
    Document(Candidate),
    /// Left out, with the reason as a phrase.
    Skipped {
        name: String,
        reason: &'static str,
    },
    Failed {
        name: String,
        error: Error,
    },
}

impl Candidate {
    /// The document that standard input is.
    pub(crate) fn standard_input(name: &str) -> Self {
        Self::new(name.to_owned(), None)
    }

    /// The document that comes out of a pipe.
    fn pipe(name: String, path: &Path) -> Self {
        Self { content: Content::Pipe(path.to_owned()), ..Self::new(name, None) }
    }

    /// The document that a whole file is.
    fn file(name: String, facts: FileFacts) -> Self {
        Self::new(name, Some(Arc::new(facts)))
    }

    fn new(name: String, file: Option<Arc<FileFacts>>) -> Self {
        let hint = name.clone();
        let about = About { name, hint, file, member: None, metadata: Vec::new(), repeated: false };
        Self { about, content: Content::File }
    }
}
