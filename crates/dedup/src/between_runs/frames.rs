//! Frames: the units of dedup's files. A reader can tell which frames are complete.
//!
//! A frame is a length (4 bytes, little-endian), that number of bytes, and their XXH3-64 (8 bytes).

use std::io::{ErrorKind, Read, Result, Write};

use xxhash_rust::xxh3::xxh3_64;

/// Maximum bytes in a frame.
pub(crate) const MOST_BYTES: u32 = 1 << 28;

/// Bytes on disk of a frame with this length.
pub(crate) fn frame_bytes(length: usize) -> u64 {
    length as u64 + 12
}

/// Writes a frame, in one call.
pub(crate) fn write_frame(file: &mut impl Write, bytes: &[u8]) -> Result<()> {
    let mut frame = Vec::with_capacity(bytes.len() + 12);
    frame.extend((bytes.len() as u32).to_le_bytes());
    frame.extend(bytes);
    frame.extend(xxh3_64(bytes).to_le_bytes());
    file.write_all(&frame)
}

/// The next frame; `None` if no complete frame follows.
pub(crate) fn next_frame(reader: &mut impl Read) -> Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    let (mut bytes, mut sum) = (Vec::new(), [0; 8]);
    let mut fill = |into: &mut [u8]| match reader.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    };
    if !fill(&mut length)? || u32::from_le_bytes(length) > MOST_BYTES {
        return Ok(None);
    }
    bytes.resize(u32::from_le_bytes(length) as usize, 0);
    let whole = fill(&mut bytes)? && fill(&mut sum)? && xxh3_64(&bytes) == u64::from_le_bytes(sum);
    Ok(whole.then_some(bytes))
}
