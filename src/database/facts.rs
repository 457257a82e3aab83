//! Facts about a database (`fpdb.stats/1`) and about its documents (`fpdb.document/1`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::database::hash_counts::{DfCount, HashCounts};
use crate::database::remembered;
use fpdb_host::schema::{Answer, Schema, is_false};
use fpdb_kernel::document::{Digest, DocId, hexadecimal};
use fpdb_kernel::profile::Profile;
use fpdb_store::{DamagedStore, DocumentRecord, LOGS, Level, MANY_BLOCKS, SourceRecord};

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DocumentInfo {
    pub(crate) schema: Schema<Self>,
    /// The document's number.
    pub id: DocId,
    /// The document's name: its path as the user gave it, or the name that the caller gave.
    pub name: String,
    /// The absolute path that the document was read from; `None` for standard input and for a document from
    /// memory.
    pub source: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Symbols of the standard form.
    pub symbols: u64,
    /// Number of lines, as an editor counts them. Records of earlier versions have the number of newlines.
    pub lines: u64,
    /// Selected (hash, position) pairs.
    pub fingerprints: u64,
    /// Number of distinct hashes among its fingerprints, |F(d)|.
    pub distinct: u64,
    /// The encoding in which the document was read.
    pub encoding: String,
    /// Number of byte sequences that are not characters in this encoding.
    pub undecodable: u64,
    /// XXH3-128 of its bytes.
    #[serde(with = "hexadecimal")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub digest: Digest,
    /// The time of its ingest, in seconds since 1970.
    pub ingested_at: i64,
    /// The time of the last change of its file, in seconds since 1970. For a member of a zip or tar archive,
    /// the time that the archive gives. `None` if there is no file, or the file had changed within seconds
    /// before it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<i64>,
    /// The document's place in the file `source`, as the name spells it. `None`: the document is the whole
    /// file. Empty: a container or compressed file that was read as one document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The name of its format.
    pub format: String,
    /// True if offsets and lines of answers refer to the extracted text, as for PDF.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
    /// Metadata from the user or the container.
    pub metadata: BTreeMap<String, String>,
    /// True if the document is boilerplate: it never matches, and its hashes are ignored in other documents.
    pub boilerplate: bool,
    /// Names of other documents with the same bytes. Empty unless they were requested with
    /// [`Database::identical_to`](crate::Database::identical_to).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identical_to: Vec<String>,
    /// Number of k-grams, with repetitions.
    #[serde(skip)]
    pub kgrams: u64,
}

impl Answer for DocumentInfo {
    const SCHEMA: &'static str = "fpdb.document/1";
}

/// The size and the figures of a database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DatabaseStats {
    pub(crate) schema: Schema<Self>,
    /// The folder of the database.
    #[serde(serialize_with = "as_shown")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub path: PathBuf,
    /// A random text that identifies the database. Its copies and restored backups have the same text.
    pub database_id: String,
    /// The version of the disk format.
    pub format: u32,
    /// The settings of the database.
    pub profile: Profile,
    /// Documents, without deleted ones.
    pub documents: u64,
    /// Number of boilerplate documents.
    #[serde(default)]
    pub boilerplate: u64,
    /// Total bytes of the documents, without deleted ones.
    pub bytes: u64,
    /// Total symbols of the documents, without deleted ones.
    pub symbols: u64,
    /// Total fingerprints of the documents, without deleted ones.
    pub fingerprints: u64,
    /// Distinct hashes in all documents; `None` unless they were counted: see
    /// [`Database::stats_with_hashes`](crate::Database::stats_with_hashes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Hashes with one posting; `None` unless they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub singletons: Option<u64>,
    /// Distinct hashes by df; `None` unless they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub df: Option<Vec<DfCount>>,
    /// Number of stored postings, including those of deleted documents.
    pub postings: u64,
    /// Number of deleted documents whose postings may still take space. Commits and compactions remove such
    /// postings.
    pub deleted: u64,
    /// Number of sorted runs of postings. A lookup visits each.
    pub runs: u64,
    /// Number of postings of each run, in descending order.
    pub run_postings: Vec<u64>,
    /// Number of blocks that a new process reads for each hash of a query of 10 kB, rounded to 0.01. One run
    /// gives 1.0 to 1.1. A compaction is advised from [`MANY_BLOCKS`](Self::MANY_BLOCKS) on.
    pub cold_blocks: f64,
    /// The tables of the engine by level. Tables in level 0 are not merged yet.
    pub levels: Vec<Level>,
    /// The block cache of this open database.
    pub cache: CacheUse,
    /// Bytes on disk, by part.
    pub stored: Vec<StoredPart>,
    /// The time of the last commit, in seconds since 1970; `None` before the first commit.
    pub committed_at: Option<i64>,
    /// The files and folders whose options are [remembered](crate::DatabaseWriter::remember), by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<RememberedSource>,
    /// The contents that are kept out, in order of their digests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_out: Vec<KeptOut>,
    /// The damaged stores that repairs have put aside. They are not in [`Self::stored`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged_stores: Vec<DamagedStore>,
}

