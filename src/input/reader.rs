//! Reading: the bytes of one document, in order and in bounded memory, with their digest.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::Xxh3;

use super::walk::modified;
use super::{Candidate, FileFacts};
use crate::document::Digest;
use crate::error::{Error, Result};
use crate::normalize;

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;

/// How far into a document a NUL byte marks it as binary; as git does.
const BINARY_PROBE: usize = 8000;

/// Reads documents one after the other; one per thread.
pub(crate) struct Reader {
    /// Whether binary documents are refused.
    text: bool,
    buffer: Vec<u8>,
}

impl Reader {
    /// A reader that refuses binary documents where `text` is set.
    pub(crate) fn new(text: bool) -> Self {
        Self { text, buffer: vec![0; CHUNK] }
    }

    /// Reads a document to its end, gives its bytes to `take` piece by piece, and returns their digest.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Binary`], [`Error::ChangedWhileReading`], [`Error::Interrupted`] once `stop`
    /// is set, and what `take` returns. What `take` was given then is no whole document.
    pub(crate) fn read(
        &mut self,
        candidate: &Candidate,
        stop: &AtomicBool,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Digest> {
        match &candidate.file {
            Some(file) => self.read_file(file, stop, take),
            None => Ok(self.read_from(&mut io::stdin().lock(), Path::new("standard input"), stop, take)?.0),
        }
    }

    fn read_file(
        &mut self,
        file: &FileFacts,
        stop: &AtomicBool,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Digest> {
        let io_error = || Error::io("read", &file.path);
        let mut open = File::open(&file.path).map_err(io_error())?;
        let (digest, bytes) = self.read_from(&mut open, &file.path, stop, take)?;
        let after = open.metadata().map_err(io_error())?;
        let same = bytes == file.bytes && after.len() == file.bytes && modified(&after) == file.modified;
        if same { Ok(digest) } else { Err(Error::ChangedWhileReading { path: file.path.clone() }) }
    }

    fn read_from(
        &mut self,
        input: &mut dyn Read,
        path: &Path,
        stop: &AtomicBool,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<(Digest, u64)> {
        let mut digest = Xxh3::new();
        let mut total = 0;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let filled = fill(input, &mut self.buffer).map_err(Error::io("read", path))?;
            let bytes = &self.buffer[..filled];
            if total == 0 && self.text {
                refuse_binary(bytes)?;
            }
            total += bytes.len() as u64;
            digest.update(bytes);
            take(bytes)?;
            if filled < CHUNK {
                return Ok((digest.digest128().to_be_bytes(), total));
            }
        }
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Refuses bytes that begin a binary file: NUL bytes, where they are not half of UTF-16 or UTF-32 text.
fn refuse_binary(bytes: &[u8]) -> Result<()> {
    let probe = &bytes[..bytes.len().min(BINARY_PROBE)];
    match probe.iter().position(|&byte| byte == 0) {
        Some(offset) if !normalize::is_wide_text(probe) => Err(Error::Binary { offset: offset as u64 }),
        _ => Ok(()),
    }
}
