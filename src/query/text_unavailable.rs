//! Text unavailable: why the text of a document cannot be compared, so that passages are inferred from
//! fingerprints. Each reason has a wording for stored documents and one for queries.

use std::io;

use fpdb_host::error::{DocumentError, Error};

/// The reason why a text cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextUnavailable {
    /// The text is too large: its symbols would take too much memory.
    TooLarge,
    /// The text was read from standard input or supplied by the caller, and was not stored.
    NotStored,
    /// The document's file no longer exists.
    Missing,
    /// The document's file holds another text.
    Changed,
    /// The document is a member of a container that is too large to read for one member.
    NotSearched,
    /// Reading the document would exceed a limit.
    Limited,
    /// The document's bytes do not parse in its format, although an ingest may have parsed them.
    NotExtracted,
    /// The document cannot be read.
    Unreadable,
}

impl TextUnavailable {
    /// The reason for a reading error.
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Document(DocumentError::NotSearched { .. }) => Self::NotSearched,
            Error::TextGone { .. } => Self::Missing,
            Error::Io { source, .. }
                if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                Self::Missing
            }
            Error::Document(DocumentError::Expansion { .. })
            | Error::Document(DocumentError::Expanded { .. })
            | Error::Document(DocumentError::NestedTooDeep { .. })
            | Error::Document(DocumentError::TooManyMembers { .. })
            | Error::Document(DocumentError::DocumentTooLarge { .. })
            | Error::Document(DocumentError::RecordTooLarge { .. })
            | Error::Document(DocumentError::JsonTooDeep { .. })
            | Error::Document(DocumentError::TooLarge { .. })
            | Error::Document(DocumentError::Unpacked { .. }) => Self::Limited,
            Error::Document(DocumentError::NotOfFormat { .. })
            | Error::Document(DocumentError::EncryptedDocument { .. })
            | Error::Document(DocumentError::ReaderFailed { .. }) => Self::NotExtracted,
            _ => Self::Unreadable,
        }
    }

    /// The reason in words, for the text of a stored document.
    pub(crate) fn document(self) -> &'static str {
        match self {
            Self::TooLarge => "it is too large to be compared symbol by symbol",
            Self::NotStored => "its text was not stored, and it was not read from a file",
            Self::Changed => "its file has changed since it was ingested",
            Self::NotSearched => "its text was not stored, and its container is too large to be searched for it",
            Self::Limited => "it exceeds a limit; it may have been ingested under a larger one",
            Self::NotExtracted => "its text can no longer be extracted",
            Self::Missing | Self::Unreadable => "its file can no longer be read",
        }
    }

    /// The reason in words, for the text of a query.
    pub(super) fn query(self) -> &'static str {
        match self {
            Self::TooLarge => "the query is too large to be compared symbol by symbol",
            Self::NotStored => "the query's text was not stored, and it was not read from a file",
            Self::Missing => "the query's text is gone",
            Self::Changed => "the query's file has changed since it was ingested",
            Self::NotSearched => {
                "the query's text was not stored, and its container is too large to be searched for it"
            }
            Self::Limited => "the query exceeds a limit; it may have been ingested under a larger one",
            Self::NotExtracted => "the query's text can no longer be extracted",
            Self::Unreadable => "the query's file can no longer be read",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_text_from_being_read_is_told() {
        let io = |kind: io::ErrorKind| Error::Io { action: "read", path: "a".into(), source: kind.into() };
        for (error, why) in [
            (Error::Document(DocumentError::NotSearched { path: "a".into(), limit: 1 }), TextUnavailable::NotSearched),
            (io(io::ErrorKind::NotFound), TextUnavailable::Missing),
            (io(io::ErrorKind::PermissionDenied), TextUnavailable::Unreadable),
            (Error::TextGone { name: "a".into(), source_path: None }, TextUnavailable::Missing),
            (Error::Document(DocumentError::TooLarge { format: "pdf", limit: 1 }), TextUnavailable::Limited),
            (Error::Document(DocumentError::EncryptedDocument { format: "pdf" }), TextUnavailable::NotExtracted),
            (Error::Stopped, TextUnavailable::Unreadable),
        ] {
            assert_eq!(TextUnavailable::of(&error), why, "{error}");
        }
        let all = [
            TextUnavailable::TooLarge,
            TextUnavailable::NotStored,
            TextUnavailable::Missing,
            TextUnavailable::Changed,
            TextUnavailable::NotSearched,
            TextUnavailable::Limited,
            TextUnavailable::NotExtracted,
            TextUnavailable::Unreadable,
        ];
        let queries: std::collections::BTreeSet<&str> = all.iter().map(|why| why.query()).collect();
        assert_eq!(queries.len(), all.len(), "each is told by words of its own");
    }
}
