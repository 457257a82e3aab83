//! Ranges of symbols: the union and difference of many, and tests against them.

use std::ops::Range;

/// The union of the ranges: ascending and disjoint.
pub fn union<'a>(ranges: impl Iterator<Item = &'a Range<u32>>) -> Vec<Range<u32>> {
    // Each range as one number, which halves the time to sort them.
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

/// True if `inner` lies in one range of a union.
pub fn lies_in(union: &[Range<u32>], inner: &Range<u32>) -> bool {
    let after = union.partition_point(|range| range.start <= inner.start);
    after > 0 && inner.end <= union[after - 1].end
}

/// The union of `ranges` without `others`: ascending and disjoint.
pub fn difference(ranges: &[Range<u32>], others: &[Range<u32>]) -> Vec<Range<u32>> {
    let others = union(others.iter());
    let mut others = &others[..];
    let mut left = Vec::new();
    for Range { mut start, end } in union(ranges.iter()) {
        while let Some((other, rest)) = others.split_first() {
            if other.start >= end {
                break;
            }
            if other.start > start {
                left.push(start..other.start);
            }
            start = start.max(other.end);
            if other.end > end {
                break;
            }
            others = rest;
        }
        if start < end {
            left.push(start..end);
        }
    }
    left
}

/// The symbols of a query that do not count: those of its quotations and ignored phrases.
#[derive(Clone, Debug, Default)]
pub struct Uncounted {
    /// Ascending and disjoint.
    ranges: Vec<Range<u32>>,
    /// For each range, the number of symbols in the ranges before it.
    before: Vec<u64>,
}

impl Uncounted {
    /// Builds the set from ranges in any order.
    pub fn new<'a>(ranges: impl Iterator<Item = &'a Range<u32>>) -> Self {
        let ranges = union(ranges);
        let mut before = Vec::with_capacity(ranges.len());
        let mut symbols = 0;
        for range in &ranges {
            before.push(symbols);
            symbols += range.len() as u64;
        }
        Self { ranges, before }
    }

    /// The union of these symbols and `ranges`.
    pub fn with(&self, ranges: &[Range<u32>]) -> Self {
        Self::new(self.ranges.iter().chain(ranges))
    }

    /// The number of symbols in a range that count.
    pub fn counted(&self, range: &Range<u64>) -> u64 {
        (range.end - range.start) - self.within(range)
    }

    /// The number of symbols in a range that do not count.
    pub fn within(&self, range: &Range<u64>) -> u64 {
        self.up_to(range.end) - self.up_to(range.start)
    }

    /// The number of symbols before a place that do not count.
    fn up_to(&self, place: u64) -> u64 {
        let after = self.ranges.partition_point(|range| u64::from(range.start) < place);
        let Some(last) = after.checked_sub(1) else { return 0 };
        let range = &self.ranges[last];
        self.before[last] + place.min(range.end.into()) - u64::from(range.start)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_difference_lies_in_these_and_not_in_those(
            [these, those] in prop::array::uniform2(prop::collection::vec((0u32..50, 0u32..9), 0..12)),
        ) {
            let ranges = |ranges: Vec<(u32, u32)>| ranges.into_iter().map(|(start, length)| start..start + length).collect();
            let (these, those): (Vec<Range<u32>>, Vec<Range<u32>>) = (ranges(these), ranges(those));
            let holds = |ranges: &[Range<u32>], place: u32| ranges.iter().any(|range| range.contains(&place));
            let difference = difference(&these, &those);
            for place in 0..60 {
                prop_assert_eq!(holds(&difference, place), holds(&these, place) && !holds(&those, place));
            }
            prop_assert!(difference.is_sorted_by(|a, b| a.start < a.end && a.end < b.start || a.end <= b.start));
        }

        #[test]
        fn what_counts_lies_in_no_range(
            ranges in prop::collection::vec((0u32..50, 0u32..9), 0..12),
            (start, length) in (0u64..60, 0u64..20),
        ) {
            let ranges: Vec<Range<u32>> = ranges.into_iter().map(|(start, length)| start..start + length).collect();
            let counts = |place: &u64| !ranges.iter().any(|range| range.contains(&(*place as u32)));
            let expected = (start..start + length).filter(counts).count() as u64;
            prop_assert_eq!(Uncounted::new(ranges.iter()).counted(&(start..start + length)), expected);
        }
    }
}
