//! Report: the answer of a search for repeated passages. Its rows and summary are serialized as JSON.

use serde::{Deserialize, Serialize};

use fpdb_apply::report_lines;
use fpdb_host::schema::{Answer, Schema, is_false};
use fpdb_kernel::document::{Digest, DocId, hexadecimal};

/// A span of a document that occurs earlier. Also its JSON (`fpdb.repeat/1`).
///
/// The spans of a document ascend and do not overlap. Two spans touch if a longer repeated run has several
/// sources. One of these spans can then have fewer symbols than the minimum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Repeat {
    pub(crate) schema: Schema<Self>,
    /// Name of the document.
    pub document: String,
    /// Id of the document.
    pub id: DocId,
    /// Byte offset of the span's first byte in the original document.
    pub start: u64,
    /// Byte offset after the span's last byte.
    pub end: u64,
    /// True if these offsets refer to text extracted from the document (from a PDF, say).
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
    /// Number of symbols in the span.
    pub symbols: u64,
    /// The digest of the document's content.
    #[serde(with = "hexadecimal")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub digest: Digest,
    /// The earlier occurrence.
    pub of: RepeatOf,
    /// True if both occurrences were compared symbol by symbol.
    pub exact: bool,
}

impl Answer for Repeat {
    const SCHEMA: &'static str = report_lines::REPEAT;
}

/// The earlier occurrence of a repeated span. It is the first occurrence or, in a run whose period is shorter
/// than the minimum, the nearest earlier occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RepeatOf {
    /// Name of the earlier document.
    pub document: String,
    /// Id of the earlier document.
    pub id: DocId,
    /// Byte offset of the first byte in that document.
    pub start: u64,
    /// Byte offset after the last byte.
    pub end: u64,
    /// True if these offsets refer to text extracted from that document.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
    /// The digest of that document's content.
    #[serde(with = "hexadecimal")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub digest: Digest,
}

/// A document that was not compared. None of its spans are listed, and no span of another document is listed
/// because of it. Also its JSON (`fpdb.repeat.uncompared/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Uncompared {
    pub(crate) schema: Schema<Self>,
    /// Name of the document.
    pub document: String,
    /// Id of the document.
    pub id: DocId,
    /// The reason why its text is not available.
    pub why: String,
}

impl Answer for Uncompared {
    const SCHEMA: &'static str = report_lines::UNCOMPARED;
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RepeatRow {
    /// A repeated span.
    Repeat(Repeat),
    /// A document that was not compared.
    Uncompared(Uncompared),
}

/// The totals of all repeats. Also its JSON (`fpdb.repeat.summary/1`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RepeatSummary {
    pub(crate) schema: Schema<Self>,
    /// Minimum number of symbols of a repeat.
    pub min_length: u32,
    /// Number of documents, boilerplate excluded.
    pub documents: u64,
    /// Number of documents that were not compared.
    pub uncompared: u64,
    /// Number of documents with repeated spans.
    pub affected: u64,
    /// Number of repeated spans.
    pub repeats: u64,
    /// Total symbols of the compared documents.
    pub symbols: u64,
    /// Total symbols in repeated spans.
    pub repeated_symbols: u64,
    /// Total bytes of all documents.
    pub bytes: u64,
    /// Total bytes in repeated spans.
    pub repeated_bytes: u64,
    /// `repeated_symbols / symbols`, from 0 to 1.
    pub share: f64,
    /// The archives and folders with the most repeated bytes, in descending order; at most 20.
    pub sources: Vec<RepeatSource>,
}

impl Answer for RepeatSummary {
    const SCHEMA: &'static str = report_lines::REPEAT_SUMMARY;
}

/// The repeats of one archive or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RepeatSource {
    /// Name of the archive or folder.
    pub source: String,
    /// Number of documents in the archive or folder.
    pub documents: u64,
    /// Total bytes of these documents.
    pub bytes: u64,
    /// Total bytes in their repeated spans.
    pub repeated_bytes: u64,
}
