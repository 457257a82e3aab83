//! Making: the folder in which a database grows until it is whole and takes its place.
//!
//! Its name says which process makes it, and that process holds a lock on it. A folder that a killed process has left is
//! removed by the next one that makes a database beside it.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::store::codec::format::{MARKER, STORE};
use crate::temporary::Temporary;

/// How the name of such a folder begins; the number of the process follows.
pub(crate) const MAKING: &str = ".fpdb-making-";

/// A folder for a database to grow in. Removed with this.
pub(super) struct Making {
    folder: TempDir,
    _noted: Temporary,
    /// Its lock, where folders can be locked.
    _lock: Option<File>,
}

impl Making {
    /// Makes one in `parent`.
    pub(super) fn new(parent: &Path) -> Result<Self> {
        let prefix = format!("{MAKING}{}-", std::process::id());
        let made = Temporary::folder(|| tempfile::Builder::new().prefix(&prefix).tempdir_in(parent));
        let (folder, _noted) = made.map_err(Error::io("create a folder in", parent))?;
        let lock = File::open(folder.path()).ok().filter(|file| file.try_lock().is_ok());
        Ok(Self { folder, _noted, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder, which has been moved.
    pub(super) fn keep(self) {
        let _ = self.folder.keep();
    }
}

/// Removes from `parent` what killed processes of this user have left there. What cannot be removed stays: it is in nobody's
/// way.
pub(super) fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(MAKING)) && is_stale(&path) {
            if holds_moved_store(&path) {
                let _ = fs::remove_dir_all(parent.join(STORE));
            }
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// True for a folder in which a database can be made: there is none, or it holds only what a killed process has left of its
/// own attempt.
pub(in crate::store) fn is_empty_folder(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else { return false };
    let (mut store, mut moved) = (false, false);
    for entry in entries {
        let Ok(entry) = entry else { return false };
        let name = entry.file_name();
        if name == STORE {
            store = true;
        } else if name.to_str().is_some_and(|name| name.starts_with(MAKING)) {
            moved |= holds_moved_store(&entry.path());
        } else {
            return false;
        }
    }
    !store || moved
}

/// True where the store has been moved out of a folder and the marker, which makes it a database, has not.
fn holds_moved_store(making: &Path) -> bool {
    making.join(MARKER).exists() && !making.join(STORE).exists()
}

/// True where the process that made a folder has ended. Another system that shares the disk may have given the same number
/// to a process of its own; its lock tells.
#[cfg(unix)]
fn is_stale(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    use rustix::process::{Pid, getuid, test_kill_process};
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix(MAKING).and_then(|rest| rest.split('-').next()?.parse().ok());
    let Some(process) = number.and_then(Pid::from_raw) else { return false };
    let ended = test_kill_process(process) == Err(rustix::io::Errno::SRCH);
    let own = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == getuid().as_raw());
    let unlocked = || match File::open(path) {
        Ok(folder) => folder.try_lock().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    ended && own && unlocked()
}

#[cfg(not(unix))]
fn is_stale(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a process that has ended.
    #[cfg(unix)]
    fn ended() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[cfg(unix)]
    #[test]
    fn only_what_ended_processes_have_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path();
        let own = Making::new(parent).unwrap();
        let left = parent.join(format!("{MAKING}{}-abc", ended()));
        let unknown = parent.join(format!("{MAKING}abc"));
        for path in [&left, &unknown] {
            fs::create_dir_all(path.join(STORE)).unwrap();
        }
        // The store of another database.
        fs::create_dir(parent.join(STORE)).unwrap();
        remove_stale(parent);
        assert_eq!([own.path(), &left, &unknown, &parent.join(STORE)].map(Path::exists), [true, false, true, true]);
    }

    #[cfg(unix)]
    #[test]
    fn a_store_whose_marker_did_not_follow_goes_with_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path();
        assert!(is_empty_folder(parent));
        fs::create_dir(parent.join(STORE)).unwrap();
        assert!(!is_empty_folder(parent));
        let left = parent.join(format!("{MAKING}{}-abc", ended()));
        fs::create_dir(&left).unwrap();
        assert!(!is_empty_folder(parent));
        fs::write(left.join(MARKER), "").unwrap();
        assert!(is_empty_folder(parent));
        remove_stale(parent);
        assert_eq!(fs::read_dir(parent).unwrap().count(), 0);
        fs::write(parent.join("something"), "").unwrap();
        assert!(!is_empty_folder(parent));
    }
}
