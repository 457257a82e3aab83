//! Candidate: a document to be read, and what is known of it before.

use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use super::names::name_of;
use crate::recognise::Compression;
use fpdb_host::clock;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Modified;

/// A document to be read.
#[derive(Debug)]
pub struct Candidate {
    pub about: About,
    pub content: Content,
}

/// The facts of a document before it is read.
#[derive(Clone, Debug)]
pub struct About {
    pub name: String,
    /// The name of a file like it, for what its ending tells of its format; may be empty.
    pub hint: String,
    /// The file it is, or is in; `None` for standard input.
    pub file: Option<Arc<FileFacts>>,
    /// Which part of the file, as its name says it; `None` for the whole, [`CLOSED`] where it would be unfolded usually.
    pub member: Option<String>,
    pub metadata: Vec<(String, String)>,
    /// True if the file has had a document of this name before this one.
    pub repeated: bool,
}

/// Where the bytes of a document come from.
#[derive(Debug)]
pub enum Content {
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
/// The one it ends with; [`DocumentError::ReaderFailed`](fpdb_host::error::DocumentError::ReaderFailed) where it breaks off: the reader of its container has panicked.
pub fn next_piece(pieces: &Receiver<Result<Vec<u8>>>) -> Result<Option<Vec<u8>>> {
    let broken_off = || Error::Document(DocumentError::ReaderFailed { detail: "it broke off".into() });
    let piece = pieces.recv().unwrap_or_else(|_| Err(broken_off()))?;
    Ok((!piece.is_empty()).then_some(piece))
}

/// The facts of a file, as the file system reports them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub path: PathBuf,
    /// The absolute path.
    pub source: String,
    pub bytes: u64,
    pub modified: Option<Modified>,
    /// When it was looked at, in seconds since 1970.
    pub observed_at: i64,
}

/// One step of a walk.
#[derive(Debug)]
pub enum WalkEvent {
    Document(Candidate),
    /// An archive that is no document itself, as no glob includes it; its members may be.
    Archive(Candidate),
    /// The name of a member that globs leave out.
    LeftOut(String),
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
    pub(super) fn pipe(name: String, path: &Path) -> Self {
        Self { content: Content::Pipe(path.to_owned()), ..Self::new(name, None) }
    }

    /// The document that a whole file is.
    pub(super) fn file(name: String, facts: FileFacts) -> Self {
        Self::new(name, Some(Arc::new(facts)))
    }

    fn new(name: String, file: Option<Arc<FileFacts>>) -> Self {
        let hint = name.clone();
        let about = About { name, hint, file, member: None, metadata: Vec::new(), repeated: false };
        Self { about, content: Content::File }
    }
}

/// True if there is a pipe at a path, as the shell makes one for `<(command)`.
#[cfg(unix)]
pub(super) fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
pub(super) fn is_pipe(_: &Path) -> bool {
    false
}

/// The one file or pipe at a path.
///
/// # Errors
/// [`Error::Io`] where there is none, [`DocumentError::NotAFile`](fpdb_host::error::DocumentError::NotAFile) for a folder or device.
pub fn candidate_of(path: &Path) -> Result<Candidate> {
    if is_pipe(path) {
        return Ok(Candidate::pipe(name_of(path)?, path));
    }
    let metadata = path.metadata().map_err(Error::io("read", path))?;
    if !metadata.is_file() {
        return Err(Error::Document(DocumentError::NotAFile { path: path.to_owned() }));
    }
    Ok(Candidate::file(name_of(path)?, facts_of(path, &metadata)?))
}

/// The facts of a file that are stored beside its content.
pub(super) fn facts_of(path: &Path, metadata: &Metadata) -> Result<FileFacts> {
    let absolute = absolute(path).map_err(Error::io("find the folder of", path))?;
    let source = absolute
        .into_os_string()
        .into_string()
        .map_err(|path| Error::Document(DocumentError::PathNotUtf8 { path: path.into() }))?;
    let (bytes, modified, observed_at) = (metadata.len(), modified(metadata), clock::now());
    Ok(FileFacts { path: path.to_owned(), source, bytes, modified, observed_at })
}

/// A path from the root, without `..`: where it goes through a folder and out of it again, that folder may be gone when
/// the file is to be read again. The folder before a `..` can be a link, so that only the system knows where it leads.
pub(super) fn absolute(path: &Path) -> io::Result<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let Some(last) = parts.iter().rposition(|part| *part == Component::ParentDir) else {
        return std::path::absolute(path);
    };
    let (through, rest) = parts.split_at(last + 1);
    Ok(through.iter().collect::<PathBuf>().canonicalize()?.join(rest.iter().collect::<PathBuf>()))
}

/// The path from the root that the documents of a file or folder are kept with.
///
/// # Errors
/// [`Error::Io`] where it cannot be told, [`DocumentError::PathNotUtf8`].
pub fn absolute_name(path: &Path) -> Result<String> {
    let absolute = absolute(path).map_err(Error::io("find the folder of", path))?;
    let tidied: PathBuf = absolute.components().collect();
    tidied
        .into_os_string()
        .into_string()
        .map_err(|path| Error::Document(DocumentError::PathNotUtf8 { path: path.into() }))
}

/// When a file was last written, where its file system tells.
pub(super) fn modified(metadata: &Metadata) -> Option<Modified> {
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
