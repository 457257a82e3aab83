//! Grouping: finds the group of a document. Documents of one group are not paired.

use std::collections::HashMap;

use regex::Regex;

use super::options::GroupBy;
use fpdb_host::error::{Error, Result};
use fpdb_store::DocumentRecord;

/// The groups found so far.
pub(super) struct Grouping {
    source: Source,
    /// The 1-based numbers of the groups.
    numbers: HashMap<String, u32>,
}

/// The source of a document's group.
enum Source {
    Metadata,
    Name(Regex),
    Nothing,
}

impl Grouping {
    pub(super) fn new(group_by: &GroupBy) -> Result<Self> {
        let source = match group_by {
            GroupBy::Metadata => Source::Metadata,
            GroupBy::Nothing => Source::Nothing,
            GroupBy::Name(pattern) => Source::Name(Regex::new(pattern).map_err(|_| Error::InvalidParameter {
                name: "group_by",
                value: pattern.clone(),
                expected: "a regular expression, such as ^([^/]*)/ for the first folder of a name",
            })?),
        };
        Ok(Self { source, numbers: HashMap::new() })
    }

    /// Number of groups.
    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// The group number of a submission whose documents have several groups in their metadata. The submission
    /// is in none of these groups: the field may have another purpose, so it must not exclude pairs.
    pub(super) const SEVERAL: u32 = u32::MAX;

    /// Notes the group of a document for its submission, if the document has a group. `of_submission` is the
    /// group of the submission so far: its number, 0 for none, or [`SEVERAL`](Self::SEVERAL).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if the caller's pattern puts the submission in two groups.
    pub(super) fn note(&mut self, record: &DocumentRecord, of_submission: &mut u32) -> Result<()> {
        let Some(group) = self.of(record) else { return Ok(()) };
        let next = self.numbers.len() as u32 + 1;
        let number = *self.numbers.entry(group.to_owned()).or_insert(next);
        if [0, number].contains(of_submission) {
            *of_submission = number;
        } else if matches!(self.source, Source::Metadata) {
            *of_submission = Self::SEVERAL;
        } else {
            return Err(Error::InvalidParameter {
                name: "the group of a file",
                value: format!("{group} ({})", record.name),
                expected: "the group of the other files of its submission",
            });
        }
        Ok(())
    }

    fn of<'a>(&self, record: &'a DocumentRecord) -> Option<&'a str> {
        match &self.source {
            Source::Nothing => None,
            Source::Metadata => {
                record.metadata.iter().find(|(name, _)| name == "group").map(|(_, value)| value.as_str())
            }
            Source::Name(regex) => {
                let found = regex.captures(&record.name)?;
                found.get(1).or_else(|| found.get(0)).map(|group| group.as_str())
            }
        }
    }
}
