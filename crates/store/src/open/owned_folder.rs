//! Owned folder: a temporary folder that shows which process made it. So folders of killed processes can be
//! recognised.
//!
//! Its name contains the process id, and the process holds a lock on it.

use std::fs::File;
use std::path::Path;

use tempfile::TempDir;

use fpdb_host::error::{Error, Result};
use fpdb_host::temporary::Temporary;

/// A temporary folder of this process, removed on drop, or when a signal ends the program.
pub(super) struct OwnedFolder {
    folder: TempDir,
    _noted: Temporary,
    /// Its lock, if folders can be locked.
    _lock: Option<File>,
}

impl OwnedFolder {
    /// Creates a folder in `parent`. Its name is `prefix`, the process id and random letters.
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

    /// Keeps the folder, because it was moved.
    pub(super) fn keep(self) {
        let _ = self.folder.keep();
    }
}

/// The id of a process that has ended.
#[cfg(test)]
pub(super) fn ended_process() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use fpdb_host::temporary::stale_temporaries;

    #[test]
    fn only_folders_of_ended_processes_are_stale() {
        let folder = tempfile::tempdir().unwrap();
        let own = OwnedFolder::new(folder.path(), "x-").unwrap();
        let left = folder.path().join(format!("x-{}-abc", ended_process()));
        let others = ["x-abc", "x-0-abc", "x--1-abc", "y-1-abc"].map(|name| folder.path().join(name));
        for path in others.iter().chain([&left]) {
            fs::create_dir(path).unwrap();
        }
        assert_eq!(stale_temporaries(folder.path(), "x-"), [left]);
        // A folder of another running process.
        let running = folder.path().join(format!("x-{}-abc", std::os::unix::process::parent_id()));
        fs::create_dir(&running).unwrap();
        assert!(!stale_temporaries(folder.path(), "x-").contains(&running));
        let path = own.path().to_owned();
        drop(own);
        assert!(!path.exists());
    }
}
