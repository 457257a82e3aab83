//! Durable: makes the names of files and folders survive a power failure. A name is durable once its folder
//! has been synced.

use std::fs;
use std::io::ErrorKind;
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
    match fs::create_dir(folder) {
        Ok(()) => sync_name(folder),
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
            create_folders(parent.ok_or_else(|| Error::io("create", folder)(error))?)?;
            match fs::create_dir(folder) {
                Ok(()) => sync_name(folder),
                // Another process created the folder in the meantime.
                Err(_) if folder.is_dir() => Ok(()),
                Err(error) => Err(Error::io("create", folder)(error)),
            }
        }
        Err(error) => Err(Error::io("create", folder)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
