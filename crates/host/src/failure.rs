//! Failure: the name of a document that could not be read, and the error. Answers contain lists of failures.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A document that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The name of the document.
    pub name: String,
    /// The error's message, with its causes. [`Progress::failed`](crate::progress::Progress::failed) gets the
    /// error itself.
    pub error: String,
}

impl Failure {
    /// Makes the failure of the document `name`.
    #[must_use]
    pub fn of(name: &str, error: &Error) -> Self {
        Self { name: name.to_owned(), error: error.chain() }
    }
}
