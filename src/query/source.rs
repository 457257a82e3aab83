//! Source: what a query is made with.

use std::path::PathBuf;

use crate::document::DocId;

/// A document to query with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuerySource {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// Bytes in memory, or a text; the name tells its format, and may be empty.
    Bytes {
        /// Its name in the answer.
        name: String,
        /// The document.
        bytes: Vec<u8>,
    },
    /// A stored document, by name: the one of that name that was added last. It is no match of itself.
    Stored(String),
    /// A stored document, by number. It is no match of itself.
    Number(DocId),
}

impl QuerySource {
    /// A text in memory, read as plain text unless the options say otherwise.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Bytes { name: String::new(), bytes: text.into().into_bytes() }
    }
}
