//! Reads from an offset of a file, without changing the position of other readers.

use std::fs::File;
use std::io;

/// Reads some bytes at offset `place`. Returns 0 at the end of the file.
pub(super) fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, place)
}
