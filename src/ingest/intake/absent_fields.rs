//! Absent fields: the fields to keep that no document has, such as a misspelt one.

use fpdb_reading::input::{About, RecordFields};

use crate::ingest::summary::IngestSummary;

/// The wanted fields that no document had so far.
pub(super) struct AbsentFields(Vec<String>);

impl AbsentFields {
    /// The default field of the id is not missed.
    pub(super) fn new(fields: &RecordFields) -> Self {
        let id = Some(&fields.id).filter(|id| **id != RecordFields::default().id);
        Self(id.into_iter().chain(&fields.keep).cloned().collect())
    }

    /// Notes the fields that a document has.
    pub(super) fn note(&mut self, about: &About) {
        self.0.retain(|field| !about.metadata.iter().any(|(name, _)| name == field));
    }

    /// The fields at the end of a run. Documents that were not read again show nothing.
    pub(super) fn take(&mut self, summary: &IngestSummary) -> Vec<String> {
        if summary.added + summary.replaced > 0 { std::mem::take(&mut self.0) } else { Vec::new() }
    }
}
