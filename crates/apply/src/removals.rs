//! Removals: the documents of a report that can be removed from the database.

use std::path::Path;

use roaring::RoaringBitmap;

use super::passages::NO_SURVIVOR;
use super::report::ParsedReport;
use crate::stored::{StoredDocument, StoredDocuments};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::spill::TempSpace;
use fpdb_reading::input::is_missing;

/// The removable documents of a report, divided into those to delete and those to keep.
#[derive(Default)]
pub struct Removals {
    /// Number of documents that the report lists.
    pub listed: u64,
    /// Documents to delete, ascending. They and their survivors are still stored as the report describes
    /// them.
    pub ids: Vec<u32>,
    /// Documents to keep, for one of three reasons. The document has changed. Its survivor has changed or is
    /// gone. Its own file exists, but the file of its survivor does not.
    pub left: RoaringBitmap,
    /// The first 20 names of a list that no stored document has.
    pub unknown_names: Vec<String>,
}

/// Reads a report and compares its documents with the stored ones. A document that is no longer stored counts
/// only in `listed`.
///
/// # Errors
/// [`Error::NotADedupReport`]; [`Error::InvalidParameter`] for a report of passages; [`Error::Io`];
/// [`Error::Stopped`].
pub fn removals(stored: &dyn StoredDocuments, report: &Path, temp: &TempSpace, task: &Task<'_>) -> Result<Removals> {
    let parsed = ParsedReport::read(report, stored, temp, task)?;
    if parsed.passages.is_some() {
        let expected = "a report of removable documents, not one of passages";
        return Err(Error::InvalidParameter { name: "report", value: report.display().to_string(), expected });
    }
    // After a folder was moved, a survivor can have no file at its stored place. A document that still has
    // its file is then not removed.
    let has_file = |record: &StoredDocument| record.source.as_deref().is_some_and(|source| !is_missing(source));
    let is_gone = |record: &StoredDocument| record.source.is_some() && !record.stored_text && !has_file(record);
    let (mut survivors, mut gone) = (RoaringBitmap::new(), RoaringBitmap::new());
    for survivor in parsed.kept.sorted()? {
        let survivor = survivor?;
        if let Some(record) = stored.find(survivor.id)?.filter(|record| survivor.identity.fits(record)) {
            survivors.insert(survivor.id);
            if is_gone(&record) {
                gone.insert(survivor.id);
            }
        }
        task.token().check()?;
    }
    let (listed, unknown_names) = (parsed.removed.len() + parsed.unknown, parsed.unknown_names);
    let mut removals = Removals { listed, unknown_names, ..Removals::default() };
    for pair in parsed.pairs.sorted()? {
        let pair = pair?;
        let fits =
            |record: &StoredDocument| pair.identity.fits(record) && !(gone.contains(pair.keep) && has_file(record));
        match stored.find(pair.remove)?.map(|record| fits(&record)) {
            None => {}
            Some(true) if pair.keep == NO_SURVIVOR || survivors.contains(pair.keep) => removals.ids.push(pair.remove),
            Some(_) => {
                removals.left.insert(pair.remove);
            }
        }
        task.token().check()?;
    }
    Ok(removals)
}
