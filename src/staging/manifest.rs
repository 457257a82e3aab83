//! Manifest: the parts of a finished build, and their totals.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::folder::{MANIFEST, Staging};
use super::json_file::write_whole;
use super::parts::{self, PartRecord};
use fpdb_host::error::{Error, Result};
use fpdb_host::failure::Failure;
use fpdb_host::schema::{Answer, Schema};
use fpdb_store::{PartContents, PartKind};

/// The content of the file `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    schema: Schema<Self>,
    pub(super) generation: String,
    /// The folders of the parts that have rows.
    pub(super) parts: BTreeMap<u32, String>,
}

impl Answer for Manifest {
    const SCHEMA: &'static str = "fpdb.manifest/1";
}

/// The result of a build. Also its JSON (`fpdb.build/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StagingSummary {
    pub(crate) schema: Schema<Self>,
    /// The identifier of the build: 32 hexadecimal digits.
    pub generation: String,
    /// Number of documents read.
    pub documents: u64,
    /// Number of documents that could not be read.
    pub failures: u64,
    /// The first documents that could not be read.
    pub failed: Vec<Failure>,
    /// Total size of the documents in bytes.
    pub bytes: u64,
    /// Total symbols of the documents.
    pub symbols: u64,
    /// Total fingerprints of the documents.
    pub fingerprints: u64,
    /// Number of parts that have rows.
    pub parts: u64,
    /// Total size of their files in bytes.
    pub staged_bytes: u64,
}

impl Answer for StagingSummary {
    const SCHEMA: &'static str = "fpdb.build/1";
}

/// The totals of a build's parts.
pub(super) struct Totals {
    pub(super) documents: PartContents,
    pub(super) runs: BTreeMap<u32, PartContents>,
}

impl Totals {
    /// # Errors
    /// [`Error::IncoherentBuild`] if rows were lost or repeated.
    pub(super) fn of<'a>(staging: &Staging, records: impl Iterator<Item = &'a PartRecord>) -> Result<Self> {
        let (mut documents, mut postings) = (PartContents::default(), PartContents::default());
        let (mut names, mut digests) = (PartContents::default(), PartContents::default());
        let mut runs: BTreeMap<u32, PartContents> = BTreeMap::new();
        for PartRecord { part, contents, .. } in records {
            match staging.layout.kind(*part) {
                Some(PartKind::Postings { run }) => {
                    runs.entry(run).or_default().add(contents);
                    postings.add(contents);
                }
                Some(PartKind::Documents) => documents.add(contents),
                Some(PartKind::Names) => names.add(contents),
                Some(PartKind::Digests) => digests.add(contents),
                None => {}
            }
        }
        let incoherent =
            |what, found, expected| Error::IncoherentBuild { path: staging.root.clone(), what, found, expected };
        let planned = u64::from(staging.plan.documents);
        for (what, found, expected) in [
            ("documents", documents.documents + documents.failed, planned),
            ("postings", postings.postings, documents.fingerprints),
            ("names", names.rows, documents.documents),
            ("digests", digests.rows, documents.documents),
            ("as the sum of postings", postings.sum, documents.sum),
            ("as the sum of names", names.name_sum, documents.name_sum),
            ("as the sum of digests", digests.digest_sum, documents.digest_sum),
        ] {
            if found != expected {
                return Err(incoherent(what, found, expected));
            }
        }
        Ok(Self { documents, runs })
    }
}

impl Staging {
    /// Prepares the build for assembly. Call it once the engine has written all parts that have rows.
    ///
    /// # Errors
    /// [`Error::IncoherentBuild`] if rows were lost or repeated; [`Error::DamagedBuild`]; errors from reading
    /// or writing the folder.
    pub fn finish(&self) -> Result<StagingSummary> {
        let staging = self;
        let found = parts::finished(staging)?;
        let totals = Totals::of(staging, found.values().map(|(_, record)| record))?;
        let folder_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let manifest = Manifest {
            schema: Schema::new(),
            generation: staging.generation().to_owned(),
            parts: found.iter().map(|(&part, (path, _))| (part, folder_of(path))).collect(),
        };
        write_whole(&staging.root.join(MANIFEST), &manifest)?;
        let PartContents { documents, failed, failures, bytes, symbols, fingerprints, .. } = totals.documents;
        let files = found.values().flat_map(|(_, record)| &record.files);
        Ok(StagingSummary {
            schema: Schema::new(),
            generation: manifest.generation,
            documents,
            failures: failed,
            failed: failures,
            bytes,
            symbols,
            fingerprints,
            parts: found.len() as u64,
            staged_bytes: files.map(|file| file.bytes).sum(),
        })
    }
}
