//! Report: reads the JSON lines of a dedup report. They list removable documents or repeated passages. A list
//! of documents can take the place of a report.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};
use roaring::RoaringBitmap;
use serde::Deserialize;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::listed;
use super::passages::{NO_SURVIVOR, RepeatedSpan};
use super::report_lines::{self, Because};
use crate::stored::{StoredDocument, StoredDocuments};
use fpdb_host::bounded::Lines;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::json_options::message_in_line;
use fpdb_host::progress::{Task, is_due};
use fpdb_host::spill::{Sorter, TempSpace};
use fpdb_kernel::hex;

/// A removable document and its survivor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ReportedPair {
    pub(super) remove: u32,
    pub(super) keep: u32,
    pub(super) identity: Identity,
}

/// Distinguishes a document of a report from another with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Identity {
    /// Hash of its name.
    name: u64,
    /// Hash of its digest; 0 in reports of versions that had no digest.
    digest: u64,
}

impl Identity {
    pub(super) fn new(name: &str, digest: &str) -> Self {
        let digest = if digest.is_empty() { 0 } else { xxh3_64(digest.as_bytes()) };
        Self { name: xxh3_64(name.as_bytes()), digest }
    }

    /// True if `record` is the reported document: it has the same digest, even if it was renamed. If the
    /// report has no digests, the names are compared.
    pub(super) fn fits(&self, record: &StoredDocument) -> bool {
        match self.digest {
            0 => !self.is_renamed(record),
            digest => digest == xxh3_64(hex::encode(&record.digest).as_bytes()),
        }
    }

    /// True if the report has no digest, so that only the name identifies the document.
    pub(super) fn is_by_name(&self) -> bool {
        self.digest == 0
    }

    /// True if the document has another name than in the report.
    pub(super) fn is_renamed(&self, record: &StoredDocument) -> bool {
        self.name != xxh3_64(record.name.as_bytes())
    }
}

/// A survivor of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Survivor {
    pub(super) id: u32,
    unused: u32,
    pub(super) identity: Identity,
}

/// The content of a report.
pub(super) struct ParsedReport<'a> {
    pub(super) path: PathBuf,
    /// The digest of the lines of the report.
    pub(super) digest: u64,
    pub(super) removed: RoaringBitmap,
    pub(super) survivors: RoaringBitmap,
    /// The removable documents that have neither the bytes nor the text of their survivor.
    pub(super) inexact: RoaringBitmap,
    /// The removable documents with the bytes of their survivor.
    pub(super) identical: RoaringBitmap,
    pub(super) pairs: Sorter<'a, ReportedPair>,
    /// The repeated passages, if the report lists passages. All documents with passages then count as
    /// removable.
    pub(super) passages: Option<Sorter<'a, RepeatedSpan>>,
    /// The survivor of each pair.
    pub(super) kept: Sorter<'a, Survivor>,
    /// True if this is a list of documents without survivors.
    pub(super) is_list: bool,
    /// The documents of this list, or of the lists read along with the report. `None` without lists.
    pub(super) listed: Option<RoaringBitmap>,
    /// Number of names in a list that no stored document has.
    pub(super) unknown: u64,
    /// The first of these names.
    pub(super) unknown_names: Vec<String>,
}

/// The fields of a line that are used. Later versions may have more.
#[derive(Deserialize)]
struct ReportLine {
    schema: String,
    #[serde(default)]
    remove: String,
    remove_id: Option<u32>,
    #[serde(default)]
    keep: String,
    keep_id: Option<u32>,
    because: Option<Because>,
    #[serde(default)]
    remove_digest: String,
    #[serde(default)]
    keep_digest: String,
    #[serde(default)]
    document: String,
    #[serde(default)]
    digest: String,
    id: Option<u32>,
    #[serde(default)]
    start: u64,
    #[serde(default)]
    end: u64,
    #[serde(default)]
    symbols: u64,
    of: Option<Of>,
}

/// The first occurrence of a passage.
#[derive(Deserialize)]
struct Of {
    #[serde(default)]
    document: String,
    id: u32,
    #[serde(default)]
    digest: String,
}

/// The error message names this as the content of a report of passages that is given with another report.
const PASSAGES_APART: &str = "passages, which are cut out in a step of their own: write the copy without the documents, ingest it into another database, and cut the passages from there";

