//! What a query and a comparison of two files answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ProfileReport;
use super::is_zero;
use crate::document::Span;
use crate::profile::Profile;
use crate::query::{Ignored, IgnoredBecause, Match, Measure, Mode, Passage, QueryAnswer, Weight};

/// `fpdb.query/1`: one line per query document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryReport {
    /// `fpdb.query/1`.
    pub schema: String,
    /// `containment` or `resemblance`.
    pub mode: String,
    /// What a shared hash counts in the scores: `none` (each the same) or `idf`.
    pub weight: String,
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
    /// How many of them stand in quotation marks and count in no match, with `--skip-quotes`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quoted: u64,
    /// How many of them are part of phrases that count in no match, with `--ignore-phrases`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub phrases: u64,
    /// `found / looked_up`.
    pub corpus_containment: f64,
    /// Documents that reach the least score, shown or not.
    pub matching_documents: u64,
    /// Documents that share something and do not reach the least score, where there is one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub below: u64,
    /// Parts of the query that make no match; looked for together with passages.
    pub ignored: Vec<IgnoredReport>,
    /// Best first.
    pub matches: Vec<MatchReport>,
}

/// A part of the query whose fingerprints are not looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IgnoredReport {
    /// Where.
    pub query: SpanReport,
    /// `boilerplate`, `common`, `quoted` or `phrase`.
    pub because: String,
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
    /// Its bytes.
    pub document_bytes: u64,
    /// Its symbols.
    pub document_symbols: u64,
    /// Looked-up hashes it holds.
    pub shared: u64,
    /// What matches are ordered by: the mode's measure, weighted where hashes are.
    pub score: f64,
    /// The share of the looked-up hashes it holds.
    pub containment: f64,
    /// The share of its fingerprints that the query holds.
    pub document_containment: f64,
    /// Shared / all fingerprints of the two.
    pub resemblance: f64,
    /// The 95% interval of the score where that is an estimate; null where it is exact, and where hashes are weighted.
    pub interval: Option<[f64; 2]>,
    /// Which of `score`, `containment`, `document_containment` and `resemblance` are estimates; the others are exact.
    pub estimated: Vec<String>,
    /// The bytes of the two are the same: then they match, whatever their score.
    pub identical: bool,
    /// The share of the query's symbols inside passages, those included that are not to count.
    pub coverage: f64,
    /// In order of the query.
    pub passages: Vec<PassageReport>,
    /// How many more there are, where not all were asked for: in a report for a browser.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passages_left_out: u64,
    /// What the user or its container said of the document.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Why the passages are inferred from fingerprints; null where the texts were compared.
    pub inferred: Option<String>,
    /// Pairs of equal k-grams not looked at one by one, because both documents repeat them too often.
    pub repeats: u64,
}

/// A pair of matching spans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassageReport {
    /// In the query document.
    pub query: SpanReport,
    /// In the stored document.
    pub document: SpanReport,
    /// Symbols of the query it covers.
    pub symbols: u64,
    /// The share of the symbols of the longer span that are equal, in order; null where they were not compared.
    pub agreement: Option<f64>,
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
            weight: match answer.weight {
                Weight::None => "none".into(),
                Weight::Idf => "idf".into(),
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
            boilerplate: answer.boilerplate,
            common: answer.common,
            quoted: answer.quoted,
            phrases: answer.phrases,
            corpus_containment: answer.corpus_containment,
            matching_documents: answer.matching_documents,
            below: answer.below,
            ignored: answer.ignored.iter().map(IgnoredReport::new).collect(),
            matches: answer.matches.iter().map(MatchReport::new).collect(),
        }
    }
}

impl IgnoredReport {
    fn new(ignored: &Ignored) -> Self {
        let because = match ignored.because {
            IgnoredBecause::Boilerplate => "boilerplate",
            IgnoredBecause::Common => "common",
            IgnoredBecause::Quoted => "quoted",
            IgnoredBecause::Phrase => "phrase",
        };
        Self { query: SpanReport::new(ignored.query, ignored.query_lines), because: because.into() }
    }
}

impl SpanReport {
    fn new(span: Span, lines: (u64, u64)) -> Self {
        Self { start: span.start, end: span.end, lines: [lines.0, lines.1] }
    }
}

impl MatchReport {
    fn new(found: &Match) -> Self {
        Self {
            document: found.document.clone(),
            id: found.id,
            document_bytes: found.document_bytes,
            document_symbols: found.document_symbols,
            shared: found.shared,
            score: found.score,
            containment: found.containment,
            document_containment: found.document_containment,
            resemblance: found.resemblance,
            interval: found.interval.map(|(low, high)| [low, high]),
            estimated: found.estimated.iter().map(|&measure| name_of(measure).into()).collect(),
            identical: found.identical,
            coverage: found.coverage,
            passages: found.passages.iter().map(PassageReport::new).collect(),
            passages_left_out: found.passages_left_out,
            metadata: found.metadata.iter().cloned().collect(),
            inferred: found.inferred.map(str::to_owned),
            repeats: found.repeats,
        }
    }
}

/// The name of the field of a measure.
fn name_of(measure: Measure) -> &'static str {
    match measure {
        Measure::Score => "score",
        Measure::Containment => "containment",
        Measure::DocumentContainment => "document_containment",
        Measure::Resemblance => "resemblance",
    }
}

impl PassageReport {
    fn new(passage: &Passage) -> Self {
        Self {
            query: SpanReport::new(passage.query, passage.query_lines),
            document: SpanReport::new(passage.document, passage.document_lines),
            symbols: passage.symbols,
            agreement: passage.agreement,
            exact: passage.exact,
        }
    }
}
