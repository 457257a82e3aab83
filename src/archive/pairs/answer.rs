//! Answer: the pairs that were found. The JSON is made from its types.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::query::Passage;
use fpdb_host::schema::{Answer, Schema, is_false, is_zero};
use fpdb_kernel::document::DocId;

/// The metadata of a document: values by name.
pub(super) type Metadata = Arc<BTreeMap<String, String>>;

/// Two documents, or submissions, that share text; `a` was ingested first. Also its JSON (`fpdb.pair/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Pair {
    pub(crate) schema: Schema<Self>,
    /// Name of the older document; one allocation serves all its pairs.
    pub a: Arc<str>,
    /// Name of the newer document.
    pub b: Arc<str>,
    /// Id of the older document.
    pub a_id: DocId,
    /// Id of the newer document.
    pub b_id: DocId,
    /// Number of distinct hashes that both documents hold.
    pub shared: u64,
    /// Shared hashes divided by all distinct hashes of both documents; from 0 to 1.
    pub resemblance: f64,
    /// Share of a's distinct hashes that b holds; from 0 to 1.
    pub containment_a: f64,
    /// Share of b's distinct hashes that a holds; from 0 to 1.
    pub containment_b: f64,
    /// The score that orders pairs. In a database with one view, it is the resemblance without the hashes
    /// that boilerplate holds, weighted if hashes are weighted, and the thresholds apply to it. In a database
    /// with two views (structure and text as written), it is the larger of the two views' scores, and the
    /// thresholds apply to the resemblance in each view. The score of a view counts a hash less the more
    /// documents hold it, and is lower for short documents.
    pub score: f64,
    /// For source code in two views, the number of distinct hashes of the text as written that both hold. The
    /// measures above are those of the structure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_shared: Option<u64>,
    /// For source code in two views, the resemblance of the text as written, names and comments included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_resemblance: Option<f64>,
    /// For source code in two views, the share of a's distinct hashes of the text as written that b holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_containment_a: Option<f64>,
    /// The share of b's distinct hashes of the text as written that a holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_containment_b: Option<f64>,
    /// The measures without the hashes that boilerplate holds. `None` if the database has no boilerplate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_boilerplate: Option<PairMeasures>,
    /// The passages that a and b share; `query` is in a and `document` in b. `None` unless added with
    /// [`Database::add_passages`](crate::Database::add_passages).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// Number of symbols that count in the longest of these passages; 0 without passages. For source code in
    /// two views, the longest passage is not listed if it lies within a passage of the other view. For two
    /// submissions, the longest passage of any two of their documents. Long stretches of ignored text and
    /// rulers do not count. `None` if passages were not looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<u64>,
    /// For two submissions, the best pairs of their documents: first those that reach the thresholds, then
    /// those that share most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Pair>,
    /// True if two submissions as wholes are below the thresholds. The first pair in `files` reaches them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_files: bool,
    /// For two submissions, the number of further pairs of documents that share a hash.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files_left_out: u64,
    /// True if a is old, by [`PairsOptions::old`](crate::archive::pairs::PairsOptions::old) or
    /// [`PairsOptions::new_since`](crate::archive::pairs::PairsOptions::new_since).
    #[serde(default, skip_serializing_if = "is_false")]
    pub a_old: bool,
    /// The same for b.
    #[serde(default, skip_serializing_if = "is_false")]
    pub b_old: bool,
    /// True if the passage offsets in the older document refer to text extracted from it (from a PDF, say).
    #[serde(default, skip_serializing_if = "is_false")]
    pub a_extracted: bool,
    /// The same for the newer document.
    #[serde(default, skip_serializing_if = "is_false")]
    pub b_extracted: bool,
    /// Metadata of the older document; one allocation serves all its pairs.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub a_metadata: Metadata,
    /// Metadata of the newer document.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub b_metadata: Metadata,
    /// The time of the last change of the older document's file, as in
    /// [`DocumentInfo::modified`](crate::DocumentInfo::modified). `None` without
    /// [`PairsOptions::file_times`](crate::archive::pairs::PairsOptions::file_times), and for a submission:
    /// see each of its `files`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_modified: Option<i64>,
    /// The same for the newer document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_modified: Option<i64>,
}

