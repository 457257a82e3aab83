//! Open: the *open* passages, which later matches of the query may continue or lie in. Each match is compared
//! with all of them.
//!
//! The ends of the passages are stored in columns, so that the processor compares many passages at a time.
//! Programs that repeat their idioms have [`OPEN`] open passages for each of a hundred thousand matches.

use std::ops::Range;

/// Maximum number of passages held; those of the greatest weight are kept.
pub const OPEN: usize = 256;

/// Number of passages compared at a time.
const STRIPE: usize = 32;

/// Start of the unused slots: after every place, so that no range lies in an unused slot.
const NOWHERE: i32 = i32::MAX;

/// Passages by place. Places are below 2^31: larger texts are not compared.
pub struct PassageIndex {
    query_start: Box<[i32; OPEN]>,
    query_end: Box<[i32; OPEN]>,
    document_start: Box<[i32; OPEN]>,
    document_end: Box<[i32; OPEN]>,
    weight: Vec<u64>,
    /// The indexes of the passages.
    index: Vec<usize>,
    /// Number of held passages at which ended passages are removed.
    room: usize,
}

impl PassageIndex {
    pub fn new() -> Self {
        let column = |filler| Box::new([filler; OPEN]);
        Self {
            query_start: column(NOWHERE),
            query_end: column(0),
            document_start: column(0),
            document_end: column(0),
            weight: Vec::with_capacity(OPEN),
            index: Vec::with_capacity(OPEN),
            room: STRIPE,
        }
    }

    /// Adds the passage `index`. If there is no room, first removes passages that end before `from` in the
    /// query. If no passage ends there, removes the passage of the least weight. Of several such passages,
    /// removes the one added first.
    pub fn push(&mut self, index: usize, query: &Range<u32>, document: &Range<u32>, weight: u64, from: u32) {
        if self.index.len() == self.room {
            let mut at = 0;
            while at < self.index.len() {
                if self.query_end[at] >= from.cast_signed() { at += 1 } else { self.remove(at) }
            }
            if self.index.len() == OPEN
                && let Some(least) = (0..OPEN).min_by_key(|&at| (self.weight[at], self.index[at]))
            {
                self.remove(least);
            }
            self.room = (2 * self.index.len()).next_multiple_of(STRIPE).clamp(STRIPE, OPEN);
        }
        let at = self.index.len();
        self.index.push(index);
        self.weight.push(weight);
        self.query_start[at] = query.start.cast_signed();
        self.document_start[at] = document.start.cast_signed();
        self.set_ends(at, query.end, document.end);
    }

    /// Moves the last passage into the freed slot, since order does not matter.
    fn remove(&mut self, at: usize) {
        let last = self.index.len() - 1;
        self.index.swap_remove(at);
        self.weight.swap_remove(at);
        for column in [&mut self.query_start, &mut self.query_end, &mut self.document_start, &mut self.document_end] {
            column[at] = column[last];
        }
        self.query_start[last] = NOWHERE;
    }

    fn set_ends(&mut self, at: usize, query: u32, document: u32) {
        self.query_end[at] = query.cast_signed();
        self.document_end[at] = document.cast_signed();
    }

    /// The passages held: their slots and their indexes.
    pub fn held(&self) -> impl Iterator<Item = (usize, usize)> {
        self.index.iter().copied().enumerate()
    }

    /// Moves the end of the passage in a slot.
    pub fn extend(&mut self, at: usize, query_end: u32, document_end: u32, weight: u64) {
        self.set_ends(at, query_end, document_end);
        self.weight[at] = weight;
    }

    /// True if some passage contains both ranges.
    pub fn holds(&self, query: &Range<u32>, document: &Range<u32>) -> bool {
        let [from, to] = [query.start, query.end].map(u32::cast_signed);
        let [other_from, other_to] = [document.start, document.end].map(u32::cast_signed);
        self.some(|start, end, other_start, other_end| {
            (start <= from) & (end >= to) & (other_start <= other_from) & (other_end >= other_to)
        })
    }

