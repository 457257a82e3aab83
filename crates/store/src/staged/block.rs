//! Block: several rows of one part, moved as one row of a distributed engine. Such an engine takes some
//! microseconds to shuffle and sort each row, which is more than all other work on a posting. So one row of
//! the engine is a block. The two integers of this row (`rows.rs`) are those of the first row of the block.
//! Its value holds the value of the first row, and all other rows.
//!
//! | kind     | value of the engine's row                                                                             |
//! |----------|-------------------------------------------------------------------------------------------------------|
//! | postings | for each posting after the first: varints of its hash minus the one before, its document, its ordinal  |
//! | others   | varint length and value of the first row; for each other one: high, low (8 bytes each, big-endian), and |
//! |          | varint length and value                                                                               |
//!
//! The rows of a block ascend strictly.

use super::rows::{PartKind, StagedRow, posting_of, posting_row};
use crate::codec::block::Posting;
use crate::codec::varint;
use fpdb_host::error::{Error, Result};

/// Target size of a block's value, in bytes. A block ends once its value has reached it.
const BLOCK_BYTES: usize = 256 << 10;

/// Receives the number of a part, and a block of that part.
pub(crate) type PutBlock<'a> = dyn FnMut(u32, StagedRow<'_>) + 'a;

/// Combines rows into blocks. The rows must ascend by part, then by row.
#[derive(Default)]
pub struct BlockWriter {
    open: Option<OpenBlock>,
    value: Vec<u8>,
}

struct OpenBlock {
    part: u32,
    high: u64,
    low: u64,
    /// The first integer of the last row so far.
    last: u64,
}

impl BlockWriter {
    /// Adds a row. If the row begins a block, `put` receives the block before it.
    pub fn push(&mut self, part: u32, kind: PartKind, row: StagedRow<'_>, put: &mut PutBlock<'_>) {
        if self.value.len() >= BLOCK_BYTES || self.open.as_ref().is_some_and(|open| open.part != part) {
            self.end(put);
        }
        let is_posting = matches!(kind, PartKind::Postings { .. });
        match &mut self.open {
            Some(open) if is_posting => {
                let posting = posting_of(row);
                varint::write(row.high - open.last, &mut self.value);
                varint::write(posting.document.into(), &mut self.value);
                varint::write(posting.ordinal.into(), &mut self.value);
                open.last = row.high;
            }
            Some(_) => {
                self.value.extend(row.high.to_be_bytes());
                self.value.extend(row.low.to_be_bytes());
            }
            None => self.open = Some(OpenBlock { part, high: row.high, low: row.low, last: row.high }),
        }
        if !is_posting {
            varint::write(row.value.len() as u64, &mut self.value);
            self.value.extend_from_slice(row.value);
        }
    }

    /// Ends the current block and gives it to `put`. Does nothing if there is none.
    pub fn end(&mut self, put: &mut PutBlock<'_>) {
        if let Some(OpenBlock { part, high, low, .. }) = self.open.take() {
            put(part, StagedRow { high, low, value: &self.value });
            self.value.clear();
        }
    }
}

/// Calls `visit` with each row of a block.
///
/// # Errors
/// [`Error::Damaged`] if the bytes do not decode as rows, and the error of `visit`.
pub fn for_each_row(
    kind: PartKind,
    block: StagedRow<'_>,
    visit: &mut dyn FnMut(StagedRow<'_>) -> Result<()>,
) -> Result<()> {
    let strange = || Error::Damaged { what: "a staged block".into(), detail: "its bytes are not those of rows" };
    let (mut high, mut low, mut rest) = (block.high, block.low, block.value);
    if matches!(kind, PartKind::Postings { .. }) {
        visit(StagedRow { high, low, value: &[] })?;
        while !rest.is_empty() {
            let mut next = || varint::read(&mut rest).ok_or_else(strange);
            let (delta, document, ordinal) = (next()?, next()?, next()?);
            let hash = high.checked_add(delta).ok_or_else(strange)?;
            let (Ok(document), Ok(ordinal)) = (u32::try_from(document), u32::try_from(ordinal)) else {
                return Err(strange());
            };
            high = hash;
            visit(posting_row(Posting { hash, document, ordinal }))?;
        }
        return Ok(());
    }
    loop {
        let length = varint::read(&mut rest).and_then(|length| usize::try_from(length).ok()).ok_or_else(strange)?;
        let (value, after) = rest.split_at_checked(length).ok_or_else(strange)?;
        visit(StagedRow { high, low, value })?;
        if after.is_empty() {
            return Ok(());
        }
        let (next_high, after) = after.split_first_chunk::<8>().ok_or_else(strange)?;
        let (next_low, after) = after.split_first_chunk::<8>().ok_or_else(strange)?;
        (high, low, rest) = (u64::from_be_bytes(*next_high), u64::from_be_bytes(*next_low), after);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Row = (u32, u64, u64, Vec<u8>);

    fn blocks_of(kind: PartKind, rows: &[Row]) -> Vec<Row> {
        let (mut writer, mut blocks) = (BlockWriter::default(), Vec::new());
        let mut put = |part, block: StagedRow<'_>| blocks.push((part, block.high, block.low, block.value.to_vec()));
        for (part, high, low, value) in rows {
            writer.push(*part, kind, StagedRow { high: *high, low: *low, value }, &mut put);
        }
        writer.end(&mut put);
        blocks
    }

    fn rows_of(kind: PartKind, blocks: &[Row]) -> Vec<Row> {
        let mut rows = Vec::new();
        for (part, high, low, value) in blocks {
            let visit = &mut |row: StagedRow<'_>| {
                rows.push((*part, row.high, row.low, row.value.to_vec()));
                Ok(())
            };
            for_each_row(kind, StagedRow { high: *high, low: *low, value }, visit).unwrap();
        }
        rows
    }

    proptest! {
        #[test]
        fn rows_come_back(
            mut rows in proptest::collection::vec((0u32..3, any::<u64>(), any::<u64>(), proptest::collection::vec(any::<u8>(), 0..9)), 0..40),
            few in any::<bool>(),
        ) {
            if few {
                rows.iter_mut().for_each(|row| row.1 %= 3);
            }
            rows.sort_unstable();
            let parts = rows.chunk_by(|one, other| one.0 == other.0).count();
            let blocks = blocks_of(PartKind::Documents, &rows);
            prop_assert_eq!(blocks.len(), parts);
            prop_assert_eq!(rows_of(PartKind::Documents, &blocks), rows.clone());
            rows.iter_mut().for_each(|row| row.3.clear());
            let kind = PartKind::Postings { run: 0 };
            prop_assert_eq!(rows_of(kind, &blocks_of(kind, &rows)), rows);
        }

        #[test]
        fn any_bytes_are_safe(high: u64, low: u64, value in proptest::collection::vec(any::<u8>(), 0..60)) {
            for kind in [PartKind::Postings { run: 0 }, PartKind::Names] {
                let _ = for_each_row(kind, StagedRow { high, low, value: &value }, &mut |_| Ok(()));
            }
        }
    }

    #[test]
    fn a_large_block_is_ended() {
        let rows: Vec<_> = (0..5).map(|number| (0, number, 0, vec![7; BLOCK_BYTES / 2])).collect();
        let blocks = blocks_of(PartKind::Documents, &rows);
        assert_eq!(blocks.len(), 3);
        assert_eq!(rows_of(PartKind::Documents, &blocks), rows);
    }
}
