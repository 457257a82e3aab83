//! Phrases: finds all places of many phrases in a text.
//!
//! All phrases are searched for at once, with an automaton (Aho and Corasick 1975) over symbols. If several
//! phrases end at one place, only the longest is reported, since the others lie inside it. So the time of a
//! search is proportional to the text, whatever the number of phrases and of their occurrences. The automaton
//! takes memory in proportion to the symbols of the phrases.
//!
//! Occurrences are not kept: the range of each is joined at once to the ranges before it. A step of the
//! automaton is a binary search among the symbols that can follow. A symbol of the text takes at most two
//! steps. The automaton takes 20 bytes for each symbol of a phrase, except for a beginning that the phrase
//! shares with another one.
//!
//! Rejected: the crate `aho-corasick`, which lists at each state all phrases that end there. One phrase of
//! 500,000 letters `a` beside the phrases of 1 to 1,000 letters `a` would make 500 million entries.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Finds phrases among symbols. Cloning is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhraseFinder {
    /// A state for each beginning of a phrase, the shorter first. So the continuations of a state by one
    /// symbol are adjacent. The first state is the empty beginning. One extra state stands after the last.
    /// Its `first` is the end of the continuations of the last state.
    states: Arc<[PhraseState]>,
    /// The last symbol of each state; unused for the empty state.
    symbols: Arc<[u64]>,
}

/// A state: the longest suffix of the text read so far that begins a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PhraseState {
    /// The first state that continues this state by one symbol. The continuations of this state end before
    /// `first` of the next state.
    first: u32,
    /// The longest other state that is a suffix of this one.
    suffix: u32,
    /// Number of symbols of the longest phrase that is a suffix of this state; 0 if there is none.
    longest: u32,
}

impl PhraseFinder {
    /// Builds the automaton. `None` if there are too many symbols for 32-bit indexes.
    #[must_use]
    pub fn of_symbols(mut phrases: Vec<Vec<u64>>) -> Option<Self> {
        u32::try_from(phrases.iter().map(Vec::len).sum::<usize>() + 2).ok()?;
        phrases.sort_unstable();
        phrases.dedup();
        let mut states: Vec<PhraseState> = Vec::new();
        let mut symbols = vec![0];
        // States not yet visited. Each has the range of phrases that begin with its symbols, the number of
        // these symbols, and the index of its suffix state.
        let mut waiting = VecDeque::from([(0..phrases.len(), 0, 0)]);
        while let Some((mut these, length, suffix)) = waiting.pop_front() {
            let is_empty_one = states.is_empty();
            // The suffix is shorter, so it exists already. The suffix of the empty state is the state itself.
            let mut longest = states.get(suffix as usize).map_or(0, |suffix| suffix.longest);
            if phrases[these.start].len() == length {
                longest = length as u32;
                these.start += 1;
            }
            states.push(PhraseState { first: symbols.len() as u32, suffix, longest });
            while !these.is_empty() {
                let symbol = phrases[these.start][length];
                let same = phrases[these.clone()].partition_point(|phrase| phrase[length] == symbol);
                let after = if is_empty_one { 0 } else { step(&states, &symbols, suffix, symbol) };
                symbols.push(symbol);
                waiting.push_back((these.start..these.start + same, length + 1, after));
                these.start += same;
            }
        }
        states.push(PhraseState { first: symbols.len() as u32, suffix: 0, longest: 0 });
        Some(Self { states: states.into(), symbols: symbols.into() })
    }

    /// The symbols that are part of a phrase: ranges, ascending and disjoint.
    #[must_use]
    pub fn find(&self, symbols: &[u64]) -> Vec<Range<u32>> {
        let mut found: Vec<Range<u32>> = Vec::new();
        let mut state = 0;
        for (&symbol, end) in symbols.iter().zip(1u32..) {
            state = step(&self.states, &self.symbols, state, symbol);
            let longest = self.states[state as usize].longest;
            if longest == 0 {
                continue;
            }
            // This occurrence ends after all others, and absorbs those that it reaches back to.
            let mut start = end - longest;
            while let Some(last) = found.pop_if(|last| start <= last.end) {
                start = start.min(last.start);
            }
            found.push(start..end);
        }
        found
    }
}

/// The state after one more symbol: the longest beginning of a phrase that is a suffix of the text. Each
/// symbol makes the state longer by at most one, and each further turn of the loop makes the state shorter.
/// So a text takes at most two turns a symbol.
fn step(states: &[PhraseState], symbols: &[u64], mut state: u32, symbol: u64) -> u32 {
    loop {
        let PhraseState { first, suffix, .. } = states[state as usize];
        let next = &symbols[first as usize..states[state as usize + 1].first as usize];
        if let Ok(index) = next.binary_search(&symbol) {
            return first + index as u32;
        }
        if state == 0 {
            return 0;
        }
        state = suffix;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The oracle: compares each phrase with each place.
    fn compared(phrases: &[Vec<u64>], text: &[u64]) -> Vec<bool> {
        let mut expected = vec![false; text.len()];
        for phrase in phrases {
            for from in 0..text.len() {
                if text[from..].starts_with(phrase) {
                    expected[from..from + phrase.len()].fill(true);
                }
            }
        }
        expected
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_comparing_each_place_finds(
            mut phrases in prop::collection::vec(prop::collection::vec(0u64..4, 1..6), 1..6),
            text in prop::collection::vec(0u64..5, 0..60),
            // Parts of phrases that are phrases too, and equal phrases.
            parts in prop::collection::vec((0usize..6, 0usize..6, 1usize..7), 0..8),
        ) {
            for (which, from, length) in parts {
                let phrase = &phrases[which % phrases.len()];
                let from = from % phrase.len();
                phrases.push(phrase[from..phrase.len().min(from + length)].to_vec());
            }
            let ranges = PhraseFinder::of_symbols(phrases.clone()).unwrap().find(&text);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
            let mut found = vec![false; text.len()];
            for range in ranges {
                found[range.start as usize..range.end as usize].fill(true);
            }
            prop_assert_eq!(found, compared(&phrases, &text));
        }
    }

    /// A search takes memory for its answer and the phrases, not for all occurrences: here 1.2 x 10^9.
    #[test]
    fn phrases_within_phrases_and_equal_ones_take_no_room() {
        let mut phrases: Vec<Vec<u64>> = (1..=2000).map(|length| vec![7; length]).collect();
        phrases.extend(vec![vec![7]; 2000]);
        let finder = PhraseFinder::of_symbols(phrases).unwrap();
        assert_eq!(finder.states.len(), 2000 + 2, "a state a symbol of the longest, the empty one, and the end");
        let mut text = vec![7; 300_000];
        let found = finder.find(&text);
        assert!(found.len() == 1 && found[0] == (0..300_000) && found.capacity() < 10, "{found:?}");
        text[1000..].iter_mut().step_by(1000).for_each(|symbol| *symbol = 8);
        let found = finder.find(&text);
        assert!(found.len() == 300 && found.capacity() < 1000, "{} of {}", found.len(), found.capacity());
    }

    #[test]
    fn a_hundred_thousand_phrases_are_looked_for_at_once() {
        let phrases: Vec<Vec<u64>> =
            (0..100_000u64).map(|phrase| vec![phrase, phrase + 1, phrase * 7 % 65_537]).collect();
        let text = [&phrases[70_000][..], &[200_000], &phrases[3], &phrases[4][..2]].concat();
        let finder = PhraseFinder::of_symbols(phrases).unwrap();
        assert_eq!(finder.find(&text), [0..3, 4..7]);
    }
}
