//! Passages: the spans that a report of repeated passages lists, by document.

use std::fs::File;

use bytemuck::{Pod, Zeroable};

use crate::document::Format;
use crate::error::Result;
use crate::spill::{Sorter, TempSpace, read_at, write_at};
use crate::store::{DocumentRecord, Store};

/// A span that is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RepeatedSpan {
    pub(super) document: u32,
    /// The document of the first occurrence.
    pub(super) source: u32,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Stands for the survivor of a document that stays without some passages.
pub(super) const NO_SURVIVOR: u32 = u32::MAX;

/// Passages written to the file at a time.
const AT_A_TIME: usize = 1 << 16;

/// The passages of all documents, in a temporary file.
pub(super) struct Passages {
    file: File,
    temp: TempSpace,
    /// Each document, ascending, and the number of its first passage; at last the number of all.
    documents: Vec<(u32, u64)>,
    count: u64,
}

impl Passages {
    pub(super) fn of(sorter: Sorter<'_, RepeatedSpan>, temp: &TempSpace) -> Result<Self> {
        let mut all = Self { file: temp.file()?, temp: temp.clone(), documents: Vec::new(), count: 0 };
        let mut some: Vec<RepeatedSpan> = Vec::new();
        for passage in sorter.sorted()? {
            let passage = passage?;
            let number = all.count + some.len() as u64;
            if all.documents.last().is_none_or(|&(document, _)| document != passage.document) {
                all.documents.push((passage.document, number));
            }
            some.push(passage);
            if some.len() == AT_A_TIME {
                all.write(&mut some)?;
            }
        }
        all.write(&mut some)?;
        Ok(all)
    }

    fn write(&mut self, some: &mut Vec<RepeatedSpan>) -> Result<()> {
        write_at(&self.file, some, self.count, &self.temp)?;
        self.count += some.len() as u64;
        some.clear();
        Ok(())
    }

    /// The passages of a document, in order of place.
    pub(super) fn get(&self, document: u32) -> Result<Vec<RepeatedSpan>> {
        let Ok(index) = self.documents.binary_search_by_key(&document, |&(document, _)| document) else {
            return Ok(Vec::new());
        };
        let first = self.documents[index].1;
        let end = self.documents.get(index + 1).map_or(self.count, |&(_, first)| first);
        let mut passages: Vec<RepeatedSpan> =
            read_at(&self.file, first, usize::try_from(end - first).unwrap_or(usize::MAX), &self.temp)?;
        passages.sort_unstable_by_key(|passage| passage.start);
        Ok(passages)
    }
}

/// Passages and what their documents are: what is needed to cut them out of a text.
pub(super) struct Cutting<'a> {
    pub(super) passages: &'a Passages,
    pub(super) store: &'a Store,
    /// Documents that are what they were.
    pub(super) sound: &'a roaring::RoaringBitmap,
}

impl Cutting<'_> {
    /// The byte ranges of a document that are cut out: those whose first occurrence is what it was.
    pub(super) fn ranges(&self, document: u32) -> Result<Vec<(u64, u64)>> {
        let mut passages = self.passages.get(document)?;
        passages.retain(|passage| self.sound.contains(passage.source));
        Ok(passages.into_iter().map(|passage| (passage.start, passage.end)).collect())
    }

    /// A text without its passages, or why it is left as it is.
    pub(super) fn cut(&self, document: u32, text: &[u8]) -> Result<Option<Vec<u8>>> {
        let record = self.store.document(document)?;
        if xxhash_rust::xxh3::xxh3_128(text).to_be_bytes() != record.digest {
            return Ok(None);
        }
        let mut left = Vec::with_capacity(text.len());
        let mut at = 0;
        for (start, end) in self.ranges(document)? {
            // Offsets of a report are below the length of the text; two spans may share a character.
            let (start, end) = (start as usize, end as usize);
            left.extend_from_slice(text.get(at..start.max(at)).unwrap_or_default());
            at = at.max(end);
        }
        left.extend_from_slice(text.get(at..).unwrap_or_default());
        Ok(Some(left))
    }
}

/// True if a passage can be cut out of a document without harm to what is around it: its offsets are its own, and it has no markup whose
/// beginning would lose its end.
pub(super) fn can_be_cut(record: &DocumentRecord) -> bool {
    let format = Format::named(&record.format).unwrap_or_default();
    let plain =
        matches!(format, Format::Text | Format::ReStructuredText | Format::Markdown | Format::Bytes | Format::Code(_));
    plain && !record.extracted
}
