//! Symbol store: the symbols and origins of all documents, in a temporary file; in memory if all of them fit.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

use super::origins::{self, Checkpoint, MOST_OF_STEP, STEP};
use super::packed::SymbolRun;
use super::scanner::Scanned;
use fpdb_host::error::{Error, Result};
use fpdb_host::spill::{TempSpace, read_into, write_at};
use fpdb_kernel::document::Span;

/// Bytes of memory that each document takes.
pub(super) const BYTES_PER_DOCUMENT: u64 = size_of::<DocumentOffsets>() as u64 + 4;

/// Maximum number of steps of origins read together.
const STEPS_AT_ONCE: usize = 16;

/// The place of a document in the file: its symbols, then its origins, then their checkpoints.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DocumentOffsets {
    at: u64,
    origins: u64,
    symbols: u32,
    /// Bytes of a symbol; 0 if the document is not in the store.
    width: u8,
}

/// The stored documents.
pub(super) struct SymbolStore {
    temp: TempSpace,
    file: File,
    end: AtomicU64,
    /// The place of each document, by id.
    places: Vec<DocumentOffsets>,
    held: Option<Vec<u8>>,
}

impl SymbolStore {
    /// A store for the documents with ids below `documents`.
    pub(super) fn new(temp: &TempSpace, documents: u32) -> Result<Self> {
        Ok(Self {
            temp: temp.clone(),
            file: temp.file()?,
            end: AtomicU64::new(0),
            places: vec![DocumentOffsets::default(); documents as usize],
            held: None,
        })
    }

    /// Writes a document, and returns its place. [`put`](Self::put) makes the document available. `None` if
    /// the document has too many symbols for 32 bits.
    pub(super) fn write(&self, scanned: &Scanned) -> Result<Option<DocumentOffsets>> {
        let Scanned { symbols, origins, .. } = scanned;
        let Some(count) = u32::try_from(symbols.len()).ok().filter(|&count| count < u32::MAX) else { return Ok(None) };
        let checkpoints: &[u8] = bytemuck::cast_slice(&origins.checkpoints);
        let mut bytes = Vec::with_capacity(symbols.bytes.len() + origins.bytes.len() + checkpoints.len());
        bytes.extend_from_slice(&symbols.bytes);
        bytes.extend_from_slice(&origins.bytes);
        bytes.extend_from_slice(checkpoints);
        let at = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        write_at(&self.file, &bytes, at, &self.temp)?;
        Ok(Some(DocumentOffsets { at, origins: origins.bytes.len() as u64, symbols: count, width: symbols.width() }))
    }

    pub(super) fn put(&mut self, document: u32, place: DocumentOffsets) {
        if let Some(known) = self.places.get_mut(document as usize) {
            *known = place;
        }
    }

    /// Reads everything into memory if that takes at most `most` bytes.
    pub(super) fn hold(&mut self, most: u64) -> Result<()> {
        let length = *self.end.get_mut();
        if length <= most {
            let mut held = vec![0u8; usize::try_from(length).unwrap_or(0)];
            read_into(&self.file, 0, &mut held, &self.temp)?;
            self.held = Some(held);
        }
        Ok(())
    }

    /// Number of symbols of a document; `None` if the document is not in the store.
    pub(super) fn symbols_of(&self, document: u32) -> Option<u32> {
        Some(self.place(document)).filter(|place| place.width > 0).map(|place| place.symbols)
    }

    fn place(&self, document: u32) -> DocumentOffsets {
        self.places.get(document as usize).copied().unwrap_or_default()
    }

    /// Replaces `out` by `count` symbols of a document, from `first` on.
    pub(super) fn symbols(&self, document: u32, first: u32, count: u32, out: &mut SymbolRun) -> Result<()> {
        let DocumentOffsets { at, symbols, width, .. } = self.place(document);
        if u64::from(first) + u64::from(count) > u64::from(symbols) {
            return Err(Error::Damaged {
                what: format!("document {document}"),
                detail: "it has fewer symbols than were read",
            });
        }
        out.width = width;
        let width = u64::from(width);
        self.read(at + u64::from(first) * width, u64::from(count) * width, &mut out.bytes)
    }

    /// Replaces `out` by `count` bytes of the file, from `at` on.
    fn read(&self, at: u64, count: u64, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if let Some(held) = &self.held {
            let range = usize::try_from(at).ok().and_then(|at| held.get(at..)?.get(..count));
            let too_short = || Error::Damaged { what: "a temporary file".into(), detail: "it is too short" };
            out.extend_from_slice(range.ok_or_else(too_short)?);
            return Ok(());
        }
        out.resize(count, 0);
        read_into(&self.file, at, out, &self.temp)
    }

    /// The byte range of a run of symbols in the document.
    pub(super) fn span(&self, document: u32, first: u32, count: u32) -> Result<Span> {
        let last = first + count - 1;
        let (step, end) = (first as usize / STEP, last as usize / STEP);
        let known = self.origins(document, step, if end - step < STEPS_AT_ONCE { end } else { step })?;
        let start = known.origin(document, first)?;
        let stop = match end - step < STEPS_AT_ONCE {
            true => known.origin(document, last)?,
            false => self.origins(document, end, end)?.origin(document, last)?,
        };
        Ok(Span { start: start.start, end: stop.end.max(start.end) })
    }

    /// Reads the origins of symbols from checkpoint `step` to the end of checkpoint `end`.
    fn origins(&self, document: u32, step: usize, end: usize) -> Result<KnownOrigins> {
        let place = self.place(document);
        let origins = place.at + u64::from(place.symbols) * u64::from(place.width);
        let (count, size) = (end - step + 1, size_of::<Checkpoint>());
        let mut bytes = Vec::new();
        self.read(origins + place.origins + (step * size) as u64, (count * size) as u64, &mut bytes)?;
        let mut checkpoints = vec![Checkpoint::default(); count];
        bytemuck::cast_slice_mut(&mut checkpoints).copy_from_slice(&bytes);
        let at = |checkpoint: Option<&Checkpoint>| checkpoint.map_or(0, |checkpoint| checkpoint.at);
        let from = at(checkpoints.first());
        let until = place.origins.min(at(checkpoints.last()) + MOST_OF_STEP as u64);
        self.read(origins + from, until.saturating_sub(from), &mut bytes)?;
        Ok(KnownOrigins { step, checkpoints, bytes })
    }
}

/// Origins read from the file.
struct KnownOrigins {
    /// Index of the first checkpoint.
    step: usize,
    checkpoints: Vec<Checkpoint>,
    bytes: Vec<u8>,
}

impl KnownOrigins {
    fn origin(&self, document: u32, symbol: u32) -> Result<Span> {
        let checkpoint = self.checkpoints.get(symbol as usize / STEP - self.step);
        let found = checkpoint.zip(self.checkpoints.first()).and_then(|(checkpoint, first)| {
            let bytes = self.bytes.get(usize::try_from(checkpoint.at.checked_sub(first.at)?).ok()?..)?;
            origins::origin(bytes, checkpoint.before, symbol as usize % STEP)
        });
        found.ok_or_else(|| Error::Damaged {
            what: format!("document {document}"),
            detail: "a symbol of it has no origin",
        })
    }
}
