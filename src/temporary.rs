//! Temporary files and folders that have a name. Each is removed by its owner; a program that is told to end at once has
//! no time for that, and calls [`remove_temporary_files`].

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// The names of those that are there.
static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How often a folder is looked at, how long is waited in between, and how often it must have been gone: another thread can be
/// writing into it, and the engine makes the folder of a new store again where it is missing.
const LOOKS: usize = 50;
const PAUSE: Duration = Duration::from_millis(5);
const GONE: usize = 6;

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

impl Temporary {
    /// Makes a temporary folder and notes it, so that there is no moment at which it is there and not noted.
    pub(crate) fn folder(make: impl FnOnce() -> io::Result<TempDir>) -> io::Result<(TempDir, Self)> {
        let mut names = names();
        let folder = make()?;
        names.insert(folder.path().to_owned());
        let noted = Self(folder.path().to_owned());
        Ok((folder, noted))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        names().remove(&self.0);
    }
}

/// Removes the temporary files and folders of this process, which is about to end: whoever makes or removes another from now
/// on waits for that.
pub fn remove_temporary_files() {
    let names = std::mem::ManuallyDrop::new(names());
    for path in names.iter() {
        // There is nobody left to tell of a failure.
        if !path.is_dir() {
            let _ = fs::remove_file(path);
            continue;
        }
        let mut gone = 0;
        for _ in 0..LOOKS {
            gone = if path.exists() { 0 } else { gone + 1 };
            if gone == GONE {
                break;
            }
            let _ = fs::remove_dir_all(path);
            thread::sleep(PAUSE);
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
