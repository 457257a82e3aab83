//! Connected: groups matches into parts that are connected through gaps of at most `gap` symbols in both
//! texts.
//!
//! A part is divided where the query has a gap, and where the document has one, until no part can be divided
//! further. A connected part is never divided, so the order of divisions makes no difference. Each part is
//! scanned from all four of its ends at once, one match at a time, until one of the scans reaches a gap. The
//! matches before the gap are at most half of the part. Only these matches are taken out and become a part of
//! their own. So a match is scanned at most once for each halving of its part: O(n log n) in all. (The same
//! method finds gene teams: Béal, Bergeron, Corteel and Raffinot 2004.)

use std::ops::Range;

use super::runs::MaximalMatch;

/// A pair of spans, one in the query and one in the document.
pub trait Spanning: Copy {
    fn in_query(&self) -> Range<u32>;
    fn in_document(&self) -> Range<u32>;
}

impl Spanning for MaximalMatch {
    fn in_query(&self) -> Range<u32> {
        self.query..self.query_end()
    }

    fn in_document(&self) -> Range<u32> {
        self.document..self.document_end()
    }
}

/// The ends from which a part is scanned: start and end of the query, and of the document.
const ENDS: [TextEnd; 4] = [
    TextEnd { in_query: true, backwards: false },
    TextEnd { in_query: true, backwards: true },
    TextEnd { in_query: false, backwards: false },
    TextEnd { in_query: false, backwards: true },
];

/// One end of a text.
#[derive(Clone, Copy)]
struct TextEnd {
    in_query: bool,
    backwards: bool,
}

impl TextEnd {
    /// Start and end of a match, counted from this end of the text.
    fn span(self, found: &impl Spanning) -> (u32, u32) {
        let Range { start, end } = if self.in_query { found.in_query() } else { found.in_document() };
        if self.backwards { (!end, !start) } else { (start, end) }
    }
}

/// The parts that are connected through gaps of at most `gap` symbols in both texts, in no order.
pub fn connected<T: Spanning>(matches: &[T], gap: u32) -> Vec<Vec<T>> {
    let mut lists = MatchLists::new(matches, gap);
    let mut connected = Vec::new();
    let mut parts: Vec<Vec<u32>> = vec![(0..matches.len() as u32).collect()];
    while let Some(members) = parts.pop() {
        let mut firsts = lists.link(members);
        while let Some(apart) = lists.apart(firsts) {
            lists.unlink(&mut firsts, &apart);
            parts.push(apart);
        }
        let part: Vec<T> = lists.from(0, firsts[0]).map(|index| matches[index as usize]).collect();
        connected.extend((!part.is_empty()).then_some(part));
    }
    connected
}

/// Marks the absence of a match.
const NONE: u32 = u32::MAX;

/// For each part and each end, a linked list of the matches of the part, in order of their starts as seen
/// from this end.
struct MatchLists<'a, T> {
    matches: &'a [T],
    gap: u32,
    next: [Vec<u32>; 4],
    previous: [Vec<u32>; 4],
    /// Number of matches scanned.
    #[cfg(test)]
    looked_at: u64,
}

impl<'a, T: Spanning> MatchLists<'a, T> {
    fn new(matches: &'a [T], gap: u32) -> Self {
        let none = || [(); 4].map(|()| vec![NONE; matches.len()]);
        Self {
            matches,
            gap,
            next: none(),
            previous: none(),
            #[cfg(test)]
            looked_at: 0,
        }
    }

    /// Makes these matches a part. Returns the first match of each list.
    fn link(&mut self, mut members: Vec<u32>) -> [u32; 4] {
        let mut firsts = [NONE; 4];
        for (list, end) in ENDS.into_iter().enumerate() {
            members.sort_unstable_by_key(|&index| (end.span(&self.matches[index as usize]), index));
            let mut last = NONE;
            for &index in &members {
                match self.next[list].get_mut(last as usize) {
                    Some(next) => *next = index,
                    None => firsts[list] = index,
                }
                self.previous[list][index as usize] = last;
                last = index;
            }
            if let Some(next) = self.next[list].get_mut(last as usize) {
                *next = NONE;
            }
        }
        firsts
    }

    /// Removes matches from their part.
    fn unlink(&mut self, firsts: &mut [u32; 4], taken: &[u32]) {
        for (list, first) in firsts.iter_mut().enumerate() {
            for &index in taken {
                let (before, after) = (self.previous[list][index as usize], self.next[list][index as usize]);
                match self.next[list].get_mut(before as usize) {
                    Some(next) => *next = after,
                    None => *first = after,
                }
                if let Some(previous) = self.previous[list].get_mut(after as usize) {
                    *previous = before;
                }
            }
        }
    }

    /// The matches of a list, from `first` on.
    fn from(&self, list: usize, first: u32) -> impl Iterator<Item = u32> {
        let there = |index: u32| (index != NONE).then_some(index);
        std::iter::successors(there(first), move |&index| there(self.next[list][index as usize]))
    }

