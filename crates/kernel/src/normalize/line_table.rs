//! Line table: finds the line of a byte without a search and without a branch.
//!
//! Where a line has few k-grams, a walk from newline to newline mispredicts a branch at many of them.

use super::symbols::LineEnd;

/// Bytes that a table covers.
const BYTES: usize = 1 << 14;

/// Bytes that are written at once. Most lines are shorter.
const RUN: usize = 128;

/// The lines of consecutive bytes, relative to the line of the first byte.
#[derive(Clone, Debug)]
pub(crate) struct LineTable([u8; BYTES]);

impl Default for LineTable {
    fn default() -> Self {
        Self([0; BYTES])
    }
}

impl LineTable {
    /// Makes it the table of the bytes from `first` to `last`. `ends` begins with the first newline from
    /// `first` on. Returns `false` if the bytes or their lines do not fit, or if `ends` skips a newline.
    #[inline(always)]
    pub(super) fn fill(&mut self, first: u64, last: u64, ends: &[LineEnd]) -> bool {
        if last - first > (BYTES - 2 * RUN) as u64 {
            return false;
        }
        let (mut line, mut at) = (0, 0);
        for end in ends.iter().take_while(|end| end.offset < last) {
            let next = (end.offset + 1 - first) as usize;
            if line == usize::from(u8::MAX) {
                return false;
            }
            self.write(at, next, line);
            (line, at) = (line + 1, next);
        }
        self.write(at, (last - first) as usize + 1, line);
        line == 0 || ends[line - 1].count - ends[0].count == line as u64 - 1
    }

    /// The line of the byte at this distance from the first one.
    #[inline(always)]
    pub(super) fn line(&self, distance: u32) -> u32 {
        u32::from(self.0[distance as usize % BYTES])
    }

    /// Writes the line of the bytes from `at` to `end`, and of some bytes after them.
    #[inline(always)]
    fn write(&mut self, mut at: usize, end: usize, line: usize) {
        while at < end
            && let Some(run) = self.0[at..].first_chunk_mut::<RUN>()
        {
            *run = [line as u8; RUN];
            at += RUN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newlines that end lines of these lengths. The first line begins at `first`.
    fn newlines(first: u64, lengths: impl IntoIterator<Item = u64>) -> Vec<LineEnd> {
        let end = |offset: &mut u64, (length, count)| {
            *offset += length;
            Some(LineEnd { offset: *offset - 1, count })
        };
        lengths.into_iter().zip(1..).scan(first, end).collect()
    }

    #[test]
    fn it_gives_the_line_of_each_byte() {
        let (first, mut table) = (1 << 40, LineTable::default());
        for lengths in [vec![], vec![1], vec![200, 1, 1, 128, 129, 5, 1000, 127], vec![3; 255]] {
            let ends = newlines(first, lengths);
            for last in [0, 1, 300, 9000].map(|distance| first + distance) {
                assert!(table.fill(first, last, &ends));
                for byte in first..=last {
                    let line = ends.iter().filter(|end| end.offset < byte).count();
                    assert_eq!(table.line((byte - first) as u32) as usize, line, "byte {byte} of {last}");
                }
            }
        }
    }

    #[test]
    fn it_refuses_what_does_not_fit() {
        let mut table = LineTable::default();
        assert!(!table.fill(0, BYTES as u64, &[]), "too many bytes");
        assert!(!table.fill(0, 256, &newlines(0, [1; 256])), "too many lines");
        let mut ends = newlines(0, [10; 5]);
        ends.remove(2);
        assert!(!table.fill(0, 100, &ends), "a newline is missing");
        assert!(table.fill(0, 15, &ends), "it is missing only later");
    }
}
