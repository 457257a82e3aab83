//! Reading from a place in a file, which others read elsewhere.

use std::fs::File;
use std::io;

/// Reads some bytes from this place on; none at the end of the file.
#[cfg(unix)]
pub(super) fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, place)
}

/// Where the system has no such call, the file's own place moves: each reader says its own with each call, and one thread
/// reads a file.
#[cfg(not(unix))]
pub(super) fn read_at(mut file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(place))?;
    file.read(buffer)
}
