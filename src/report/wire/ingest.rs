//! What an ingest answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::ingest::IngestSummary;
use crate::schema::is_zero;

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
    /// Stored documents deleted because the container they came from no longer holds them.
    #[serde(default)]
    pub removed: u64,
    /// Added or replacing documents whose content another stored document has.
    pub identical: u64,
    /// Documents that could not be read.
    #[serde(default)]
    pub failures: u64,
    /// The first thousand of them.
    pub failed: Vec<Failure>,
    /// How much was left out: binary files, links, pipes and the like.
    #[serde(default)]
    pub skips: u64,
    /// The first thousand of that.
    pub skipped: Vec<SkippedFile>,
    /// Bytes of the added and replacing documents.
    pub bytes: u64,
    /// Their symbols.
    pub symbols: u64,
    /// Their fingerprints.
    pub fingerprints: u64,
    /// Sequences in them that were no characters in the document's encoding.
    pub undecodable: u64,
    /// Documents that had some.
    pub undecodable_documents: u64,
    /// How many of the added and replacing documents are in each format.
    pub formats: BTreeMap<String, u64>,
    /// Rows of the metadata table that no document matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<String>,
    /// Stored documents, unchanged, that are boilerplate from now on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub made_boilerplate: u64,
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

impl Failure {
    /// The failure of the document `name`.
    #[must_use]
    pub fn of(name: &str, error: &Error) -> Self {
        Self { name: name.to_owned(), error: error.chain() }
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
            removed: summary.removed,
            identical: summary.identical,
            failures: summary.failures,
            failed: summary.failed.iter().map(|(name, error)| Failure::of(name, error)).collect(),
            skips: summary.skips,
            skipped: summary
                .skipped
                .iter()
                .map(|(name, reason)| SkippedFile { name: name.clone(), reason: (*reason).into() })
                .collect(),
            bytes: summary.bytes,
            symbols: summary.symbols,
            fingerprints: summary.fingerprints,
            undecodable: summary.undecodable,
            undecodable_documents: summary.undecodable_documents,
            formats: summary.formats.clone(),
            unmatched: summary.unmatched.clone(),
            made_boilerplate: summary.made_boilerplate,
            interrupted: summary.interrupted,
            seconds: (seconds * 1000.0).round() / 1000.0,
        }
    }
}
