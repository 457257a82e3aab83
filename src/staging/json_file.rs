//! JSON files of a build: a file appears complete or not at all.

use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use fpdb_host::bounded;
use fpdb_host::durable::replace_file;
use fpdb_host::error::{Error, Result};

/// Writes a file that appears complete or not at all.
pub(super) fn write_whole<T: Serialize>(path: &Path, content: &T) -> Result<()> {
    let mut line = serde_json::to_vec(content).map_err(|error| Error::io("write", path)(error.into()))?;
    line.push(b'\n');
    replace_file(path, &line)
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
