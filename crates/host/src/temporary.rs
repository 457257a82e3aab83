//! Temporary files and folders with names. Dropping a [`Temporary`] removes its file. A signal may end a
//! program before the drop. So the program of this package lists the names of its temporary files, and
//! removes the listed files before it ends. A process that embeds the library keeps no such list.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::{fs, io};

use tempfile::TempDir;

/// Prefix of the name of a folder in which a database is created. The folder is renamed once the database is
/// complete.
pub const MAKING: &str = ".fpdb-making-";

pub use self::program::{list_temporary_files, remove_temporary_files};

/// The names of existing temporary files, if the program asked for a list.
static NAMES: OnceLock<Mutex<BTreeSet<PathBuf>>> = OnceLock::new();

fn names() -> Option<MutexGuard<'static, BTreeSet<PathBuf>>> {
    NAMES.get().map(|names| names.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A temporary file or folder with a name. It exists as long as this value.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Records that this file or folder is temporary.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        if let Some(mut names) = names() {
            names.insert(path.to_owned());
        }
        Self(path.to_owned())
    }

    /// Creates a temporary folder and records it. The list stays locked from before the creation until the
    /// record, so a signal cannot find the folder unrecorded.
    pub fn folder(make: impl FnOnce() -> io::Result<TempDir>) -> io::Result<(TempDir, Self)> {
        let names = names();
        let folder = make()?;
        if let Some(mut names) = names {
            names.insert(folder.path().to_owned());
        }
        let noted = Self(folder.path().to_owned());
        Ok((folder, noted))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(mut names) = names() {
            names.remove(&self.0);
        }
    }
}

/// Finds the temporary files and folders of this user in `parent` that processes have left behind. Their
/// names consist of the prefix, the process number, a hyphen, and any text.
pub fn stale_temporaries(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let of_prefix = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)));
    of_prefix.map(|entry| entry.path()).filter(|path| is_stale(path, prefix)).collect()
}

/// True if a file or folder belongs to this user and the process that created it has ended. The creator may
/// run on another system that shares the disk, so its process number may be unknown here. The creator locks
/// the file or folder, so the lock is tested too.
fn is_stale(path: &Path, prefix: &str) -> bool {
    use std::os::unix::fs::MetadataExt;

    use rustix::process::{Pid, getuid, test_kill_process};
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix(prefix).and_then(|rest| rest.split('-').next()?.parse().ok());
    let Some(process) = number.and_then(Pid::from_raw) else { return false };
    let ended = test_kill_process(process) == Err(rustix::io::Errno::SRCH);
    let is_own = |found: &fs::Metadata| found.uid() == getuid().as_raw();
    let own = fs::symlink_metadata(path).is_ok_and(|found| (found.is_dir() || found.is_file()) && is_own(&found));
    let unlocked = || match fs::File::open(path) {
        Ok(opened) => opened.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    ended && own && unlocked()
}

/// The functions with which the program uses the list.
mod program {
    use std::time::Duration;
    use std::{fs, thread};

    use super::{NAMES, names};

    /// Maximum number of checks of a folder, the pause between two checks, and the number of successive
    /// checks that must find it missing. One removal is not enough: another thread may still write into the
    /// folder, and the engine creates the missing folder of a new store again.
    const LOOKS: usize = 50;
    const PAUSE: Duration = Duration::from_millis(5);
    const GONE: usize = 6;

    /// Starts the list of temporary files and folders.
    pub fn list_temporary_files() {
        NAMES.get_or_init(Default::default);
    }

    /// Removes all listed temporary files and folders, because the process is about to end. A thread that
    /// then creates or removes another temporary file waits until the process has ended.
    pub fn remove_temporary_files() {
        let names = std::mem::ManuallyDrop::new(names());
        for path in names.iter().flat_map(|names| names.iter()) {
            // A failure can no longer be reported.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_once_that_is_asked_for_and_until_they_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let early = Temporary::new(folder.path());
        assert!(names().is_none(), "no list is kept unless it is asked for");
        drop(early);
        list_temporary_files();
        let noted = Temporary::new(folder.path());
        assert!(names().unwrap().contains(folder.path()));
        drop(noted);
        assert!(!names().unwrap().contains(folder.path()));
        let (made, noted) = Temporary::folder(tempfile::tempdir).unwrap();
        assert!(names().unwrap().contains(made.path()));
        drop((made, noted));
    }
}
