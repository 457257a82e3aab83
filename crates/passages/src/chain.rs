//! Chains: counts how much of the text that two spans share is in the same order in both.
//!
//! A chain is a sequence of matches that follow each other in both texts. The longest one is found as the
//! heaviest increasing subsequence, with a Fenwick tree of maxima, in the time of a sort. A match can begin
//! before its predecessor ends, for instance if an edit repeats some symbols. Then only its symbols after
//! that end count. Only the nearest of the overlapping predecessors are considered.
//!
//! In rewritten text, the agreement counts only the longest chain. For `--min-passage`, matches outside the
//! chain count too.

use super::runs::MaximalMatch;

/// Maximum number of earlier matches checked for an overlap.
const LOOK_BACK: usize = 64;

/// Number of symbols in the longest chain of matches: a lower bound of the symbols equal in the same order.
pub fn longest_chain(matches: &[MaximalMatch]) -> u64 {
    let mut matches = matches.to_vec();
    matches.sort_unstable_by_key(|found| (found.query, found.document, found.length));
    let mut ends: Vec<u32> = matches.iter().map(MaximalMatch::document_end).collect();
    ends.sort_unstable();
    ends.dedup();
    // Chains that ended before the next match begins in the query, by their end in the document.
    let mut ended = Maxima(vec![0; ends.len() + 1]);
    let mut ending: Vec<usize> = (0..matches.len()).collect();
    ending.sort_unstable_by_key(|&index| matches[index].query_end());
    let mut ending = ending.into_iter().peekable();
    let mut chains: Vec<u64> = Vec::with_capacity(matches.len());
    for (index, found) in matches.iter().enumerate() {
        while let Some(before) = ending.next_if(|&before| matches[before].query_end() <= found.query) {
            ended.raise(ends.partition_point(|&end| end < matches[before].document_end()), chains[before]);
        }
        let apart = ended.below(ends.partition_point(|&end| end <= found.document)) + u64::from(found.length);
        let near = (index.saturating_sub(LOOK_BACK)..index)
            .filter_map(|before| Some(chains[before] + rest(&matches[before], found)?));
        chains.push(near.fold(apart, u64::max));
    }
    chains.into_iter().max().unwrap_or(0)
}

/// Number of symbols of a match after its overlap with `before`. `None` if the match does not follow
/// `before`.
fn rest(before: &MaximalMatch, found: &MaximalMatch) -> Option<u64> {
    let follows = before.query <= found.query && before.document <= found.document;
    let overlap =
        before.query_end().saturating_sub(found.query).max(before.document_end().saturating_sub(found.document));
    (follows && overlap < found.length).then(|| u64::from(found.length - overlap))
}

/// Prefix maxima of values that only grow (Fenwick 1994).
struct Maxima(Vec<u64>);

impl Maxima {
    fn raise(&mut self, place: usize, value: u64) {
        let mut node = place + 1;
        while let Some(greatest) = self.0.get_mut(node) {
            *greatest = value.max(*greatest);
            node += node & node.wrapping_neg();
        }
    }

    /// The greatest value at places below `place`.
    fn below(&self, place: usize) -> u64 {
        let mut node = place;
        let mut greatest = 0;
        while node > 0 {
            greatest = self.0[node].max(greatest);
            node &= node - 1;
        }
        greatest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(query: u32, document: u32, length: u32) -> MaximalMatch {
        MaximalMatch { query, document, length, rarest: 0 }
    }

    /// Computes the length of the longest chain by comparing each match with every other.
    fn naive(matches: &[MaximalMatch]) -> u64 {
        let mut matches = matches.to_vec();
        matches.sort_unstable_by_key(|found| (found.query, found.document, found.length));
        let mut chains: Vec<u64> = Vec::new();
        for (index, found) in matches.iter().enumerate() {
            let before = (0..index).filter_map(|before| Some(chains[before] + rest(&matches[before], found)?));
            chains.push(before.fold(found.length.into(), u64::max));
        }
        chains.into_iter().max().unwrap_or(0)
    }

    #[test]
    fn order_counts() {
        assert_eq!(longest_chain(&[]), 0);
        assert_eq!(longest_chain(&[found(0, 50, 30), found(30, 0, 50)]), 50, "two sentences that changed places");
        assert_eq!(longest_chain(&[found(0, 0, 30), found(30, 40, 50)]), 80);
        assert_eq!(longest_chain(&[found(0, 0, 30), found(28, 32, 50)]), 78, "an overlap counts once");
        assert_eq!(longest_chain(&[found(0, 0, 30), found(5, 5, 10)]), 30);
    }

    proptest! {
        #[test]
        fn it_is_what_comparing_each_with_each_finds(
            places in prop::collection::vec((0u32..60, 0u32..60, 1u32..12), 0..LOOK_BACK),
        ) {
            let matches: Vec<MaximalMatch> = places.into_iter().map(|(q, d, length)| found(q, d, length)).collect();
            prop_assert_eq!(longest_chain(&matches), naive(&matches));
        }

        #[test]
        fn of_many_matches_it_is_never_more_and_none_that_are_apart_are_missed(
            places in prop::collection::vec((0u32..90, 0u32..90), 100..400),
        ) {
            let matches: Vec<MaximalMatch> = places.into_iter().map(|(q, d)| found(q * 3, d * 3, 3)).collect();
            prop_assert_eq!(longest_chain(&matches), naive(&matches));
        }
    }
}
