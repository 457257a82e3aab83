//! Errors: one table maps each error of the library to an exception of Python. The classes are in
//! `_errors.py`.

use fpdb::Error;
use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;

/// The class of an error.
fn class(error: &Error) -> &'static str {
    match error {
        Error::NoDatabase { .. } | Error::FolderGone { .. } | Error::NoOther { .. } | Error::NoBuild { .. } => {
            "DatabaseNotFoundError"
        }
        Error::DatabaseExists { .. } => "DatabaseExistsError",
        Error::NotADatabase { .. } | Error::NotABackup { .. } | Error::NotAReport { .. } => "NotADatabaseError",
        Error::Locked { .. } | Error::JobInUse { .. } | Error::DocumentsInUse { .. } => "LockedError",
        Error::FormatVersion { .. } | Error::HashVersion { .. } | Error::DecisionsVersion { .. } => "VersionError",
        Error::Damaged { .. }
        | Error::DamagedDecisions { .. }
        | Error::BeyondRepair { .. }
        | Error::SourcesMissing { .. }
        | Error::CommitsLost { .. }
        | Error::TablesLost { .. }
        | Error::TablesUnlisted { .. }
        | Error::OtherStore { .. }
        | Error::DamagedBackup { .. }
        | Error::DamagedBuild { .. }
        | Error::IncoherentBuild { .. } => "DamagedError",
        Error::Io { .. }
        | Error::System { .. }
        | Error::CannotOpen { .. }
        | Error::Store { .. }
        | Error::TooFewOpenFiles { .. }
        | Error::Threads { .. }
        | Error::Walk { .. }
        | Error::DirectoryLoop { .. }
        | Error::EmptyFolder { .. }
        | Error::EmptyFile { .. }
        | Error::NotReadWhole { .. }
        | Error::GoneSource { .. }
        | Error::NotPruned { .. } => "StorageError",
        Error::InvalidParameter { .. }
        | Error::PassageLength { .. }
        | Error::UnknownLimit { .. }
        | Error::InvalidOptions { .. }
        | Error::NothingFits { .. }
        | Error::NoSuchKey { .. }
        | Error::WindowTooSmall { .. }
        | Error::ProfileMismatch { .. }
        | Error::OtherProfile { .. }
        | Error::OthersBackup { .. }
        | Error::NoSuchBackup { .. }
        | Error::InsideDatabase { .. }
        | Error::PlaceTaken { .. }
        | Error::Phrase { .. }
        | Error::NotProse { .. }
        | Error::NotWords { .. }
        | Error::NoTextToIgnore { .. }
        | Error::OtherRule { .. }
        | Error::DecisionsOfAnother { .. }
        | Error::LaterDecisions { .. }
        | Error::BadTable { .. }
        | Error::NotADedupReport { .. }
        | Error::UnsuitedReport { .. }
        | Error::FieldTaken { .. }
        | Error::UnfinishedBuild { .. }
        | Error::OtherBuild { .. }
        | Error::Unsorted { .. }
        | Error::NotPlanned { .. }
        | Error::NameTaken { .. }
        | Error::NameTwice { .. }
        | Error::NumberTwice { .. }
        | Error::AlreadyAssembled { .. } => "ParameterError",
        Error::NoSuchDocument { .. } | Error::NoSuchNumber { .. } => "DocumentNotFoundError",
        Error::TooLittleMemory { .. } | Error::SubmissionTooLarge { .. } | Error::TooManyDocuments { .. } => {
            "LimitError"
        }
        Error::Stopped => "StoppedError",
        Error::Document(_) | Error::TextGone { .. } | Error::NotReadAgain { .. } => "DocumentError",
        // A call that waits for itself has no class of its own. The library may add variants to the enum: a
        // test compares the lists.
        Error::NotCompared { source, .. } => class(source),
        _ => "Error",
    }
}

/// The exception of an error, with its hint.
pub(crate) fn raise(error: Error) -> PyErr {
    exception(class(&error), &error.chain(), error.hint().as_deref())
}

/// An exception of this class of the package.
pub(crate) fn exception(class: &str, message: &str, hint: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let made = py.import("fpdb._errors").and_then(|module| module.getattr(class)?.call1((message, hint)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

/// The exception for a column, option or object of a wrong kind.
pub(crate) fn parameter(message: &str) -> PyErr {
    exception("ParameterError", message, None)
}

/// The exception for a lock that a panic has poisoned.
pub(crate) fn poisoned() -> PyErr {
    PySystemError::new_err("an earlier call on this object has panicked")
}
