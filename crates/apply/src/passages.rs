//! Passages: the spans that a report of repeated passages lists, by document.

use std::fs::File;

use bytemuck::{Pod, Zeroable};

use fpdb_host::error::Result;
use fpdb_host::spill::{Sorter, TempSpace, read_at, write_at};

/// A repeated span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RepeatedSpan {
    pub(super) document: u32,
    /// The document of the first occurrence.
    pub(super) source: u32,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Number of symbols in the span. It is 0 if the report comes from a version that did not write this
    /// number.
    pub(super) symbols: u64,
}

/// Stands in place of a survivor if a document has none: the document only loses passages, or it comes from a
/// list.
pub(super) const NO_SURVIVOR: u32 = u32::MAX;

/// Stands in place of a document in the cut of a record whose content is kept out.
pub(super) const NO_DOCUMENT: u32 = u32::MAX;

/// Number of passages written to the file at a time.
const AT_A_TIME: usize = 1 << 16;

/// The passages of one document, as a range in the file.
#[derive(Clone, Copy, Debug)]
struct OfDocument {
    document: u32,
    /// Index of its first passage.
    first: u64,
    /// Largest end offset of its passages.
    end: u64,
}

/// The passages of all documents, in a temporary file.
pub(super) struct Passages {
    file: File,
    temp: TempSpace,
    /// Ascending by document.
    documents: Vec<OfDocument>,
    count: u64,
}

impl Passages {
    pub(super) fn of(sorter: Sorter<'_, RepeatedSpan>, temp: &TempSpace) -> Result<Self> {
        let mut all = Self { file: temp.file()?, temp: temp.clone(), documents: Vec::new(), count: 0 };
        let mut some: Vec<RepeatedSpan> = Vec::new();
        for passage in sorter.sorted()? {
            let passage = passage?;
            let number = all.count + some.len() as u64;
            match all.documents.last_mut() {
                Some(last) if last.document == passage.document => last.end = last.end.max(passage.end),
                _ => all.documents.push(OfDocument { document: passage.document, first: number, end: passage.end }),
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

    fn index(&self, document: u32) -> Option<usize> {
        self.documents.binary_search_by_key(&document, |of| of.document).ok()
    }

    /// The largest end offset of this document's passages; 0 if it has none.
    pub(super) fn end(&self, document: u32) -> u64 {
        self.index(document).map_or(0, |index| self.documents[index].end)
    }

    /// The passages of a document, ascending by place.
    pub(super) fn get(&self, document: u32) -> Result<Vec<RepeatedSpan>> {
        let Some(index) = self.index(document) else { return Ok(Vec::new()) };
        let first = self.documents[index].first;
        let end = self.documents.get(index + 1).map_or(self.count, |next| next.first);
        let mut passages: Vec<RepeatedSpan> =
            read_at(&self.file, first, usize::try_from(end - first).unwrap_or(usize::MAX), &self.temp)?;
        passages.sort_unstable_by_key(|passage| passage.start);
        Ok(passages)
    }
}
