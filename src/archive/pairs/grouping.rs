//! Grouping: finds the group of a document. Documents of one group are not paired.

use regex::Regex;

use super::options::GroupBy;
use fpdb_host::error::{Error, Result};
use fpdb_store::DocumentRecord;

/// The source of a document's group.
pub(super) enum Grouping {
    Metadata,
    Name(Regex),
    Nothing,
}

impl Grouping {
    pub(super) fn new(group_by: &GroupBy) -> Result<Self> {
        Ok(match group_by {
            GroupBy::Metadata => Self::Metadata,
            GroupBy::Nothing => Self::Nothing,
            GroupBy::Name(pattern) => Self::Name(Regex::new(pattern).map_err(|_| Error::InvalidParameter {
                name: "group_by",
                value: pattern.clone(),
                expected: "a regular expression, such as ^([^/]*)/ for the first folder of a name",
            })?),
        })
    }

    pub(super) fn of<'a>(&self, record: &'a DocumentRecord) -> Option<&'a str> {
        match self {
            Self::Nothing => None,
            Self::Metadata => record.metadata.iter().find(|(name, _)| name == "group").map(|(_, value)| value.as_str()),
            Self::Name(regex) => {
                let found = regex.captures(&record.name)?;
                found.get(1).or_else(|| found.get(0)).map(|group| group.as_str())
            }
        }
    }
}
