//! Same bytes: compares two files.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// Bytes that are read at a time.
const BUFFER: usize = 256 << 10;

/// True if two files have the same bytes.
///
/// # Errors
/// [`Error::Io`] if one of them cannot be read.
pub fn same_bytes(one: &Path, other: &Path) -> Result<bool> {
    let open = |path: &Path| File::open(path).map_err(Error::io("read", path));
    let (mut first, mut second) = (open(one)?, open(other)?);
    let length = |file: &File, path: &Path| Ok::<_, Error>(file.metadata().map_err(Error::io("read", path))?.len());
    if length(&first, one)? != length(&second, other)? {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; BUFFER], vec![0; BUFFER]);
    loop {
        let read = first.read(&mut left).map_err(Error::io("read", one))?;
        if read == 0 {
            return Ok(true);
        }
        match second.read_exact(&mut right[..read]) {
            Ok(()) if left[..read] == right[..read] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(Error::io("read", other)(error)),
        }
    }
}
