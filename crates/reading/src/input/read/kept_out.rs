//! Kept out: the contents that were removed for good. A content is known by its bytes, and also by its text:
//! programs change line ends, a byte order mark or the encoding, and nobody would call this another content.

use rustc_hash::FxHashSet;

use fpdb_kernel::document::Digest;
use fpdb_kernel::normalize::SameText;

/// The contents that were removed for good.
#[derive(Debug, Default)]
pub struct KeptOutContents {
    contents: FxHashSet<Digest>,
    texts: FxHashSet<Digest>,
}

impl KeptOutContents {
    /// Adds a content, and the digest of its text if it is known.
    pub fn insert(&mut self, content: Digest, text: Option<Digest>) {
        self.contents.insert(content);
        self.texts.extend(text);
    }

    /// True if there are no contents.
    pub fn is_empty(&self) -> bool {
        self.contents.is_empty()
    }

    /// True if these bytes are kept out.
    pub fn contains(&self, content: &Digest) -> bool {
        self.contents.contains(content)
    }

    /// Begins the digest of a document's text. `None` if no text is kept out, so that nobody asks for it.
    pub fn text(&self) -> Option<SameText> {
        (!self.texts.is_empty()).then(SameText::default)
    }

    /// True if this text is kept out.
    pub fn contains_text(&self, text: Option<SameText>) -> bool {
        text.and_then(SameText::finish).is_some_and(|text| self.texts.contains(&text))
    }
}
