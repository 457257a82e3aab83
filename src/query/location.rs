//! Location: a place in a document.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use fpdb_kernel::document::Span;

/// A place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Location {
    /// Byte offset of the first byte in the original document; in the extracted text if the document is
    /// `extracted`.
    pub start: u64,
    /// Byte offset after the last byte.
    pub end: u64,
    /// First and last line, from 1.
    pub lines: [u64; 2],
    /// First and last page of a PDF. The first page of the document is 1, whatever number is printed on it.
    /// `None` for other formats, for ignored parts, and if the text of the document is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<[u64; 2]>,
}

impl Location {
    pub(crate) fn new(span: Span, lines: [u64; 2]) -> Self {
        Self { start: span.start, end: span.end, lines, pages: None }
    }

    /// The byte range, as an index into a text in memory. For a place in a stored document, the text is that
    /// of [`Database::text_of`](crate::Database::text_of).
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
