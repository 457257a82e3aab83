//! Temporary files and folders that have a name. Each is removed by its owner; a program that is told to end at once has
//! no time for that, and calls [`remove_temporary_files`].

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The names of those that are there.
static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How often the removal of a folder is tried, into which another thread may be writing.
const TRIES: usize = 5;

fn names() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file or folder that has a name, as long as this lives.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Notes that this file or folder is temporary.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        names().insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        names().remove(&self.0);
    }
}

/// Removes the temporary files and folders of this process; for a process that is about to end.
pub fn remove_temporary_files() {
    for path in std::mem::take(&mut *names()) {
        // There is nobody left to tell of a failure.
        if !path.is_dir() {
            let _ = fs::remove_file(&path);
            continue;
        }
        for _ in 0..TRIES {
            if fs::remove_dir_all(&path).is_ok() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_no_longer_noted() {
        let folder = tempfile::tempdir().unwrap();
        let noted = Temporary::new(folder.path());
        assert!(names().contains(folder.path()));
        drop(noted);
        assert!(!names().contains(folder.path()));
    }
}
