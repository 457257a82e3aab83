//! Reduce: the rows of a part become its files. An engine that did not sort them is found out.

use std::cmp::Ordering;
use std::path::PathBuf;

use super::folder::{PARTS, Staging};
use super::parts;
use super::rows::StagedColumns;
use crate::error::{Error, Result};
use crate::store::{PartKind, PartWriter, StagedRow};

/// Makes parts of rows; one per task of the engine. A task may bring several parts, each of them whole.
pub struct StagingReducer<'a> {
    staging: &'a Staging,
    open: Option<OpenPart<'a>>,
    done: Vec<u32>,
}

struct OpenPart<'a> {
    part: u32,
    kind: PartKind,
    folder: PartFolder,
    writer: PartWriter<'a>,
    rows: u64,
    high: u64,
    low: u64,
    value: Vec<u8>,
}

/// The folder of an attempt, which is removed unless it becomes a part.
pub(super) struct PartFolder(Option<PathBuf>);

impl Drop for PartFolder {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            // Without its list of files it does not count; what is left goes with the build.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

impl std::fmt::Debug for StagingReducer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StagingReducer")
            .field("staging", self.staging)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl Staging {
    /// Makes parts of rows.
    #[must_use]
    pub fn reducer(&self) -> StagingReducer<'_> {
        StagingReducer { staging: self, open: None, done: Vec::new() }
    }
}

impl StagingReducer<'_> {
    /// Adds rows. All rows of this call and those before must ascend strictly by part, high, low and value.
    ///
    /// # Errors
    /// [`Error::Unsorted`]; [`Error::NameTwice`]; what keeps the files from being written.
    pub fn push(&mut self, rows: &StagedColumns<'_>) -> Result<()> {
        for index in 0..rows.parts.len() {
            let unsorted = |part, row, detail| Error::Unsorted { part, row, detail };
            let (part, row) =
                rows.get(index).ok_or_else(|| unsorted(0, index as u64 + 1, "has columns that do not fit"))?;
            let open = match &mut self.open {
                Some(open) if open.part == part => {
                    let after =
                        (row.high, row.low).cmp(&(open.high, open.low)).then_with(|| row.value.cmp(&open.value));
                    if after != Ordering::Greater {
                        return Err(unsorted(part, open.rows + 1, "does not come after the one before it"));
                    }
                    open
                }
                Some(open) if open.part > part => {
                    return Err(unsorted(part, 1, "comes after rows of a later part"));
                }
                _ => {
                    self.end_part()?;
                    self.open.insert(OpenPart::begin(self.staging, part)?)
                }
            };
            open.push(self.staging, row)?;
        }
        Ok(())
    }

    /// Ends the last part. Returns the numbers of those that were made.
    ///
    /// # Errors
    /// What keeps the files from being written.
    pub fn finish(mut self) -> Result<Vec<u32>> {
        self.end_part()?;
        Ok(self.done)
    }

    fn end_part(&mut self) -> Result<()> {
        let Some(OpenPart { part, mut folder, writer, .. }) = self.open.take() else { return Ok(()) };
        let (files, contents) = writer.finish()?;
        if let Some(path) = &folder.0 {
            parts::write(self.staging, part, path, &files, contents)?;
        }
        folder.0 = None;
        self.done.push(part);
        Ok(())
    }
}

impl<'a> OpenPart<'a> {
    fn begin(staging: &'a Staging, part: u32) -> Result<Self> {
        let none = || Error::Unsorted { part, row: 1, detail: "is of a part that the plan does not have" };
        let kind = staging.layout.kind(part).ok_or_else(none)?;
        let parts = staging.root.join(PARTS);
        let made = tempfile::Builder::new().prefix(&format!("{part}.")).rand_bytes(12).tempdir_in(&parts);
        let folder = made.map_err(Error::io("create a folder in", &parts))?.keep();
        let writer = staging.maker.part(kind, &folder)?;
        Ok(Self { part, kind, folder: PartFolder(Some(folder)), writer, rows: 0, high: 0, low: 0, value: Vec::new() })
    }

    fn push(&mut self, staging: &Staging, row: StagedRow<'_>) -> Result<()> {
        self.rows += 1;
        if !staging.layout.holds(self.part, self.kind, row) {
            return Err(Error::Unsorted { part: self.part, row: self.rows, detail: "belongs to another part" });
        }
        (self.high, self.low) = (row.high, row.low);
        self.value.clear();
        self.value.extend_from_slice(row.value);
        self.writer.push(row)
    }
}
