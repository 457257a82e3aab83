//! What is told of a database and its documents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::database::{DatabaseStats, DocumentInfo};
use crate::document::Digest;
use crate::hash_counts::HashCounts;
use crate::profile::Profile;
use crate::store::{Level, LostDocument, Problem, Repair, Verification};

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
    /// Which part of the file `source` it is, where it is not the whole file; empty for a container or compressed file as it
    /// is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The format it was read in.
    pub format: String,
    /// What the user or its container said of it.
    pub metadata: BTreeMap<String, String>,
    /// Whether it is boilerplate.
    pub boilerplate: bool,
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
    pub profile: Profile,
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
    /// Distinct hashes by the number of documents that hold them; only with `--hashes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub df: Option<Vec<DfReport>>,
    /// Postings held, those of deleted documents included.
    pub postings: u64,
    /// Deleted documents whose postings are still held.
    pub deleted: u64,
    /// Sorted runs of postings.
    pub runs: u64,
    /// The postings of each run, most first.
    pub run_postings: Vec<u64>,
    /// The store's tables, by level.
    pub levels: Vec<LevelReport>,
    /// How much of the store this process holds in memory.
    pub cache: CacheReport,
    /// Bytes the database takes, by part.
    pub stored: Vec<StoredBytes>,
    /// When the last commit was made, in seconds since 1970.
    pub committed_at: Option<i64>,
}

/// Distinct hashes of a range of df.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DfReport {
    /// The least df of the range.
    pub from: u64,
    /// The greatest.
    pub to: u64,
    /// Distinct hashes that so many documents hold.
    pub hashes: u64,
}

/// One level of the store's tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelReport {
    /// Its number; tables of level 0 have not been sorted in yet.
    pub level: u32,
    /// Its tables.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The cache of blocks of this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheReport {
    /// Bytes held.
    pub bytes: u64,
    /// The most it may hold.
    pub capacity: u64,
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
    /// Stored texts checked.
    pub texts: u64,
    /// What is wrong, or was before the repair; empty where nothing is.
    pub problems: Vec<ProblemReport>,
    /// What was done about it; only with `--repair`, and then the counts above are those after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairReport>,
}

/// What a repair has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairReport {
    /// Documents whose fingerprints were made again from their text.
    pub read_again: Vec<String>,
    /// Documents that could not be rebuilt and are in the database no more.
    pub lost: Vec<LostDocumentReport>,
    /// Commits after the last one that could be read: what they added or removed may be lost in part.
    pub commits_lost: u64,
    /// Documents that are in the database, but whose stored texts are not.
    #[serde(default)]
    pub texts_lost: Vec<String>,
}

impl RepairReport {
    /// True where everything is there again.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty() && self.commits_lost == 0 && self.texts_lost.is_empty()
    }
}

/// A document that could not be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LostDocumentReport {
    /// Its name; null where that is lost too.
    pub name: Option<String>,
    /// The absolute path it was read from, where that is known.
    pub source: Option<String>,
    /// Why it could not be read again.
    pub reason: String,
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
            texts: found.texts,
            problems: found.problems.iter().map(problem).collect(),
            repair: None,
        }
    }

    /// The report of a repair.
    #[must_use]
    pub fn of_repair(repair: &Repair) -> Self {
        let lost = |lost: &LostDocument| LostDocumentReport {
            name: lost.name.clone(),
            source: lost.source.clone(),
            reason: lost.reason.clone(),
        };
        let done = RepairReport {
            read_again: repair.read_again.clone(),
            lost: repair.lost.iter().map(lost).collect(),
            commits_lost: repair.commits_lost,
            texts_lost: repair.texts_lost.clone(),
        };
        let found = Verification { problems: repair.problems.clone(), ..repair.now.clone() };
        Self { repair: Some(done), ..Self::new(&found) }
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
            member: info.member,
            format: info.format,
            metadata: info.metadata.into_iter().collect(),
            boilerplate: info.boilerplate,
            identical_to: Vec::new(),
        }
    }
}

impl StatsReport {
    /// The report of a database, with the counts of its hashes where they were taken.
    #[must_use]
    pub fn new(stats: DatabaseStats, hashes: Option<HashCounts>) -> Self {
        let level = |level: &Level| LevelReport { level: level.level, files: level.files, bytes: level.bytes };
        Self {
            schema: "fpdb.stats/1".into(),
            path: stats.path.display().to_string(),
            format: stats.format,
            profile: stats.profile,
            documents: stats.documents,
            bytes: stats.bytes,
            symbols: stats.symbols,
            fingerprints: stats.fingerprints,
            distinct: hashes.as_ref().map(|hashes| hashes.distinct),
            singletons: hashes.as_ref().map(|hashes| hashes.singletons),
            df: hashes.map(|hashes| df_report(&hashes)),
            postings: stats.postings,
            deleted: stats.deleted,
            runs: stats.runs,
            run_postings: stats.run_postings,
            levels: stats.levels.iter().map(level).collect(),
            cache: CacheReport { bytes: stats.cached_bytes, capacity: stats.cache_bytes },
            stored: stats
                .stored_bytes
                .into_iter()
                .map(|(part, bytes)| StoredBytes { part: part.into(), bytes })
                .collect(),
            committed_at: stats.committed_at,
        }
    }
}

fn df_report(hashes: &HashCounts) -> Vec<DfReport> {
    let report = |(index, &hashes)| {
        let (from, to) = HashCounts::df_range(index);
        DfReport { from, to, hashes }
    };
    hashes.by_df.iter().enumerate().map(report).collect()
}

fn hexadecimal(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
