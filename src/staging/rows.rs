//! Rows: the rows that the engine carries, as columns like those of Arrow and Spark. Each row is a block of
//! many rows of the build.
//!
//! Spark has no unsigned integers, so both integers of a row are shifted by 2^63: their signed order is then
//! the order of the rows.

use fpdb_store::StagedRow;

/// Rows of a build, in columns of equal length. An engine must bring all rows of a part together, sorted by
/// part, high, low and value. Values sort as unsigned bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StagedRows {
    /// The part number of each row.
    pub parts: Vec<i32>,
    /// The first integer of each row's key.
    pub highs: Vec<i64>,
    /// The second integer of each row's key.
    pub lows: Vec<i64>,
    /// The end of each row's value in `values`.
    pub ends: Vec<i32>,
    /// All values, concatenated.
    pub values: Vec<u8>,
}

/// Rows of a build in borrowed memory, such as an Arrow array.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers make it")]
pub struct StagedColumns<'a> {
    /// The part number of each row.
    pub parts: &'a [i32],
    /// The first integer of each row's key.
    pub highs: &'a [i64],
    /// The second integer of each row's key.
    pub lows: &'a [i64],
    /// One more offset than rows: each value is between two consecutive offsets in `values`.
    pub offsets: &'a [i32],
    /// All values.
    pub values: &'a [u8],
}

const SIGN: u64 = 1 << 63;

impl StagedRows {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// True if there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn push(&mut self, part: u32, row: StagedRow<'_>) {
        self.parts.push(part as i32);
        self.highs.push((row.high ^ SIGN) as i64);
        self.lows.push((row.low ^ SIGN) as i64);
        self.values.extend_from_slice(row.value);
        self.ends.push(self.values.len() as i32);
    }

    /// Bytes of memory of the rows.
    pub(super) fn bytes(&self) -> usize {
        self.len() * (size_of::<u64>() * 3) + self.values.len()
    }
}

impl<'a> StagedColumns<'a> {
    /// The part and row at an index; `None` if a column is too short, or offsets lie outside the values.
    pub(super) fn get(&self, index: usize) -> Option<(u32, StagedRow<'a>)> {
        let offset = |at: usize| self.offsets.get(at).and_then(|&offset| usize::try_from(offset).ok());
        let value = self.values.get(offset(index)?..offset(index + 1)?)?;
        let part = u32::try_from(*self.parts.get(index)?).ok()?;
        let high = *self.highs.get(index)? as u64 ^ SIGN;
        let low = *self.lows.get(index)? as u64 ^ SIGN;
        Some((part, StagedRow { high, low, value }))
    }
}
