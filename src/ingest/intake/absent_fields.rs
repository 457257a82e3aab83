//! Absent fields: the fields to keep that no document has, such as a misspelt one.

use fpdb_reading::input::{About, RecordFields};

/// The wanted fields that no document had so far.
pub(super) struct AbsentFields {
    fields: Vec<String>,
    /// True if a document was read for more than its digest.
    is_any_read: bool,
}

impl AbsentFields {
    /// The default field of the id is not missed.
    pub(super) fn new(fields: &RecordFields) -> Self {
        let id = Some(&fields.id).filter(|id| **id != RecordFields::default().id);
        Self { fields: id.into_iter().chain(&fields.keep).cloned().collect(), is_any_read: false }
    }

    /// Notes the fields of a document. `is_read` is false if only its digest was computed again.
    pub(super) fn note(&mut self, about: &About, is_read: bool) {
        self.is_any_read |= is_read;
        self.fields.retain(|field| !about.metadata.iter().any(|(name, _)| name == field));
    }

    /// The fields at the end of a run. Documents that were not read again show nothing.
    pub(super) fn take(&mut self) -> Vec<String> {
        if self.is_any_read { std::mem::take(&mut self.fields) } else { Vec::new() }
    }
}
