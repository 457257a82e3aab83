//! Answer: the result of a query. Its types are also the JSON (`fpdb.query/1`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::disguise::DisguisedWords;
use super::location::Location;
use super::options::Mode;
use super::weight::Weight;
use fpdb_host::schema::{Answer, Schema, is_false, is_zero};
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;

/// The answer to one query, or the comparison of two files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct QueryAnswer {
    pub(crate) schema: Schema<Self>,
    /// The measure that ranks the matches.
    pub mode: Mode,
    /// The weight of a shared hash in the scores.
    pub weight: Weight,
    /// The database's profile, with the database's window.
    pub profile: Profile,
    /// The query document, or the submission whose documents are one query.
    pub query: QueryDocument,
    /// Number of distinct hashes looked up: all of the query's, or its n smallest.
    pub looked_up: u64,
    /// Number of these hashes that at least one document other than boilerplate holds.
    pub found: u64,
    /// Number of these hashes that a boilerplate document holds. They count in no score.
    pub boilerplate: u64,
    /// Number of these hashes that more than `max_df` documents hold. They count in no score.
    pub common: u64,
    /// Number of these hashes that occur only in quotations, or reach into long ones. They count in no score.
    /// See [`ReadOptions::skip_quotes`](crate::ReadOptions::skip_quotes).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quoted: u64,
    /// Number of these hashes that occur only in ignored phrases, or reach into long ones. They count in no
    /// score. See [`QueryOptions::phrases`](crate::QueryOptions::phrases).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub phrases: u64,
    /// `found / looked_up`, from 0 to 1: the share of the query that all documents together hold.
    pub corpus_containment: f64,
    /// For source code in two views, the hashes of the text as written. The numbers above are those of the
    /// structure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextLookup>,
    /// Number of documents that share a hash with the query and reach `min_score`, returned or not. Documents
    /// of the same bytes count too. With submissions, the number of submissions. With `rewritten`, only
    /// documents with a passage count.
    pub matching_documents: u64,
    /// With `rewritten`, the number of documents whose text was compared: those whose shared hashes lie
    /// nearest each other. Otherwise 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub compared: u64,
    /// Number of documents that share a hash with the query and do not reach `min_score`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub below: u64,
    /// Number of documents that share a hash that counts, and are not compared because of
    /// [`QueryOptions::only`](crate::QueryOptions::only) or
    /// [`QueryOptions::metadata`](crate::QueryOptions::metadata). `found` does not count hashes that only
    /// these documents hold.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub documents_left_out: u64,
    /// Parts of the query that count in no match, in order. Empty unless passages were requested, and for a
    /// submission.
    pub ignored: Vec<Ignored>,
    /// Best first: by score, then documents with the same bytes, then by coverage if passages were requested,
    /// then by resemblance and name. With `rewritten`, coverage decides before all of these.
    pub matches: Vec<Match>,
    /// True if some document has the same bytes, returned or not. Not in the JSON.
    #[serde(skip)]
    pub(crate) has_identical: bool,
    /// The share of the query's symbols inside passages of any match, each symbol counted once. Not in the
    /// JSON.
    #[serde(skip)]
    pub(crate) coverage: f64,
}

impl Answer for QueryAnswer {
    const SCHEMA: &'static str = fpdb_apply::report_lines::QUERY;
}

impl QueryAnswer {
    /// True if the query has no fingerprint in any view. Then only documents of the same bytes match. If the
    /// query is a submission, the bytes of one of its documents decide.
    #[must_use]
    pub fn is_too_short(&self) -> bool {
        self.query.fingerprints == 0 && self.text.as_ref().is_none_or(|text| text.fingerprints == 0)
    }
}

/// The looked-up hashes of the text as written. The other view of source code is its structure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TextLookup {
    /// Number of words and marks.
    pub symbols: u64,
    /// Number of distinct hashes at the query's window.
    pub fingerprints: u64,
    /// Number of distinct hashes looked up: all of them, or the n smallest.
    pub looked_up: u64,
    /// Number of these hashes that at least one document other than boilerplate holds.
    pub found: u64,
    /// Number of these hashes that a boilerplate document holds. They count in no score.
    pub boilerplate: u64,
    /// Number of these hashes that more than `max_df` documents hold. They count in no score.
    pub common: u64,
    /// `found / looked_up`, from 0 to 1.
    pub corpus_containment: f64,
}

