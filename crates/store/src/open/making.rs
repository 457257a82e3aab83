//! Making: the temporary folder in which a new database grows until it is complete.
//!
//! If a process is killed, the next creation in the same parent folder removes this folder.

use std::fs;
use std::io;
use std::path::Path;

use crate::codec::format::{ACTING, COMMITTED, DECISIONS, INCOMING, LOCK, MARKER, STORE};
use fpdb_host::error::{Error, Result};
use fpdb_host::owned_folder::OwnedFolder;
use fpdb_host::temporary::{MAKING, stale_temporaries};

/// The parts of a database other than its marker. The lock moves last, so that no process writes in the
/// meantime.
pub(super) const REMAINS: [&str; 6] = [COMMITTED, ACTING, DECISIONS, STORE, INCOMING, LOCK];

/// A folder for a growing database, removed on drop.
pub(super) struct Making {
    folder: OwnedFolder,
}

impl Making {
    /// Creates a folder in `parent`.
    pub(super) fn new(parent: &Path) -> Result<Self> {
        Ok(Self { folder: OwnedFolder::new(parent, MAKING)? })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Keeps the folder, because it was moved.
    pub(super) fn keep(self) {
        self.folder.keep();
    }
}

/// Removes the folders of killed processes of this user from `parent`. A folder that cannot be removed stays
/// and does no harm.
pub(super) fn remove_stale(parent: &Path) {
    for path in stale_temporaries(parent, MAKING) {
        if holds_moved_store(&path) {
            // If a file cannot be removed, moving the store to its place reports it.
            let _ = remove_parts(parent, &REMAINS);
        }
        let _ = fs::remove_dir_all(&path);
    }
}

/// Removes parts of a database without a marker from `root`.
pub(super) fn remove_parts(root: &Path, parts: &[&str]) -> Result<()> {
    for name in parts {
        let path = root.join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io("remove", &path)(error)),
            _ => {}
        }
    }
    Ok(())
}

/// True if a database can be created in a folder: it is empty, or holds only remains of an unfinished
/// creation or deletion.
pub(crate) fn is_empty_folder(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else { return false };
    let (mut parts, mut moved) = (false, false);
    for entry in entries {
        let Ok(entry) = entry else { return false };
        let name = entry.file_name();
        if REMAINS.iter().any(|part| name == *part) {
            parts = true;
        } else if name.to_str().is_some_and(|name| name.starts_with(MAKING)) {
            moved |= holds_moved_store(&entry.path());
        } else {
            return false;
        }
    }
    !parts || moved
}

/// True if `making` has a marker but no store: the store was already moved to its place, and the marker was
/// not.
fn holds_moved_store(making: &Path) -> bool {
    making.join(MARKER).exists() && !making.join(STORE).exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::ended_process;

    #[test]
    fn only_what_ended_processes_have_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path();
        let own = Making::new(parent).unwrap();
        let left = parent.join(format!("{MAKING}{}-abc", ended_process()));
        let unknown = parent.join(format!("{MAKING}abc"));
        for path in [&left, &unknown] {
            fs::create_dir_all(path.join(STORE)).unwrap();
        }
        // This store was not moved here from `left` or `unknown`, because each of these still has its store.
        fs::create_dir(parent.join(STORE)).unwrap();
        remove_stale(parent);
        assert_eq!([own.path(), &left, &unknown, &parent.join(STORE)].map(Path::exists), [true, false, true, true]);
    }

    #[test]
    fn a_store_whose_marker_did_not_follow_goes_with_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path();
        assert!(is_empty_folder(parent));
        fs::create_dir(parent.join(STORE)).unwrap();
        assert!(!is_empty_folder(parent));
        let left = parent.join(format!("{MAKING}{}-abc", ended_process()));
        fs::create_dir(&left).unwrap();
        assert!(!is_empty_folder(parent));
        fs::write(left.join(MARKER), "").unwrap();
        assert!(is_empty_folder(parent));
        for part in [DECISIONS, COMMITTED, LOCK, ACTING] {
            fs::write(parent.join(part), "").unwrap();
        }
        fs::create_dir(parent.join(INCOMING)).unwrap();
        assert!(is_empty_folder(parent));
        remove_stale(parent);
        assert_eq!(fs::read_dir(parent).unwrap().count(), 0);
        fs::write(parent.join("something"), "").unwrap();
        assert!(!is_empty_folder(parent));
    }
}
