//! Durable: makes the names of files and folders survive a power failure. A name is durable once its folder
//! has been synced.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use crate::error::{Error, Result};

/// Makes the names in a folder durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::io("sync", folder))
}

/// Makes the name of a file or folder durable.
pub fn sync_name(path: &Path) -> Result<()> {
    sync_folder(path.parent().unwrap_or(path))
}

/// Creates a folder and its missing parents, and makes their names durable.
pub fn create_folders(folder: &Path) -> Result<()> {
    create_folders_like(folder, None)
}

/// Like [`create_folders`]. Each new folder is closed to the users to whom its model is closed: `like`, or
/// for a parent the folder as far above `like`. New folders belong to this user: a folder that another user
/// owns could get links to other places while it is filled.
pub fn create_folders_like(folder: &Path, like: Option<&Path>) -> Result<()> {
    let model = like.and_then(|like| like.metadata().ok());
    let create = || match &model {
        None => fs::create_dir(folder),
        // The owner must be able to fill the folder. A sticky folder protects the files of its users.
        Some(model) => DirBuilder::new().mode(model.mode() & 0o1777 | 0o700).create(folder),
    };
    match create() {
        Ok(()) => sync_name(folder),
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.ok_or_else(|| Error::io("create", folder)(error))?;
            create_folders_like(parent, like.and_then(Path::parent))?;
            match create() {
                Ok(()) => sync_name(folder),
                // Another process created the folder in the meantime.
                Err(_) if folder.is_dir() => Ok(()),
                Err(error) => Err(Error::io("create", folder)(error)),
            }
        }
        Err(error) => Err(Error::io("create", folder)(error)),
    }
}

/// Replaces the file at `path` by `content`, whole or not at all.
pub fn replace_file(path: &Path, content: &[u8]) -> Result<()> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // The file gets the usual permissions, because other users may read what lies beside it.
        let mut file = builder.permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        fs::File::open(folder)?.sync_all()
    };
    write().map_err(Error::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_as_closed_as_their_models() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("a/b");
        fs::create_dir_all(&model).unwrap();
        let close = |path: &Path, mode: u32| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let mode_of = |path: &Path| path.metadata().unwrap().mode() & 0o7777;
        close(&model, 0o1570);
        close(&folder.path().join("a"), 0o700);
        let made = folder.path().join("c/d");
        create_folders_like(&made, Some(&model)).unwrap();
        assert_eq!((mode_of(&made) & 0o1707, mode_of(&folder.path().join("c"))), (0o1700, 0o700));
        // A folder that exists stays as it is.
        create_folders_like(&folder.path().join("a/e"), Some(&model)).unwrap();
        close(&made, 0o755);
        create_folders_like(&made, Some(&model)).unwrap();
        assert_eq!(mode_of(&made), 0o755);
    }

    #[test]
    fn folders_are_made_with_those_they_lie_in() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create_folders(&deep).unwrap();
        create_folders(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(create_folders(&folder.path().join("file")).is_err());
        assert!(create_folders(&folder.path().join("file/below")).is_err());
    }
}
