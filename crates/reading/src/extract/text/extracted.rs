//! Extracted: the text of a document, and the origin of each part of it.

use xxhash_rust::xxh3::xxh3_128;

use super::builder::{PlainSegment, stretches};
use fpdb_kernel::document::{Digest, Language, Offsets, Span};

/// The text of a document.
#[derive(Clone, Debug, Default)]
pub struct Extracted {
    /// The text in UTF-8. Newlines separate blocks (paragraphs, cells, items); these newlines have no origin.
    pub text: Vec<u8>,
    /// The origins of the text, ordered by `text`. Not used with [`Offsets::Extracted`].
    pub segments: Vec<Segment>,
    /// For a PDF, the byte of the text at which each page begins, in order. A page without text counts too.
    /// Empty for other formats.
    pub pages: Vec<u64>,
    /// The unit of spans: bytes of the original or of this text.
    pub offsets: Offsets,
    /// The programming language of the text, if it was extracted as source code.
    pub language: Option<Language>,
    /// The encoding of the document; `None` if the format is not text.
    pub encoding: Option<&'static str>,
    /// Number of byte sequences that are invalid in the encoding. The text has U+FFFD for each. For a PDF:
    /// the number of characters for which their font has no text, plus the number of contents that end with a
    /// fault.
    pub(crate) undecodable: u64,
    /// Attachments and pictures, which are not read.
    pub unread: Unread,
}

/// Parts of a document that are not text: attachments and pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Number of these parts.
    pub count: u64,
    /// A digest of their contents, independent of their order. Zeros if there are none.
    pub digest: Digest,
}

/// Counts and digests unread parts.
#[derive(Debug, Default)]
pub(crate) struct UnreadParts(Vec<u128>);

impl UnreadParts {
    pub(crate) fn add(&mut self, content: &[u8]) {
        self.0.push(xxh3_128(content));
    }

    pub(crate) fn finish(mut self) -> Unread {
        if self.0.is_empty() {
            return Unread::default();
        }
        self.0.sort_unstable();
        let digests: Vec<u8> = self.0.iter().flat_map(|digest| digest.to_le_bytes()).collect();
        Unread { count: self.0.len() as u64, digest: xxh3_128(&digests).to_be_bytes() }
    }
}

/// A stretch of text and its origin. The stretch reaches from byte `text` of the text to the next segment. It
/// comes from the bytes `origin` of the document.
///
/// If text and origin have the same length, the text is *verbatim*: the bytes are the same. Otherwise the
/// whole text comes from the whole origin, as for a character entity. The origin may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub(crate) text: u64,
    pub(crate) origin: Span,
}

/// A stretch of a document that differs from the text read from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// The bytes of the document; there may be none.
    pub origin: Span,
    /// The text that is read in their place; empty for markup.
    pub text: String,
}

impl Extracted {
    /// The stretches of a document of `length` bytes that differ from the text read from them, in order.
    pub fn unlike(&self, length: u64) -> Vec<Unlike> {
        let (mut unlike, mut at) = (Vec::new(), 0);
        let end = PlainSegment {
            text: Span { start: 0, end: 0 },
            origin: Span { start: length, end: length },
            is_verbatim: true,
        };
        for PlainSegment { text, origin, is_verbatim } in stretches((&self.text, &self.segments)).chain([end]) {
            if at < origin.start {
                unlike.push(Unlike { origin: Span { start: at, end: origin.start }, text: String::new() });
            }
            at = at.max(origin.end);
            if !is_verbatim {
                let text = &self.text[text.start as usize..text.end as usize];
                unlike.push(Unlike { origin, text: String::from_utf8_lossy(text).into_owned() });
            }
        }
        unlike
    }

    /// Text whose offsets count its own bytes.
    pub(crate) fn detached(text: String) -> Self {
        Self { text: text.into_bytes(), offsets: Offsets::Extracted, ..Self::default() }
    }
}
