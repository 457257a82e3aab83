//! Plan: the division of a build's rows into parts. It is written before the build begins and never changes.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use serde::{Deserialize, Serialize};

use fpdb_host::error::{Error, Result};
use fpdb_host::schema::{Answer, Schema};
use fpdb_host::setters::setters;
use fpdb_kernel::hex;
use fpdb_kernel::profile::Profile;
use fpdb_reading::input::ReadAs;

/// The plan of a build. Also the content of its file `plan.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StagingPlan {
    schema: Schema<Self>,
    pub(super) generation: String,
    /// The name and version of the program that made the plan.
    program: String,
    /// The profile of the database.
    pub profile: Profile,
    pub(super) hash_version: u8,
    /// Number of documents, including those that cannot be read. They are numbered from 0.
    pub documents: u32,
    /// Number of parts of the postings, each a range of hashes.
    pub posting_parts: u32,
    /// Number of parts of the documents. The digests have the same number of parts.
    pub document_parts: u32,
    /// The first name of each part of the names, except the first part; ascending.
    pub name_bounds: Vec<String>,
    /// Heavy hashes, ascending, each with its number of parts. A heavy hash has too many postings for one
    /// reducer, so its postings are divided by document.
    pub heavy: Vec<(u64, u32)>,
    /// The front-end that reads the documents: `auto`, `code` or the name of a format.
    pub front_end: String,
    /// True if the documents' bytes are stored in the database.
    pub store_text: bool,
    /// The columns of the documents: the text, the name, and metadata columns. Empty if the engine has no
    /// columns.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Identifies the documents, in the engine's own way; can be empty. A build continues only with the same
    /// documents.
    #[serde(default)]
    pub input: String,
    /// The start of the build, in seconds since 1970. It is the ingestion time of its documents.
    pub(super) created: i64,
}

impl Answer for StagingPlan {
    const SCHEMA: &'static str = "fpdb.staging/1";
}

/// Maximum number of parts of one kind: each is a folder of files that a database keeps open.
const MOST_PARTS: u32 = 1 << 20;

impl StagingPlan {
    /// A plan for this number of documents, with one part of each kind. Each plan gets a new random number,
    /// its generation.
    #[must_use]
    pub fn new(profile: Profile, documents: u32) -> Self {
        let created = fpdb_host::clock::now();
        // Two random keys of the process, which differ from run to run.
        let half = || RandomState::new().hash_one((created, std::process::id()));
        Self {
            schema: Schema::new(),
            generation: format!("{:016x}{:016x}", half(), half()),
            program: format!("fpdb {}", env!("CARGO_PKG_VERSION")),
            profile,
            hash_version: profile.hash_version(),
            documents,
            posting_parts: 1,
            document_parts: 1,
            name_bounds: Vec::new(),
            heavy: Vec::new(),
            front_end: "auto".into(),
            store_text: false,
            columns: Vec::new(),
            input: String::new(),
            created,
        }
    }

    setters! {
        posting_parts: u32,
        document_parts: u32,
        name_bounds: Vec<String>,
        heavy: Vec<(u64, u32)>,
        front_end: String,
        store_text: bool,
        columns: Vec<String>,
        input: String,
    }

    /// True if the other plan makes the same parts.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let Self { generation, created, program, .. } = self.clone();
        Self { generation, created, program, ..other.clone() } == *self
    }

    pub(super) fn check(&self) -> Result<()> {
        let invalid = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
        for (name, parts) in
            [("the parts of postings", self.posting_parts), ("the parts of documents", self.document_parts)]
        {
            if !(1..=MOST_PARTS).contains(&parts) {
                return invalid(name, parts.to_string(), "a number from 1 to 1,048,576");
            }
        }
        if !self.name_bounds.is_sorted_by(|one, other| one < other) || self.name_bounds.len() >= MOST_PARTS as usize {
            return invalid("the bounds of names", "not in order".into(), "names that ascend, each once");
        }
        let splits: u64 = self.heavy.iter().map(|&(_, parts)| u64::from(parts)).sum();
        if !self.heavy.is_sorted_by(|one, other| one.0 < other.0)
            || self.heavy.iter().any(|&(_, parts)| parts < 2)
            || splits > u64::from(MOST_PARTS)
        {
            return invalid("heavy hashes", "not in order".into(), "hashes that ascend, each once, in 2 parts or more");
        }
        if self.generation_bytes().is_none() {
            return invalid("the generation", self.generation.clone(), "32 hexadecimal digits");
        }
        self.read_as().map(drop)
    }

    /// The front-end that reads the documents.
    pub(super) fn read_as(&self) -> Result<ReadAs> {
        self.front_end.parse().map_err(|_| Error::InvalidParameter {
            name: "the front-end",
            value: self.front_end.clone(),
            expected: "auto, code or the name of a format",
        })
    }

    /// The generation in the database's form; `None` if it is malformed.
    pub(super) fn generation_bytes(&self) -> Option<[u8; 16]> {
        hex::decode(&self.generation)?.try_into().ok()
    }
}