/// Measures of a pair; from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PairMeasures {
    /// As [`Pair::resemblance`].
    pub resemblance: f64,
    /// As [`Pair::containment_a`].
    pub containment_a: f64,
    /// As [`Pair::containment_b`].
    pub containment_b: f64,
    /// As [`Pair::text_resemblance`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_resemblance: Option<f64>,
    /// As [`Pair::text_containment_a`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_containment_a: Option<f64>,
    /// As [`Pair::text_containment_b`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_containment_b: Option<f64>,
}

impl Answer for Pair {
    const SCHEMA: &'static str = "fpdb.pair/1";
}

impl Pair {
    /// The measures to display. Like the score, they ignore boilerplate.
    #[must_use]
    pub fn measures(&self) -> PairMeasures {
        self.without_boilerplate.unwrap_or(PairMeasures {
            resemblance: self.resemblance,
            containment_a: self.containment_a,
            containment_b: self.containment_b,
            text_resemblance: self.text_resemblance,
            text_containment_a: self.text_containment_a,
            text_containment_b: self.text_containment_b,
        })
    }
}

fn is_empty(metadata: &Metadata) -> bool {
    metadata.is_empty()
}

/// The pairs of a database, held in memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairsAnswer {
    /// The pairs, in descending order of score, then of the number of shared hashes in all views. Names
    /// decide between equal pairs.
    pub pairs: Vec<Pair>,
    /// The figures of all pairs.
    pub summary: PairsSummary,
}

/// The figures of all pairs, including pairs beyond the number wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairsSummary {
    /// Number of pairs that reach the thresholds.
    pub found: u64,
    /// Number of documents in the database, without boilerplate. With submissions: the number of submissions
    /// and of documents outside any.
    pub documents: u64,
    /// Number of submissions; 0 if documents are not joined.
    pub submissions: u64,
    /// The first and the last name, in sorted order, among the documents in pairs. A prefix that these two
    /// share is a prefix of all names between them.
    pub names: Option<(String, String)>,
    /// Number of hashes ignored because more documents hold them than the df cap allows. If this number is
    /// above 0, pairs that share no other hash are missing.
    pub common: u64,
    /// Number of hashes ignored because boilerplate holds them.
    pub boilerplate: u64,
    /// Number of hashes that nearly all documents hold, and the minimum number of documents that hold each of
    /// them. These hashes count, but probably belong to a text that was handed out and is not marked as
    /// boilerplate. `None` if the hashes or the documents are few, or if programs share idioms of structure
    /// rather than text. With `new_since` or `old`, only new documents are counted; with submissions,
    /// submissions are counted.
    pub handed_out: Option<(u64, u64)>,
    /// With submissions: a file that at least five submissions hold with the same bytes, for example a
    /// library, and the number of these submissions. If there are several, the file that brings most hashes
    /// to the pairs. Short files and copies of boilerplate do not count.
    pub same_file: Option<(String, u64)>,
    /// Number of pairs that share a hash but do not reach the thresholds.
    pub below: u64,
    /// Number of pairs of submissions found only by a pair of their documents that reaches the thresholds.
    pub by_files: u64,
    /// With `new_since` or `old`, the numbers of old and of new documents that could be in a pair.
    pub divided: Option<(u64, u64)>,
    /// Number of names with both an old and a new submission. The two submissions of such a name are not
    /// paired.
    pub renewed: u64,
    /// Number of documents with another document in their [group](crate::pairs::GroupBy). Documents of one
    /// group are not paired.
    pub grouped: u64,
    /// Number of documents, or of submissions, that have no text, or too little for a fingerprint. Empty
    /// documents do not count.
    pub too_short: u64,
    /// The names of the documents counted in `too_short`, at most [`PairsSummary::LISTED`].
    pub too_short_names: Vec<String>,
}

impl PairsSummary {
    /// Maximum number of documents that a summary lists by name.
    pub const LISTED: usize = 1000;
}
