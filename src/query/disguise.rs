//! Disguise: words of a query that look like other words and do not match them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use fpdb_host::schema::is_false;
use fpdb_kernel::document::{Offsets, Span};
use fpdb_kernel::normalize::{Readable, disguised_words};
use fpdb_kernel::profile::Unit;
use fpdb_reading::extract::{Extracted, Map};

/// Words that mix look-alike letters of two scripts, such as Latin and Cyrillic. In unit word, also words
/// with a zero-width space inside. They do not match the words that they look like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DisguisedWords {
    /// Number of these words.
    pub words: u64,
    /// The first of these words.
    pub example: String,
    /// The offset of this example in bytes, in the document or in the text extracted from it, like the
    /// offsets of passages.
    pub start: u64,
    /// The file that holds the example, if the query is a submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// True if `start` counts bytes of the text extracted from the document.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
}

impl DisguisedWords {
    fn find(text: &str, unit: Unit, origin: impl FnOnce(Range<usize>) -> u64) -> Option<Self> {
        let (words, place) = disguised_words(text, unit == Unit::Word)?;
        Some(Self {
            words,
            example: text.get(place.clone())?.to_owned(),
            start: origin(place),
            file: None,
            extracted: false,
        })
    }

    /// Finds disguised words in a document that is not extracted.
    pub(super) fn in_document(bytes: &[u8], unit: Unit) -> Option<Self> {
        match std::str::from_utf8(bytes) {
            // A text with a zero byte may be UTF-16.
            Ok(text) if !bytes.contains(&0) => Self::find(text, unit, |place| place.start as u64),
            _ => {
                let readable = Readable::decode(bytes);
                Self::find(&readable.text, unit, |place| readable.origin_at(place.start))
            }
        }
    }

    /// Finds disguised words in an extracted text.
    pub(super) fn in_extracted(extracted: &Extracted, unit: Unit) -> Option<Self> {
        let text = std::str::from_utf8(&extracted.text).ok()?;
        let found = Self::find(text, unit, |Range { start, end }| {
            let place = Span { start: start as u64, end: end as u64 };
            match extracted.offsets {
                Offsets::Extracted => place.start,
                Offsets::Original => Map::new(&extracted.segments, text.len() as u64).origin(place).start,
            }
        });
        found.map(|found| Self { extracted: extracted.offsets == Offsets::Extracted, ..found })
    }

    /// The words of all files of a submission.
    pub(super) fn of_files<'a>(files: impl Iterator<Item = (&'a str, Option<&'a Self>)>) -> Option<Self> {
        let disguised = files.filter_map(|(name, found)| Some(Self { file: Some(name.to_owned()), ..found?.clone() }));
        disguised.reduce(|first, next| Self { words: first.words + next.words, ..first })
    }
}
