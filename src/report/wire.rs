//! The wire format: what each command answers, field by field.

use serde::{Deserialize, Serialize};

use crate::database::{DatabaseStats, DocumentInfo, HashCounts};
use crate::dedup::{Because, DedupAnswer, Removable};
use crate::document::Digest;
use crate::ingest::IngestSummary;
use crate::pairs::Pair;
use crate::profile::Profile;
use crate::query::{Match, Mode, Passage, QueryAnswer};
use crate::store::{Problem, Verification};

/// `fpdb.ingest/1`: one line at the end of an ingest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IngestReport {
    /// `fpdb.ingest/1`.
    pub schema: String,
    /// Documents found that could be read: added, replaced, unchanged and kept.
    pub documents: u64,
    /// New documents.
    pub added: u64,
    /// Documents stored already.
    pub unchanged: u64,
    /// Documents that took the place of a stored one of their name.
    pub replaced: u64,
    /// Changed documents left out on request.
    pub kept: u64,
    /// Added or replacing documents whose content another stored document has.
    pub identical: u64,
    /// What could not be read.
    pub failed: Vec<Failure>,
    /// What was left out: links, pipes and the like.
    pub skipped: Vec<SkippedFile>,
    /// Bytes of the added and replacing documents.
    pub bytes: u64,
    /// Their symbols.
    pub symbols: u64,
    /// Their fingerprints.
    pub fingerprints: u64,
    /// Sequences in them that were no characters in the document's encoding.
    pub undecodable: u64,
    /// True where the run was stopped; running it again continues.
    pub interrupted: bool,
    /// Wall-clock time.
    pub seconds: f64,
}

/// A document that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Its name.
    pub name: String,
    /// What went wrong, with its causes.
    pub error: String,
}

/// Something that was found and is no document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkippedFile {
    /// Its name.
    pub name: String,
    /// Why it was left out.
    pub reason: String,
}

/// A profile, as every report shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileReport {
    /// `char`, `word` or `byte`.
    pub unit: String,
    /// Symbols in a k-gram.
    pub k: u32,
    /// Hashes in a window.
    pub w: u32,
    /// `robust`, `plain`, `all`, `mod:P` or `safe-mod:P`.
    pub selection: String,
    /// For unit word: `letters` or `unicode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// t: every shared run of this many symbols is found; absent where nothing is guaranteed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<u64>,
}

/// `fpdb.query/1`: one line per query document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryReport {
    /// `fpdb.query/1`.
    pub schema: String,
    /// `containment` or `resemblance`.
    pub mode: String,
    /// The database's profile.
    pub profile: ProfileReport,
    /// The query document.
    pub query: QueryDocumentReport,
    /// Distinct hashes looked up: all of the query's, or its n smallest.
    pub looked_up: u64,
    /// How many of them at least one document holds.
    pub found: u64,
    /// How many of them boilerplate documents hold.
    pub boilerplate: u64,
    /// How many of them more documents hold than the df cap allows; no match counts them.
    pub common: u64,
    /// `found / looked_up`.
    pub corpus_containment: f64,
    /// Documents that reach the least score, shown or not.
    pub matching_documents: u64,
    /// Best first.
    pub matches: Vec<MatchReport>,
}

/// The query document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryDocumentReport {
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
}

/// One document that shares text with the query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchReport {
    /// Its name.
    pub document: String,
    /// Its number, which tells versions of one name apart.
    pub id: u32,
    /// Looked-up hashes it holds.
    pub shared: u64,
    /// The share of the looked-up hashes it holds.
    pub containment: f64,
    /// The share of its fingerprints that the query holds.
    pub document_containment: f64,
    /// Shared / all fingerprints of the two.
    pub resemblance: f64,
    /// The 95% interval of the mode's measure where that is an estimate.
    pub interval: Option<[f64; 2]>,
    /// The bytes of the two are the same.
    pub identical: bool,
    /// The share of the query's symbols inside passages.
    pub coverage: f64,
    /// In order of the query.
    pub passages: Vec<PassageReport>,
}

/// A pair of matching spans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassageReport {
    /// In the query document.
    pub query: SpanReport,
    /// In the stored document.
    pub document: SpanReport,
    /// Symbols of the query it covers.
    pub symbols: u64,
    /// True where the spans were compared symbol by symbol.
    pub exact: bool,
}

