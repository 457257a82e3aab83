//! Stream: copies bytes without some ranges.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use crate::check::Cut;
use crate::files::BUFFER;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;

/// The ranges to leave out, ascending and disjoint.
pub(super) struct Cuts {
    ranges: Vec<(u64, u64)>,
    next: usize,
}

impl Cuts {
    /// Builds from cuts in ascending order.
    pub(super) fn new(cuts: &[Cut]) -> Self {
        Self::of_ranges(cuts.iter().map(|cut| (cut.start, cut.end)))
    }

    /// Builds from ranges in ascending order.
    pub(super) fn of_ranges(all: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (start, stop) in all {
            match ranges.last_mut() {
                Some((_, end)) if start <= *end => *end = stop.max(*end),
                _ => ranges.push((start, stop)),
            }
        }
        Self { ranges, next: 0 }
    }

    /// The first range that ends after `at`. From call to call, `at` must not decrease.
    pub(super) fn from(&mut self, at: u64) -> Option<(u64, u64)> {
        while self.ranges.get(self.next).is_some_and(|&(_, end)| end <= at) {
            self.next += 1;
        }
        self.ranges.get(self.next).copied()
    }

    /// Writes the bytes that stay; `at` is the offset of the first byte.
    pub(super) fn write(&mut self, mut bytes: &[u8], mut at: u64, output: &mut dyn Write) -> std::io::Result<()> {
        while !bytes.is_empty() {
            let end = at + bytes.len() as u64;
            let (start, stop) = self.from(at).unwrap_or((end, end));
            let stays = start.clamp(at, end) - at;
            let (kept, rest) = bytes.split_at(stays as usize);
            output.write_all(kept)?;
            let goes = stop.clamp(at + stays, end) - at - stays;
            bytes = &rest[goes as usize..];
            at += stays + goes;
        }
        Ok(())
    }
}

/// Copies a file without some ranges.
pub(super) fn without(path: &Path, mut cuts: Cuts, output: &mut dyn Write, stop: &StopToken) -> Result<()> {
    let mut input = File::open(path).map_err(Error::io("read", path))?;
    let mut buffer = vec![0; BUFFER];
    let mut at = 0;
    loop {
        stop.check()?;
        let read = input.read(&mut buffer).map_err(Error::io("read", path))?;
        if read == 0 {
            return Ok(());
        }
        cuts.write(&buffer[..read], at, output).map_err(Error::io("write a copy of", path))?;
        at += read as u64;
    }
}
