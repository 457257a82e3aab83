//! Proof: checks, after a run or at any later time, that each removed content still has its survivor.

use std::path::{Path, PathBuf};

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::check::Contents;
use super::files::{self, Facts};
use super::judged::FileVersion;
use super::places;
use super::plan::{ApplyPlan, PlannedDocument, SourceFile, for_each_file};
use super::report::{ParsedReport, ReportedNames};
use crate::stored::StoredDocuments;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::schema::{Answer, Schema, is_zero};
use fpdb_host::setters::setters;
use fpdb_host::spill::{Sorter, TempSpace};
use fpdb_reading::input::{InputLimits, resolved};

/// The places to search for the survivors of a report, and the limits of the search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ProofOptions {
    /// The folder with the copy that [`Action::Write`](super::Action::Write) made. `None`: the original
    /// places.
    pub copy: Option<PathBuf>,
    /// The lists that the copy was made with. The listed documents need no survivors.
    pub lists: Vec<PathBuf>,
    /// Limits on the files that are read.
    pub limits: InputLimits,
    /// An existing folder for data that exceeds the memory. `None`: the system's folder for temporary files.
    pub temp_dir: Option<PathBuf>,
}

impl ProofOptions {
    /// The default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! { copy: Option<PathBuf>, lists: Vec<PathBuf>, limits: InputLimits, temp_dir: Option<PathBuf> }
}

/// A removed content whose survivor is missing. Also its JSON (`fpdb.apply.lost/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Lost {
    pub(crate) schema: Schema<Self>,
    /// Name of the removable document of the report; its content is not in its place.
    pub document: String,
    /// Id of the document.
    pub id: u32,
    /// Name of the survivor in the report.
    pub survivor: String,
    /// Id of the survivor.
    pub survivor_id: u32,
    /// Why the survivor was not found.
    pub reason: String,
}

impl Answer for Lost {
    const SCHEMA: &'static str = "fpdb.apply.lost/1";
}

/// The totals of a proof. Also its JSON (`fpdb.apply.check/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProofSummary {
    pub(crate) schema: Schema<Self>,
    /// Number of removable documents in the report.
    pub documents: u64,
    /// Number of documents whose survivor still has the content that it had when the report was made.
    pub survived: u64,
    /// Number of these documents whose survivor has the same bytes. The others are justified by the rule of
    /// the report.
    pub identical: u64,
    /// Number of documents whose survivor is missing but whose own content still exists.
    pub in_place: u64,
    /// Number of documents whose content and survivor are both missing.
    pub lost: u64,
    /// Number of documents in the copy that the database does not hold as documents of the same file. No
    /// report says anything about these documents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unjudged: u64,
    /// Number of documents and survivors of the report that have another name in the database now. Their
    /// files are searched at their present places.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub renamed: u64,
}

impl Answer for ProofSummary {
    const SCHEMA: &'static str = "fpdb.apply.check/1";
}

