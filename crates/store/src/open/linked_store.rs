//! Linked store: a temporary folder of links to the files of a store. A reader that needs other contents in
//! some of the files opens this folder in place of the store.

use std::path::{Path, PathBuf};

use crate::codec::format::STORE;
use crate::open::files;
use fpdb_host::error::Result;
use fpdb_host::owned_folder::OwnedFolder;

/// Prefix of the name of such a folder, before the process id.
const PREFIX: &str = "fpdb-links-";

/// A store of links, removed on drop. Creating one removes the folders that killed processes have left.
pub(crate) struct LinkedStore {
    folder: OwnedFolder,
}

impl LinkedStore {
    /// Links the files of the engine in `store` whose names are `wanted`. Writes the files given by name and
    /// content instead of links.
    pub(crate) fn new(store: &Path, wanted: impl Fn(&str) -> bool, written: &[(&str, &[u8])]) -> Result<Self> {
        Self::new_in(&std::env::temp_dir(), store, wanted, written)
    }

    fn new_in(parent: &Path, store: &Path, wanted: impl Fn(&str) -> bool, written: &[(&str, &[u8])]) -> Result<Self> {
        let folder = OwnedFolder::without_stale(parent, PREFIX)?;
        let linked = Self { folder };
        files::link(store, &linked.path(), wanted, written)?;
        Ok(linked)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(STORE)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::open::ended_process;

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
