//! Failure: a document that could not be read, by name, as answers list it.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A document that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its name.
    pub name: String,
    /// The error's message, with its causes. [`crate::progress::Progress::failed`] gets the error itself.
    pub error: String,
}

impl Failure {
    /// The failure of the document `name`.
    #[must_use]
    pub fn of(name: &str, error: &Error) -> Self {
        Self { name: name.to_owned(), error: error.chain() }
    }
}
