//! Describe: writes an error as one line. Also has short constructors for common errors.

use std::io;
use std::path::PathBuf;

use super::{DocumentError, Error, StoreFailure};
use fpdb_kernel::document::Format;

impl Error {
    /// The message and all causes of the error in one line, for lists of failures.
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

    /// True if bytes of a database are lost or not as they were written. False if they may be intact but
    /// could not be reached, for example without permission or with too many open files.
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

    /// The error for a document that does not have this format. This crate found the fault `detail` itself,
    /// so no library's error is its cause.
    #[doc(hidden)]
    pub fn not_of_format(format: Format, detail: &'static str) -> Self {
        Self::Document(DocumentError::NotOfFormat { format: format.name(), detail: detail.into(), source: None })
    }

    /// Maps a system error to [`Error::Threads`], for `threads` threads that could not be started.
    #[doc(hidden)]
    pub fn threads(threads: usize) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Threads { threads, source: source.into() }
    }

    /// Maps a system error to [`Error::System`], for the `action` that failed (a verb phrase).
    #[doc(hidden)]
    pub fn system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { action, source }
    }

    /// Maps a system error to [`Error::Io`], for the `action` (a verb) that failed on `path`.
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
