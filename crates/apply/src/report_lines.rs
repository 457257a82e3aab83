//! Report lines: the schemas of the lines that a report or list consists of, and the reasons in them. `fpdb`
//! writes such lines.

use serde::{Deserialize, Serialize};

/// The answer to a query, which can be a line of a list.
pub const QUERY: &str = "fpdb.query/1";

/// A stored document, which can be a line of a list.
pub const DOCUMENT: &str = "fpdb.document/1";

/// A removable document.
pub const REMOVABLE: &str = "fpdb.dedup/1";

/// The summary after the removable documents.
pub const DEDUP_SUMMARY: &str = "fpdb.dedup.summary/1";

/// A repeated passage.
pub const REPEAT: &str = "fpdb.repeat/1";

/// A document that was not compared.
pub const UNCOMPARED: &str = "fpdb.repeat.uncompared/1";

/// The summary after the repeated passages.
pub const REPEAT_SUMMARY: &str = "fpdb.repeat.summary/1";

/// The reason why a document is removable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Because {
    /// It has the same bytes as the survivor.
    Identical,
    /// It has the same text as the survivor, but other bytes.
    #[serde(rename = "same-text")]
    SameText,
    /// The survivor contains it.
    Contained,
    /// The survivor resembles it.
    Resembles,
}

impl Because {
    /// The name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::SameText => "same-text",
            Self::Contained => "contained",
            Self::Resembles => "resembles",
        }
    }
}
