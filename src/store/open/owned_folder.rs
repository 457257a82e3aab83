//! Owned folder: a temporary folder that tells which process made it, so that one that a killed process has left can be told
//! from one that is in use.
//!
//! Its name holds the number of the process, and the process holds a lock on it.

use std::fs::{self, File};
#[cfg(unix)]
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::temporary::Temporary;

/// A temporary folder of this process. Removed with this, or when a signal ends the program.
pub(super) struct OwnedFolder {
    folder: TempDir,
    _noted: Temporary,
    /// Its lock, where folders can be locked.
    _lock: Option<File>,
}

impl OwnedFolder {
    /// Makes one in `parent`. Its name is `prefix`, the number of this process, and letters of its own.
    pub(super) fn new(parent: &Path, prefix: &str) -> Result<Self> {
        let prefix = format!("{prefix}{}-", std::process::id());
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

/// The folders of this prefix in `parent` that ended processes of this user have left.
pub(super) fn stale(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let of_prefix = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)));
    of_prefix.map(|entry| entry.path()).filter(|path| is_stale(path, prefix)).collect()
}

/// True where the process that made a folder has ended. Another system that shares the disk may have given the same number
/// to a process of its own; its lock tells.
#[cfg(unix)]
fn is_stale(path: &Path, prefix: &str) -> bool {
    use std::os::unix::fs::MetadataExt;

    use rustix::process::{Pid, getuid, test_kill_process};
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix(prefix).and_then(|rest| rest.split('-').next()?.parse().ok());
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
fn is_stale(_: &Path, _: &str) -> bool {
    false
}

/// The number of a process that has ended.
#[cfg(all(test, unix))]
pub(super) fn ended_process() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_ended_processes_are_stale() {
        let folder = tempfile::tempdir().unwrap();
        let own = OwnedFolder::new(folder.path(), "x-").unwrap();
        let left = folder.path().join(format!("x-{}-abc", ended_process()));
        let others = ["x-abc", "x-0-abc", "x--1-abc", "y-1-abc"].map(|name| folder.path().join(name));
        for path in others.iter().chain([&left]) {
            fs::create_dir(path).unwrap();
        }
        assert_eq!(stale(folder.path(), "x-"), [left]);
        // A folder of another process that runs.
        let running = folder.path().join(format!("x-{}-abc", std::os::unix::process::parent_id()));
        fs::create_dir(&running).unwrap();
        assert!(!stale(folder.path(), "x-").contains(&running));
        let path = own.path().to_owned();
        drop(own);
        assert!(!path.exists());
    }
}