/// Where a passage stands in one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpanReport {
    /// Byte offset of its first byte in the original.
    pub start: u64,
    /// Byte offset after its last.
    pub end: u64,
    /// Its first and last line, 1-based.
    pub lines: [u64; 2],
}

/// `fpdb.document/1`: one line per stored document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentReport {
    /// `fpdb.document/1`.
    pub schema: String,
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The path it was read from.
    pub source: Option<String>,
    /// Its bytes, symbols and lines.
    pub bytes: u64,
    /// See `bytes`.
    pub symbols: u64,
    /// See `bytes`.
    pub lines: u64,
    /// Selected (hash, position) pairs.
    pub fingerprints: u64,
    /// Distinct hashes among them.
    pub distinct: u64,
    /// The encoding it was read as.
    pub encoding: String,
    /// Sequences that were no characters in it.
    pub undecodable: u64,
    /// XXH3-128 of its bytes, as hexadecimal digits.
    pub digest: String,
    /// When it was ingested, in seconds since 1970.
    pub ingested_at: i64,
    /// Other documents with the same bytes; only `show` looks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identical_to: Vec<String>,
}

/// `fpdb.stats/1`: the whole database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatsReport {
    /// `fpdb.stats/1`.
    pub schema: String,
    /// Where the database is.
    pub path: String,
    /// The version of its format.
    pub format: u32,
    /// Its settings.
    pub profile: ProfileReport,
    /// Documents, and the sums of their bytes, symbols and fingerprints.
    pub documents: u64,
    /// See `documents`.
    pub bytes: u64,
    /// See `documents`.
    pub symbols: u64,
    /// See `documents`.
    pub fingerprints: u64,
    /// Distinct hashes in all documents, and those that occur once; only with `--hashes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// See `distinct`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub singletons: Option<u64>,
    /// Postings held, those of deleted documents included.
    pub postings: u64,
    /// Deleted documents whose postings are still held.
    pub deleted: u64,
    /// Sorted runs of postings.
    pub runs: u64,
    /// Bytes the database takes, by part.
    pub stored: Vec<StoredBytes>,
    /// When the last commit was made, in seconds since 1970.
    pub committed_at: Option<i64>,
}

/// What one part of a database takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredBytes {
    /// The part.
    pub part: String,
    /// Its bytes.
    pub bytes: u64,
}

/// `fpdb.verify/1`: what a verification has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyReport {
    /// `fpdb.verify/1`.
    pub schema: String,
    /// Documents checked.
    pub documents: u64,
    /// Postings checked.
    pub postings: u64,
    /// Positions checked.
    pub positions: u64,
    /// What is wrong; empty where nothing is.
    pub problems: Vec<ProblemReport>,
}

/// What is wrong with one part of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemReport {
    /// The part.
    pub what: String,
    /// What is wrong with it.
    pub detail: String,
}

impl VerifyReport {
    /// The report of a verification.
    #[must_use]
    pub fn new(found: &Verification) -> Self {
        let problem = |problem: &Problem| ProblemReport { what: problem.what.clone(), detail: problem.detail.clone() };
        Self {
            schema: "fpdb.verify/1".into(),
            documents: found.documents,
            postings: found.postings,
            positions: found.positions,
            problems: found.problems.iter().map(problem).collect(),
        }
    }
}

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
    /// Hashes both hold.
    pub shared: u64,
    /// Shared / all hashes of the two.
    pub resemblance: f64,
    /// The share of a's hashes that b holds.
    pub containment_a: f64,
    /// The share of b's hashes that a holds.
    pub containment_b: f64,
}

impl PairReport {
    /// The report of a pair.
    #[must_use]
    pub fn new(pair: &Pair) -> Self {
        Self {
            schema: "fpdb.pair/1".into(),
            a: pair.a.clone(),
            b: pair.b.clone(),
            shared: pair.shared,
            resemblance: pair.resemblance,
            containment_a: pair.containment_a,
            containment_b: pair.containment_b,
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
    /// The survivor that justifies it.
    pub keep: String,
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
            keep: removable.keep.clone(),
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
        }
    }
}

