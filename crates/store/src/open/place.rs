//! Place: identifies the folder of an open store. A missing or replaced folder is thus not reported as
//! damage.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::codec::format::STORE;

/// The folder of the engine's files at the time of opening.
pub(crate) struct Place {
    folder: PathBuf,
    found: Option<FolderId>,
}

/// Identifies a folder, even after another folder got its name.
type FolderId = (u64, u64);

impl Place {
    /// The place of the database at `root`.
    pub(crate) fn of(root: &Path) -> Self {
        let folder = root.join(STORE);
        let found = identify(&folder).unwrap_or_default();
        Self { folder, found }
    }

    /// True if the folder is gone or was replaced. False if unknown.
    pub(crate) fn is_gone(&self) -> bool {
        self.found.is_some() && identify(&self.folder).is_ok_and(|now| now != self.found)
    }
}

/// The identity of the folder at a path. `None` if no folder is there.
fn identify(folder: &Path) -> std::io::Result<Option<FolderId>> {
    match fs::metadata(folder) {
        Ok(metadata) => Ok(Some(number(&metadata))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

fn number(metadata: &fs::Metadata) -> FolderId {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}
