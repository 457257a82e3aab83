//! Reduce: turns the blocks of a part into its files. It detects blocks that the engine did not sort.
//! Documents are written as they arrive. Postings, names and digests of all tasks are collected and sorted
//! here, in the memory of one part.

use std::cmp::Ordering;
use std::path::PathBuf;

use super::folder::{PARTS, Staging};
use super::parts;
use super::rows::StagedColumns;
use fpdb_host::error::{Error, Result};
use fpdb_store::{PartKind, PartWriter, Posting, StagedRow, for_each_row, posting_of, posting_row};

/// Turns rows into parts. Each task of the engine has one reducer. A task may bring several parts, each of
/// them whole.
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
    blocks: u64,
    last_block: Last,
    gathered: Gathered,
    rows: u64,
    last_row: Last,
}

/// The previous block or row.
#[derive(Default)]
struct Last {
    high: u64,
    low: u64,
    value: Vec<u8>,
}

impl Last {
    /// Returns false if the next row is neither the first nor above the previous one. Otherwise notes the
    /// row.
    fn take(&mut self, row: StagedRow<'_>, is_first: bool) -> bool {
        let after = (row.high, row.low).cmp(&(self.high, self.low)).then_with(|| row.value.cmp(&self.value));
        if !is_first && after != Ordering::Greater {
            return false;
        }
        (self.high, self.low) = (row.high, row.low);
        self.value.clear();
        self.value.extend_from_slice(row.value);
        true
    }
}

/// Rows that are sorted once all have arrived.
#[derive(Default)]
struct Gathered {
    postings: Vec<Posting>,
    /// High, low, and start and end of the value.
    keys: Vec<(u64, u64, usize, usize)>,
    values: Vec<u8>,
}

/// The folder of an attempt. It is removed on drop unless it became a part.
pub(super) struct PartFolder(Option<PathBuf>);

impl Drop for PartFolder {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            // Without a list of files, the folder does not count as a part. If the folder cannot be removed
            // now, it is removed with the build.
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
    /// Returns a reducer.
    #[must_use]
    pub fn reducer(&self) -> StagingReducer<'_> {
        StagingReducer { staging: self, open: None, done: Vec::new() }
    }
}

impl StagingReducer<'_> {
    /// Adds rows. All rows of this call and earlier calls must ascend strictly by part, high, low and value.
    ///
    /// # Errors
    /// [`Error::Unsorted`]; [`Error::NameTwice`]; [`Error::NumberTwice`]; [`Error::Damaged`] for malformed
    /// rows; errors from writing the files.
    pub fn push(&mut self, rows: &StagedColumns<'_>) -> Result<()> {
        for index in 0..rows.parts.len() {
            let unsorted = |part, row, detail| Error::Unsorted { part, row, detail };
            let (part, block) =
                rows.get(index).ok_or_else(|| unsorted(0, index as u64 + 1, "has columns that do not fit"))?;
            let open = match &mut self.open {
                Some(open) if open.part == part => open,
                Some(open) if open.part > part => {
                    return Err(unsorted(part, 1, "comes after rows of a later part"));
                }
                _ => {
                    self.end_part()?;
                    self.open.insert(OpenPart::begin(self.staging, part)?)
                }
            };
            open.blocks += 1;
            if !open.last_block.take(block, open.blocks == 1) {
                return Err(unsorted(part, open.blocks, "does not come after the one before it"));
            }
            open.take(self.staging, block)?;
        }
        Ok(())
    }

    /// Ends the last part. Returns the numbers of the parts that were made.
    ///
    /// # Errors
    /// Fails if the files cannot be written.
    pub fn finish(mut self) -> Result<Vec<u32>> {
        self.end_part()?;
        Ok(self.done)
    }

    fn end_part(&mut self) -> Result<()> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        open.write_gathered()?;
        let OpenPart { part, mut folder, writer, .. } = open;
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
        Ok(Self {
            part,
            kind,
            folder: PartFolder(Some(folder)),
            writer,
            blocks: 0,
            last_block: Last::default(),
            gathered: Gathered::default(),
            rows: 0,
            last_row: Last::default(),
        })
    }

    /// Adds a block.
    fn take(&mut self, staging: &Staging, block: StagedRow<'_>) -> Result<()> {
        let (part, kind, blocks) = (self.part, self.kind, self.blocks);
        for_each_row(kind, block, &mut |row| {
            if !staging.layout.holds(part, kind, row) {
                return Err(Error::Unsorted { part, row: blocks, detail: "belongs to another part" });
            }
            let Gathered { postings, keys, values } = &mut self.gathered;
            match kind {
                PartKind::Postings { .. } => postings.push(posting_of(row)),
                PartKind::Documents => return self.write(row),
                PartKind::Names | PartKind::Digests => {
                    let start = values.len();
                    values.extend_from_slice(row.value);
                    keys.push((row.high, row.low, start, values.len()));
                }
            }
            Ok(())
        })
    }

    fn write(&mut self, row: StagedRow<'_>) -> Result<()> {
        self.rows += 1;
        // Blocks ascend by their first rows and hold consecutive documents of one task. So a row at an
        // earlier place repeats a document, with the same or other content.
        let (place, last) = ((row.high, row.low), (self.last_row.high, self.last_row.low));
        if self.rows > 1 && self.kind == PartKind::Documents && place <= last {
            return Err(Error::NumberTwice { number: row.high as u32 });
        }
        if !self.last_row.take(row, self.rows == 1) {
            let detail = "holds a row that does not come after the one before it";
            return Err(Error::Unsorted { part: self.part, row: self.blocks, detail });
        }
        self.writer.push(row)
    }

    fn write_gathered(&mut self) -> Result<()> {
        let Gathered { mut postings, mut keys, values } = std::mem::take(&mut self.gathered);
        postings.sort_unstable();
        for posting in postings {
            self.write(posting_row(posting))?;
        }
        keys.sort_unstable_by(|one, other| {
            let value = |key: &(u64, u64, usize, usize)| &values[key.2..key.3];
            (one.0, one.1).cmp(&(other.0, other.1)).then_with(|| value(one).cmp(value(other)))
        });
        for (high, low, start, end) in keys {
            self.write(StagedRow { high, low, value: &values[start..end] })?;
        }
        Ok(())
    }
}
