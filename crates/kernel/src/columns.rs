//! Columns: fingerprints as the kernel makes them and as they travel to the store, 28 bytes each.
//!
//! Where all k-grams of a text are selected, most of the time goes by in writing them. So their places
//! are kept in 32 bits, column by column, relative to the *bases* of a block; a block ends only where 32 bits would not
//! do for the next fingerprint. For any document, the fingerprints read back are those written.

use std::iter::Zip;
use std::ops::Range;
use std::slice::Iter;

use crate::document::Span;

/// One selected k-gram of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The k-gram's hash.
    pub hash: u64,
    /// The index of its first symbol in the document.
    pub position: u64,
    /// The bytes of the original it came from.
    pub span: Span,
    /// The 1-based line its first byte stands in.
    pub first_line: u64,
    /// The 1-based line its last byte stands in.
    pub last_line: u64,
}

/// A list of fingerprints: those of a document or of part of one, in order of position.
#[derive(Clone, Debug, Default)]
pub struct Fingerprints {
    columns: Columns,
    /// The columns of the last block, which is still open, are relative to these.
    bases: FingerprintRow,
    /// The blocks before it: where each ends, and its bases. Almost always there are none.
    closed: Vec<(usize, FingerprintRow)>,
}

/// The memory of one fingerprint, in bytes.
pub const FINGERPRINT_BYTES: usize = size_of::<u64>() + size_of::<[u32; 5]>();

/// Where a fingerprint stands: its position, the start and end of its span, its first and its last line.
pub(crate) type FingerprintRow = [u64; 5];

/// Columns of fingerprints, in the order of a [`FingerprintRow`]; all are of one length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) hashes: Vec<u64>,
    pub(crate) positions: Vec<u32>,
    pub(crate) starts: Vec<u32>,
    pub(crate) ends: Vec<u32>,
    pub(crate) first_lines: Vec<u32>,
    pub(crate) last_lines: Vec<u32>,
}

/// Hash and position, start and end, first and last line: zipped, so that one check of the index does for all.
type RowIter<'a> = Zip<
    Zip<Zip<Iter<'a, u64>, ColumnIter<'a>>, Zip<ColumnIter<'a>, ColumnIter<'a>>>,
    Zip<ColumnIter<'a>, ColumnIter<'a>>,
>;
type ColumnIter<'a> = Iter<'a, u32>;

/// Goes along fingerprints.
#[derive(Clone, Debug)]
pub struct FingerprintsIter<'a> {
    rows: RowIter<'a>,
    bases: FingerprintRow,
    /// How many more are relative to these.
    in_block: usize,
    /// The blocks that end after this one, and the bases of the open one.
    later: &'a [(usize, FingerprintRow)],
    last_bases: FingerprintRow,
    /// The index of the one after the last.
    end: usize,
}

/// Equal lists have equal fingerprints, whatever their blocks.
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

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.hashes.len()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all, and keeps the memory for others.
    pub fn clear(&mut self) {
        let Columns { hashes, positions, starts, ends, first_lines, last_lines } = &mut self.columns;
        hashes.clear();
        for column in [positions, starts, ends, first_lines, last_lines] {
            column.clear();
        }
        self.closed.clear();
    }

    /// Forgets all but the first `len`.
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

    /// Appends one.
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

    /// All of them, in order.
    pub fn iter(&self) -> FingerprintsIter<'_> {
        self.range(0..self.len())
    }

    /// The fingerprints of these indices, in order. Panics like an index where there are not as many.
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

    /// All of them, so many at a time.
    #[doc(hidden)]
    pub fn chunks(&self, size: usize) -> impl Iterator<Item = FingerprintsIter<'_>> {
        (0..self.len()).step_by(size).map(move |from| self.range(from..self.len().min(from + size)))
    }

    /// Makes room for so many more.
    pub(crate) fn reserve(&mut self, count: usize) {
        let Columns { hashes, positions, starts, ends, first_lines, last_lines } = &mut self.columns;
        hashes.reserve(count);
        for column in [positions, starts, ends, first_lines, last_lines] {
            column.reserve(count);
        }
    }

    /// The columns, for fingerprints that stand from `least` to `most`, and what these are to be relative to there; or
    /// `None` where 32 bits are not enough.
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

    /// True if the open block can take what stands from `least` to `most`.
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

/// True if 32 bits hold what lies between.
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
            // In any order, near and far.
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