impl Answer for DatabaseStats {
    const SCHEMA: &'static str = "fpdb.stats/1";
}

/// A file or folder, with the options that are remembered for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RememberedSource {
    /// The absolute path of the file or folder.
    pub path: String,
    /// The options, as [`Database::remembered`](crate::Database::remembered) returns them.
    pub options: Map<String, Value>,
}

/// A content that was removed for good: an ingest skips documents with the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct KeptOut {
    /// XXH3-128 of the bytes.
    #[serde(with = "hexadecimal")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub digest: Digest,
    /// The first 100 names of the removed documents.
    pub names: Vec<String>,
    /// The time at which the last of these documents was removed, in seconds since 1970.
    pub since: i64,
}

/// The size of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CacheUse {
    /// Bytes held.
    pub bytes: u64,
    /// Maximum bytes that the cache may hold.
    pub capacity: u64,
}

/// The size of one part of a database on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StoredPart {
    /// The name of the part.
    pub part: Cow<'static, str>,
    /// The bytes of the part.
    pub bytes: u64,
}

impl RememberedSource {
    #[doc(hidden)]
    #[must_use]
    pub fn new(path: String, options: Map<String, Value>) -> Self {
        Self { path, options }
    }

    pub(super) fn of(SourceRecord { path, settings }: SourceRecord) -> Self {
        Self::new(path, remembered::options(&settings))
    }
}

impl DatabaseStats {
    /// The number of [`cold_blocks`](Self::cold_blocks) from which a compaction is advised.
    pub const MANY_BLOCKS: f64 = MANY_BLOCKS;

    /// Adds the counts of distinct hashes.
    pub(super) fn with_hashes(self, counts: HashCounts) -> Self {
        let HashCounts { distinct, singletons, df } = counts;
        Self { distinct: Some(distinct), singletons: Some(singletons), df: Some(df), ..self }
    }

    /// Bytes on disk without the logs of the engine, which change on their own.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.stored.iter().filter(|part| part.part != LOGS).map(|part| part.bytes).sum()
    }
}

/// Writes a path as text. JSON cannot hold a path that is not UTF-8.
fn as_shown<S: serde::Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

impl DocumentInfo {
    /// Makes the facts about a document from its record.
    pub(super) fn new(id: u32, record: DocumentRecord) -> Self {
        Self {
            schema: Schema::new(),
            id: DocId(id),
            name: record.name,
            source: record.source,
            bytes: record.bytes,
            digest: record.digest,
            encoding: record.encoding,
            undecodable: record.undecodable,
            lines: record.lines,
            symbols: record.symbols,
            kgrams: record.kgrams,
            fingerprints: record.fingerprints,
            distinct: record.distinct,
            ingested_at: record.ingested_at,
            modified: record.modified.map(|(seconds, _)| seconds),
            member: record.member,
            format: record.format,
            extracted: record.extracted,
            metadata: record.metadata.into_iter().collect(),
            boilerplate: record.boilerplate,
            identical_to: Vec::new(),
        }
    }
}