impl IngestReport {
    /// The report of an ingest that took `seconds`.
    #[must_use]
    pub fn new(summary: &IngestSummary, seconds: f64) -> Self {
        Self {
            schema: "fpdb.ingest/1".into(),
            documents: summary.added + summary.replaced + summary.unchanged + summary.kept,
            added: summary.added,
            unchanged: summary.unchanged,
            replaced: summary.replaced,
            kept: summary.kept,
            identical: summary.identical,
            failed: summary
                .failed
                .iter()
                .map(|(name, error)| Failure { name: name.clone(), error: error.chain() })
                .collect(),
            skipped: summary
                .skipped
                .iter()
                .map(|(name, reason)| SkippedFile { name: name.clone(), reason: (*reason).into() })
                .collect(),
            bytes: summary.bytes,
            symbols: summary.symbols,
            fingerprints: summary.fingerprints,
            undecodable: summary.undecodable,
            interrupted: summary.interrupted,
            seconds: (seconds * 1000.0).round() / 1000.0,
        }
    }
}

impl ProfileReport {
    /// The report of a profile.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        Self {
            unit: profile.unit.to_string(),
            k: profile.k,
            w: profile.w,
            selection: profile.selection.to_string(),
            words: (profile.unit == crate::Unit::Word).then(|| profile.word_rule.to_string()),
            guarantee: profile.guarantee(),
        }
    }
}

impl QueryReport {
    /// The report of an answer, from a database of the profile `stored`.
    #[must_use]
    pub fn new(answer: &QueryAnswer, mode: Mode, stored: &Profile) -> Self {
        Self {
            schema: "fpdb.query/1".into(),
            mode: match mode {
                Mode::Containment => "containment".into(),
                Mode::Resemblance => "resemblance".into(),
            },
            profile: ProfileReport::new(stored),
            query: QueryDocumentReport {
                name: answer.name.clone(),
                bytes: answer.bytes,
                symbols: answer.symbols,
                fingerprints: answer.fingerprints,
                window: answer.profile.w,
            },
            looked_up: answer.looked_up,
            found: answer.found,
            boilerplate: 0,
            common: answer.common,
            corpus_containment: answer.corpus_containment,
            matching_documents: answer.matching_documents,
            matches: answer.matches.iter().map(MatchReport::new).collect(),
        }
    }
}

impl MatchReport {
    fn new(found: &Match) -> Self {
        Self {
            document: found.document.clone(),
            id: found.id,
            shared: found.shared,
            containment: found.containment,
            document_containment: found.document_containment,
            resemblance: found.resemblance,
            interval: found.interval.map(|(low, high)| [low, high]),
            identical: found.identical,
            coverage: found.coverage,
            passages: found.passages.iter().map(PassageReport::new).collect(),
        }
    }
}

impl PassageReport {
    fn new(passage: &Passage) -> Self {
        let span = |span: crate::Span, lines: (u64, u64)| SpanReport {
            start: span.start,
            end: span.end,
            lines: [lines.0, lines.1],
        };
        Self {
            query: span(passage.query, passage.query_lines),
            document: span(passage.document, passage.document_lines),
            symbols: passage.symbols,
            exact: passage.exact,
        }
    }
}

impl DocumentReport {
    /// The report of a document.
    #[must_use]
    pub fn new(info: DocumentInfo) -> Self {
        Self {
            schema: "fpdb.document/1".into(),
            id: info.id.0,
            digest: hexadecimal(&info.digest),
            name: info.name,
            source: info.source,
            bytes: info.bytes,
            symbols: info.symbols,
            lines: info.lines,
            fingerprints: info.fingerprints,
            distinct: info.distinct,
            encoding: info.encoding,
            undecodable: info.undecodable,
            ingested_at: info.ingested_at,
            identical_to: Vec::new(),
        }
    }
}

impl StatsReport {
    /// The report of a database, with the counts of its hashes where they were taken.
    #[must_use]
    pub fn new(stats: DatabaseStats, hashes: Option<HashCounts>) -> Self {
        Self {
            schema: "fpdb.stats/1".into(),
            path: stats.path.display().to_string(),
            format: stats.format,
            profile: ProfileReport::new(&stats.profile),
            documents: stats.documents,
            bytes: stats.bytes,
            symbols: stats.symbols,
            fingerprints: stats.fingerprints,
            distinct: hashes.map(|hashes| hashes.distinct),
            singletons: hashes.map(|hashes| hashes.singletons),
            postings: stats.postings,
            deleted: stats.deleted,
            runs: stats.runs,
            stored: stats
                .stored_bytes
                .into_iter()
                .map(|(part, bytes)| StoredBytes { part: part.into(), bytes })
                .collect(),
            committed_at: stats.committed_at,
        }
    }
}

fn hexadecimal(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