/// The document used as the query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct QueryDocument {
    /// Name of the document.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of symbols.
    pub symbols: u64,
    /// Number of distinct hashes at the query's window.
    pub fingerprints: u64,
    /// The query's window: a number of k-gram hashes.
    pub window: u32,
    /// True if offsets and lines refer to text extracted from the document (from a PDF, say).
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
    /// Number of a mail's attachments that are not read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attachments: u64,
    /// Number of documents of the submission, if the query is one
    /// ([`QueryOptions::join_submissions`](crate::QueryOptions::join_submissions)). Otherwise 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files: u64,
    /// Number of further files of the submission that cannot be read. The answer does not cover them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files_unread: u64,
    /// The metadata of the query document, if it is a record or a stored document: for example its id and the
    /// fields to keep.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Words that look like other words and do not match them, if there are many. `None` for source code and
    /// bytes, and if the text is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disguised: Option<DisguisedWords>,
    /// True if a stored submission has the same name as this stored document. The query is the document, not
    /// the submission.
    #[serde(default, skip_serializing_if = "is_false")]
    pub names_submission: bool,
    /// The parts of a submission's document that count in no match. Not in the JSON.
    #[serde(skip)]
    pub(crate) ignored: Vec<Ignored>,
    /// The id of a stored submission's document. Not in the JSON.
    #[serde(skip)]
    pub(crate) id: Option<DocId>,
}

/// A part of the query whose fingerprints count in no match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Ignored {
    /// The place of this part in the query document. A quotation or phrase goes from its first to its last
    /// symbol, without marks.
    pub query: Location,
    /// The reason why this part is ignored.
    pub because: IgnoredBecause,
}

/// The reason why fingerprints are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IgnoredBecause {
    /// Boilerplate holds these fingerprints.
    Boilerplate,
    /// More documents hold these fingerprints than the df cap allows.
    Common,
    /// The fingerprints are in a quotation, or reach into a long one.
    Quoted,
    /// The fingerprints are part of an ignored phrase, or reach into a long one.
    Phrase,
}

