//! Absent fields: fields that the options keep but no document has, such as misspelt names.

use fpdb_kernel::document::Format;
use fpdb_reading::input::{About, RecordFields};

/// The wanted fields that no document has had so far.
pub(super) struct AbsentFields {
    fields: Vec<String>,
    /// True if a document that can have fields was read for more than its digest.
    is_any_read: bool,
}

impl AbsentFields {
    /// The default field of the id is never reported as absent.
    pub(super) fn new(fields: &RecordFields) -> Self {
        let id = Some(&fields.id).filter(|id| **id != RecordFields::default().id);
        Self { fields: id.into_iter().chain(&fields.keep).cloned().collect(), is_any_read: false }
    }

    /// Notes the fields of a document. `format` is `None` if only its digest was computed again.
    pub(super) fn note(&mut self, about: &About, format: Option<Format>) {
        // Mails have headers and records have fields. Other files have neither, so they do not show that a
        // field is absent.
        self.is_any_read |= format.is_some_and(|format| format == Format::Mail || about.member.is_some());
        self.fields.retain(|field| !about.metadata.iter().any(|(name, _)| name == field));
    }

    /// The absent fields, at the end of a run. Empty if the run read no document that can have fields.
    pub(super) fn take(&mut self) -> Vec<String> {
        if self.is_any_read { std::mem::take(&mut self.fields) } else { Vec::new() }
    }
}
