//! JSON files of a build: a file appears complete or not at all.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use fpdb_host::bounded;
use fpdb_host::error::{Error, Result};

/// Writes a file that appears complete or not at all.
pub(super) fn write_whole<T: Serialize>(path: &Path, content: &T) -> Result<()> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut file, content)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        // Other users may read the file, like the sorted files beside it.
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
        }
        file.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(Error::io("write", path))
}

/// Reads a file that [`write_whole`] wrote; `None` if it does not exist.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match bounded::read_file(path, bounded::LIST_BYTES) {
        Ok(bytes) => {
            let damaged = |_| Error::DamagedBuild { path: path.to_owned(), detail: "it does not decode" };
            serde_json::from_slice(&bytes).map(Some).map_err(damaged)
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}
