//! The symbols and origins of all documents, in a temporary file, or in memory where there is room for all of them.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

use super::origins::{self, Checkpoint, MOST_OF_STEP, STEP};
use super::packed::unpack;
use super::scanner::Scanned;
use crate::document::Span;
use crate::error::{Error, Result};
use crate::spill::{TempSpace, read_into, write_at};

/// Bytes of memory that each document takes.
pub(super) const BYTES_PER_DOCUMENT: u64 = size_of::<DocumentOffsets>() as u64 + 4;

/// Where a document is: its symbols, then its origins, then their checkpoints.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DocumentOffsets {
    at: u64,
    origins: u64,
    symbols: u32,
    /// Bytes of a symbol; 0 where the document is not there.
    width: u8,
}

/// The documents.
pub(super) struct SymbolStore {
    temp: TempSpace,
    file: File,
    end: AtomicU64,
    /// By number.
    places: Vec<DocumentOffsets>,
    held: Option<Vec<u8>>,
}

impl SymbolStore {
    /// Room for the documents of numbers below this.
    pub(super) fn new(temp: &TempSpace, documents: u32) -> Result<Self> {
        Ok(Self {
            temp: temp.clone(),
            file: temp.file()?,
            end: AtomicU64::new(0),
            places: vec![DocumentOffsets::default(); documents as usize],
            held: None,
        })
    }

    /// Writes a document, which is there once it is [put](Self::put); `None` where it has too many symbols to be counted.
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

    /// Reads all into memory where that takes no more than so many bytes.
    pub(super) fn hold(&mut self, most: u64) -> Result<()> {
        let length = *self.end.get_mut();
        if length <= most {
            let mut held = vec![0u8; usize::try_from(length).unwrap_or(0)];
            read_into(&self.file, 0, &mut held, &self.temp)?;
            self.held = Some(held);
        }
        Ok(())
    }

    /// The number of a document's symbols; `None` where it is not there.
    pub(super) fn symbols_of(&self, document: u32) -> Option<u32> {
        Some(self.place(document)).filter(|place| place.width > 0).map(|place| place.symbols)
    }

    fn place(&self, document: u32) -> DocumentOffsets {
        self.places.get(document as usize).copied().unwrap_or_default()
    }

    /// Replaces the content of `out` by `count` symbols of a document, from `first` on.
    pub(super) fn symbols(
        &self,
        document: u32,
        first: u32,
        count: u32,
        read: &mut Vec<u8>,
        out: &mut Vec<u64>,
    ) -> Result<()> {
        let DocumentOffsets { at, symbols, width, .. } = self.place(document);
        if u64::from(first) + u64::from(count) > u64::from(symbols) {
            return Err(Error::Damaged {
                what: format!("document {document}"),
                detail: "it has fewer symbols than were read",
            });
        }
        let bytes = u64::from(width);
        self.bytes(at + u64::from(first) * bytes, u64::from(count) * bytes, read, |bytes| unpack(bytes, width, out))
    }

    /// The bytes that symbols come from: from the first byte of the first to the last byte of the last.
    pub(super) fn span(&self, document: u32, first: u32, count: u32) -> Result<Span> {
        let (first, last) = (self.origin(document, first)?, self.origin(document, first + count - 1)?);
        Ok(Span { start: first.start, end: last.end.max(first.end) })
    }

    fn origin(&self, document: u32, symbol: u32) -> Result<Span> {
        let place = self.place(document);
        let origins = place.at + u64::from(place.symbols) * u64::from(place.width);
        let (step, index) = (symbol as usize / STEP, symbol as usize % STEP);
        let mut read = Vec::new();
        let mut checkpoint = Checkpoint::default();
        let at = origins + place.origins + (step * size_of::<Checkpoint>()) as u64;
        self.bytes(at, size_of::<Checkpoint>() as u64, &mut read, |bytes| {
            bytemuck::bytes_of_mut(&mut checkpoint).copy_from_slice(bytes);
        })?;
        let length = (MOST_OF_STEP as u64).min(place.origins.saturating_sub(checkpoint.at));
        let mut found = None;
        self.bytes(origins + checkpoint.at, length, &mut read, |bytes| {
            found = origins::origin(bytes, checkpoint.before, index);
        })?;
        found.ok_or_else(|| Error::Damaged {
            what: format!("document {document}"),
            detail: "a symbol of it has no origin",
        })
    }

    /// Shows so many bytes of the file to `see`.
    fn bytes(&self, at: u64, count: u64, read: &mut Vec<u8>, see: impl FnOnce(&[u8])) -> Result<()> {
        if let Some(held) = &self.held {
            let range = usize::try_from(at).ok().and_then(|at| held.get(at..)?.get(..usize::try_from(count).ok()?));
            see(range.ok_or_else(|| Error::Damaged { what: "a temporary file".into(), detail: "it is too short" })?);
            return Ok(());
        }
        read.clear();
        read.resize(usize::try_from(count).unwrap_or(usize::MAX), 0);
        read_into(&self.file, at, read, &self.temp)?;
        see(read);
        Ok(())
    }
}
