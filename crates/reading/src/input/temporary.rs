//! Temporary: unnamed files for bytes that are too many for memory, or must be read more than once.

use std::fs::File;
use std::io;

use fpdb_host::error::{Error, Result};

/// Creates an empty file. The system removes it when it is closed.
pub(crate) fn create() -> Result<File> {
    tempfile::tempfile().map_err(failed("create a file in"))
}

/// Maps a system error of a temporary file, for the `action` that failed.
pub(crate) fn failed(action: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::io(action, std::env::temp_dir())(source)
}
