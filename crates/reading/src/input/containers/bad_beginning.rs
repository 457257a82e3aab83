//! Bad beginning: the lines of JSON before the first record. If no record follows, one error names the fields
//! that these lines have in place of the text field.

use std::collections::BTreeMap;

use super::Members;
use super::json_values::for_each_value;
use super::text_path::{TextPath, most_text};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::skip_reason::SkipReason;

/// Maximum number of recorded fields. An error names these fields, and says which of them has the most text.
pub(super) const MOST_FIELDS: usize = 1000;

pub(super) fn is_without_field(error: &Error) -> bool {
    matches!(error, Error::Document(DocumentError::NoField { .. }))
}

pub(super) fn no_field(field: &str) -> Error {
    Error::Document(DocumentError::NoField { field: field.to_owned() })
}

/// The error for an object that lacks a field of a path. It names the first text field whose path has steps.
pub(super) fn lacking(paths: &[(&str, TextPath)]) -> Error {
    let (field, _) = paths.iter().find(|(_, path)| !path.steps.is_empty()).unwrap_or(&paths[0]);
    no_field(field)
}

/// The failed lines before the first record. If a record follows, each line is reported. If no record follows
/// and all lines lack the text field, one error reports all lines.
#[derive(Default)]
pub(super) struct BadBeginning {
    /// The suffix and error of each line. `None`: the object lacks a field of a path. If other records have
    /// the whole path, such a line is skipped without an error.
    pub(super) failed: Vec<(String, Option<Error>)>,
    /// The fields of the objects.
    fields: Vec<String>,
    /// The fields and paths at which the objects have text, each with the bytes of text there in all objects.
    places: BTreeMap<String, usize>,
}

impl BadBeginning {
    /// Records the fields of an object, at most the first [`MOST_FIELDS`].
    pub(super) fn note_fields(&mut self, line: &[u8]) {
        let mut record = BTreeMap::new();
        let read = for_each_value(line, &mut |name, value| {
            if record.len() < MOST_FIELDS || record.contains_key(&name) {
                record.insert(name, value);
            }
            Ok(())
        });
        if read.is_err() {
            return;
        }
        for (name, value) in record {
            let name = name.into_owned();
            if let Some((place, bytes)) = most_text(&name, value)
                && (self.places.len() < MOST_FIELDS || self.places.contains_key(&place))
            {
                *self.places.entry(place).or_default() += bytes;
            }
            if self.fields.len() < MOST_FIELDS && !self.fields.contains(&name) {
                self.fields.push(name);
            }
        }
    }

    pub(super) fn all_without_field(&self) -> bool {
        self.failed.iter().all(|(_, error)| error.as_ref().is_none_or(is_without_field))
    }

    /// Reports each line.
    pub(super) fn tell(&mut self, members: &mut dyn Members) -> Result<()> {
        self.failed.drain(..).try_for_each(|(suffix, error)| match error {
            Some(error) => members.failed(suffix, error),
            None => members.skipped(suffix, SkipReason::NullText),
        })
    }

    /// The error for a file without a record in its first lines. If the lines fail for different reasons,
    /// reports all but the last, and returns the error of the last.
    pub(super) fn refusal(mut self, paths: &[(&str, TextPath)], members: &mut dyn Members) -> Result<Error> {
        let records = Some(self.failed.len() as u64);
        let is_one = self.all_without_field();
        let last = self.failed.pop().and_then(|(_, error)| error).unwrap_or_else(|| lacking(paths));
        let field = match last {
            Error::Document(DocumentError::NoField { field }) if is_one => field,
            last => {
                self.tell(members)?;
                return Ok(last);
            }
        };
        // With several text fields, the field with the most text may be one of these.
        let most = self.places.into_iter().filter(|_| paths.len() == 1).max_by_key(|(_, bytes)| *bytes);
        Ok(Error::Document(DocumentError::NoTextField {
            field,
            records,
            most_text: most.map(|(place, _)| place),
            fields: self.fields,
        }))
    }
}
