//! Columns: a compact list of fingerprints, 28 bytes each. The kernel fills it and the store reads it.
//!
//! If all k-grams of a text are selected, writing the fingerprints takes most of the time. So each place is
//! stored as 32-bit offsets, in one column per field. The offsets are relative to the *bases* of a block. A
//! new block begins only if the next fingerprint does not fit into 32 bits. The list returns exactly the
//! fingerprints that were pushed, for any document.

use std::iter::Zip;
use std::ops::Range;
use std::slice::Iter;

use crate::document::Span;

/// One selected k-gram of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The k-gram's hash.
    pub hash: u64,
    /// Index of the k-gram's first symbol in the document.
    pub position: u64,
    /// Byte range of the k-gram in the original.
    pub span: Span,
    /// 1-based line of the first byte.
    pub first_line: u64,
    /// 1-based line of the last byte.
    pub last_line: u64,
}

/// The fingerprints of a document, or of part of one, in order of position.
#[derive(Clone, Debug, Default)]
pub struct Fingerprints {
    columns: Columns,
    /// The bases of the open block, which is the last one.
    bases: FingerprintRow,
    /// The closed blocks: for each block, the index after its last fingerprint, and its bases. Nearly always
    /// empty.
    closed: Vec<(usize, FingerprintRow)>,
}

/// The memory of one fingerprint, in bytes.
pub const FINGERPRINT_BYTES: usize = size_of::<u64>() + size_of::<[u32; 5]>();

/// The place of a fingerprint: position, start and end of its span, first line, last line.
pub(crate) type FingerprintRow = [u64; 5];

/// Columns of fingerprints, in the order of a [`FingerprintRow`]. All columns have the same length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) hashes: Vec<u64>,
    pub(crate) positions: Vec<u32>,
    pub(crate) starts: Vec<u32>,
    pub(crate) ends: Vec<u32>,
    pub(crate) first_lines: Vec<u32>,
    pub(crate) last_lines: Vec<u32>,
}

/// Zips the columns: hash and position, start and end, first and last line. One bounds check then serves all
/// columns.
type RowIter<'a> = Zip<
    Zip<Zip<Iter<'a, u64>, ColumnIter<'a>>, Zip<ColumnIter<'a>, ColumnIter<'a>>>,
    Zip<ColumnIter<'a>, ColumnIter<'a>>,
>;
type ColumnIter<'a> = Iter<'a, u32>;

/// Iterator over the fingerprints of a list.
#[derive(Clone, Debug)]
pub struct FingerprintsIter<'a> {
    rows: RowIter<'a>,
    bases: FingerprintRow,
    /// Fingerprints left in the current block, whose bases are `bases`.
    in_block: usize,
    /// The closed blocks after the current one; `last_bases` are the bases of the open block.
    later: &'a [(usize, FingerprintRow)],
    last_bases: FingerprintRow,
    /// Index after the last fingerprint.
    end: usize,
}

/// Two lists are equal if their fingerprints are equal, even if their blocks differ.
impl PartialEq for Fingerprints {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Fingerprints {}

impl Fingerprints {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of fingerprints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.hashes.len()
    }

    /// True if there are no fingerprints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all fingerprints, and keeps the allocated memory.
    pub fn clear(&mut self) {
        let Columns { hashes, positions, starts, ends, first_lines, last_lines } = &mut self.columns;
        hashes.clear();
        for column in [positions, starts, ends, first_lines, last_lines] {
            column.clear();
        }
        self.closed.clear();
    }

    /// Keeps only the first `len` fingerprints.
    #[doc(hidden)]
    pub fn truncate(&mut self, len: usize) {
        let Columns { hashes, positions, starts, ends, first_lines, last_lines } = &mut self.columns;
        hashes.truncate(len);
        for column in [positions, starts, ends, first_lines, last_lines] {
            column.truncate(len);
        }
        while let Some((_, bases)) = self.closed.pop_if(|&mut (end, _)| end >= len) {
            self.bases = bases;
        }
    }

