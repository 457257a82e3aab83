//! Place: the folder that a store was opened from. It tells a folder that is gone, or another one in its
//! place, from damage.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::codec::format::STORE;

/// The folder of the engine's files as it was at opening.
pub(crate) struct Place {
    folder: PathBuf,
    found: Option<FolderId>,
}

/// Identifies a folder, even after another one has taken its name.
type FolderId = (u64, u64);

impl Place {
    /// The place of the database at `root`.
    pub(crate) fn of(root: &Path) -> Self {
        let folder = root.join(STORE);
        let found = identify(&folder).unwrap_or_default();
        Self { folder, found }
    }

    /// True where the folder is no longer there, or is another one. False where that cannot be told.
    pub(crate) fn is_gone(&self) -> bool {
        self.found.is_some() && identify(&self.folder).is_ok_and(|now| now != self.found)
    }
}

/// The folder at a path; `None` if there is none.
fn identify(folder: &Path) -> std::io::Result<Option<FolderId>> {
    match fs::metadata(folder) {
        Ok(metadata) => Ok(Some(number(&metadata))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn number(metadata: &fs::Metadata) -> FolderId {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// All folders are the same here.
#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> FolderId {
    (0, 0)
}
