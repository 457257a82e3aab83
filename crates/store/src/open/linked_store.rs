//! Linked store: a temporary folder of links to the files of a store, for a reader that cannot use all of
//! them as they are.

use std::path::{Path, PathBuf};

use crate::codec::format::STORE;
use crate::open::files;
use crate::open::owned_folder::OwnedFolder;
use fpdb_host::error::Result;
use fpdb_host::temporary::stale_temporaries;

/// How the name of such a folder begins; the number of the process follows.
const PREFIX: &str = "fpdb-links-";

/// A store of links. Removed with this; one that a killed process has left is removed when the next one is
/// made.
pub(crate) struct LinkedStore {
    folder: OwnedFolder,
}

impl LinkedStore {
    /// Links those of the files in `store` that `wanted` says by name, but for those that are none of the
    /// engine's. The files that are given, names and contents, are written instead.
    pub(crate) fn new(store: &Path, wanted: impl Fn(&str) -> bool, written: &[(&str, &[u8])]) -> Result<Self> {
        Self::new_in(&std::env::temp_dir(), store, wanted, written)
    }

    fn new_in(parent: &Path, store: &Path, wanted: impl Fn(&str) -> bool, written: &[(&str, &[u8])]) -> Result<Self> {
        for stale in stale_temporaries(parent, PREFIX) {
            // It is in nobody's way where it cannot be removed.
            let _ = std::fs::remove_dir_all(stale);
        }
        let folder = OwnedFolder::new(parent, PREFIX)?;
        let linked = Self { folder };
        files::link(store, &linked.path(), wanted, written)?;
        Ok(linked)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(STORE)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;
    use crate::open::owned_folder::ended_process;

    #[test]
    fn links_are_removed_and_so_are_those_of_ended_processes() {
        let folder = tempfile::tempdir().unwrap();
        let (store, parent) = (folder.path().join("a"), folder.path().join("b"));
        let left = parent.join(format!("{PREFIX}{}-abc", ended_process()));
        for path in [&store, &left] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(store.join("000001.sst"), "table").unwrap();
        fs::write(store.join("MANIFEST-000001"), "list").unwrap();
        fs::write(store.join("000002.log"), "rows").unwrap();
        let wanted = |name: &str| name != "000002.log";
        let linked = LinkedStore::new_in(&parent, &store, wanted, &[("MANIFEST-000001", b"li")]).unwrap();
        assert!(!linked.path().join("000002.log").exists());
        assert_eq!(fs::read_to_string(linked.path().join("000001.sst")).unwrap(), "table");
        assert_eq!(fs::read_to_string(linked.path().join("MANIFEST-000001")).unwrap(), "li");
        assert!(!left.exists());
        drop(linked);
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 0);
    }
}