    /// Appends a fingerprint.
    pub fn push(&mut self, fingerprint: Fingerprint) {
        let Fingerprint { hash, position, span: Span { start, end }, first_line, last_line } = fingerprint;
        let row = [position, start, end, first_line, last_line];
        if !self.fits(row, row) {
            self.begin_block(row);
        }
        let [position, start, end, first_line, last_line] = self.bases;
        let columns = &mut self.columns;
        columns.hashes.push(hash);
        columns.positions.push((row[0] - position) as u32);
        columns.starts.push((row[1] - start) as u32);
        columns.ends.push((row[2] - end) as u32);
        columns.first_lines.push((row[3] - first_line) as u32);
        columns.last_lines.push((row[4] - last_line) as u32);
    }

    /// All fingerprints, in order.
    pub fn iter(&self) -> FingerprintsIter<'_> {
        self.range(0..self.len())
    }

    /// The fingerprints with these indices, in order.
    ///
    /// # Panics
    /// If the range ends after the last fingerprint.
    pub fn range(&self, range: Range<usize>) -> FingerprintsIter<'_> {
        let Columns { hashes, positions, starts, ends, first_lines, last_lines } = &self.columns;
        let [positions, starts, ends, first_lines, last_lines] =
            [positions, starts, ends, first_lines, last_lines].map(|column| column[range.clone()].iter());
        let later = &self.closed[self.closed.partition_point(|&(end, _)| end <= range.start)..];
        FingerprintsIter {
            rows: hashes[range.clone()].iter().zip(positions).zip(starts.zip(ends)).zip(first_lines.zip(last_lines)),
            bases: self.bases,
            in_block: 0,
            later,
            last_bases: self.bases,
            end: range.end,
        }
    }

    /// All fingerprints, in chunks of `size`; the last chunk may be shorter.
    #[doc(hidden)]
    pub fn chunks(&self, size: usize) -> impl Iterator<Item = FingerprintsIter<'_>> {
        (0..self.len()).step_by(size).map(move |from| self.range(from..self.len().min(from + size)))
    }

    /// Reserves memory for `count` more fingerprints.
    pub(crate) fn reserve(&mut self, count: usize) {
        let Columns { hashes, positions, starts, ends, first_lines, last_lines } = &mut self.columns;
        hashes.reserve(count);
        for column in [positions, starts, ends, first_lines, last_lines] {
            column.reserve(count);
        }
    }

    /// Prepares to append fingerprints whose rows lie between `least` and `most`. Returns the columns and the
    /// bases that the new offsets must be relative to. `None` if the range does not fit into 32 bits.
    #[inline(always)]
    pub(crate) fn block_for(
        &mut self,
        least: FingerprintRow,
        most: FingerprintRow,
    ) -> Option<(&mut Columns, FingerprintRow)> {
        if !self.fits(least, most) {
            if !reach(least, most) {
                return None;
            }
            self.begin_block(least);
        }
        Some((&mut self.columns, self.bases))
    }

    /// True if rows from `least` to `most` fit into the open block.
    #[inline(always)]
    fn fits(&self, least: FingerprintRow, most: FingerprintRow) -> bool {
        let is_above = self.bases.iter().zip(least).all(|(&base, least)| base <= least);
        is_above && reach(self.bases, most) && !self.is_empty()
    }

    #[cold]
    fn begin_block(&mut self, bases: FingerprintRow) {
        if !self.is_empty() {
            debug_assert!(self.closed.last().is_none_or(|&(end, _)| end < self.len()), "a block has a row");
            self.closed.push((self.len(), self.bases));
        }
        self.bases = bases;
    }
}

/// True if every difference between `most` and `bases` fits into 32 bits.
#[inline(always)]
fn reach(bases: FingerprintRow, most: FingerprintRow) -> bool {
    bases.iter().zip(most).all(|(base, most)| most.wrapping_sub(*base) <= u64::from(u32::MAX))
}

