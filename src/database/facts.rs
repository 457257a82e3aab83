//! Facts: what a database tells of itself and of its documents.

use std::path::PathBuf;

use crate::document::{Digest, DocId, Modified};
use crate::profile::Profile;
use crate::store::{DocumentRecord, Level};

/// What is kept of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentInfo {
    /// Its number.
    pub id: DocId,
    /// Its name: its path as it was given.
    pub name: String,
    /// The absolute path it was read from; `None` for standard input.
    pub source: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// When its file was last written, where that vouches for the content.
    pub modified: Option<Modified>,
    /// XXH3-128 of its bytes.
    pub digest: Digest,
    /// The encoding it was read as.
    pub encoding: String,
    /// Sequences that were no characters in that encoding.
    pub undecodable: u64,
    /// Newline characters.
    pub lines: u64,
    /// Symbols of the standard form.
    pub symbols: u64,
    /// k-grams, repeated ones counted each time.
    pub kgrams: u64,
    /// Selected (hash, position) pairs.
    pub fingerprints: u64,
    /// Distinct hashes among them, |F(d)|.
    pub distinct: u64,
    /// When it was ingested, in seconds since 1970.
    pub ingested_at: i64,
    /// Which part of the file `source` it is, as its name says it; `None` for the whole file, empty for a container or
    /// compressed file as it is.
    pub member: Option<String>,
    /// The name of the format it was read in.
    pub format: String,
    /// What the user or its container said of it: names and values, in order.
    pub metadata: Vec<(String, String)>,
    /// Whether it is boilerplate: never a match, its hashes ignored.
    pub boilerplate: bool,
}

/// What a database holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseStats {
    /// Where it is.
    pub path: PathBuf,
    /// The version of its format.
    pub format: u32,
    /// Its settings.
    pub profile: Profile,
    /// Documents, deleted ones not counted, and the sums of their bytes, symbols and fingerprints.
    pub documents: u64,
    /// See `documents`.
    pub bytes: u64,
    /// See `documents`.
    pub symbols: u64,
    /// See `documents`.
    pub fingerprints: u64,
    /// Postings held, those of deleted documents included.
    pub postings: u64,
    /// Deleted documents whose postings are still held.
    pub deleted: u64,
    /// Sorted runs of postings; a lookup visits each.
    pub runs: u64,
    /// The postings of each run, most first.
    pub run_postings: Vec<u64>,
    /// The engine's tables, by level; level 0 is what has not been sorted in yet.
    pub levels: Vec<Level>,
    /// Bytes held in the cache of blocks, and the most it may hold. It belongs to this open database alone.
    pub cached_bytes: u64,
    /// See `cached_bytes`.
    pub cache_bytes: u64,
    /// Bytes on disk, by part.
    pub stored_bytes: Vec<(&'static str, u64)>,
    /// When the last commit was made, in seconds since 1970; `None` where there was none.
    pub committed_at: Option<i64>,
}

impl DocumentInfo {
    /// What the record of a document says.
    pub(super) fn new(id: u32, record: DocumentRecord) -> Self {
        let modified = record.modified();
        Self {
            id: DocId(id),
            name: record.name,
            source: record.source,
            bytes: record.bytes,
            modified,
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
            metadata: record.metadata,
            boilerplate: record.boilerplate,
        }
    }
}