    /// Returns the matches at one end of a part, at most half of its matches, that a gap separates from all
    /// others. `None` if no gap divides the part.
    fn apart(&mut self, firsts: [u32; 4]) -> Option<Vec<u32>> {
        // For each end, the next match to scan, and the furthest end of the matches scanned.
        let mut at = firsts.map(|first| (first, u32::MAX));
        let mut is_whole = [false; 2];
        for before in 0.. {
            for (list, end) in ENDS.into_iter().enumerate() {
                let text = usize::from(end.in_query);
                let (index, reach) = at[list];
                if is_whole[text] {
                    continue;
                }
                let Some(found) = self.matches.get(index as usize) else {
                    is_whole[text] = true;
                    continue;
                };
                #[cfg(test)]
                {
                    self.looked_at += 1;
                }
                let (start, stop) = end.span(found);
                if before > 0 && start > reach.saturating_add(self.gap) {
                    return Some(self.from(list, firsts[list]).take(before).collect());
                }
                let reach = if before > 0 { reach.max(stop) } else { stop };
                at[list] = (self.next[list][index as usize], reach);
            }
            if is_whole == [true; 2] {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(query: u32, document: u32, length: u32) -> MaximalMatch {
        MaximalMatch { query, document, length, rarest: 0 }
    }

    /// Divides all parts in one text, then all of them in the other, and so on.
    fn naive(matches: &[MaximalMatch], gap: u32) -> Vec<Vec<MaximalMatch>> {
        let mut connected = Vec::new();
        // Each part with the number of divisions in a row that left it whole.
        let mut parts = vec![(matches.to_vec(), 0)];
        let mut by_query = true;
        while !parts.is_empty() {
            let mut next = Vec::new();
            for (part, whole) in parts {
                let pieces = divide(part, gap, by_query);
                let whole = if pieces.len() == 1 { whole + 1 } else { 0 };
                match whole {
                    2.. => connected.extend(pieces),
                    _ => next.extend(pieces.into_iter().map(|piece| (piece, whole))),
                }
            }
            parts = next;
            by_query = !by_query;
        }
        connected
    }

    fn divide(mut matches: Vec<MaximalMatch>, gap: u32, by_query: bool) -> Vec<Vec<MaximalMatch>> {
        let span = |found: &MaximalMatch| match by_query {
            true => found.query..found.query_end(),
            false => found.document..found.document_end(),
        };
        matches.sort_unstable_by_key(|found| (span(found).start, span(found).end));
        let mut pieces: Vec<Vec<MaximalMatch>> = Vec::new();
        let mut end = 0u32;
        for found in matches {
            let Range { start, end: stop } = span(&found);
            match pieces.last_mut() {
                Some(piece) if start <= end.saturating_add(gap) => piece.push(found),
                _ => pieces.push(vec![found]),
            }
            end = end.max(stop);
        }
        pieces
    }

    fn sorted(mut parts: Vec<Vec<MaximalMatch>>) -> Vec<Vec<(u32, u32, u32)>> {
        let place = |found: &MaximalMatch| (found.query, found.document, found.length);
        parts.iter_mut().for_each(|part| part.sort_unstable_by_key(place));
        let mut parts: Vec<Vec<_>> = parts.iter().map(|part| part.iter().map(place).collect()).collect();
        parts.sort_unstable();
        parts
    }

    /// Matches that form a staircase: each touches the one before it, alternately in the query and in the
    /// document. The first touches nothing before it. Once the first is removed, the same holds for the
    /// second.
    fn staircase(steps: u32) -> Vec<MaximalMatch> {
        // Neighbours in the query are 1 and 2, 3 and 4, ...; in the document 2 and 3, 4 and 5, ...
        let place = |step: u32, pair: u32| 100 * (step / 2 + pair) + 10 * (step % 2);
        (1..=steps).map(|step| found(place(step + 1, 0), place(step, 0), 5)).collect()
    }

    #[test]
    fn a_gap_in_either_text_divides() {
        assert!(connected::<MaximalMatch>(&[], 3).is_empty());
        let near = [found(0, 100, 5), found(8, 0, 5), found(16, 108, 5)];
        assert_eq!(sorted(connected(&near, 11)), [vec![(0, 100, 5), (16, 108, 5)], vec![(8, 0, 5)]]);
        // The gap between (0, 100) and (16, 108) is too wide for one part. The match (8, 0) lies between them
        // in the query, but is far away in the document, so it does not connect them.
        assert_eq!(sorted(connected(&near, 10)).len(), 3);
        assert_eq!(sorted(connected(&near, u32::MAX)).len(), 1);
    }

    #[test]
    fn a_part_that_loses_one_match_after_the_other_is_looked_through_once() {
        let steps = 100_000;
        let stairs = staircase(steps);
        assert_eq!(sorted(connected(&stairs[..500], 10)), sorted(naive(&stairs[..500], 10)));
        assert_eq!(connected(&stairs, 10).len(), steps as usize);
        let mut lists = MatchLists::new(&stairs, 10);
        let mut firsts = lists.link((0..steps).collect());
        while let Some(apart) = lists.apart(firsts) {
            assert_eq!(apart.len(), 1);
            lists.unlink(&mut firsts, &apart);
        }
        assert!(lists.looked_at <= 10 * u64::from(steps), "{}", lists.looked_at);
    }

    proptest! {
        #[test]
        fn it_is_what_dividing_all_parts_by_turns_finds(
            places in prop::collection::vec((0u32..400, 0u32..400, 1u32..12), 0..80),
            gap in 0u32..20,
        ) {
            let matches: Vec<MaximalMatch> = places.into_iter().map(|(q, d, length)| found(q, d, length)).collect();
            prop_assert_eq!(sorted(connected(&matches, gap)), sorted(naive(&matches, gap)));
        }

        #[test]
        fn also_of_matches_that_stand_at_the_ends_of_what_can_be_counted(
            places in prop::collection::vec((0u32..60, 0u32..60, 1u32..12), 0..30),
            gap in prop::sample::select(vec![0, 5, u32::MAX - 10, u32::MAX]),
        ) {
            let far = |place: u32| if place < 30 { place } else { u32::MAX - 80 + place - 30 };
            let matches: Vec<MaximalMatch> =
                places.into_iter().map(|(q, d, length)| found(far(q), far(d), length)).collect();
            prop_assert_eq!(sorted(connected(&matches, gap)), sorted(naive(&matches, gap)));
        }
    }
}
