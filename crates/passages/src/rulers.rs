//! Rulers: lines of dashes or stars, and other runs that repeat a few symbols.

use std::ops::Range;

use crate::ranges::union;

/// Maximum number of symbols that a ruler repeats.
const PERIOD: usize = 4;

/// The runs of at least `least` symbols in which one to four symbols repeat, at least four times: ascending
/// and disjoint.
pub fn rulers(values: &[u64], least: usize) -> Vec<Range<u32>> {
    let mut found = Vec::new();
    for period in 1..=PERIOD {
        let mut start = 0;
        for end in period..=values.len() {
            if values.get(end) == Some(&values[end - period]) {
                continue;
            }
            if end - start >= least.max(4 * period) {
                found.push(start as u32..end as u32);
            }
            start = end + 1 - period;
        }
    }
    union(found.iter())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_symbols_that_repeat_are_a_ruler() {
        let values = |text: &str| text.bytes().map(u64::from).collect::<Vec<_>>();
        assert_eq!(rulers(&values("ab--------cd"), 8), vec![2..10; 1]);
        assert_eq!(rulers(&values("ab--------cd"), 9), [0..0; 0]);
        assert_eq!(rulers(&values("*=*=*=*=*=+---+---+---+---+x"), 8), vec![0..27; 1]);
        assert_eq!(rulers(&values("abcdeabcdeabcdeabcde"), 8), [0..0; 0]);
        assert_eq!(rulers(&values("xyxyxyx"), 1), [0..0; 0], "too few repeats");
        assert_eq!(rulers(&[], 8), [0..0; 0]);
    }

    proptest! {
        #[test]
        fn they_are_found_where_each_symbol_repeats_one_before_it(
            values in prop::collection::vec(0u64..3, 0..60), least in 0usize..20,
        ) {
            let mut in_ruler = vec![false; values.len()];
            for period in 1..=PERIOD {
                let length = least.max(4 * period);
                for (start, run) in values.windows(length).enumerate() {
                    if (period..length).all(|at| run[at] == run[at - period]) {
                        in_ruler[start..start + length].fill(true);
                    }
                }
            }
            let found = rulers(&values, least);
            prop_assert!(found.is_sorted_by(|a, b| a.end < b.start));
            for (at, expected) in in_ruler.into_iter().enumerate() {
                prop_assert_eq!(found.iter().any(|range| range.contains(&(at as u32))), expected, "{}", at);
            }
        }
    }
}
