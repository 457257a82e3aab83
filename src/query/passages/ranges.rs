//! Ranges of symbols, many of them as one: what lies in some range, and whether a range lies in that.

use std::ops::Range;

/// What lies in some of the ranges: ascending, apart from each other.
pub(super) fn union<'a>(ranges: impl Iterator<Item = &'a Range<u32>>) -> Vec<Range<u32>> {
    // As one number each, which are sorted in half the time.
    let mut ranges: Vec<u64> = ranges.map(|range| u64::from(range.start) << 32 | u64::from(range.end)).collect();
    ranges.sort_unstable();
    let mut union: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        let (start, end) = ((range >> 32) as u32, range as u32);
        match union.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => union.push(start..end),
        }
    }
    union
}

/// Whether a range lies in one of a union.
pub(super) fn lies_in(union: &[Range<u32>], inner: &Range<u32>) -> bool {
    let after = union.partition_point(|range| range.start <= inner.start);
    after > 0 && inner.end <= union[after - 1].end
}
