//! Assemble: moves a finished build into a database, and deletes the build.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::folder::{INPUT, MANIFEST, PART, PARTS, PLAN, Staging};
use super::json_file::{read_json, write_whole};
use super::manifest::{Manifest, Totals};
use super::parts::{self, PartRecord};
use crate::ingest::{self, IngestOptions};
use fpdb_host::error::{Error, Result};
use fpdb_host::failure::Failure;
use fpdb_host::progress::Task;
use fpdb_host::schema::{Answer, Schema, is_zero};
use fpdb_store::{Assembled, Store, StoreOptions};

/// The folder in which the build becomes its own database, if the target database already has documents or
/// keeps contents out.
const DATABASE: &str = "database";

/// The file of an assembly's answer, written before the assembly's last commit. The file shows that a build
/// was assembled and not yet deleted. A mere copy of a build has no such file.
const ASSEMBLY: &str = "assembly.json";

/// The result of an assembly. Also its JSON (`fpdb.assemble/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Assembly {
    pub(crate) schema: Schema<Self>,
    /// The identifier of the build: 32 hexadecimal digits.
    pub generation: String,
    /// Number of documents in the build.
    pub documents: u64,
    /// Number of these documents that are new in the database.
    pub added: u64,
    /// Number of these documents that were stored already.
    pub unchanged: u64,
    /// Number of these documents that replaced a stored document of the same name.
    pub replaced: u64,
    /// Number of these documents that were skipped because their contents are kept out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_out: u64,
    /// Number of stored documents that were deleted because their new versions are kept out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u64,
    /// Number of documents that the build could not read.
    pub failures: u64,
    /// The first documents that could not be read.
    pub failed: Vec<Failure>,
    /// Total size of the documents in bytes.
    pub bytes: u64,
    /// Total symbols of the documents.
    pub symbols: u64,
    /// Total fingerprints of the documents.
    pub fingerprints: u64,
    /// Number of sorted files that the database took over.
    pub files: u64,
    /// Total size of these files in bytes.
    pub file_bytes: u64,
    /// Wall-clock time in seconds, to the millisecond.
    pub seconds: f64,
}

impl Answer for Assembly {
    const SCHEMA: &'static str = "fpdb.assemble/1";
}

