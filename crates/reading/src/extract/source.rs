//! The characters of a document: its own bytes where they are UTF-8, else a transcript that knows where each came from.

use encoding_rs::Encoding;

use super::builder::{TextBuilder, compose};
use super::{Extracted, Segment};
use fpdb_kernel::document::Offsets;
use fpdb_kernel::normalize::{Transcribed, is_plain_utf8, transcribe};

/// A document in UTF-8.
pub(super) enum Utf8Source<'a> {
    /// Its own bytes, after a byte order mark of `mark` bytes.
    Plain { bytes: &'a [u8], mark: usize },
    /// The text that they were decoded to.
    Transcript { text: Vec<u8>, segments: Vec<Segment>, facts: Transcribed },
}

impl<'a> Utf8Source<'a> {
    /// Reads a document in the encoding its first bytes betray, or else the `declared` one, or else as text is read.
    pub(super) fn new(bytes: &'a [u8], declared: Option<&'static Encoding>) -> Self {
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

    /// The document in UTF-8, without its byte order mark.
    pub(super) fn text(&self) -> &str {
        let (text, mark) = match self {
            Self::Plain { bytes, mark } => (*bytes, *mark),
            Self::Transcript { text, .. } => (&text[..], 0),
        };
        // It was looked at, or made, as UTF-8: the default is never taken.
        str::from_utf8(&text[mark..]).unwrap_or_default()
    }

    /// Text in the making, with origins in [`text`](Self::text).
    pub(super) fn builder(&self, capacity: usize) -> TextBuilder {
        let mark = if let Self::Plain { mark, .. } = self { *mark } else { 0 };
        TextBuilder::new(capacity, mark)
    }

    /// The text that a [`builder`](Self::builder) made, with origins in the document itself.
    pub(super) fn lead_back(self, builder: TextBuilder) -> Extracted {
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
