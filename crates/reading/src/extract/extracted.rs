//! Extracted: the text of a document, and where each part of it comes from.

use xxhash_rust::xxh3::xxh3_128;

use fpdb_kernel::document::{Digest, Offsets, Span};

/// The text of a document.
#[derive(Clone, Debug, Default)]
pub struct Extracted {
    /// UTF-8. Blocks (paragraphs, cells, items) are separated by newlines that come from nowhere.
    pub text: Vec<u8>,
    /// Where it comes from, in ascending order of `text`; of no use with [`Offsets::Extracted`].
    pub segments: Vec<Segment>,
    pub offsets: Offsets,
    /// The encoding of the document, where it is text itself.
    pub encoding: Option<&'static str>,
    /// Byte sequences of it that are no characters in that encoding; U+FFFD stands for each.
    pub(crate) undecodable: u64,
    /// Its attachments and pictures.
    pub unread: Unread,
}

/// The parts of a document that are no text of it: attachments and pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    pub count: u64,
    /// A digest of what they hold, in any order; zeros where there are none.
    pub digest: Digest,
}

/// Gathers such parts.
#[derive(Debug, Default)]
pub(super) struct UnreadParts(Vec<u128>);

impl UnreadParts {
    pub(super) fn add(&mut self, content: &[u8]) {
        self.0.push(xxh3_128(content));
    }

    pub(super) fn finish(mut self) -> Unread {
        if self.0.is_empty() {
            return Unread::default();
        }
        self.0.sort_unstable();
        let digests: Vec<u8> = self.0.iter().flat_map(|digest| digest.to_le_bytes()).collect();
        Unread { count: self.0.len() as u64, digest: xxh3_128(&digests).to_be_bytes() }
    }
}

/// From byte `text` of the text to the next segment: what the bytes `origin` of the document stand for.
///
/// Where both are of one length the text is *verbatim*: it is there byte for byte. Any other (an entity, say) comes
/// from the whole of its origin, which may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub(crate) text: u64,
    pub(crate) origin: Span,
}

impl Extracted {
    /// Text whose offsets are its own.
    pub(super) fn detached(text: String) -> Self {
        Self { text: text.into_bytes(), offsets: Offsets::Extracted, ..Self::default() }
    }
}
