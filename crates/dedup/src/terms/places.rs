//! Places: the positions of the compared documents' fingerprints.
//!
//! The store keeps positions by document, many documents to a block. The join needs positions by rank, and
//! would read a block for each document. So the positions are read once beforehand, in the order of the
//! store, and kept in one or two bytes for each fingerprint. Those that do not fit in memory are on disk.

use std::fs::File;
use std::ops::Range;

use rayon::prelude::*;

use crate::Monitor;
use crate::ranking::{Extent, RESERVED, Ranking};
use crate::terms::source::PostingSource;
use fpdb_host::error::{Error, Result};
use fpdb_host::spill::{TempSpace, read_at, write_at};
use fpdb_store::varint;

/// Number of documents that one thread reads at a time.
const AT_ONCE: usize = 256;

/// Number of fingerprints in a portion, unless one document has more. A portion is stored before the next
/// portion is read.
const FINGERPRINTS_AT_ONCE: u64 = 1 << 20;

/// Places may take 1/`SHARE` of the memory for sets, places and the index.
pub(crate) const SHARE: u64 = 8;

/// Bytes of memory for each id given so far. Before places are read, the table of compared ranks takes half
/// of these bytes instead.
pub(crate) const BYTES_PER_ID: u64 = size_of::<u64>() as u64;

/// Maximum bytes of the places, if fingerprints are at most `window` symbols apart.
pub(crate) fn most_bytes(documents: u64, fingerprints: u64, window: u64) -> u64 {
    let mut bytes = Vec::new();
    varint::write(window, &mut bytes);
    documents * 20 + fingerprints * bytes.len() as u64
}

/// The places of all documents that are compared.
pub(crate) struct Places {
    /// By document, the offset of its bytes; the last element is the end.
    starts: Vec<u64>,
    in_memory: Vec<u8>,
    on_disk: Option<(File, TempSpace)>,
}

impl Places {
    /// Reads the positions of the `active` documents. `extents` has the extent of every document, by rank.
    pub(crate) fn read(
        (source, ranking): (&dyn PostingSource, &Ranking),
        active: &[bool],
        extents: &[Extent],
        (temp, memory): (&TempSpace, u64),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let documents = ranking.numbers();
        let extent = |document: usize| {
            let rank = ranking.of(document as u32);
            (rank < RESERVED && active[rank as usize]).then(|| extents[rank as usize])
        };
        let mut starts = Vec::with_capacity(documents + 1);
        starts.push(0);
        let mut places = Self { starts, in_memory: Vec::new(), on_disk: None };
        let mut first = 0;
        while first < documents {
            monitor.check()?;
            let (mut end, mut fingerprints) = (first, 0);
            while end < documents && fingerprints < FINGERPRINTS_AT_ONCE && end - first < 64 * AT_ONCE {
                fingerprints += extent(end).map_or(0, |extent| extent.fingerprints.into());
                end += 1;
            }
            let parts = (first..end).into_par_iter().step_by(AT_ONCE).map(|start| {
                let mut part = (Vec::new(), Vec::new());
                for document in start..end.min(start + AT_ONCE) {
                    if let Some(extent) = extent(document) {
                        append(source, document as u32, extent, &mut part.1)?;
                    }
                    part.0.push(part.1.len() as u64);
                }
                Ok(part)
            });
            for (ends, bytes) in parts.collect::<Result<Vec<(Vec<u64>, Vec<u8>)>>>()? {
                let start = places.end();
                places.starts.extend(ends.into_iter().map(|end| start + end));
                places.put(start, &bytes, (temp, memory))?;
            }
            first = end;
        }
        places.in_memory.shrink_to_fit();
        Ok(places)
    }

    fn end(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    fn put(&mut self, start: u64, bytes: &[u8], (temp, memory): (&TempSpace, u64)) -> Result<()> {
        if self.on_disk.is_none() && start + bytes.len() as u64 <= memory {
            let (held, needed) = (self.in_memory.len(), self.in_memory.len() + bytes.len());
            if self.in_memory.capacity() < needed {
                // Grows by half, up to the memory allowed.
                let room = usize::try_from(memory).unwrap_or(usize::MAX).min(needed + needed / 2);
                self.in_memory.reserve_exact(room - held);
            }
            self.in_memory.extend(bytes);
            return Ok(());
        }
        let (file, temp) = match &mut self.on_disk {
            Some(on_disk) => on_disk,
            none => none.insert((temp.file()?, temp.clone())),
        };
        write_at(file, bytes, start - self.in_memory.len() as u64, temp)
    }

    /// Writes the position of each fingerprint of a document to `positions`, and returns the document's
    /// length, both in symbols. A document that was not active gives no positions and a length of 0.
    pub(crate) fn get(&self, document: u32, positions: &mut Vec<u64>) -> Result<u64> {
        positions.clear();
        let Range { start, end } = self.starts[document as usize]..self.starts[document as usize + 1];
        if start == end {
            return Ok(0);
        }
        let read;
        let mut rest = match &self.on_disk {
            Some((file, temp)) if end > self.in_memory.len() as u64 => {
                read = read_at::<u8>(file, start - self.in_memory.len() as u64, (end - start) as usize, temp)?;
                &read[..]
            }
            _ => &self.in_memory[start as usize..end as usize],
        };
        unpack(&mut rest, positions).ok_or_else(|| Error::Damaged {
            what: "a temporary file of dedup".into(),
            detail: "the positions of a document end early",
        })
    }

    /// Bytes of memory of the places, except `starts`.
    pub(crate) fn bytes(&self) -> u64 {
        self.in_memory.len() as u64
    }
}

/// Appends the length of a document and the positions of its fingerprints.
///
/// A fingerprint of the text as written has no position of its own here. It takes the position of the next
/// fingerprint of the structure, and fingerprints at one position count as one. Fingerprints after the last
/// fingerprint of the structure are left out.
fn append(source: &dyn PostingSource, document: u32, extent: Extent, bytes: &mut Vec<u8>) -> Result<()> {
    let mut steps = Vec::with_capacity(extent.fingerprints.min(1 << 16) as usize);
    let (mut before, mut ordinal, mut count) = (0, 0u32, 0);
    source.visit_positions(document, extent.fingerprints, &mut |position| {
        ordinal += 1;
        let Some(position) = position else { return Ok(()) };
        let step = position.checked_sub(before).ok_or_else(|| Error::Damaged {
            what: format!("the positions of document {document}"),
            detail: "they do not ascend",
        })?;
        varint::write(step, &mut steps);
        (count + 1..ordinal).for_each(|_| varint::write(0, &mut steps));
        (before, count) = (position, ordinal);
        Ok(())
    })?;
    varint::write(extent.symbols(), bytes);
    varint::write(u64::from(count), bytes);
    bytes.extend(steps);
    Ok(())
}

fn unpack(rest: &mut &[u8], positions: &mut Vec<u64>) -> Option<u64> {
    let symbols = varint::read(rest)?;
    let count = varint::read(rest)?;
    let mut position = 0u64;
    for _ in 0..count {
        position = position.checked_add(varint::read(rest)?)?;
        positions.push(position);
    }
    Some(symbols)
}