    /// True if the ranges may continue some passage. On both sides, the passage must start no later than the
    /// range, and end earlier. Its end must be at most `gap` symbols before the start of the range.
    pub fn continues(&self, query: &Range<u32>, document: &Range<u32>, gap: u32) -> bool {
        let [from, to] = [query.start, query.end].map(u32::cast_signed);
        let [other_from, other_to] = [document.start, document.end].map(u32::cast_signed);
        let gap = i32::try_from(gap).unwrap_or(i32::MAX);
        let (near, other_near) = (from.saturating_sub(gap), other_from.saturating_sub(gap));
        self.some(|start, end, other_start, other_end| {
            let begun = (start <= from) & (other_start <= other_from);
            begun & (end < to) & (other_end < other_to) & (end >= near) & (other_end >= other_near)
        })
    }

    /// True if `is` holds for some passage. `is` gets the passage's start and end in the query and in the
    /// document. There are no branches between passages, so that the processor compares many at a time.
    #[inline(always)]
    fn some(&self, is: impl Fn(i32, i32, i32, i32) -> bool) -> bool {
        let starts = self.query_start.as_chunks::<STRIPE>().0.iter().zip(self.document_start.as_chunks::<STRIPE>().0);
        let ends = self.query_end.as_chunks::<STRIPE>().0.iter().zip(self.document_end.as_chunks::<STRIPE>().0);
        for (starts, ends) in starts.zip(ends).take(self.index.len().div_ceil(STRIPE)) {
            let mut seen = 0u32;
            for at in 0..STRIPE {
                seen |= u32::from(is(starts.0[at], ends.0[at], starts.1[at], ends.1[at]));
            }
            if seen != 0 {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn columns_say_what_each_passage_says(
            places in prop::collection::vec((0u32..60, 1u32..20, 0u32..60, 1u32..20), 1..200),
            gap in prop_oneof![0u32..10, Just(u32::MAX)],
        ) {
            let places: Vec<(Range<u32>, Range<u32>)> =
                places.into_iter().map(|(q, long, d, other)| (q..q + long, d..d + other)).collect();
            let mut open = PassageIndex::new();
            for (index, (query, document)) in places.iter().enumerate() {
                let held = || places[..index].iter().filter(|held| held.0.start <= query.start && held.1.start <= document.start);
                let holds = held().any(|held| held.0.end >= query.end && held.1.end >= document.end);
                prop_assert_eq!(open.holds(query, document), holds);
                let near = |end: u32, start: u32| end.saturating_add(gap) >= start;
                let continues = held().any(|held| {
                    held.0.end < query.end && held.1.end < document.end
                        && near(held.0.end, query.start) && near(held.1.end, document.start)
                });
                prop_assert_eq!(open.continues(query, document, gap), continues);
                open.push(index, query, document, 1, 0);
            }
        }
    }

    #[test]
    fn what_has_ended_goes_first_and_then_what_weighs_least() {
        let mut open = PassageIndex::new();
        for index in 0..OPEN as u32 {
            // The first ten end early; the eleventh has the least weight.
            let end = if index < 10 { 5 } else { 1000 };
            open.push(index as usize, &(0..end), &(0..end), if index == 10 { 1 } else { 2 }, 0);
        }
        let held = |open: &PassageIndex| {
            let mut held: Vec<usize> = open.held().map(|(_, index)| index).collect();
            held.sort_unstable();
            held
        };
        for index in OPEN..OPEN + 10 {
            open.push(index, &(6..1000), &(6..1000), 2, 6);
        }
        assert_eq!(held(&open), (10..OPEN + 10).collect::<Vec<_>>());
        open.push(OPEN + 10, &(6..1000), &(6..1000), 2, 6);
        assert_eq!(held(&open), (11..=OPEN + 10).collect::<Vec<_>>());
        assert!(open.holds(&(20..30), &(20..30)) && !open.holds(&(20..30), &(20..3000)));
    }
}