/// Reads the survivors of a report, and calls `visit` with each removed document whose survivor is missing.
/// Returns the totals.
///
/// # Errors
/// The errors of `Database::prove_applied`.
pub fn prove(
    stored: &dyn StoredDocuments,
    report: &Path,
    options: &ProofOptions,
    task: &Task<'_>,
    visit: &mut dyn FnMut(Lost) -> Result<()>,
) -> Result<ProofSummary> {
    let temp = TempSpace::new(&options.temp_dir.clone().unwrap_or_else(std::env::temp_dir))?;
    let mut parsed = ParsedReport::read_with(report, &options.lists, stored, &temp, task)?;
    if parsed.passages.is_some() || parsed.is_list {
        return Err(Error::UnsuitedReport { path: parsed.path, lists: "no survivors that could be checked" });
    }
    let listed = parsed.listed.take().unwrap_or_default();
    // The survivors are kept here, because the plan consumes the pairs and knows only documents that the
    // database still holds.
    let mut survivor_of: Vec<(u32, u32)> = Vec::new();
    let mut pairs = Sorter::new(&temp, stored.memory() / 4);
    for pair in std::mem::replace(&mut parsed.pairs, Sorter::new(&temp, 0)).sorted()? {
        let pair = pair?;
        if !listed.contains(pair.remove) {
            survivor_of.push((pair.remove, pair.keep));
        }
        pairs.push(pair)?;
    }
    parsed.pairs = pairs;
    let identical = std::mem::take(&mut parsed.identical);
    let ApplyPlan { sources, entries, renamed, .. } = ApplyPlan::of(stored, parsed, None, &temp, task)?;
    let folder = options.copy.as_deref().map(resolved);
    let contents = Contents { stored, limits: &options.limits, kept_out: None, task };
    let mut there = RoaringBitmap::new();
    let mut reasons: FxHashMap<u32, String> = FxHashMap::default();
    let (mut unjudged, mut read) = (0, RoaringBitmap::new());
    for_each_file(entries, &mut |number, documents| {
        task.step("files checked", number as u64, sources.len() as u64)?;
        let source = &sources[number];
        let found = match &folder {
            Some(folder) => in_copy(&contents, source, documents, &listed, folder).map(|(sound, others)| {
                read.extend(others.is_some().then_some(number as u32));
                unjudged += others.unwrap_or(0);
                sound
            }),
            None => contents.look(source, documents, FileVersion::Ingested).map(|looked| looked.sound),
        };
        let reason = match found {
            Ok(sound) => {
                there.extend(sound);
                "its survivor has changed".to_owned()
            }
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) if files::is_absent(&error) => "the file of its survivor is gone".to_owned(),
            Err(error) => format!("its survivor cannot be read: {}", error.chain()),
        };
        let survivors = documents.iter().filter(|document| !document.is_removable());
        for survivor in survivors.filter(|survivor| !there.contains(survivor.id)) {
            reasons.insert(survivor.id, reason.clone());
        }
        Ok(())
    })?;
    if let Some(folder) = &folder {
        for (number, source) in (0..).zip(&sources).filter(|(number, _)| !read.contains(*number)) {
            task.step("copies looked at", number.into(), sources.len() as u64)?;
            unjudged += unjudged_in(&contents, source, &places::place_of(source, folder))?;
        }
    }
    let mut summary =
        ProofSummary { documents: survivor_of.len() as u64, unjudged, renamed, ..ProofSummary::default() };
    let mut lost = RoaringBitmap::new();
    for (document, survivor) in survivor_of {
        if there.contains(survivor) {
            summary.survived += 1;
            summary.identical += u64::from(identical.contains(document));
        } else if there.contains(document) {
            summary.in_place += 1;
        } else {
            lost.insert(document);
        }
    }
    summary.lost = lost.len();
    if !lost.is_empty() {
        ReportedNames::read(report, &mut |line| {
            if !lost.contains(line.id) {
                return Ok(());
            }
            let reason = match listed.contains(line.survivor_id) {
                true => Some("a list leaves out its survivor".to_owned()),
                false => reasons.get(&line.survivor_id).cloned(),
            };
            let reason = reason.unwrap_or_else(|| "the database no longer holds its survivor".into());
            let ReportedNames { document, id, survivor, survivor_id } = line;
            visit(Lost { schema: Schema::new(), document, id, survivor, survivor_id, reason })
        })?;
    }
    Ok(summary)
}

/// Returns the documents whose contents are in the copy of a file, and the number of documents that the copy
/// holds and the database does not: `None` if the copy was not read. A removable document stays in the copy
/// if its survivor is listed or not copied.
fn in_copy(
    contents: &Contents<'_>,
    source: &SourceFile,
    documents: &[PlannedDocument],
    listed: &RoaringBitmap,
    folder: &Path,
) -> Result<(Vec<u32>, Option<u64>)> {
    let stays = |document: &PlannedDocument| !document.is_removable() || listed.contains(document.keep);
    let copy = places::place_of(source, folder);
    if !documents.iter().any(stays) && !copy.exists() {
        return Ok((Vec::new(), None));
    }
    let version = Facts::of(&copy).map_or(Ok(FileVersion::Other), |facts| contents.version(source, &facts))?;
    let (found, unjudged) = contents.in_copy(&copy, source, version)?;
    let kept = documents.iter().filter(|document| found.contains(&document.digest())).map(|document| document.id);
    Ok((kept.collect(), Some(unjudged)))
}

/// The number of documents in the copy of a file that the database does not hold. A file that is copied whole
/// keeps its size and time. If the file was ingested with these, the copy need not be read.
fn unjudged_in(contents: &Contents<'_>, source: &SourceFile, copy: &Path) -> Result<u64> {
    let Ok(facts) = Facts::of(copy) else { return Ok(0) };
    let version = contents.version(source, &facts)?;
    if version == FileVersion::Ingested {
        return Ok(0);
    }
    match contents.in_copy(copy, source, version) {
        Ok((_, unjudged)) => Ok(unjudged),
        Err(Error::Stopped) => Err(Error::Stopped),
        Err(_) => Ok(0),
    }
}
