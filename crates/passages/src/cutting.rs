//! Cutting: removes from matches the parts that lie in text excluded from all matches.

use std::ops::Range;
use std::slice;

use super::runs::MaximalMatch;
use crate::ranges::difference;

/// Cuts matches at `ranges` of the query, whose starts and ends ascend. A match that touches ranges is
/// replaced by its parts outside the ranges of at least `long` symbols. A part may contain shorter ranges,
/// but is dropped if it has fewer than `least` symbols outside all ranges. The result is in order of the
/// query.
pub fn cut(matches: &mut Vec<MaximalMatch>, ranges: &[Range<u32>], long: u32, least: u32) {
    if ranges.is_empty() {
        return;
    }
    let mut parts = Vec::with_capacity(matches.len());
    for found in matches.drain(..) {
        let whole = found.query..found.query_end();
        let first = ranges.partition_point(|range| range.end <= whole.start);
        let touching = &ranges[first..first + ranges[first..].partition_point(|range| range.start < whole.end)];
        if touching.is_empty() {
            parts.push(found);
            continue;
        }
        let outside = difference(slice::from_ref(&whole), touching);
        let cutting: Vec<Range<u32>> = touching.iter().filter(|range| range.len() >= long as usize).cloned().collect();
        for part in difference(&[whole], &cutting) {
            let of_part = &outside[outside.partition_point(|own| own.end <= part.start)..];
            let own = of_part.iter().take_while(|own| own.start < part.end).map(Range::len).sum::<usize>();
            if own >= least as usize {
                let document = found.document + (part.start - found.query);
                parts.push(MaximalMatch { query: part.start, document, length: part.end - part.start, ..found });
            }
        }
    }
    parts.sort_by_key(|part| part.query);
    *matches = parts;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares the result with a check of each symbol.
        #[test]
        fn parts_are_the_runs_outside(
            matches in prop::collection::vec((0u32..60, 0u32..60, 1u32..30), 0..8),
            ranges in prop::collection::vec((0u32..90, 1u32..12), 0..6),
            long in 1u32..12,
            least in 1u32..6,
        ) {
            let mut matches = matches;
            matches.sort_unstable();
            let ranges: Vec<Range<u32>> = ranges.iter().map(|&(start, length)| start..start + length).collect();
            // Ranges may overlap.
            let mut ranges = ranges;
            ranges.sort_unstable_by_key(|range| range.start);
            let mut behind = 0;
            for range in &mut ranges {
                behind = range.end.max(behind);
                range.end = behind;
            }
            let inside = |symbol: u32| ranges.iter().any(|range| range.contains(&symbol));
            let cut_off = |symbol: u32| ranges.iter().any(|range| range.len() >= long as usize && range.contains(&symbol));
            let mut expected = Vec::new();
            for &(query, document, length) in &matches {
                let symbols: Vec<u32> = (query..query + length).collect();
                let touched = symbols.iter().any(|&symbol| inside(symbol));
                for part in symbols.chunk_by(|&a, &b| cut_off(a) == cut_off(b)).filter(|part| !cut_off(part[0])) {
                    let own = part.iter().filter(|&&symbol| !inside(symbol)).count();
                    if !touched || own >= least as usize {
                        expected.push((part[0], document + part[0] - query, part.len() as u32));
                    }
                }
            }
            let of = |&(query, document, length)| MaximalMatch { query, document, length, rarest: 7 };
            let mut found: Vec<MaximalMatch> = matches.iter().map(of).collect();
            cut(&mut found, &ranges, long, least);
            let found: Vec<_> = found.iter().map(|part| (part.query, part.document, part.length)).collect();
            let mut sorted_found = found.clone();
            sorted_found.sort_unstable();
            expected.sort_unstable();
            prop_assert!(found.is_sorted_by_key(|part| part.0));
            prop_assert_eq!(sorted_found, expected);
        }
    }
}
