//! Report: what a search for repeated passages answers. Each row and the summary are also their JSON.

use serde::{Deserialize, Serialize};

use fpdb_host::schema::{Answer, Schema, is_false};
use fpdb_kernel::document::{Digest, DocId, hexadecimal};

/// A span of a document that occurs earlier. Also its JSON (`fpdb.repeat/1`).
///
/// The spans of a document are ascending and no symbol is in two of them. Where two touch, a longer run has several sources; one of
/// them can then have fewer symbols than were asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repeat {
    pub(crate) schema: Schema<Self>,
    /// The document.
    pub document: String,
    /// Its number.
    pub id: DocId,
    /// Byte offset of its first byte in the original document.
    pub start: u64,
    /// Byte offset after its last byte.
    pub end: u64,
    /// True if these offsets are of the text extracted from the document (PDF, say).
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
    /// Its symbols.
    pub symbols: u64,
    /// The digest of the document's content.
    #[serde(with = "hexadecimal")]
    pub digest: Digest,
    /// The earlier occurrence.
    pub of: RepeatOf,
    /// True if it was compared symbol by symbol.
    pub exact: bool,
}

impl Answer for Repeat {
    const SCHEMA: &'static str = "fpdb.repeat/1";
}

/// The first occurrence of what is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RepeatOf {
    /// The document it is in.
    pub document: String,
    /// The number of that document.
    pub id: DocId,
    /// Byte offset of its first byte there.
    pub start: u64,
    /// Byte offset after its last byte.
    pub end: u64,
    /// True if these offsets are of the text extracted from that document.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
    /// The digest of that document's content.
    #[serde(with = "hexadecimal")]
    pub digest: Digest,
}

/// A document that was not compared: nothing of it is listed, nor is anything of others on account of it. Also its JSON
/// (`fpdb.repeat.uncompared/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Uncompared {
    pub(crate) schema: Schema<Self>,
    /// The document.
    pub document: String,
    /// Its number.
    pub id: DocId,
    /// Why its text cannot be had.
    pub why: String,
}

impl Answer for Uncompared {
    const SCHEMA: &'static str = "fpdb.repeat.uncompared/1";
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RepeatRow {
    /// A span that repeats.
    Repeat(Repeat),
    /// A document that was not compared.
    Uncompared(Uncompared),
}

/// The totals of all repeats. Also its JSON (`fpdb.repeat.summary/1`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RepeatSummary {
    pub(crate) schema: Schema<Self>,
    /// The fewest symbols that count as a repeat.
    pub min_length: u32,
    /// All documents but boilerplate.
    pub documents: u64,
    /// Documents that were not compared.
    pub uncompared: u64,
    /// Documents with repeated spans.
    pub affected: u64,
    /// Spans that repeat.
    pub repeats: u64,
    /// Symbols of the documents that were compared.
    pub symbols: u64,
    /// Symbols in repeated spans.
    pub repeated_symbols: u64,
    /// Bytes of all documents.
    pub bytes: u64,
    /// Bytes in repeated spans.
    pub repeated_bytes: u64,
    /// `repeated_symbols / symbols`.
    pub share: f64,
    /// The archives and folders in which most bytes repeat, most first; no more than 20.
    pub sources: Vec<RepeatSource>,
}

impl Answer for RepeatSummary {
    const SCHEMA: &'static str = "fpdb.repeat.summary/1";
}

/// The repeats of one archive or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RepeatSource {
    /// Its name.
    pub source: String,
    /// Its documents.
    pub documents: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes in repeated spans.
    pub repeated_bytes: u64,
}