/// Moves the build at `root` into the store.
pub(crate) fn assemble(store: &Store, root: &Path, task: &Task<'_>) -> Result<Assembly> {
    let started = Instant::now();
    let staging = Staging::open(root)?;
    if staging.profile() != store.profile() {
        let (other, stored) = (*staging.profile(), *store.profile());
        let path = root.to_owned();
        return Err(Error::OtherProfile { path, other: Box::new(other), stored: Box::new(stored) });
    }
    let damaged_plan = || Error::DamagedBuild { path: root.join(PLAN), detail: "its generation is none" };
    let generation = staging.plan.generation_bytes().ok_or_else(damaged_plan)?;
    let mut assembly = if store.has_assembled(&generation)? {
        let begun = read_json::<Assembly>(&root.join(ASSEMBLY))?;
        let begun = begun.filter(|assembly| assembly.generation == staging.plan.generation);
        begun.ok_or_else(|| Error::AlreadyAssembled { generation: staging.plan.generation.clone() })?
    } else {
        add_to_store(&staging, generation, store, task)?
    };
    consume(root)?;
    assembly.seconds = (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
    Ok(assembly)
}

/// Adds a build that is not in the store.
fn add_to_store(staging: &Staging, generation: [u8; 16], store: &Store, task: &Task<'_>) -> Result<Assembly> {
    let (build, file_bytes) = verified(staging, generation, store, task)?;
    let totals = build.documents.clone();
    let mut assembly = Assembly {
        schema: Schema::new(),
        generation: staging.plan.generation.clone(),
        documents: totals.documents,
        added: totals.documents,
        unchanged: 0,
        replaced: 0,
        kept_out: 0,
        removed: 0,
        failures: totals.failed,
        failed: totals.failures,
        bytes: totals.bytes,
        symbols: totals.symbols,
        fingerprints: totals.fingerprints,
        files: build.files.len() as u64,
        file_bytes,
        seconds: 0.0,
    };
    let path = staging.root.join(ASSEMBLY);
    if store.is_fresh()? {
        write_whole(&path, &assembly)?;
        store.take_over(&build, task)?;
    } else {
        let other = database_of(staging, &build, store, task)?;
        let merged = ingest::merge(store, &other, &IngestOptions::default(), task)?;
        if merged.interrupted {
            return Err(Error::Stopped);
        }
        (assembly.added, assembly.unchanged, assembly.replaced) = (merged.added, merged.unchanged, merged.replaced);
        // A merge skips only contents that are kept out.
        (assembly.kept_out, assembly.removed) = (merged.skips, merged.removed);
        write_whole(&path, &assembly)?;
        store.note_assembled(&generation)?;
    }
    Ok(assembly)
}

/// Reads the manifest, and verifies every file that the manifest names. Returns the build, and the total
/// bytes of the files.
fn verified(staging: &Staging, generation: [u8; 16], store: &Store, task: &Task<'_>) -> Result<(Assembled, u64)> {
    let path = staging.root.join(MANIFEST);
    let Some(manifest) = read_json::<Manifest>(&path)? else {
        let (parts, there) = (u64::from(staging.part_count()), parts::finished(staging)?.len() as u64);
        return Err(Error::UnfinishedBuild { path: staging.root.clone(), missing: parts - there, parts });
    };
    if manifest.generation != staging.plan.generation {
        return Err(Error::DamagedBuild { path, detail: "it is of another build" });
    }
    let mut records: BTreeMap<u32, PartRecord> = BTreeMap::new();
    for (&part, folder) in &manifest.parts {
        let path = staging.root.join(PARTS).join(folder).join(PART);
        let damaged = |detail| Error::DamagedBuild { path: path.clone(), detail };
        let record = read_json::<PartRecord>(&path)?.ok_or_else(|| damaged("it is missing"))?;
        if record.part != part || record.generation != staging.plan.generation {
            return Err(damaged("it is of another part"));
        }
        records.insert(part, record);
    }
    let totals = Totals::of(staging, records.values())?;
    let listed = |(part, record): (&u32, &PartRecord)| {
        let folder = staging.root.join(PARTS).join(&manifest.parts[part]);
        record.files.iter().map(|file| (folder.clone(), file.clone())).collect::<Vec<_>>()
    };
    let listed: Vec<_> = records.iter().flat_map(listed).collect();
    let bytes = listed.iter().map(|(_, file)| file.bytes).sum();
    let read = AtomicU64::new(0);
    let files = store.pool().run(|| {
        let verified = listed.par_iter().map(|(folder, file)| {
            let verified = file.verified(folder)?;
            task.step("bytes verified", read.fetch_add(file.bytes, Ordering::Relaxed) + file.bytes, bytes)?;
            Ok(verified)
        });
        verified.collect::<Result<Vec<_>>>()
    })?;
    let next_document = staging.plan.documents;
    Ok((Assembled { generation, next_document, files, documents: totals.documents, runs: totals.runs }, bytes))
}

/// Makes the build a separate database, beside its parts; or opens the database that an interrupted assembly
/// left.
fn database_of(staging: &Staging, build: &Assembled, store: &Store, task: &Task<'_>) -> Result<Store> {
    let path = staging.root.join(DATABASE);
    let options = StoreOptions { memory: store.memory(), threads: store.pool().threads(), ..StoreOptions::default() };
    let database = match Store::open_writer(&path, &options) {
        Err(Error::NoDatabase { .. }) => Store::create(&path, staging.profile(), &options)?,
        opened => opened?,
    };
    if !database.has_assembled(&build.generation)? {
        database.take_over(build, task)?;
    }
    Ok(database)
}

/// Deletes a build that was added to a database. Deletes the plan and the answer last, so that the same call
/// can continue until then.
fn consume(root: &Path) -> Result<()> {
    for name in [MANIFEST, PARTS, DATABASE, INPUT, PLAN, ASSEMBLY] {
        let path = root.join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(Error::io("remove", path)(error)),
            _ => {}
        }
    }
    // Fails if the folder holds other files, which belong to the user.
    let _ = fs::remove_dir(root);
    Ok(())
}
