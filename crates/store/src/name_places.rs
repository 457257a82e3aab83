//! Places: maps the files below a folder to the names of their documents. So an ingest finds the document of
//! a file by the file's path, whatever folder the ingest runs in.
//!
//! There is no index from paths to documents, because it would double the space that names take. A name and
//! the path of its file usually have the same end. A *place* is the pair of their beginnings, without the
//! common end: `arch/a.txt` of `/home/u/arch/a.txt` has the place (`/home/u/`, empty). So a few places cover
//! all documents of an archive. The caller then looks the name up.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::Store;
use super::codec::format::{
    ALL_PLACES_KEY, ALL_ROOTS_KEY, MAIN, PLACE_PREFIX, ROOT_PREFIX, parse_place_key, place_key, root_key,
};
use super::engine::Changes;
use super::view::View;
use fpdb_host::error::{Error, Result};

const ACTION: &str = "read the list of places";

const READ_ROOTS: &str = "read where the database was";

/// The file at path `folder` + x is the document `names` + x, or holds documents whose names begin with
/// `names` + x.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamePlace {
    /// The beginning of absolute paths. It ends with `/`, is empty, or is the whole path of one file.
    pub folder: String,
    /// The beginning of names. It has the same form as `folder`.
    pub names: String,
}

impl NamePlace {
    /// Makes the place of a file from its path and its name, by removing their longest common end. This end
    /// begins at a component of the path.
    pub fn of(source: &str, name: &str) -> Self {
        let same = source.bytes().rev().zip(name.bytes().rev()).take_while(|(a, b)| a == b).count();
        let begins_here = |text: &str, at: usize| at == 0 || text.as_bytes()[at - 1] == b'/';
        let common = (1..=same).rev().find(|&common| {
            let (source_end, name_end) = (source.len() - common, name.len() - common);
            begins_here(source, source_end) && begins_here(name, name_end)
        });
        let common = common.unwrap_or(0);
        Self { folder: source[..source.len() - common].into(), names: name[..name.len() - common].into() }
    }
}

impl Store {
    /// All places. `None` if documents may have places that are not in the list, as in a database of an
    /// earlier version.
    ///
    /// # Errors
    /// [`Error::Damaged`], or an error of the engine.
    pub fn name_places(&self) -> Result<Option<Vec<NamePlace>>> {
        if self.engine.get(MAIN, ALL_PLACES_KEY, ACTION)?.is_none() {
            return Ok(None);
        }
        let places = self.engine.entries_with(MAIN, (PLACE_PREFIX, &[]), ACTION)?.map(|entry| {
            let damaged = || Error::Damaged { what: "a place of names".into(), detail: "its key does not decode" };
            let (folder, names) = parse_place_key(&entry?.0).ok_or_else(damaged)?;
            Ok(NamePlace { folder, names })
        });
        places.collect::<Result<_>>().map(Some)
    }

    /// Adds places to the list, which is then complete for all documents.
    pub fn complete_name_places(&self, places: &BTreeSet<NamePlace>) -> Result<()> {
        let mut changes = self.engine.changes();
        put(&mut changes, places)?;
        changes.put(MAIN, ALL_PLACES_KEY, [])?;
        self.change(changes, View::clone(&self.view()), "list the places of documents")
    }

    /// The folders in which this database was when an ingest wrote it. `None` if the list may lack some of
    /// these folders, as in a database of an earlier version.
    ///
    /// # Errors
    /// An error of the engine.
    pub fn former_roots(&self) -> Result<Option<BTreeSet<PathBuf>>> {
        if self.engine.get(MAIN, ALL_ROOTS_KEY, READ_ROOTS)?.is_none() {
            return Ok(None);
        }
        let rows = self.engine.entries_with(MAIN, (ROOT_PREFIX, &[]), READ_ROOTS)?;
        rows.map(|row| Ok(root_of(&row?.0))).collect::<Result<_>>().map(Some)
    }

