//! Answer: what a query found, which is also its JSON (`fpdb.query/1`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::location::Location;
use super::options::Mode;
use super::weight::Weight;
use fpdb_host::schema::{Answer, Schema, is_false, is_zero};
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;

/// The answer to one query, or the comparison of two files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueryAnswer {
    pub(crate) schema: Schema<Self>,
    /// Which measure ranks the matches.
    pub mode: Mode,
    /// The weight of a shared hash in the scores.
    pub weight: Weight,
    /// The database's profile, with its own window.
    pub profile: Profile,
    /// The query document.
    pub query: QueryDocument,
    /// Distinct hashes looked up: all of the query's, or its n smallest.
    pub looked_up: u64,
    /// How many of those at least one document holds, boilerplate aside.
    pub found: u64,
    /// How many of those some boilerplate document holds: they count in no score.
    pub boilerplate: u64,
    /// How many of those more than `max_df` documents hold: they count in no score.
    pub common: u64,
    /// How many of those occur in quotation marks only: they count in no score. With
    /// [`ReadOptions::skip_quotes`](crate::ReadOptions::skip_quotes).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quoted: u64,
    /// How many of those occur in ignored phrases only: they count in no score. With
    /// [`QueryOptions::phrases`](crate::QueryOptions::phrases).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub phrases: u64,
    /// `found / looked_up`: the share of the query that the whole corpus holds.
    pub corpus_containment: f64,
    /// Documents that share a hash with the query and reach the least score, and documents of the very same bytes, returned
    /// or not; submissions, where documents are put together.
    pub matching_documents: u64,
    /// Documents that share a hash with the query and do not reach the least score.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub below: u64,
    /// Parts of the query that count in no match, in order. Empty unless passages were looked for.
    pub ignored: Vec<Ignored>,
    /// Best first: by score, then by coverage where passages were looked for, then by name.
    pub matches: Vec<Match>,
    /// True if some document has the very same bytes, returned or not. Not in the JSON.
    #[serde(skip)]
    pub(crate) has_identical: bool,
    /// The share of the query's symbols inside passages of any of the matches, each symbol counted once. Not in the JSON.
    #[serde(skip)]
    pub(crate) coverage: f64,
}

impl Answer for QueryAnswer {
    const SCHEMA: &'static str = "fpdb.query/1";
}

/// The document that was queried with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueryDocument {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its symbols.
    pub symbols: u64,
    /// Its distinct hashes at the query's window.
    pub fingerprints: u64,
    /// The query's window.
    pub window: u32,
    /// True if its offsets and lines are of the text extracted from it (PDF, say).
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
}

/// A part of the query whose fingerprints count in no match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ignored {
    /// Where it is in the query document.
    pub query: Location,
    /// Why it is ignored.
    pub because: IgnoredBecause,
}

/// Why fingerprints are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IgnoredBecause {
    /// Boilerplate holds them.
    Boilerplate,
    /// More documents hold them than the df cap allows.
    Common,
    /// They are in quotation marks.
    Quoted,
    /// They are part of an ignored phrase.
    Phrase,
}

/// One document that shares text with the query, or one submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Match {
    /// Its name.
    pub document: String,
    /// Its number, which tells versions of one name apart; 0 in the comparison of two files. The number of its first document, of a
    /// submission.
    pub id: DocId,
    /// Its bytes.
    pub document_bytes: u64,
    /// Its symbols.
    pub document_symbols: u64,
    /// True if its offsets and lines are of the text extracted from it (PDF, say). Of a submission each file says so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
    /// Looked-up hashes it holds.
    pub shared: u64,
    /// The measure that orders matches: that of the mode, weighted if hashes are.
    pub score: f64,
    /// The share of the looked-up hashes it holds.
    pub containment: f64,
    /// The share of its own fingerprints that the query holds: exact at the database's window when all hashes were looked up,
    /// otherwise estimated from the containment and the two set sizes.
    pub document_containment: f64,
    /// Shared / all fingerprints of the two: exact or estimated as above.
    pub resemblance: f64,
    /// The 95% interval of the score where that is an estimate; `None` where it is exact, and where hashes are weighted.
    pub interval: Option<[f64; 2]>,
    /// The measures that are estimates; the others are exact.
    pub estimated: Vec<Measure>,
    /// True if the bytes of both documents are the same. Such a document always matches, unless it is boilerplate or the
    /// queried document itself. Its measures are computed from its hashes, so they are 0 where none of those looked up
    /// counts; they are 1 where the documents are too short to have any. A submission is identical if one of its documents is.
    pub identical: bool,
    /// The share of the query's symbols inside passages, ignored symbols included; of a submission, inside those of all its documents.
    /// `None` where no passages were asked for.
    pub coverage: Option<f64>,
    /// In order of the query. Those of a submission are in its `files`.
    pub passages: Vec<Passage>,
    /// How many more passages there are, left out for [`PassageOptions::most`](crate::PassageOptions::most).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passages_left_out: u64,
    /// The metadata of the document, from the user or its container.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Why the passages are inferred from fingerprints; `None` where the texts were compared, and where no passages were
    /// asked for.
    pub inferred: Option<Cow<'static, str>>,
    /// Pairs of equal k-grams that were not looked at one by one, because both documents repeat them too often. Each place of
    /// theirs is in at least one passage all the same.
    pub repeats: u64,
    /// The documents of a submission that share most, each with its own measures and passages; empty for documents. With
    /// [`QueryOptions::submission_by`](crate::QueryOptions::submission_by).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Match>,
    /// How many more documents of the submission share something.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files_left_out: u64,
}

/// One of the numbers of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The name of its field in [`Match`].
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
#[non_exhaustive]
pub struct Passage {
    /// Where it is in the query document.
    pub query: Location,
    /// Where it is in the stored document.
    pub document: Location,
    /// Symbols of the query it covers.
    pub symbols: u64,
    /// The least share of its symbols, in the longer of the two spans, that are equal and in the same order: 1 where both
    /// spans have the same text. `None` where they were not compared.
    pub agreement: Option<f64>,
    /// Of source code, the share of the passage's names that are the same in both documents: 1 is the same text, 0 the same
    /// structure under other names. `None` where it has no names or the spans were not compared, and of other text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_names: Option<f64>,
    /// True where the spans were compared symbol by symbol; false where they are inferred from the fingerprints they share.
    pub exact: bool,
}
