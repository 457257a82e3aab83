//! Walk: finds the files below the given paths, in sorted order.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};

use super::candidate::{Candidate, WalkEvent, facts_of, is_pipe};
use super::names::name_of;
use super::options::{Source, WalkOptions};
use super::path_filter::PathFilter;
use fpdb_host::error::{Cause, DocumentError, Error, Result};
use fpdb_host::skip_reason::SkipReason;
use fpdb_host::temporary::MAKING;

/// Visits the documents of `sources` until `visit` breaks. Sources come in the given order, files of a folder
/// by name. A file that cannot be read is visited as a failure.
///
/// # Errors
/// Only for invalid options: a glob that does not parse.
pub fn walk(
    sources: &[Source],
    options: &WalkOptions,
    visit: &mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
) -> Result<()> {
    let filter = Arc::new(PathFilter::new(options)?);
    let left_out = Arc::new(LeftOut::new(options));
    for source in sources {
        let flow = match source {
            Source::StandardInput { name } => visit(WalkEvent::Document(Candidate::standard_input(name))),
            Source::Path(path) => walk_path((path, true), options, (&filter, &left_out), visit),
            Source::Listed(path) => walk_path((path, false), options, (&filter, &left_out), visit),
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// The files and folders that a walk leaves out.
struct LeftOut {
    paths: HashSet<PathBuf>,
    /// The devices and inodes of these files, because a link can lead to one of them under another path.
    files: Vec<(u64, u64)>,
}

impl LeftOut {
    fn new(options: &WalkOptions) -> Self {
        let WalkOptions { follow, leave_out, leave_to_others, .. } = options;
        let files = leave_out.iter().filter(|_| *follow).filter_map(|path| Self::file_at(path)).collect();
        Self { paths: leave_out.iter().chain(leave_to_others).cloned().collect(), files }
    }

    fn file_at(path: &Path) -> Option<(u64, u64)> {
        path.metadata().ok().map(|facts| (facts.dev(), facts.ino()))
    }

    fn has(&self, path: &Path) -> bool {
        self.paths.contains(path)
            || (!self.files.is_empty() && Self::file_at(path).is_some_and(|file| self.files.contains(&file)))
    }
}

impl WalkOptions {
    /// Checks that these options are valid for an ingest.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a glob that does not parse.
    pub fn check(&self) -> Result<()> {
        PathFilter::new(self).map(drop)
    }

    /// True if `exclude` leaves out this path, or a folder around it.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a glob that does not parse.
    pub fn excludes(&self, path: &Path) -> Result<bool> {
        Ok(PathFilter::new(self)?.excludes(path))
    }

    /// True if a file with this path counts when its folder is ingested.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a glob that does not parse.
    pub fn counts(&self, path: &Path) -> Result<bool> {
        Ok(PathFilter::new(self)?.counts(path))
    }
}

/// The part of hidden names of unfinished files that precedes a number of 16 hexadecimal digits.
pub const UNDER_WAY: &str = ".fpdb-part-";

/// Visits the documents of a path. `named` is as in [`About`](crate::input::About) if the path is a file.
fn walk_path(
    (root, named): (&Path, bool),
    options: &WalkOptions,
    (filter, left_out): (&Arc<PathFilter>, &Arc<LeftOut>),
    visit: &mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if is_database(root)
        && let Ok(name) = name_of(root)
    {
        return visit(WalkEvent::Skipped { name, reason: SkipReason::Database });
    }
    let (below, left_out) = (Arc::clone(filter), Arc::clone(left_out));
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(false)
        .hidden(options.skip_hidden)
        .follow_links(options.follow)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_left_out = (is_folder && below.excludes_entry(entry.path(), is_folder))
                || left_out.has(entry.path())
                || (is_folder && is_database(entry.path()));
            !is_left_out
        });
    for entry in builder.build() {
        let found = match entry {
            Err(error) => failed(root, error),
            Ok(entry) => match examine(&entry, named, filter) {
                Some(found) => found,
                None => continue,
            },
        };
        visit(found)?;
    }
    ControlFlow::Continue(())
}

/// True if a file in a folder shows that the folder is a database or holds backups. Also true if its creation
/// as a database was interrupted.
pub(crate) fn is_database(folder: &Path) -> bool {
    let begins = |file: &str| {
        let (path, mut head) = (folder.join(file), Vec::new());
        path.is_file()
            && File::open(path).and_then(|file| file.take(16).read_to_end(&mut head)).is_ok()
            && head.starts_with(b"fpdb ")
    };
    let name = folder.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(MAKING.as_bytes()) || begins("FPDB") || begins("FPDB-BACKUP")
}

/// Classifies an entry of the walk. `None` for a folder.
fn examine(entry: &DirEntry, named: bool, filter: &PathFilter) -> Option<WalkEvent> {
    let path = entry.path();
    // A file that globs leave out needs no name.
    let (name, unnamed) = match name_of(path) {
        Ok(name) => (name, None),
        Err(error) => (path.display().to_string(), Some(error)),
    };
    // The walker omits the type only for standard input, and `path` is never standard input.
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return unnamed.map(|error| WalkEvent::Failed { name, error });
    }
    let is_root = entry.depth() == 0;
    let is_left_out = if is_root { filter.excludes(path) } else { filter.excludes_entry(path, false) };
    if is_left_out {
        return Some(WalkEvent::LeftOut(name));
    }
    let named = named && is_root;
    let only_members = !is_root && !filter.includes(path);
    if only_members && !filter.may_hold_included(&name) {
        return Some(WalkEvent::LeftOut(name));
    }
    if let Some(error) = unnamed {
        return Some(WalkEvent::Failed { name, error });
    }
    if !is_root && is_under_way(path) {
        return Some(WalkEvent::Skipped { name, reason: SkipReason::UnderWay });
    }
    if kind.is_symlink() && !is_root {
        return Some(WalkEvent::Skipped { name, reason: SkipReason::SymbolicLink });
    }
    // A link that was named itself is followed.
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(source) => {
            return Some(WalkEvent::Failed {
                name,
                error: Error::Io { action: "read", path: path.to_owned(), source },
            });
        }
    };
    if metadata.is_dir() {
        // A link to a folder that was named: the walk enters it.
        return None;
    }
    if is_root && is_pipe(path) {
        return Some(WalkEvent::Document(Candidate::pipe(name, path, named)));
    }
    if !metadata.is_file() {
        return Some(if is_root {
            WalkEvent::Failed { name, error: Error::Document(DocumentError::NotAFile { path: path.to_owned() }) }
        } else {
            WalkEvent::Skipped { name, reason: SkipReason::NotAFile }
        });
    }
    Some(match facts_of(path, &metadata) {
        Ok(file) if only_members => WalkEvent::Archive(Candidate::file(name, file, named)),
        Ok(file) => WalkEvent::Document(Candidate::file(name, file, named)),
        Err(error) => WalkEvent::Failed { name, error },
    })
}

