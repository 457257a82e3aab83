//! Data: the JSON that the page's script reads. It contains the types of the JSON output unchanged.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::archive::dedup::{Because, DedupSummary};
use crate::query::{DisguisedWords, Match, Measure};
use fpdb_host::failure::Failure;
use fpdb_host::schema::{is_false, is_zero};
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;

/// The overview, which is the first page (`fpdb.report/1`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Overview {
    /// `fpdb.report/1`.
    pub(super) schema: String,
    /// The version of the program.
    pub(super) version: String,
    /// The command that made the report.
    pub(super) command: Command,
    /// The profile of the database, or of the comparison.
    pub(super) profile: Profile,
    /// The database that was searched; `None` for `diff`.
    pub(super) database: Option<DatabaseData>,
    /// The flags that the user gave, and their values.
    pub(super) options: Vec<(String, String)>,
    /// The measure that ranks the pairs. It is the score if rare hashes weigh more.
    pub(super) measure: PairMeasure,
    /// True if the page lists the pair with the oldest document B first.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) oldest_first: bool,
    /// True if names are replaced.
    pub(super) anonymous: bool,
    /// True if texts are in the report.
    pub(super) texts: bool,
    /// The documents in the pairs.
    pub(super) documents: Vec<ReportDocument>,
    /// The pairs, best first. The pairs of documents in submissions come after all others.
    pub(super) pairs: Vec<ReportPair>,
    /// Number of documents with a best match of 0%, 1%, ... 100%, rounded down. Pairs left out count too, but
    /// no pair of a query with itself ([`ReportPair::own`]).
    pub(super) histogram: Vec<u64>,
    /// Number of documents in the histogram: all that were compared, or all queries.
    pub(super) compared: u64,
    /// If pairs of submissions are listed: the number of submissions among the `compared` documents. The
    /// others are single documents.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) submissions: u64,
    /// Number of hashes excluded from all scores because more documents hold them than the df cap allows.
    pub(super) common: u64,
    /// Number of hashes that boilerplate holds, if they count in no measure of the report.
    pub(super) boilerplate: u64,
    /// The names of the first boilerplate documents in the database, unless `boilerplate` is 0. Empty in an
    /// anonymous report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) boilerplate_documents: Vec<String>,
    /// Number of documents, or of submissions, in which no text can be compared.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) too_short: u64,
    /// The names of the first of these documents or submissions. Empty in an anonymous report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) too_short_names: Vec<String>,
    /// The totals of removable documents; `None` for commands other than `dedup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dedup: Option<DedupSummary>,
    /// Pairs, passages and matches that the report leaves out.
    pub(super) left_out: LeftOut,
    /// Documents that could not be read.
    pub(super) failures: Vec<Failure>,
}

/// A command that makes reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Command {
    /// `fpdb query`.
    Query,
    /// `fpdb pairs`.
    Pairs,
    /// `fpdb diff`.
    Diff,
    /// `fpdb dedup`.
    Dedup,
}

/// One of the numbers of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PairMeasure {
    /// [`ReportPair::score`].
    Score,
    /// [`ReportPair::resemblance`].
    Resemblance,
    /// [`ReportPair::containment_a`].
    ContainmentA,
    /// [`ReportPair::containment_b`].
    ContainmentB,
}

impl From<Measure> for PairMeasure {
    /// Converts a measure of a match; the query is A.
    fn from(measure: Measure) -> Self {
        match measure {
            Measure::Score => Self::Score,
            Measure::Containment => Self::ContainmentA,
            Measure::DocumentContainment => Self::ContainmentB,
            Measure::Resemblance => Self::Resemblance,
        }
    }
}

/// The database that was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct DatabaseData {
    /// Path of the database; `None` in an anonymous report.
    pub(super) path: Option<String>,
    /// Number of documents it holds.
    pub(super) documents: u64,
}

