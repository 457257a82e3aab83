//! Places: the target paths of copied files.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::files;
use super::log::{Log, key_of};
use super::log_lines::LogLine;
use super::options::ApplyOptions;
use super::plan::SourceFile;
use fpdb_host::error::{Error, Result};

/// The indexes of files that are not copied, and why. These files must be known before any file is copied: a
/// document or passage is left out only if its survivor or first occurrence is in the copy.
pub(super) type Unplaced = FxHashMap<u32, String>;

/// The places in a copy. Empty for actions that copy nothing.
#[derive(Default)]
pub(super) struct Places {
    pub(super) unplaced: Unplaced,
    /// Copies of earlier runs whose files the database no longer has, and the act that made each.
    pub(super) stale: Vec<(PathBuf, LogLine)>,
}

/// The path of the copy of a file. `folder` is resolved.
pub(super) fn place_of(source: &SourceFile, folder: &Path) -> PathBuf {
    folder.join(files::relative(&source.name))
}

impl Places {
    /// Finds the places of the copies of all files. Copies of earlier runs stay. So a file has no place if
    /// the copy already has a folder of the file's name, or has a file where the folder of the file belongs.
    ///
    /// # Errors
    /// [`Error::PlaceTaken`] if a copy's place holds a file that no earlier run wrote. If the copy were made
    /// without the source file of that place, it would keep all duplicates of the file's documents.
    pub(super) fn of(sources: &[SourceFile], options: &ApplyOptions, log: &Log) -> Result<Self> {
        let Some(folder) = options.action.copies_to() else { return Ok(Self::default()) };
        let (mut unplaced, mut known) = (Unplaced::default(), FxHashSet::default());
        let (mut foreign, mut first) = (0, None);
        for (number, source) in (0..).zip(sources) {
            let place = place_of(source, folder);
            let found = place.symlink_metadata();
            if files::relative(&source.name).as_os_str().is_empty() {
                unplaced.insert(number, "its name gives no place for a copy".to_owned());
            } else if !known.insert(key_of(&place)) {
                unplaced.insert(number, "another file takes its place in the copy".to_owned());
            } else if found.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotADirectory) {
                unplaced.insert(number, "the copy has a file in the place of its folder; remove that".to_owned());
            } else if found.as_ref().is_ok_and(Metadata::is_dir) {
                unplaced.insert(number, "the copy has a folder in its place; remove that".to_owned());
            } else if found.is_ok() && !log.owns(&place) {
                foreign += 1;
                first.get_or_insert(place);
            }
        }
        match first {
            Some(path) => Err(Error::PlaceTaken { path, files: foreign, has_others: log.has_others }),
            None => Ok(Self { unplaced, stale: log.elsewhere(&known)? }),
        }
    }
}