impl<'a> ParsedReport<'a> {
    /// The kind of the report: it names what a copy leaves out or marks. A later report of the same kind
    /// brings the copy up to date. A report of another kind would restore what the first report left out.
    pub(super) fn kind(&self) -> &'static str {
        match self.passages {
            Some(_) => "passages",
            None if self.is_list => "list",
            None if self.listed.is_some() => "documents and list",
            None => "documents",
        }
    }

    /// Reads a report, and lists of further documents.
    ///
    /// # Errors
    /// [`Error::UnsuitedReport`] if one of the files in `lists` is not a list, or if the report lists
    /// passages.
    pub(super) fn read_with(
        path: &Path,
        lists: &[PathBuf],
        stored: &dyn StoredDocuments,
        temp: &'a TempSpace,
        task: &Task<'_>,
    ) -> Result<Self> {
        let mut report = Self::read(path, stored, temp, task)?;
        for path in lists {
            if report.passages.is_some() {
                return Err(Error::UnsuitedReport { path: report.path, lists: PASSAGES_APART });
            }
            let list = Self::read(path, stored, temp, task)?;
            if !list.is_list {
                let lists = match list.passages {
                    Some(_) => PASSAGES_APART,
                    None => "documents with survivors; only lists follow the report",
                };
                return Err(Error::UnsuitedReport { path: list.path, lists });
            }
            report.add(list)?;
        }
        Ok(report)
    }

    /// Adds the documents of a list.
    fn add(&mut self, list: Self) -> Result<()> {
        for pair in list.pairs.sorted()? {
            self.pairs.push(pair?)?;
        }
        self.digest = xxh3_64(bytemuck::bytes_of(&[self.digest, list.digest]));
        self.removed |= &list.removed;
        self.inexact -= &list.removed;
        self.unknown += list.unknown;
        self.unknown_names.extend(list.unknown_names);
        self.unknown_names.truncate(listed::UNKNOWN_NAMES);
        *self.listed.get_or_insert_default() |= list.removed;
        Ok(())
    }

    /// Reads a report, or a list.
    pub(super) fn read(
        path: &Path,
        stored: &dyn StoredDocuments,
        temp: &'a TempSpace,
        task: &Task<'_>,
    ) -> Result<Self> {
        let failed = || Error::io("read", path);
        let file = File::open(path).map_err(failed())?;
        if !file.metadata().map_err(failed())?.is_file() {
            return Err(Error::Document(DocumentError::NotAFile { path: path.to_owned() }));
        }
        if let Some(list) = listed::read(path, stored, temp, task)? {
            return Ok(list);
        }
        let memory = stored.memory() / 4;
        let mut lines = Lines::of(BufReader::with_capacity(1 << 20, file));
        let (mut removed, mut survivors) = (RoaringBitmap::new(), RoaringBitmap::new());
        let (mut inexact, mut identical) = (RoaringBitmap::new(), RoaringBitmap::new());
        let mut pairs = Sorter::new(temp, memory);
        let mut passages = None;
        let mut kept = Sorter::new(temp, memory);
        let (mut digest, mut last, mut ended) = (Xxh3::new(), 0, false);
        while let Some((number, line)) = lines.next_line().map_err(failed())? {
            if is_due(number) {
                task.step("lines of the report read", number, 0)?;
            }
            if line.is_empty() {
                continue;
            }
            let is_first = std::mem::replace(&mut last, number) == 0;
            digest.update(line);
            let wrong =
                |detail: &str| Error::NotADedupReport { path: path.to_owned(), line: number, detail: detail.into() };
            if ended {
                return Err(wrong("something follows the summary, which is the last line of a report"));
            }
            let parsed: ReportLine = serde_json::from_slice(line).map_err(|error| match is_first {
                true => wrong("it is a line of neither; a list of names has lines {\"document\": NAME}"),
                false => wrong(&message_in_line(&error)),
            })?;
            let ids = [parsed.remove_id, parsed.keep_id, parsed.id, parsed.of.as_ref().map(|of| of.id)];
            // This number means that no survivor is needed.
            if ids.contains(&Some(NO_SURVIVOR)) {
                return Err(wrong("no document has the number 4294967295"));
            }
            match parsed {
                ReportLine { schema, document, digest, id: Some(id), start, end, symbols, of: Some(of), .. }
                    if schema == report_lines::REPEAT =>
                {
                    if start >= end {
                        return Err(wrong("a passage ends before it begins"));
                    }
                    if removed.insert(id) {
                        pairs.push(ReportedPair {
                            remove: id,
                            keep: NO_SURVIVOR,
                            identity: Identity::new(&document, &digest),
                        })?;
                    }
                    if survivors.insert(of.id) {
                        let identity = Identity::new(&of.document, &of.digest);
                        kept.push(Survivor { id: of.id, unused: 0, identity })?;
                    }
                    let passages = passages.get_or_insert_with(|| Sorter::new(temp, memory));
                    passages.push(RepeatedSpan { document: id, source: of.id, start, end, symbols })?;
                }
                ReportLine { schema, .. } if schema == report_lines::UNCOMPARED => {}
                ReportLine { schema, .. } if schema == report_lines::REPEAT_SUMMARY => {
                    passages.get_or_insert_with(|| Sorter::new(temp, memory));
                    ended = true;
                }
                ReportLine {
                    schema,
                    remove_id: Some(id),
                    keep_id: Some(keep_id),
                    remove,
                    keep,
                    because,
                    remove_digest,
                    keep_digest,
                    ..
                } if schema == report_lines::REMOVABLE => {
                    if !removed.insert(id) {
                        return Err(wrong("a document is listed twice"));
                    }
                    if matches!(because, Some(Because::Contained | Because::Resembles)) {
                        inexact.insert(id);
                    }
                    if !remove_digest.is_empty() && remove_digest == keep_digest {
                        identical.insert(id);
                    }
                    survivors.insert(keep_id);
                    pairs.push(ReportedPair {
                        remove: id,
                        keep: keep_id,
                        identity: Identity::new(&remove, &remove_digest),
                    })?;
                    kept.push(Survivor { id: keep_id, unused: 0, identity: Identity::new(&keep, &keep_digest) })?;
                }
                ReportLine { schema, .. } if schema == report_lines::DEDUP_SUMMARY => ended = true,
                ReportLine { schema, .. } if schema.starts_with("fpdb.dedup.") => {}
                _ => return Err(wrong("the line is none of a dedup")),
            }
        }
        let wrong = |detail: &str| Error::NotADedupReport { path: path.to_owned(), line: last, detail: detail.into() };
        if !ended {
            return Err(wrong("it ends without a summary: the dedup that wrote it was cut short"));
        }
        if passages.is_none()
            && let Some(both) = (&removed & &survivors).min()
        {
            return Err(wrong(&format!("document {both} is removable, and a survivor")));
        }
        let (path, digest) = (path.to_owned(), digest.digest());
        let (is_list, listed, unknown, unknown_names) = (false, None, 0, Vec::new());
        Ok(Self {
            path,
            digest,
            removed,
            survivors,
            inexact,
            identical,
            pairs,
            kept,
            passages,
            is_list,
            listed,
            unknown,
            unknown_names,
        })
    }
}

/// A removable document and its survivor, by name.
pub(super) struct ReportedNames {
    pub(super) document: String,
    pub(super) id: u32,
    pub(super) survivor: String,
    pub(super) survivor_id: u32,
}

impl ReportedNames {
    /// Visits the lines of a report that was already parsed, in order.
    pub(super) fn read(path: &Path, visit: &mut dyn FnMut(Self) -> Result<()>) -> Result<()> {
        let failed = || Error::io("read", path);
        let mut lines = Lines::of(BufReader::with_capacity(1 << 20, File::open(path).map_err(failed())?));
        while let Some((number, line)) = lines.next_line().map_err(failed())? {
            if line.is_empty() {
                continue;
            }
            let parsed: ReportLine = serde_json::from_slice(line).map_err(|error| Error::NotADedupReport {
                path: path.to_owned(),
                line: number,
                detail: message_in_line(&error),
            })?;
            if let ReportLine { remove_id: Some(id), keep_id: Some(survivor_id), remove, keep, .. } = parsed {
                visit(Self { document: remove, id, survivor: keep, survivor_id })?;
            }
        }
        Ok(())
    }
}