/// A document of a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct ReportDocument {
    /// Name of the document.
    pub(super) name: String,
    /// A query, a stored document or a submission.
    pub(super) role: DocumentRole,
    /// True if a comparison of all pairs counts the document as old.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) old: bool,
    /// Size in bytes; 0 for a submission.
    pub(super) bytes: u64,
    /// Number of symbols, if known.
    pub(super) symbols: Option<u64>,
    /// True if offsets refer to extracted text, which is then the text shown.
    pub(super) extracted: bool,
    /// The programming language, if the text is shown and is a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) language: Option<String>,
    /// The metadata, from the user or the container; empty in an anonymous report.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) metadata: BTreeMap<String, String>,
    /// The date in the metadata, in seconds since 1970, if it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dated: Option<i64>,
    /// The time of the last change of a stored document's file, in seconds since 1970, if shown and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) modified: Option<i64>,
    /// Words of a query that look like other words and do not match them. The example is empty in a report
    /// without texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) disguised: Option<DisguisedWords>,
    /// The reason why the text cannot be shown; `None` if it can.
    pub(super) why: Option<String>,
    /// The source of the text.
    #[serde(skip)]
    pub(super) origin: Option<Origin>,
}

/// The role of a document in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DocumentRole {
    /// The document was the query.
    Query,
    /// The document is in the database, or is the second file of a comparison.
    #[default]
    Stored,
    /// The entry stands for several documents of the database, which count as one.
    Submission,
}

/// The source of a document's text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The text is in a file.
    File(PathBuf),
    /// The document's bytes are in memory, because they were the query.
    Memory {
        /// Name of the document.
        name: String,
        /// The bytes of the document.
        bytes: Arc<[u8]>,
    },
    /// The text is in memory, because it was the query.
    Text(Arc<str>),
    /// The text is in the database, or still at the place from which it was ingested.
    Stored(DocId),
}

/// A pair. `a` is the query, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct ReportPair {
    /// Index of A in the documents.
    pub(super) a: usize,
    /// Index of B in the documents.
    pub(super) b: usize,
    /// Number of distinct hashes that both hold.
    pub(super) shared: u64,
    /// Shared hashes divided by all distinct hashes of both documents.
    pub(super) resemblance: f64,
    /// Share of A's hashes that B holds.
    pub(super) containment_a: f64,
    /// The same share without the hashes that boilerplate holds, in the report of a query, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) containment_a_without_boilerplate: Option<f64>,
    /// Share of B's hashes that A holds.
    pub(super) containment_b: f64,
    /// For source code in two views, the measures of the text as written. The measures above are of the
    /// structure.
    #[serde(flatten)]
    pub(super) text: Option<TextMeasures>,
    /// The value that ranks the pairs.
    pub(super) score: f64,
    /// The 95% interval of the measure that ranks the pairs, if it is an estimate.
    pub(super) interval: Option<[f64; 2]>,
    /// The measures that are estimates; the others are exact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) estimated: Vec<PairMeasure>,
    /// True if both have the same bytes.
    pub(super) identical: bool,
    /// True if B is the query itself as it is stored: both have the same name and bytes.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) own: bool,
    /// Number of shared passages; `None` if they were not requested.
    pub(super) passages: Option<u64>,
    /// Number of symbols in the longest passage; for submissions, in the longest passage of any two
    /// documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) longest: Option<u64>,
    /// True if the report has a page for the pair: its passages, and its texts if the report has texts.
    pub(super) page: bool,
    /// The reason why A is removable, if B is its survivor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) removal: Option<RemovalData>,
    /// If A or B is a submission, the indexes of the pairs of their documents that share most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<usize>,
    /// Number of further pairs of their documents that share a hash.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) files_left_out: u64,
    /// True if two submissions as wholes are below the thresholds, but the first pair of their documents
    /// reaches them.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) by_files: bool,
    /// Index of the pair of submissions that has this pair in its `files`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<usize>,
}

/// The measures of a pair's text as written, with the names they have in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct TextMeasures {
    /// Number of distinct hashes that both hold.
    pub(super) text_shared: u64,
    /// Shared hashes divided by all distinct hashes of both documents.
    pub(super) text_resemblance: f64,
    /// Share of A's hashes that B holds.
    pub(super) text_containment_a: f64,
    /// Share of B's hashes that A holds.
    pub(super) text_containment_b: f64,
}

