//! Source: the document to query with.

use std::path::{Path, PathBuf};

use super::text::{DocumentText, text_as_given, text_in_memory, text_of_file};
use fpdb_host::error::Result;
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;
use fpdb_reading::input::ReadOptions;

/// A document to query with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuerySource {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// The document on standard input.
    StandardInput {
        /// Name of the document in the answer. The name helps to recognise the format.
        name: String,
    },
    /// A document in memory. Its name helps to recognise its format.
    Bytes {
        /// Name of the document in the answer; it can be empty.
        name: String,
        /// The bytes of the document.
        bytes: Vec<u8>,
    },
    /// A text in memory; offsets are in its bytes. Its content can make it a web page or source code, but
    /// never mail, PDF or another document whose text must be extracted.
    Text {
        /// Name of the text in the answer. The name can be empty, and implies no format.
        name: String,
        /// The text.
        text: String,
    },
    /// A stored document, by name. If several documents have this name, the one added last. The document does
    /// not match itself.
    Stored(String),
    /// A stored document, by id. The document does not match itself.
    Number(DocId),
}

impl From<&str> for QuerySource {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for QuerySource {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&Path> for QuerySource {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<PathBuf> for QuerySource {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<DocId> for QuerySource {
    fn from(id: DocId) -> Self {
        Self::Number(id)
    }
}

impl QuerySource {
    /// A text in memory without a name.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { name: String::new(), text: text.into() }
    }

    /// The text that the offsets of an answer to this query refer to, under the profile and options of the
    /// query. A file is read again. `None` for standard input, and for stored documents: see
    /// [`Database::text_of`](crate::Database::text_of).
    ///
    /// # Errors
    /// Fails if the document cannot be read.
    pub fn document_text(&self, profile: &Profile, options: &ReadOptions) -> Result<Option<DocumentText>> {
        match self {
            Self::File(path) => text_of_file(path, profile.unit(), options).map(Some),
            Self::Bytes { name, bytes } => text_in_memory(name, bytes, profile.unit(), options).map(Some),
            Self::Text { text, .. } => text_as_given(text, profile.unit(), options).map(Some),
            Self::StandardInput { .. } | Self::Stored(_) | Self::Number(_) => Ok(None),
        }
    }
}
