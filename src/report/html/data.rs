//! The data of a report: what the page's script reads. The wire types of the JSON output stand in it as they are.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::archive::dedup::DedupSummary;
use fpdb_host::failure::Failure;
use crate::query::{Match, Measure};
use fpdb_host::duplicate::Because;
use fpdb_host::schema::is_zero;
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;

/// `fpdb.report/1`: the first page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Overview {
    /// `fpdb.report/1`.
    pub(super) schema: String,
    /// The version of the program.
    pub(super) version: String,
    /// The command that made it.
    pub(super) command: Command,
    /// The settings of the database, or of the comparison.
    pub(super) profile: Profile,
    /// The database that was searched; `None` for `diff`.
    pub(super) database: Option<DatabaseData>,
    /// Flags that were given, and their values.
    pub(super) options: Vec<(String, String)>,
    /// The measure that ranks the pairs: the score where rare hashes count more.
    pub(super) measure: PairMeasure,
    /// True if names are replaced.
    pub(super) anonymous: bool,
    /// True if texts are in the report.
    pub(super) texts: bool,
    /// The documents of the pairs.
    pub(super) documents: Vec<ReportDocument>,
    /// Best first; after all of them the pairs of documents in submissions.
    pub(super) pairs: Vec<ReportPair>,
    /// How many documents have a best match of 0%, 1%, ... 100%, rounded down, those of pairs left out included.
    pub(super) histogram: Vec<u64>,
    /// How many documents the histogram counts: all that were compared, or all queries.
    pub(super) compared: u64,
    /// Hashes that are in no measure because more documents hold them than the df cap allows.
    pub(super) common: u64,
    /// The totals of removable documents; `None` for other commands than `dedup`.
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
    /// A measure of a match, whose query is A.
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
    /// Where it is; `None` in an anonymous report.
    pub(super) path: Option<String>,
    /// Documents it holds.
    pub(super) documents: u64,
}

/// A document of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ReportDocument {
    /// Its name.
    pub(super) name: String,
    /// A query, a stored document or a submission.
    pub(super) role: DocumentRole,
    /// Its bytes; 0 of a submission.
    pub(super) bytes: u64,
    /// Its symbols, where they are known.
    pub(super) symbols: Option<u64>,
    /// True if offsets count bytes of the text extracted from it, which is then what is shown.
    pub(super) extracted: bool,
    /// The programming language it is written in, where its text is shown and is a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) language: Option<String>,
    /// Its metadata, from the user or its container; empty in an anonymous report.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) metadata: BTreeMap<String, String>,
    /// Why its text cannot be shown, where it cannot.
    pub(super) why: Option<String>,
    /// Where its text is to be read.
    #[serde(skip)]
    pub(super) origin: Option<Origin>,
}

/// A document is a query or was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DocumentRole {
    /// It was queried with.
    Query,
    /// It is in the database, or is the second one of a comparison.
    Stored,
    /// It is several documents of the database, which count as one.
    Submission,
}

/// Where a document's text is to be read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Origin {
    /// In a file.
    File(PathBuf),
    /// In memory, where it was queried with.
    Memory {
        /// Its name.
        name: String,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// In memory, a text that was queried with as it is.
    Text(Arc<str>),
    /// In the database, or where it was ingested from.
    Stored(DocId),
}

/// A pair. `a` is the query where there is one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ReportPair {
    /// Index of A among the documents.
    pub(super) a: usize,
    /// Index of B among the documents.
    pub(super) b: usize,
    /// Hashes both hold.
    pub(super) shared: u64,
    /// Shared / all hashes of the two.
    pub(super) resemblance: f64,
    /// The share of A's hashes that B holds.
    pub(super) containment_a: f64,
    /// The share of B's hashes that A holds.
    pub(super) containment_b: f64,
    /// The value that ranks the pairs.
    pub(super) score: f64,
    /// The 95% interval of the measure where that is an estimate.
    pub(super) interval: Option<[f64; 2]>,
    /// The measures that are estimates; the others are exact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) estimated: Vec<PairMeasure>,
    /// The bytes of the two are the same.
    pub(super) identical: bool,
    /// How many passages they share; `None` where they were not looked for.
    pub(super) passages: Option<u64>,
    /// True if the report has a page of it: its passages, and its texts if it has texts.
    pub(super) page: bool,
    /// Why A is removable, where B is its survivor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) removal: Option<RemovalData>,
    /// Where A or B is a submission, the pairs of documents in them that share most, by index.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<usize>,
    /// How many more pairs of their documents share something.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) files_left_out: u64,
    /// The pair that this one is among the `files` of, by index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<usize>,
}

