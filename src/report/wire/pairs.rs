//! What is told of pairs of documents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::dedup::{Because, DedupAnswer, Removable};
use crate::pairs::Pair;
use crate::query::Passage;

/// `fpdb.pair/1`: one line a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairReport {
    /// `fpdb.pair/1`.
    pub schema: String,
    /// The older document.
    pub a: String,
    /// The newer one.
    pub b: String,
    /// Their numbers, which tell versions of one name apart.
    pub a_id: u32,
    /// See `a_id`.
    pub b_id: u32,
    /// Hashes both hold.
    pub shared: u64,
    /// Shared / all hashes of the two.
    pub resemblance: f64,
    /// The share of a's hashes that b holds.
    pub containment_a: f64,
    /// The share of b's hashes that a holds.
    pub containment_b: f64,
    /// What pairs are ordered by: the resemblance, weighted where hashes are.
    pub score: f64,
    /// The passages they share, `query` being a and `document` b; absent unless they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// What is known of a beside its content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub a_metadata: BTreeMap<String, String>,
    /// What is known of b beside its content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub b_metadata: BTreeMap<String, String>,
}

impl PairReport {
    /// The report of a pair.
    #[must_use]
    pub fn new(pair: &Pair) -> Self {
        Self {
            schema: "fpdb.pair/1".into(),
            a: pair.a.to_string(),
            b: pair.b.to_string(),
            a_id: pair.a_id.0,
            b_id: pair.b_id.0,
            shared: pair.shared,
            resemblance: pair.resemblance,
            containment_a: pair.containment_a,
            containment_b: pair.containment_b,
            score: pair.score,
            passages: None,
            a_metadata: pair.a_metadata.iter().cloned().collect(),
            b_metadata: pair.b_metadata.iter().cloned().collect(),
        }
    }
}

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
