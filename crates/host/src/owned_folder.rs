//! Owned folder: a temporary folder that shows which process made it. So folders of killed processes can be
//! recognised.
//!
//! The name of the folder contains the process id, and the process holds a lock on the folder.

use std::fs::File;
use std::path::Path;

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::temporary::{Temporary, stale_temporaries};

/// A temporary folder of this process, removed on drop, or when a signal ends the program.
#[derive(Debug)]
pub struct OwnedFolder {
    folder: TempDir,
    _noted: Temporary,
    /// Its lock, if folders can be locked.
    _lock: Option<File>,
}

impl OwnedFolder {
    /// Creates a folder in `parent`. Its name is `prefix`, the process id and random letters.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new(parent: &Path, prefix: &str) -> Result<Self> {
        let prefix = format!("{prefix}{}-", std::process::id());
        let made = Temporary::folder(|| tempfile::Builder::new().prefix(&prefix).tempdir_in(parent));
        let (folder, _noted) = made.map_err(Error::io("create a folder in", parent))?;
        let lock = File::open(folder.path()).ok().filter(|file| file.try_lock().is_ok());
        Ok(Self { folder, _noted, _lock: lock })
    }

    /// Removes the folders of this prefix that killed processes have left in `parent`. Then creates a folder
    /// there. A folder that cannot be removed does no harm.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn without_stale(parent: &Path, prefix: &str) -> Result<Self> {
        for stale in stale_temporaries(parent, prefix) {
            let _ = std::fs::remove_dir_all(stale);
        }
        Self::new(parent, prefix)
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Keeps the folder, because it was moved.
    pub fn keep(self) {
        let _ = self.folder.keep();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_folders_of_ended_processes_are_stale() {
        let folder = tempfile::tempdir().unwrap();
        let own = OwnedFolder::new(folder.path(), "x-").unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let left = folder.path().join(format!("x-{}-abc", ended.id()));
        let others = ["x-abc", "x-0-abc", "x--1-abc", "y-1-abc"].map(|name| folder.path().join(name));
        for path in others.iter().chain([&left]) {
            fs::create_dir(path).unwrap();
        }
        assert_eq!(stale_temporaries(folder.path(), "x-"), [left.as_path()]);
        // A folder of another running process.
        let running = folder.path().join(format!("x-{}-abc", std::os::unix::process::parent_id()));
        fs::create_dir(&running).unwrap();
        assert!(!stale_temporaries(folder.path(), "x-").contains(&running));
        let path = own.path().to_owned();
        drop(own);
        assert!(!path.exists());
        let next = OwnedFolder::without_stale(folder.path(), "x-").unwrap();
        assert_eq!((left.exists(), running.exists(), next.path().exists()), (false, true, true));
    }
}