/// Why a document is removable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct RemovalData {
    /// The number of its group: those of one survivor, the largest group first.
    pub(super) group: u64,
    /// Its relation to the survivor.
    pub(super) because: Because,
    /// The longest stretch, in symbols, of which the survivor holds nothing.
    pub(super) novel: u64,
    /// True if each place that the survivor has too is in a passage of the report.
    pub(super) all_marked: bool,
    /// The record's own name for itself; nothing in an anonymous report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
}

/// Pairs, passages and matches that the report leaves out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct LeftOut {
    /// Pairs that were found and are not listed, because of [`max_pairs`](super::HtmlOptions::max_pairs).
    pub(super) pairs: u64,
    /// The best measure of those.
    pub(super) least: Option<f64>,
    /// Listed pairs whose passages and texts are not embedded, because of [`max_bytes`](super::HtmlOptions::max_bytes).
    pub(super) pages: u64,
    /// The value of that limit.
    pub(super) bytes: u64,
    /// Documents that match a query and were not returned, because of the query's `top`.
    pub(super) unlisted: u64,
    /// Pairs that were found and were not returned, because of the `top` of the comparison. The histogram does not count them.
    pub(super) beyond_top: u64,
    /// Pairs that share a hash, but less than was asked for.
    pub(super) below: u64,
}

/// `fpdb.report.pair/2`: the page of a pair. Its passages stand in columns, each in the same order: so they pack well.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PairData {
    /// `fpdb.report.pair/2`.
    pub(super) schema: String,
    /// The match, as `fpdb query` has it, without its passages: A is the query, B the document.
    #[serde(rename = "match")]
    pub(super) found: Match,
    /// Where the passages are in A.
    pub(super) a: SideData,
    /// Where they are in B.
    pub(super) b: SideData,
    /// For each passage the symbols of A it covers.
    pub(super) symbols: Vec<u64>,
    /// For each passage the share of the longer span's symbols that are equal, in order, in thousandths: 1000 where all are;
    /// null where they were not compared.
    pub(super) agreement: Vec<Option<u16>>,
    /// For each passage of source code the share of its names that are the same in both, in thousandths; null where it has
    /// none or they were not compared. Empty where no passage has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) same_names: Vec<Option<u16>>,
}

/// Where the passages of a pair are in one of its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct SideData {
    /// True if the report has the document's text.
    pub(super) text: bool,
    /// In bytes, as JSON has them.
    pub(super) bytes: PlaceColumns,
    /// The first line, and how many follow it; null where the lines are those of the marks in the text.
    pub(super) lines: Option<PlaceColumns>,
    /// In UTF-16 units of the text; null where they are the bytes, and where there is no text.
    pub(super) marks: Option<PlaceColumns>,
}

/// Ranges in columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct PlaceColumns {
    /// Where each begins, less where the one before it does.
    pub(super) start: Vec<i64>,
    /// How long each is.
    pub(super) length: Vec<u64>,
}

/// `fpdb.report.text/1`: the text of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct TextData {
    /// `fpdb.report.text/1`.
    pub(super) schema: String,
    /// The text, decoded.
    pub(super) text: String,
    /// Parts whose fingerprints are in no measure, because boilerplate or too many documents hold them: from and up to, in
    /// UTF-16 units, in order.
    pub(super) ignored: Vec<[u64; 2]>,
}
