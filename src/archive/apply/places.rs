//! Places: the target paths of copied files.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::files;
use super::log::Log;
use super::options::{Action, ApplyOptions};
use super::plan::SourceFile;
use fpdb_host::error::{Error, Result};

/// The indexes of files that are not copied, and why. This must be known before any file is copied: a
/// document or passage is left out only if its survivor or first occurrence is in the copy.
pub(super) type Unplaced = FxHashMap<u32, String>;

/// The path of the copy of a file.
pub(super) fn place_of(source: &SourceFile, folder: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(folder).map_err(Error::io("find", folder))?;
    Ok(folder.join(files::relative(&source.name)))
}

/// The files that have no place in the copy. Empty for actions that copy nothing.
pub(super) fn unplaced(sources: &[SourceFile], options: &ApplyOptions, log: &Log) -> Result<Unplaced> {
    let mut unplaced = Unplaced::default();
    let (Action::Write { folder, .. } | Action::Cut { folder }) = &options.action else { return Ok(unplaced) };
    let mut taken = FxHashSet::default();
    for (number, source) in (0..).zip(sources) {
        let place = place_of(source, folder)?;
        let reason = if files::relative(&source.name).as_os_str().is_empty() {
            "its name gives no place for a copy".to_owned()
        } else if !taken.insert(xxh3_64(place.as_os_str().as_encoded_bytes())) {
            "another file takes its place in the copy".to_owned()
        } else if place.symlink_metadata().is_ok() && !log.begun(&place) {
            format!("{} exists and was not written for this report", place.display())
        } else if place.symlink_metadata().is_ok() && !log.owns(&place) {
            format!("{} has changed since it was written for this report", place.display())
        } else {
            continue;
        };
        unplaced.insert(number, reason);
    }
    Ok(unplaced)
}
