//! Facts: what a database says of itself (`fpdb.stats/1`) and of its documents (`fpdb.document/1`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::database::hash_counts::{DfCount, HashCounts};
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
    /// Its number.
    pub id: DocId,
    /// Its name: its path as it was given.
    pub name: String,
    /// The absolute path it was read from; `None` for standard input.
    pub source: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Symbols of the standard form.
    pub symbols: u64,
    /// Lines, as an editor counts them. Records that earlier versions made have the number of newline
    /// characters.
    pub lines: u64,
    /// Selected (hash, position) pairs.
    pub fingerprints: u64,
    /// Distinct hashes among them, |F(d)|.
    pub distinct: u64,
    /// The encoding it was read as.
    pub encoding: String,
    /// Sequences that were no characters in that encoding.
    pub undecodable: u64,
    /// XXH3-128 of its bytes.
    #[serde(with = "hexadecimal")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub digest: Digest,
    /// When it was ingested, in seconds since 1970.
    pub ingested_at: i64,
    /// Which part of the file `source` it is, as its name says it; `None` for the whole file, empty for a
    /// container or compressed file as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The name of the format it was read in.
    pub format: String,
    /// True if offsets and lines of answers are those of the text extracted from it (PDF, say).
    #[serde(default, skip_serializing_if = "is_false")]
    pub extracted: bool,
    /// Names and values that the user or its container gave.
    pub metadata: BTreeMap<String, String>,
    /// True if it is boilerplate: it never matches, and its hashes are ignored in other documents.
    pub boilerplate: bool,
    /// Names of other documents with the same bytes; empty unless they were looked for, with
    /// [`Database::identical_to`](crate::Database::identical_to).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identical_to: Vec<String>,
    /// k-grams, repeated ones counted each time.
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
    /// Its folder.
    #[serde(serialize_with = "as_shown")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub path: PathBuf,
    /// The version of its format.
    pub format: u32,
    /// Its settings.
    pub profile: Profile,
    /// Documents, without deleted ones.
    pub documents: u64,
    /// How many of these are boilerplate.
    #[serde(default)]
    pub boilerplate: u64,
    /// Bytes of these documents.
    pub bytes: u64,
    /// Symbols of these documents.
    pub symbols: u64,
    /// Fingerprints of these documents.
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
    /// Postings held, those of deleted documents included.
    pub postings: u64,
    /// Documents that were deleted, and whose postings may still take space. Commits and compacting clear
    /// them away.
    pub deleted: u64,
    /// Sorted runs of postings; a lookup visits each.
    pub runs: u64,
    /// The postings of each run, most first.
    pub run_postings: Vec<u64>,
    /// Blocks that a fresh process reads for each hash of a query of 10 kB, rounded to 0.01. One run gives
    /// 1.0 to 1.1. From [`MANY_BLOCKS`](Self::MANY_BLOCKS) on, a compaction is advised.
    pub cold_blocks: f64,
    /// The engine's tables, by level; level 0 is what has not been sorted in yet.
    pub levels: Vec<Level>,
    /// The cache of blocks. It belongs to this open database alone.
    pub cache: CacheUse,
    /// Bytes on disk, by part.
    pub stored: Vec<StoredPart>,
    /// When the last commit was made, in seconds since 1970; `None` if there was none.
    pub committed_at: Option<i64>,
    /// The files and folders for which the host [remembers](crate::DatabaseWriter::remember) settings, by
    /// path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<RememberedSource>,
    /// The damaged stores that repairs have put aside. They are not in [`Self::stored`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged_stores: Vec<DamagedStore>,
}

impl Answer for DatabaseStats {
    const SCHEMA: &'static str = "fpdb.stats/1";
}

/// A file or folder, and how the host reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RememberedSource {
    /// Its absolute path.
    pub path: String,
    /// The settings, in the host's words.
    pub settings: Vec<String>,
}

/// How much of a database is held in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CacheUse {
    /// Bytes held.
    pub bytes: u64,
    /// The most it may hold.
    pub capacity: u64,
}

/// The bytes of one part of a database on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StoredPart {
    /// The part.
    pub part: Cow<'static, str>,
    /// Its bytes.
    pub bytes: u64,
}

impl RememberedSource {
    pub(super) fn of(SourceRecord { path, settings }: SourceRecord) -> Self {
        Self { path, settings }
    }
}

impl DatabaseStats {
    /// The [`cold_blocks`](Self::cold_blocks) from which on a compaction is advised.
    pub const MANY_BLOCKS: f64 = MANY_BLOCKS;

    /// The same with the counts of distinct hashes.
    pub(super) fn with_hashes(self, counts: HashCounts) -> Self {
        let HashCounts { distinct, singletons, df } = counts;
        Self { distinct: Some(distinct), singletons: Some(singletons), df: Some(df), ..self }
    }

    /// Bytes on disk, without the engine's logs, which come and go by themselves.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.stored.iter().filter(|part| part.part != LOGS).map(|part| part.bytes).sum()
    }
}

/// A path as people read it: JSON has no form for one that is not UTF-8.
fn as_shown<S: serde::Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

impl DocumentInfo {
    /// From the record of a document.
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
            member: record.member,
            format: record.format,
            extracted: record.extracted,
            metadata: record.metadata.into_iter().collect(),
            boilerplate: record.boilerplate,
            identical_to: Vec::new(),
        }
    }
}
