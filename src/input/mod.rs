//! Input: here is a path, which documents are in it?

mod reader;
mod walk;

use std::path::PathBuf;

use crate::document::Modified;
use crate::error::Error;

pub(crate) use reader::Reader;
pub use walk::measure;
pub(crate) use walk::{candidate_of, walk};

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

/// Which files of a folder are documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkOptions {
    /// Leaves out files and folders whose name begins with a dot.
    pub skip_hidden: bool,
    /// Follows symbolic links below a folder; those named themselves are followed in any case.
    pub follow: bool,
    /// Leaves out what one of these globs matches, in the syntax of `.gitignore`.
    pub exclude: Vec<String>,
    /// A folder never entered: the database's own.
    pub database: Option<PathBuf>,
}

/// A file that is to become a document.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    /// The file as the walk reached it; `None` for standard input.
    pub(crate) file: Option<FileFacts>,
}

/// What the file system says of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileFacts {
    pub(crate) path: PathBuf,
    /// The absolute path.
    pub(crate) source: String,
    pub(crate) bytes: u64,
    pub(crate) modified: Option<Modified>,
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
