//! Source: what a query is made with.

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
    /// Bytes in memory, or a text; the name tells its format, and may be empty.
    Bytes {
        /// Its name in the answer.
        name: String,
        /// The document.
        bytes: Vec<u8>,
    },
    /// A text in memory: offsets count its bytes. Its content may make it a page or source code, but no mail, PDF or other document
    /// whose text would have to be extracted.
    Text {
        /// Its name in the answer. It may be empty, and tells no format.
        name: String,
        /// The text.
        text: String,
    },
    /// A stored document, by name: the one of that name that was added last. It is no match of itself.
    Stored(String),
    /// A stored document, by number. It is no match of itself.
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

    /// The text that the offsets of an answer to this query count, by the profile and options of the query. A file is read
    /// again. `None` for stored documents: see [`Database::text_of`](crate::Database::text_of).
    ///
    /// # Errors
    /// Fails if the document cannot be read.
    pub fn document_text(&self, profile: &Profile, options: &ReadOptions) -> Result<Option<DocumentText>> {
        match self {
            Self::File(path) => text_of_file(path, profile.unit(), options).map(Some),
            Self::Bytes { name, bytes } => text_in_memory(name, bytes, profile.unit(), options).map(Some),
            Self::Text { text, .. } => text_as_given(text, profile.unit(), options).map(Some),
            Self::Stored(_) | Self::Number(_) => Ok(None),
        }
    }
}