    /// Replaces the list of folders in which this database was. `is_whole` is true if the list lacks none.
    pub(crate) fn replace_roots(&self, roots: &BTreeSet<PathBuf>, is_whole: bool) -> Result<()> {
        let mut changes = self.engine.changes();
        for row in self.engine.entries_with(MAIN, (ROOT_PREFIX, &[]), READ_ROOTS)? {
            changes.delete(MAIN, row?.0)?;
        }
        roots.iter().try_for_each(|root| changes.put(MAIN, root_key(root), []))?;
        if !is_whole {
            changes.delete(MAIN, ALL_ROOTS_KEY)?;
        }
        changes.write("list where the database was")
    }

    /// Records the folder in which this database is. Commits nothing if it is recorded already.
    ///
    /// # Errors
    /// An error of the engine; [`Error::Io`] if the folder cannot be found.
    pub fn record_root(&self) -> Result<()> {
        let root = self.root().canonicalize().map_err(Error::io("find", self.root()))?;
        let key = root_key(&root);
        if self.engine.get(MAIN, &key, READ_ROOTS)?.is_some() {
            return Ok(());
        }
        let mut changes = self.engine.changes();
        changes.put(MAIN, key, [])?;
        self.change(changes, View::clone(&self.view()), "record where the database is")
    }

    /// Records that documents are added without their places, so the list is incomplete. The next ingest
    /// completes it.
    pub(crate) fn forget_name_places(changes: &mut Changes<'_>) -> Result<()> {
        changes.delete(MAIN, ALL_PLACES_KEY)
    }
}

/// The folder in the key of a root.
pub(crate) fn root_of(key: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&key[ROOT_PREFIX.len()..]))
}

pub(crate) fn put<'a>(changes: &mut Changes<'_>, places: impl IntoIterator<Item = &'a NamePlace>) -> Result<()> {
    places.into_iter().try_for_each(|NamePlace { folder, names }| changes.put(MAIN, place_key(folder, names), []))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreOptions;
    use fpdb_kernel::profile::Profile;

    /// A database of an earlier version does not know its former folders, even after this version has written
    /// to it.
    #[test]
    fn only_a_list_that_was_begun_with_the_database_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("db");
        let store = Store::create(&root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
        let whole = BTreeSet::from([root.canonicalize().unwrap()]);
        assert_eq!(store.former_roots().unwrap(), Some(whole.clone()));
        store.replace_roots(&BTreeSet::new(), true).unwrap();
        assert_eq!(store.former_roots().unwrap(), Some(BTreeSet::new()));
        store.record_root().unwrap();
        assert_eq!(store.former_roots().unwrap(), Some(whole));
        store.engine.delete_row(MAIN, ALL_ROOTS_KEY);
        store.record_root().unwrap();
        assert_eq!(store.former_roots().unwrap(), None);
    }

    #[test]
    fn a_place_is_what_is_left_without_the_common_end() {
        for (source, name, folder, names) in [
            ("/h/arch/a.txt", "arch/a.txt", "/h/", ""),
            ("/h/arch/a.txt", "/h/arch/a.txt", "", ""),
            ("/h/arch/a.txt", "../arch/a.txt", "/h/", "../"),
            ("/h/new/root/a.txt", "old/root/a.txt", "/h/new/", "old/"),
            ("/h/a.txt", "b.txt", "/h/a.txt", "b.txt"),
            ("/h/xa.txt", "a.txt", "/h/xa.txt", "a.txt"),
            ("/h/a.txt", "ha.txt", "/h/a.txt", "ha.txt"),
            ("/a.txt", "a.txt", "/", ""),
            ("/h/é/ü.txt", "x/ö/ü.txt", "/h/é/", "x/ö/"),
            ("/h/a.txt", "", "/h/a.txt", ""),
        ] {
            assert_eq!(
                NamePlace::of(source, name),
                NamePlace { folder: folder.into(), names: names.into() },
                "{source} {name}"
            );
        }
    }
}
