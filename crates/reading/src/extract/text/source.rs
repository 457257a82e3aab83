//! Source: a document in UTF-8. It is the document's own bytes if they are UTF-8, otherwise a transcript with
//! origins.

use encoding_rs::Encoding;

use super::builder::{TextBuilder, compose};
use crate::extract::{Extracted, Segment};
use fpdb_kernel::document::Offsets;
use fpdb_kernel::normalize::{Transcribed, is_plain_utf8, transcribe};

/// A document in UTF-8.
pub(crate) enum Utf8Source<'a> {
    /// The document's own bytes, which begin with a byte order mark of `mark` bytes (maybe 0).
    Plain { bytes: &'a [u8], mark: usize },
    /// The decoded text and its origins.
    Transcript { text: Vec<u8>, segments: Vec<Segment>, facts: Transcribed },
}

impl<'a> Utf8Source<'a> {
    /// Decodes a document. Its first bytes decide the encoding if they show one. Otherwise `declared` does.
    /// If neither shows an encoding, it is detected.
    pub(crate) fn new(bytes: &'a [u8], declared: Option<&'static Encoding>) -> Self {
        let is_utf8 =
            is_plain_utf8(bytes).filter(|&mark| mark > 0 || declared.is_none_or(|it| it == encoding_rs::UTF_8));
        if let Some(mark) = is_utf8 {
            return Self::Plain { bytes, mark };
        }
        let mut builder = TextBuilder::new(bytes.len(), 0);
        let facts = transcribe(bytes, declared, &mut builder);
        let (text, segments) = builder.finish();
        Self::Transcript { text, segments, facts }
    }

    /// The document in UTF-8, without byte order mark.
    pub(crate) fn text(&self) -> &str {
        let (text, mark) = match self {
            Self::Plain { bytes, mark } => (*bytes, *mark),
            Self::Transcript { text, .. } => (&text[..], 0),
        };
        // The bytes are known to be UTF-8, so this never fails.
        str::from_utf8(&text[mark..]).unwrap_or_default()
    }

    /// A builder whose origins are offsets in [`text`](Self::text).
    pub(crate) fn builder(&self, capacity: usize) -> TextBuilder {
        let mark = if let Self::Plain { mark, .. } = self { *mark } else { 0 };
        TextBuilder::new(capacity, mark)
    }

    /// Finishes the text of a [`builder`](Self::builder), and maps its origins to the document itself.
    pub(crate) fn lead_back(self, builder: TextBuilder) -> Extracted {
        let (text, segments) = builder.finish();
        let (text, segments, facts) = match self {
            Self::Plain { bytes, .. } => {
                let encoding = if bytes.is_ascii() { "ASCII" } else { "UTF-8" };
                (text, segments, Transcribed { encoding, undecodable: 0 })
            }
            Self::Transcript { text: inner, segments: origins, facts } => {
                let mut builder = TextBuilder::new(text.len(), 0);
                compose((&text, &segments), (&inner, &origins), &mut builder);
                let (text, segments) = builder.finish();
                (text, segments, facts)
            }
        };
        let Transcribed { encoding, undecodable } = facts;
        Extracted {
            text,
            segments,
            offsets: Offsets::Original,
            encoding: Some(encoding),
            undecodable,
            ..Extracted::default()
        }
    }
}
