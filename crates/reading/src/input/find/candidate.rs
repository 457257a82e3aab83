//! Candidate: a document to be read, and the facts known before it is read.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::names::name_of;
use crate::input::pieces::Pieces;
use crate::recognise::{Compression, Hint};
use fpdb_host::clock;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::document::Modified;

/// A document to be read.
#[derive(Debug)]
pub struct Candidate {
    /// The facts known before it is read.
    pub about: About,
    /// The source of its bytes.
    pub content: Content,
}

/// The facts about a document known before it is read.
#[derive(Clone, Debug)]
pub struct About {
    /// The name of the document.
    pub name: String,
    /// Facts beside the bytes that tell its format.
    pub hint: Hint,
    /// The file of the document, or the file that contains it. `None` for standard input, for a pipe, and for
    /// a document that the caller supplies.
    pub file: Option<Arc<FileFacts>>,
    /// The part of the file, as in the document's name. `None` for the whole file.
    /// [`CLOSED`](crate::input::CLOSED) for a whole file that would normally be opened as a container or
    /// decompressed.
    pub member: Option<String>,
    /// The time of its last change, if the archive that contains the document records one. Otherwise the time
    /// of the file counts.
    pub modified: Option<Modified>,
    /// The metadata of the document, as names and values.
    pub metadata: Vec<(String, String)>,
    /// True if an earlier document of the file has the same name.
    pub repeated: bool,
    /// True if the caller named this document itself. False for members, and for files found in a folder or a
    /// list.
    pub named: bool,
}

/// The source of a document's bytes.
#[derive(Debug)]
pub enum Content {
    /// The whole file.
    File,
    /// The whole file, decompressed.
    Compressed(Compression),
    /// The pipe at this path. It can be read only once.
    Pipe(PathBuf),
    /// All of the bytes, in memory.
    Whole(Vec<u8>),
    /// All of the bytes, in a temporary file.
    Temporary(File),
    /// The bytes in pieces as they arrive.
    Pieces(Pieces),
}

/// The facts about a file, as the file system reports them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// The path as it was given.
    pub path: PathBuf,
    /// The absolute path.
    pub source: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last change, if the file system reports one.
    pub modified: Option<Modified>,
    /// Time at which these facts were read, in seconds since 1970.
    pub observed_at: i64,
}

/// One step of a walk.
#[derive(Debug)]
pub enum WalkEvent {
    /// A document.
    Document(Candidate),
    /// An archive that is not a document itself, because no glob includes it. Its members may be documents.
    Archive(Candidate),
    /// The name of a file or member that globs leave out.
    LeftOut(String),
    /// An entry that is not a document.
    Skipped {
        /// The name of the entry.
        name: String,
        /// The reason.
        reason: SkipReason,
    },
    /// A document or folder could not be read.
    Failed {
        /// The name of the document or folder.
        name: String,
        /// The error.
        error: Error,
    },
}

impl Candidate {
    /// Standard input as a document.
    pub(crate) fn standard_input(name: &str) -> Self {
        Self::new(name.to_owned(), None, true)
    }

    /// The content of a pipe as a document.
    pub(crate) fn pipe(name: String, path: &Path, named: bool) -> Self {
        Self { content: Content::Pipe(path.to_owned()), ..Self::new(name, None, named) }
    }

    /// A whole file as a document.
    pub(crate) fn file(name: String, facts: FileFacts, named: bool) -> Self {
        Self::new(name, Some(Arc::new(facts)), named)
    }

    fn new(name: String, file: Option<Arc<FileFacts>>, named: bool) -> Self {
        let hint = name.as_str().into();
        let about =
            About { name, hint, file, member: None, modified: None, metadata: Vec::new(), repeated: false, named };
        Self { about, content: Content::File }
    }
}

/// True if the path is a pipe, such as a shell creates for `<(command)`.
pub(crate) fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// The document for a single file or pipe.
///
/// # Errors
/// [`Error::Io`] if the path does not exist, [`DocumentError::NotAFile`] if it is a folder or device.
pub fn candidate_of(path: &Path) -> Result<Candidate> {
    if is_pipe(path) {
        return Ok(Candidate::pipe(name_of(path)?, path, true));
    }
    let metadata = path.metadata().map_err(Error::io("read", path))?;
    if !metadata.is_file() {
        return Err(Error::Document(DocumentError::NotAFile { path: path.to_owned() }));
    }
    Ok(Candidate::file(name_of(path)?, facts_of(path, &metadata)?, true))
}

/// The facts about a file that are stored with its document.
pub(crate) fn facts_of(path: &Path, metadata: &Metadata) -> Result<FileFacts> {
    let absolute = absolute(path).map_err(Error::io("find the folder of", path))?;
    let source = absolute
        .into_os_string()
        .into_string()
        .map_err(|path| Error::Document(DocumentError::PathNotUtf8 { path: path.into() }))?;
    let (bytes, modified, observed_at) = (metadata.len(), modified(metadata), clock::now());
    Ok(FileFacts { path: path.to_owned(), source, bytes, modified, observed_at })
}

/// Converts a path to an absolute path without `..`. A folder that `..` leaves again may be gone when the
/// file is read later. The folder before a `..` may be a link, so only the system can resolve it.
pub(crate) fn absolute(path: &Path) -> io::Result<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let Some(last) = parts.iter().rposition(|part| *part == Component::ParentDir) else {
        return std::path::absolute(path);
    };
    let (through, rest) = parts.split_at(last + 1);
    Ok(through.iter().collect::<PathBuf>().canonicalize()?.join(rest.iter().collect::<PathBuf>()))
}

/// The absolute path under which the documents of a file or folder are stored.
///
/// # Errors
/// [`Error::Io`] if the absolute path is not available, [`DocumentError::PathNotUtf8`] if it is not UTF-8.
pub fn absolute_name(path: &Path) -> Result<String> {
    let absolute = absolute(path).map_err(Error::io("find the folder of", path))?;
    let tidied: PathBuf = absolute.components().collect();
    tidied
        .into_os_string()
        .into_string()
        .map_err(|path| Error::Document(DocumentError::PathNotUtf8 { path: path.into() }))
}

/// Time of a file's last change, if the file system reports one.
pub(crate) fn modified(metadata: &Metadata) -> Option<Modified> {
    let (seconds, nanoseconds) = clock::seconds_and_nanoseconds(metadata.modified().ok()?);
    Some(Modified { seconds, nanoseconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_path_goes_through_no_folder_in_vain() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        for (path, expected) in [("a/../x/y", "x/y"), ("a/b/../../x", "x"), ("a/b/..", "a"), ("a/x", "a/x")] {
            assert_eq!(absolute(&root.join(path)).unwrap(), root.join(expected), "{path}");
        }
        assert!(absolute(&root.join("none/../x")).is_err());
    }
}
