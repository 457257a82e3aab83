//! Describe: an error as one line, and short ways to make the common ones.

use std::io;
use std::path::PathBuf;

use super::{DocumentError, Error, StoreFailure};
use fpdb_kernel::document::Format;

impl Error {
    /// The message and its causes as one line, for lists of failures.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }

    /// True where bytes of a database are lost or are not those that were written. False where they may be whole and could
    /// not be reached, for want of open files or permission say.
    #[doc(hidden)]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Store { failure, .. } | Self::CannotOpen { failure, .. } => !failure.is_refusal(),
            Self::Io { action: "read", source, .. } => StoreFailure::of_io(source) == StoreFailure::Unreadable,
            Self::Damaged { .. }
            | Self::CommitsLost { .. }
            | Self::TablesLost { .. }
            | Self::TablesUnlisted { .. }
            | Self::NotADatabase { .. } => true,
            _ => false,
        }
    }

    /// A document that is not of this format, as seen without the help of a library.
    #[doc(hidden)]
    pub fn not_of_format(format: Format, detail: &'static str) -> Self {
        Self::Document(DocumentError::NotOfFormat { format: format.name(), detail: detail.into(), source: None })
    }

    #[doc(hidden)]
    pub fn threads(threads: usize) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Threads { threads, source: source.into() }
    }

    #[doc(hidden)]
    pub fn system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { action, source }
    }

    #[doc(hidden)]
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

pub(super) fn missing_backup(number: Option<u32>, numbers: &[u32]) -> String {
    let list = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match (number, numbers) {
        (_, []) | (None, _) => "no readable backup".into(),
        (Some(number), _) => format!("no backup {number}: there are {list}"),
    }
}
