//! Failure: classifies the errors of the engine, in one place.
//!
//! The engine's own error kinds say too little. For example, it reports a table as a "corruption" if the
//! process has too many open files. Only the text of its message contains the reason that the system gave.

use rustix::io::Errno;

use fpdb_host::error::{Cause, Error, StoreFailure};

/// An error of the engine, with its class.
#[derive(Debug)]
pub(crate) struct EngineError {
    pub(crate) failure: StoreFailure,
    pub(crate) source: Cause,
}

impl EngineError {
    pub(super) fn of(error: rocksdb::Error) -> Self {
        Self { failure: classify(&error), source: cause(&error) }
    }

    /// Converts this error to an error that names the failed `action`.
    pub(crate) fn during(self, action: &'static str) -> Error {
        Error::Store { action, failure: self.failure, source: self.source }
    }
}

/// The error for a row or a column family that must exist.
pub(crate) fn missing(what: &str) -> Error {
    Error::Damaged { what: what.into(), detail: "it is missing" }
}

/// Converts an error of the engine into an error of this library.
pub(super) fn failed(action: &'static str) -> impl FnOnce(rocksdb::Error) -> Error {
    move |error| EngineError::of(error).during(action)
}

fn classify(error: &rocksdb::Error) -> StoreFailure {
    let text = error.to_string();
    of_message(&text).unwrap_or(match error.kind() {
        rocksdb::ErrorKind::Corruption => StoreFailure::Damaged,
        rocksdb::ErrorKind::NotFound => StoreFailure::Missing,
        rocksdb::ErrorKind::Busy | rocksdb::ErrorKind::TryAgain | rocksdb::ErrorKind::TimedOut => StoreFailure::Busy,
        _ => StoreFailure::Other,
    })
}

/// The class of the system error that the engine's message quotes. `None` if it quotes none.
fn of_message(text: &str) -> Option<StoreFailure> {
    // `std::bad_alloc` is the C++ exception for refused memory. The engine catches it while it parses
    // options.
    if text.ends_with("std::bad_alloc") {
        return Some(StoreFailure::OutOfMemory);
    }
    let reasons = [
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::FBIG,
        Errno::ROFS,
        Errno::ACCESS,
        Errno::PERM,
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOMEM,
        Errno::AGAIN,
        Errno::IO,
        Errno::NOENT,
    ];
    let says = |errno: &Errno| {
        let error = std::io::Error::from(*errno);
        let words = error.to_string();
        let words = words.split(" (os error").next().unwrap_or_default();
        text.match_indices(words).any(|(at, _)| text[..at].ends_with(": "))
    };
    reasons.iter().find(|errno| says(errno)).map(|&errno| StoreFailure::of_io(&errno.into()))
}

/// The message of the engine. The message of a system failure contains the reason twice: after the kind and
/// at the end. The first copy is omitted.
fn cause(error: &rocksdb::Error) -> Cause {
    let text = error.to_string();
    if let Some((kind, rest)) = text.split_once(": ")
        && let Some((reason, what)) = rest.split_once(": ")
        && what.ends_with(reason)
    {
        return format!("{kind}: {what}").into();
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_the_system_comes_before_the_kind_of_the_engine() {
        for (text, expected) in [
            (
                "IO error: No space left on device: While appending to file: /db/000012.log: No space left on device",
                Some(StoreFailure::NoSpace),
            ),
            (
                "Corruption: IO error: While open a file for random read: /db/000016.sst: Too many open files  The file /db/MANIFEST-000005 may be corrupted.",
                Some(StoreFailure::TooManyOpenFiles),
            ),
            ("IO error: While opendir: /db: Permission denied", Some(StoreFailure::PermissionDenied)),
            (
                "IO error: No such file or directory: While open a file for random read: /db/000016.sst: No such file or directory",
                Some(StoreFailure::Missing),
            ),
            ("IO error: While fdatasync: /db/MANIFEST-000005: Input/output error", Some(StoreFailure::Unreadable)),
            (
                "Invalid argument: Error parsing block_based_table_factory:std::bad_alloc",
                Some(StoreFailure::OutOfMemory),
            ),
            (
                "Corruption: block checksum mismatch: stored = 1, computed = 2, in /db/No space left on device/1.sst",
                None,
            ),
        ] {
            assert_eq!(of_message(text), expected, "{text}");
        }
    }
}
