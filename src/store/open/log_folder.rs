//! Log folder: where the engine writes its own log for a reader, which would otherwise go into the database.

use std::path::Path;

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::temporary::Temporary;

/// A folder for one reader. Removed with this, or when the program is told to end.
pub(in crate::store) struct LogFolder {
    folder: TempDir,
    _noted: Temporary,
}

impl LogFolder {
    pub(in crate::store) fn new() -> Result<Self> {
        let made = Temporary::folder(|| tempfile::Builder::new().prefix("fpdb-reader-").tempdir());
        let (folder, _noted) = made.map_err(Error::io("create a folder in", std::env::temp_dir()))?;
        Ok(Self { folder, _noted })
    }

    pub(in crate::store) fn path(&self) -> &Path {
        self.folder.path()
    }
}
