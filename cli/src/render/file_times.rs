//! File times: tells which of the matching documents is the oldest.

use std::collections::HashMap;

use fpdb::{Database, DocId, Match, QueryAnswer};

/// When the files of the documents in an answer were last changed, in seconds since 1970, where that is
/// known.
pub(crate) struct FileTimes(HashMap<DocId, i64>);

impl FileTimes {
    pub(crate) fn of(database: &Database, answer: &QueryAnswer) -> fpdb::Result<Self> {
        let mut times = HashMap::new();
        for found in answer.matches.iter().flat_map(documents_of) {
            if let Some(modified) = database.document(found.id)?.modified {
                times.insert(found.id, modified);
            }
        }
        Ok(Self(times))
    }

    /// The time of a document; `None` for a submission.
    pub(super) fn of_document(&self, found: &Match) -> Option<i64> {
        self.0.get(&found.id).copied().filter(|_| found.files.is_empty())
    }

    /// The time of a document, or the oldest one of the listed files of a submission.
    pub(crate) fn oldest(&self, found: &Match) -> Option<i64> {
        documents_of(found).filter_map(|found| self.of_document(found)).min()
    }
}

/// The documents of a match: itself, or the listed ones of a submission.
fn documents_of(found: &Match) -> impl Iterator<Item = &Match> {
    let itself = found.files.is_empty().then_some(found);
    itself.into_iter().chain(&found.files)
}
