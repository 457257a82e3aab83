//! Location: where text is in a document.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use fpdb_kernel::document::Span;

/// Where text is in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Location {
    /// Byte offset of its first byte in the original document, or in the text extracted from it where the document says so.
    pub start: u64,
    /// Byte offset after its last byte.
    pub end: u64,
    /// Its first and last line, 1-based.
    pub lines: [u64; 2],
}

impl Location {
    pub(crate) fn new(span: Span, lines: [u64; 2]) -> Self {
        Self { start: span.start, end: span.end, lines }
    }

    /// The byte range, to index a text held in memory with.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The byte range.
    #[must_use]
    pub fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }
}
