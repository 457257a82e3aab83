//! What a dedup answers.

use serde::{Deserialize, Serialize};

use crate::dedup::{Because, DedupAnswer, Removable};

/// `fpdb.dedup/1`: one line a removable document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DedupReport {
    /// `fpdb.dedup/1`.
    pub schema: String,
    /// The document that may go.
    pub remove: String,
    /// Its number, which tells versions of one name apart.
    pub remove_id: u32,
    /// The survivor that justifies it.
    pub keep: String,
    /// Its number.
    pub keep_id: u32,
    /// `identical`, `contained` or `resembles`.
    pub because: String,
    /// The resemblance, or the containment of the document in the survivor.
    pub score: f64,
    /// Hashes both hold.
    pub shared: u64,
}

/// `fpdb.dedup.summary/1`: the last line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DedupSummaryReport {
    /// `fpdb.dedup.summary/1`.
    pub schema: String,
    /// All documents.
    pub documents: u64,
    /// Those that may go.
    pub removable: u64,
    /// Those that stay.
    pub kept: u64,
    /// Survivors that justify at least one removal.
    pub groups: u64,
    /// Hashes left out because more documents hold them than the df cap allows.
    pub common: u64,
    /// Hashes left out because boilerplate holds them.
    pub boilerplate: u64,
}

impl DedupReport {
    /// The report of a removable document.
    #[must_use]
    pub fn new(removable: &Removable) -> Self {
        let because = match removable.because {
            Because::Identical => "identical",
            Because::Contained => "contained",
            Because::Resembles => "resembles",
        };
        Self {
            schema: "fpdb.dedup/1".into(),
            remove: removable.remove.clone(),
            remove_id: removable.remove_id.0,
            keep: removable.keep.clone(),
            keep_id: removable.keep_id.0,
            because: because.into(),
            score: removable.score,
            shared: removable.shared,
        }
    }
}

impl DedupSummaryReport {
    /// The summary of an answer.
    #[must_use]
    pub fn new(answer: &DedupAnswer) -> Self {
        let removable = answer.removable.len() as u64;
        Self {
            schema: "fpdb.dedup.summary/1".into(),
            documents: answer.documents,
            removable,
            kept: answer.documents - removable,
            groups: answer.groups,
            common: answer.common,
            boilerplate: answer.boilerplate,
        }
    }
}