/// The reason why a document is removable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct RemovalData {
    /// Number of the document's group. A group has one survivor; the largest group comes first.
    pub(super) group: u64,
    /// The document's relation to the survivor.
    pub(super) because: Because,
    /// The longest stretch, in symbols, without a fingerprint that the survivor holds.
    pub(super) novel: u64,
    /// True if each place that the survivor has too is in a passage of the report.
    pub(super) all_marked: bool,
    /// The record's own id, from its metadata; `None` in an anonymous report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
}

/// Pairs, passages and matches that the report leaves out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct LeftOut {
    /// Number of pairs found but not listed, because of [`max_pairs`](super::HtmlOptions::max_pairs).
    pub(super) pairs: u64,
    /// The best measure among these pairs.
    pub(super) least: Option<f64>,
    /// Number of listed pairs without passages and texts, because of
    /// [`max_bytes`](super::HtmlOptions::max_bytes).
    pub(super) pages: u64,
    /// The value of [`max_bytes`](super::HtmlOptions::max_bytes).
    pub(super) bytes: u64,
    /// Number of documents that match a query but were not returned, because of the query's `top`.
    pub(super) unlisted: u64,
    /// Number of pairs found but not returned, because of the comparison's `top`. The histogram leaves them
    /// out.
    pub(super) beyond_top: u64,
    /// Number of pairs that share a hash but do not reach the thresholds.
    pub(super) below: u64,
}

/// The page of a pair (`fpdb.report.pair/2`). Its passages are stored in columns, because columns compress
/// well. All columns have the order of the passages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PairData {
    /// `fpdb.report.pair/2`.
    pub(super) schema: String,
    /// The match as in the JSON of `fpdb query`, without its passages. A is the query, B the document.
    #[serde(rename = "match")]
    pub(super) found: Match,
    /// The places of the passages in A.
    pub(super) a: SideData,
    /// The places of the passages in B.
    pub(super) b: SideData,
    /// For each passage, the number of A's symbols it covers.
    pub(super) symbols: Vec<u64>,
    /// For each passage, the share of the longer span's symbols that are equal and in order, in thousandths.
    /// 1000 only if all are; null if the spans were not compared.
    pub(super) agreement: Vec<Option<u16>>,
    /// For each passage of source code, the share of its names that are the same in both documents, in
    /// thousandths. Null if it has no names or was not compared. Empty if no passage has a value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) same_names: Vec<Option<u16>>,
}

/// The places of a pair's passages in one of its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct SideData {
    /// True if the report has the document's text.
    pub(super) text: bool,
    /// Byte offsets, as in the JSON.
    pub(super) bytes: PlaceColumns,
    /// First line and number of further lines. Null if they follow from the marks and the text.
    pub(super) lines: Option<PlaceColumns>,
    /// First page and number of further pages of a PDF. Null for other formats.
    pub(super) pages: Option<PlaceColumns>,
    /// Offsets in UTF-16 units of the text. Null if they equal the byte offsets, or there is no text.
    pub(super) marks: Option<PlaceColumns>,
}

/// Ranges in columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct PlaceColumns {
    /// Start of each range, minus the start of the previous one.
    pub(super) start: Vec<i64>,
    /// Length of each range.
    pub(super) length: Vec<u64>,
}

/// The text of a document (`fpdb.report.text/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct TextData {
    /// `fpdb.report.text/1`.
    pub(super) schema: String,
    /// The text, decoded.
    pub(super) text: String,
    /// Ranges excluded from all scores, because boilerplate or too many documents hold their fingerprints.
    /// Each is a start and an end, in UTF-16 units; ascending.
    pub(super) ignored: Vec<[u64; 2]>,
    /// Ranges that are not read as they stand in the text, in the form of `ignored`. Each has the text that
    /// is read instead, unless that text is empty, as for markup and the outputs of a notebook. A range may
    /// be empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unlike: Vec<UnlikeData>,
}

/// A range, and the text that is read in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum UnlikeData {
    Markup([u64; 2]),
    Rewritten(u64, u64, String),
}