impl Iterator for FingerprintsIter<'_> {
    type Item = Fingerprint;

    #[inline]
    fn next(&mut self) -> Option<Fingerprint> {
        if self.in_block == 0 {
            self.next_block();
        }
        self.in_block -= 1;
        let (((&hash, position), (start, end)), (first_line, last_line)) = self.rows.next()?;
        let at = |column: usize, relative: &u32| self.bases[column] + u64::from(*relative);
        Some(Fingerprint {
            hash,
            position: at(0, position),
            span: Span { start: at(1, start), end: at(2, end) },
            first_line: at(3, first_line),
            last_line: at(4, last_line),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

impl ExactSizeIterator for FingerprintsIter<'_> {}

impl FingerprintsIter<'_> {
    #[cold]
    fn next_block(&mut self) {
        let at = self.end - self.rows.len();
        (self.in_block, self.bases, self.later) = match self.later {
            &[(end, bases), ref later @ ..] => (end - at, bases, later),
            [] => (usize::MAX, self.last_bases, self.later),
        };
    }
}

impl<'a> IntoIterator for &'a Fingerprints {
    type Item = Fingerprint;
    type IntoIter = FingerprintsIter<'a>;

    fn into_iter(self) -> FingerprintsIter<'a> {
        self.iter()
    }
}

impl Extend<Fingerprint> for Fingerprints {
    fn extend<I: IntoIterator<Item = Fingerprint>>(&mut self, fingerprints: I) {
        fingerprints.into_iter().for_each(|fingerprint| self.push(fingerprint));
    }
}

impl FromIterator<Fingerprint> for Fingerprints {
    fn from_iter<I: IntoIterator<Item = Fingerprint>>(fingerprints: I) -> Self {
        let mut all = Self::new();
        all.extend(fingerprints);
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Fingerprint, Fingerprints};
    use crate::document::Span;

    proptest! {
        #[test]
        fn what_was_pushed_comes_back(
            // Rows in any order, with small and large differences.
            rows in prop::collection::vec(
                any::<[u64; 6]>().prop_flat_map(|row| (Just(row), prop_oneof![20 => Just(0u64), 1 => Just(u64::MAX)])),
                0..60,
            ),
            range in any::<[prop::sample::Index; 2]>(),
        ) {
            let pushed: Vec<Fingerprint> = rows
                .into_iter()
                .map(|([hash, position, start, end, first_line, last_line], far)| {
                    let place = |value: u64| value & far | value & 0xFFFF | 1 << 40;
                    let span = Span { start: place(start), end: place(end) };
                    let (first_line, last_line) = (place(first_line), place(last_line));
                    Fingerprint { hash, position: place(position), span, first_line, last_line }
                })
                .collect();
            let mut fingerprints: Fingerprints = pushed.iter().copied().collect();
            prop_assert_eq!(fingerprints.len(), pushed.len());
            prop_assert_eq!(fingerprints.iter().len(), pushed.len());
            prop_assert_eq!(fingerprints.iter().collect::<Vec<_>>(), pushed.clone());
            let [a, b] = range.map(|index| index.index(pushed.len() + 1));
            let range = a.min(b)..a.max(b);
            prop_assert_eq!(fingerprints.range(range.clone()).collect::<Vec<_>>(), &pushed[range.clone()]);
            let mut cut = fingerprints.clone();
            cut.truncate(range.start);
            prop_assert_eq!(cut.iter().collect::<Vec<_>>(), &pushed[..range.start]);
            cut.extend(pushed[range.clone()].iter().copied());
            prop_assert_eq!(cut.iter().collect::<Vec<_>>(), &pushed[..range.end]);
            fingerprints.clear();
            prop_assert!(fingerprints.is_empty() && fingerprints.iter().next().is_none());
            fingerprints.extend(pushed.iter().copied());
            prop_assert_eq!(fingerprints.iter().collect::<Vec<_>>(), pushed);
        }
    }
}