/// A document, or submission, that shares text with the query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Match {
    /// Name of the document or submission.
    pub document: String,
    /// Id of the document. Documents with the same name have different ids. For a submission, the id of its
    /// first document. 0 in the comparison of two files.
    pub id: DocId,
    /// Size in bytes.
    pub document_bytes: u64,
    /// Number of symbols.
    pub document_symbols: u64,
    /// True if offsets and lines refer to text extracted from the document (from a PDF, say). For a
    /// submission, see each of its `files`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
    /// Number of looked-up hashes that the document holds.
    pub shared: u64,
    /// The measure that orders matches: that of the mode, weighted if hashes are weighted. From 0 to 1.
    pub score: f64,
    /// The share of the looked-up hashes that the document holds, from 0 to 1.
    pub containment: f64,
    /// The share of the document's fingerprints that the query holds, from 0 to 1. It is exact at the
    /// database's window if all hashes were looked up. Otherwise it is estimated from the containment and the
    /// two set sizes.
    pub document_containment: f64,
    /// Shared fingerprints divided by all fingerprints of both documents. Exact or estimated in the same way.
    pub resemblance: f64,
    /// For source code in two views, the number of looked-up hashes of the text as written that the document
    /// holds. The measures above are those of the structure, and the score is the larger of the scores of
    /// both views.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_shared: Option<u64>,
    /// The share of the looked-up hashes of the text as written that the document holds, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_containment: Option<f64>,
    /// The share of the document's fingerprints of the text as written that the query holds, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document_containment: Option<f64>,
    /// Shared fingerprints of the text as written, divided by all of these fingerprints in both documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_resemblance: Option<f64>,
    /// The measures without the hashes that boilerplate holds. `None` if there is no boilerplate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_boilerplate: Option<MatchMeasures>,
    /// The 95% interval of the score if the score is an estimate. `None` if the score is exact, or hashes are
    /// weighted.
    pub interval: Option<[f64; 2]>,
    /// The measures that are estimates; the others are exact.
    pub estimated: Vec<Measure>,
    /// True if both documents have the same bytes. Such a document always matches, unless boilerplate has
    /// these bytes, or it is the queried document itself. Its measures come from its hashes: 0 if no
    /// looked-up hash counts, and 1 if the documents are too short to have any. A submission is identical
    /// if one of its documents is. If the query is a submission too, only the pairs in `files` can be
    /// identical.
    pub identical: bool,
    /// The share of the query's symbols inside passages, ignored symbols included. For a submission, passages
    /// of all its documents count. `None` if no passages were requested.
    pub coverage: Option<f64>,
    /// The passages, in order of the query. The passages of a submission are in its `files`.
    pub passages: Vec<Passage>,
    /// Number of further passages, left out because of [`PassageOptions::most`](crate::PassageOptions::most).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passages_left_out: u64,
    /// Number of symbols that count in the longest passage of either view, also of one that lies within a
    /// passage of the other view; 0 without passages. Not in the JSON.
    #[serde(skip)]
    pub(crate) longest: u64,
    /// The metadata of the document, from the user or its container.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The time of the last change of its file, as in
    /// [`DocumentInfo::modified`](crate::DocumentInfo::modified). `None` without
    /// [`QueryOptions::file_times`](crate::QueryOptions::file_times), in the comparison of two files, and for
    /// a submission: see each of its `files`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<i64>,
    /// The reason why the passages are inferred from fingerprints. `None` if the texts were compared, or no
    /// passages were requested.
    pub inferred: Option<Cow<'static, str>>,
    /// Number of pairs of equal k-grams that were not compared one by one, because both documents repeat them
    /// too often. Each place of these k-grams is in at least one passage all the same.
    pub repeats: u64,
    /// The documents of a submission that share most, each with its own measures and passages. Empty for
    /// documents. See [`QueryOptions::submission_by`](crate::QueryOptions::submission_by). If the query is a
    /// submission, each of these files is a pair of a document of the query and a stored document. Matches
    /// that are documents then list such pairs too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Match>,
    /// Number of further documents of the submission that share a hash, or of further pairs if the query is a
    /// submission.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files_left_out: u64,
    /// In `files`, if the query is a submission: the document of the query that was measured and compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Box<QueryDocument>>,
}

/// Measures of a match, from 0 to 1. Measures that need the document's own fingerprints without boilerplate
/// are missing, because a query does not read these fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MatchMeasures {
    /// As [`Match::containment`].
    pub containment: f64,
    /// As [`Match::text_containment`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_containment: Option<f64>,
}

/// A number in a match that can be an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Measure {
    /// [`Match::score`].
    Score,
    /// [`Match::containment`].
    Containment,
    /// [`Match::document_containment`].
    DocumentContainment,
    /// [`Match::resemblance`].
    Resemblance,
}

impl Measure {
    /// The name of the measure's field in [`Match`].
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Containment => "containment",
            Self::DocumentContainment => "document_containment",
            Self::Resemblance => "resemblance",
        }
    }
}

/// A pair of matching spans, one in each document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Passage {
    /// The span in the query document.
    pub query: Location,
    /// The span in the stored document.
    pub document: Location,
    /// Number of the query's symbols that the passage covers.
    pub symbols: u64,
    /// A lower bound for the share of symbols in the longer span that are equal and in the same order. 1 if
    /// both spans have the same text. `None` if the spans were not compared.
    pub agreement: Option<f64>,
    /// For source code, the share of the passage's names that are the same in both documents. 1 means the
    /// same text, 0 the same structure with other names. `None` for other text, without names, or if the
    /// spans were not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_names: Option<f64>,
    /// True if the spans were compared symbol by symbol; false if they are inferred from shared fingerprints.
    pub exact: bool,
    /// For source code in two views, true if the passage is of the text as written. Its symbols are then
    /// words and marks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub as_written: bool,
}
