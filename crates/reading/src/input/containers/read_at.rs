//! Reads from an offset of a file, without changing the position of other readers.

use std::fs::File;
use std::io;

/// Reads some bytes at offset `place`. Returns 0 at the end of the file.
#[cfg(unix)]
pub(super) fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, place)
}

/// On systems without such a call, this moves the file's position. That is safe, because each reader gives
/// its own offset and only one thread reads a file.
#[cfg(not(unix))]
pub(super) fn read_at(mut file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(place))?;
    file.read(buffer)
}
