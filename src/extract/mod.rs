//! Here is a document of some format: what is its text, and where does each part of it come from?
//!
//! Formats that are not text themselves are read whole. What comes out is UTF-8, which the front-ends of
//! `normalize` then read like any text, and a map from there to the original. Pure: bytes in, values out.

mod map;

pub(crate) use map::Map;

use crate::document::{Format, Offsets, Span};
use crate::error::Result;

/// The text of a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extracted {
    /// UTF-8. Blocks (paragraphs, cells, items) are separated by newlines that come from nowhere.
    pub(crate) text: Vec<u8>,
    /// Where it comes from, in ascending order of `text`; of no use with [`Offsets::Extracted`].
    pub(crate) segments: Vec<Segment>,
    pub(crate) offsets: Offsets,
    /// The encoding of the document, where it is text itself.
    pub(crate) encoding: Option<&'static str>,
}

/// From byte `text` of the text to the next segment: what the bytes `origin` of the document stand for.
///
/// Where both are of one length the text is there byte for byte; any other (an entity, say) comes from the whole of
/// its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) text: u64,
    pub(crate) origin: Span,
}

/// Whether documents of this format are extracted before they are read; the others are their own text.
pub(crate) fn applies(format: Format) -> bool {
    !matches!(format, Format::Text | Format::Bytes | Format::Code(_))
}

/// The text of a document.
///
/// # Errors
/// What keeps it from being a document of this format.
pub(crate) fn extract(_format: Format, bytes: &[u8]) -> Result<Extracted> {
    let origin = Span { start: 0, end: bytes.len() as u64 };
    Ok(Extracted { text: bytes.to_vec(), segments: vec![Segment { text: 0, origin }], ..Extracted::default() })
}
