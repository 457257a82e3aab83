//! Create: creates a database. It appears whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use crate::codec::format::{
    ALL_PLACES_KEY, ALL_ROOTS_KEY, COMMITTED, DECISIONS, IDENTITY_KEY, MAIN, MARKER, PROFILE_KEY, STATE_KEY, STORE,
    encode_profile, marker, root_key,
};
use crate::codec::records::{self, StateRecord};
use crate::engine::{Access, Engine};
use crate::open::commit_mark;
use crate::open::format_marker::check_marker;
use crate::open::making::{Making, remove_parts, remove_stale};
use crate::{Store, StoreOptions};
use fpdb_host::durable::{create_folders, sync_folder};
use fpdb_host::error::{Error, Result};
use fpdb_kernel::profile::Profile;

impl Store {
    /// Creates an empty database at `root` and opens it for writing. `root` must be missing or an empty
    /// folder.
    pub fn create(root: &Path, profile: &Profile, options: &StoreOptions) -> Result<Self> {
        make_whole(root, |inside| {
            let engine = Engine::open(&inside.join(STORE), Access::New, options.cache_bytes);
            let engine = engine.map_err(|error| error.during("create its files"))?;
            let mut changes = engine.changes();
            changes.put(MAIN, PROFILE_KEY, encode_profile(profile))?;
            changes.put(MAIN, ALL_PLACES_KEY, [])?;
            changes.put(MAIN, root_key(&canonical(root)?), [])?;
            changes.put(MAIN, ALL_ROOTS_KEY, [])?;
            changes.put(MAIN, STATE_KEY, records::encode(&StateRecord::default())?)?;
            if let Some(identity) = engine.identity()? {
                changes.put(MAIN, IDENTITY_KEY, identity)?;
            }
            changes.commit("write its first record")?;
            Ok(*profile)
        })?;
        Self::open_writer(root, options)
    }
}

/// The path of a folder without links. The folder need not exist, but its parent folder must.
fn canonical(root: &Path) -> Result<PathBuf> {
    let whole = std::path::absolute(root).and_then(|root| match (root.parent(), root.file_name()) {
        (Some(parent), Some(name)) if !root.exists() => Ok(parent.canonicalize()?.join(name)),
        _ => root.canonicalize(),
    });
    whole.map_err(Error::io("find", root))
}

/// Creates a database at `root`. `fill` writes the store into the folder it is given, and returns the
/// profile. The database grows in a folder beside `root`, which is then renamed. So it appears whole or not
/// at all.
pub(crate) fn make_whole(root: &Path, fill: impl FnOnce(&Path) -> Result<Profile>) -> Result<()> {
    match check_marker(root) {
        Err(Error::NoDatabase { .. }) => {}
        Err(error) => return Err(error),
        Ok(()) => return Err(Error::DatabaseExists { path: root.to_owned() }),
    }
    // An empty folder is filled, not replaced: it may be a mounted disk, the current folder of a process, or
    // the target of a link.
    let fills = root.is_dir();
    let parent = match root.parent() {
        _ if fills => root.to_owned(),
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    create_folders(&parent)?;
    remove_stale(&parent);
    let making = Making::new(&parent)?;
    let inside = making.path();
    let profile = fill(inside)?;
    // Every database has a mark. Without a mark, the list of tables of an older copy would look right.
    commit_mark::write(inside, 0, None, None)?;
    let marker_path = inside.join(MARKER);
    fs::write(&marker_path, marker(&profile))
        .and_then(|()| fs::File::open(&marker_path)?.sync_all())
        .and_then(|()| fs::File::open(inside)?.sync_all())
        .map_err(Error::io("write", &marker_path))?;
    // Another process may have created a database here meanwhile.
    let lost = |error| match check_marker(root) {
        Ok(()) => Error::DatabaseExists { path: root.to_owned() },
        Err(_) => error,
    };
    if fills {
        // The marker makes the folder a database, so it comes last.
        let fill =
            |name: &str| fs::rename(inside.join(name), root.join(name)).map_err(Error::io("fill", root)).map_err(lost);
        fill(STORE)?;
        // A restored database may have decisions of a dedup.
        let decisions = inside.join(DECISIONS).exists().then_some(DECISIONS);
        // After a failure, files that were moved already would block the next creation here, so they are
        // removed. A file that cannot be removed stays.
        let remove = |_: &Error| _ = remove_parts(root, &[STORE, DECISIONS, COMMITTED]);
        decisions.into_iter().chain([COMMITTED, MARKER]).try_for_each(fill).inspect_err(remove)?;
        return sync_folder(root);
    }
    fs::rename(inside, root).map_err(Error::io("create", root)).map_err(lost)?;
    // The folder has moved: there is nothing left to remove.
    making.keep();
    sync_folder(&parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database has a mark of its list of tables even before a process opens it for writing.
    #[test]
    fn a_database_is_made_with_a_mark_of_its_list() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("empty")).unwrap();
        for name in ["new", "empty"] {
            let root = folder.path().join(name);
            make_whole(&root, |inside| {
                drop(Engine::open(&inside.join(STORE), Access::New, 1 << 20).map_err(|error| error.during("make it"))?);
                Ok(Profile::named("words").unwrap())
            })
            .unwrap();
            assert!(commit_mark::read(&root).unwrap().has_list(), "{name}");
        }
    }

    /// Creates a database at `root` while another creation is going on there.
    #[track_caller]
    fn made_twice(root: &Path) {
        let profile = Profile::named("words").unwrap();
        let error = make_whole(root, |inside| {
            drop(Store::create(root, &profile, &StoreOptions::default())?);
            // The other creation has removed the remains of the first one.
            fs::create_dir_all(inside.join(STORE)).unwrap();
            Ok(profile)
        })
        .unwrap_err();
        assert!(matches!(&error, Error::DatabaseExists { path } if path == root), "{error}");
        Store::open_writer(root, &StoreOptions::default()).unwrap();
    }

    #[test]
    fn a_database_that_another_process_makes_meanwhile_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        made_twice(&folder.path().join("new"));
        fs::create_dir(folder.path().join("empty")).unwrap();
        made_twice(&folder.path().join("empty"));
    }
}
