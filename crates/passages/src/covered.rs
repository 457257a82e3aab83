//! Covered: the part of a query inside passages.

use std::ops::Range;

/// A set of symbols of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Covered {
    /// Ascending and disjoint.
    ranges: Vec<Range<u64>>,
    /// Number of symbols in the query.
    symbols: u64,
}

impl Covered {
    /// The set of the symbols in these ranges, which come in any order. The query has `symbols` symbols.
    pub fn new(mut ranges: Vec<Range<u64>>, symbols: u64) -> Self {
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        Self { ranges, symbols }
    }

    /// The union of these parts of one query.
    pub fn union<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let (mut ranges, mut symbols) = (Vec::new(), 0);
        for part in parts {
            ranges.extend_from_slice(&part.ranges);
            // A part without passages has `symbols` 0.
            symbols = symbols.max(part.symbols);
        }
        Self::new(ranges, symbols)
    }

    /// The share of the query's symbols in this set.
    pub fn share(&self) -> f64 {
        let covered: u64 = self.ranges.iter().map(|range| range.end - range.start).sum();
        if self.symbols == 0 { 0.0 } else { covered as f64 / self.symbols as f64 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Covered;

    proptest! {
        #[test]
        fn the_share_is_that_of_the_symbols_in_some_range(
            parts in prop::collection::vec(prop::collection::vec((0u64..50, 0u64..10), 0..6), 1..4),
        ) {
            let symbols: BTreeSet<u64> =
                parts.iter().flatten().flat_map(|&(start, length)| start..start + length).collect();
            let covered: Vec<Covered> = parts
                .iter()
                .map(|part| Covered::new(part.iter().map(|&(start, length)| start..start + length).collect(), 60))
                .collect();
            prop_assert_eq!(Covered::union(covered.iter()).share(), symbols.len() as f64 / 60.0);
        }
    }
}