/// True for the hidden names under which `apply` writes or keeps files until an action has ended. Such a file
/// shows that a run is active or was killed.
pub fn is_under_way(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix('.').and_then(|name| Some(name.rsplit_once(UNDER_WAY)?.1));
    number.is_some_and(|number| number.len() == 16 && number.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Converts an error of the walker to a failure with its path.
fn failed(root: &Path, error: ignore::Error) -> WalkEvent {
    let mut path = root.to_owned();
    let mut inner = error;
    loop {
        inner = match inner {
            ignore::Error::WithPath { path: about, err } => {
                path = about;
                *err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => *err,
            ignore::Error::Loop { ancestor, child } => {
                let name = name_of(&child).unwrap_or_else(|_| child.display().to_string());
                return WalkEvent::Failed { name, error: Error::DirectoryLoop { path: child, ancestor } };
            }
            other => {
                let name = name_of(&path).unwrap_or_else(|_| path.display().to_string());
                let error = match other {
                    ignore::Error::Io(source) => Error::Io { action: "read", path, source: plain(source) },
                    other => Error::Walk { path, source: Cause::from(other) },
                };
                return WalkEvent::Failed { name, error };
            }
        };
    }
}

/// The system's own error, without the walker's message, which would repeat the path.
fn plain(error: io::Error) -> io::Error {
    let inner = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<io::Error>());
    inner.and_then(io::Error::raw_os_error).map_or(error, io::Error::from_raw_os_error)
}
