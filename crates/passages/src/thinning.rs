//! Thinning: leaves out uninformative passages if one pair of documents has very many.
//!
//! A program repeats its idioms, and each place of an idiom in one document pairs with each place in the
//! other. Two releases of one library have 70,000 passages, but a few long ones show what was copied. Beyond
//! [`READ`] passages, two kinds are left out. The first are short passages whose two places longer passages
//! already mark. The second are passages whose two places both lie in far longer passages. Every place that
//! some passage marks stays marked.

use std::cmp::Reverse;
use std::ops::Range;

use crate::ranges::{lies_in, union};

/// Maximum number of passages of one pair that a reader looks at one by one.
const READ: usize = 100;

/// A far longer passage is at least 2^`FAR` times as long.
const FAR: u32 = 3;

/// The places of a passage. The caller chooses the unit: symbols, or any numbers that ascend with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The symbols of the query.
    pub query: Range<u32>,
    /// The symbols of the document.
    pub document: Range<u32>,
    /// Number of symbols.
    pub length: u64,
}

impl Extent {
    fn level(&self) -> u32 {
        self.length.max(1).ilog2()
    }
}

/// Leaves out uninformative passages, and then all but the `most` longest. Passages of fewer than `short`
/// symbols are short. The others stay in order. Returns the number left out.
pub fn thin_out<T>(passages: &mut Vec<T>, most: usize, short: u64, extent: impl Fn(&T) -> Extent) -> u64 {
    let all = passages.len();
    if all <= READ.min(most) {
        return 0;
    }
    let extents: Vec<Extent> = passages.iter().map(extent).collect();
    let mut kept = vec![false; all];
    let mut left = most;
    let far = far_longer(&extents, short);
    let sides: [fn(&Extent) -> &Range<u32>; 2] = [|extent| &extent.query, |extent| &extent.document];
    let mut marked = sides.map(|side| Marked::new(extents.iter().map(side)));
    for index in longest_first(&extents) {
        let extent = &extents[index];
        let news = sides.iter().zip(&mut marked).fold(false, |news, (side, marked)| marked.mark(side(extent)) | news);
        let tells = all <= READ || news || (extent.length >= short && !repeats(extent, &far));
        if tells && left > 0 {
            kept[index] = true;
            left -= 1;
        }
    }
    retain(passages, kept);
    (all - passages.len()) as u64
}

/// Leaves out passages that add fewer than `floor` symbols, in either document, to the text that longer
/// passages mark. If the longest passage is shorter than `floor`, its length is the limit. The others stay in
/// order.
pub fn tile<T>(passages: &mut Vec<T>, floor: u64, extent: impl Fn(&T) -> Extent) {
    let extents: Vec<Extent> = passages.iter().map(extent).collect();
    let floor = floor.min(extents.iter().map(|extent| extent.length).max().unwrap_or(0));
    let mut in_query = Marked::new(extents.iter().map(|extent| &extent.query));
    let mut in_document = Marked::new(extents.iter().map(|extent| &extent.document));
    let mut kept = vec![false; extents.len()];
    for index in longest_first(&extents) {
        let Extent { query, document, .. } = &extents[index];
        let added = in_query.unmarked(query, floor).max(in_document.unmarked(document, floor));
        if added >= floor {
            in_query.mark(query);
            in_document.mark(document);
            kept[index] = true;
        }
    }
    retain(passages, kept);
}

/// The indexes of passages, the longest first; of equal length, in their order.
fn longest_first(extents: &[Extent]) -> Vec<usize> {
    let mut indexes: Vec<usize> = (0..extents.len()).collect();
    indexes.sort_by_key(|&index| Reverse(extents[index].length));
    indexes
}

/// Drops the passages for which `kept` is false.
fn retain<T>(passages: &mut Vec<T>, kept: Vec<bool>) {
    let mut kept = kept.into_iter();
    passages.retain(|_| kept.next().unwrap_or(false));
}

/// For each level of length, the places of far longer passages, in either document.
type Far = Vec<(u32, [Vec<Range<u32>>; 2])>;

fn far_longer(extents: &[Extent], short: u64) -> Far {
    let long: Vec<&Extent> = extents.iter().filter(|extent| extent.length >= short).collect();
    let mut levels: Vec<u32> = long.iter().map(|extent| extent.level()).collect();
    levels.sort_unstable();
    levels.dedup();
    let at_level = |level: u32| {
        let far = || long.iter().filter(move |extent| extent.level() >= level + FAR);
        [union(far().map(|extent| &extent.query)), union(far().map(|extent| &extent.document))]
    };
    levels.into_iter().map(|level| (level, at_level(level))).collect()
}

fn repeats(extent: &Extent, far: &Far) -> bool {
    let at = far.partition_point(|(level, _)| *level < extent.level());
    far.get(at)
        .is_some_and(|(_, [query, document])| lies_in(query, &extent.query) && lies_in(document, &extent.document))
}

/// The marked places of a document, as a disjoint-set structure: each place leads to the next unmarked one.
/// Path halving shortens the ways. Each place is marked once, so the time is nearly linear.
struct Marked(Vec<u32>);

impl Marked {
    fn new<'a>(ranges: impl Iterator<Item = &'a Range<u32>>) -> Self {
        Self((0..=ranges.map(|range| range.end).max().unwrap_or(0)).collect())
    }

    /// Marks a range. Returns true if some of it was not marked before.
    fn mark(&mut self, range: &Range<u32>) -> bool {
        let mut at = self.next(range.start);
        let news = at < range.end;
        while at < range.end {
            self.0[at as usize] = at + 1;
            at = self.next(at + 1);
        }
        news
    }

    /// Number of unmarked places in a range, counted up to `most`.
    fn unmarked(&mut self, range: &Range<u32>, most: u64) -> u64 {
        let (mut at, mut unmarked) = (self.next(range.start), 0);
        while at < range.end && unmarked < most {
            unmarked += 1;
            at = self.next(at + 1);
        }
        unmarked
    }

    fn next(&mut self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            let nearer = self.0[self.0[at as usize] as usize];
            self.0[at as usize] = nearer;
            at = nearer;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHORT: u64 = 100;

    fn extent(query: u32, document: u32, length: u32) -> Extent {
        Extent { query: query..query + length, document: document..document + length, length: length.into() }
    }

    fn chosen(extents: &[Extent], most: usize) -> (Vec<Extent>, u64) {
        let mut extents = extents.to_vec();
        let left_out = thin_out(&mut extents, most, SHORT, Clone::clone);
        (extents, left_out)
    }

    /// Passages without neighbours.
    fn apart(number: u32) -> Vec<Extent> {
        (0..number).map(|at| extent(10_000 + at * 10, 10_000 + at * 10, 5)).collect()
    }

    #[test]
    fn what_tells_nothing_new_is_left_out_of_very_many() {
        let whole = [extent(0, 0, 1900), extent(2000, 2000, 1900)];
        // Three passages: a phrase of the first passage that the second passage also has; a passage whose
        // place is new on one side only; and a long passage.
        let (repeated, new, long) = (extent(10, 2010, 40), extent(10, 5000, 40), extent(20, 2100, 300));
        let far = extent(30, 2100, 200);
        let some = [&whole[..], &[repeated.clone(), new.clone(), long.clone(), far.clone()]].concat();
        assert_eq!(chosen(&some, usize::MAX), (some.clone(), 0), "few are read one by one");
        let many = [&some[..], &apart(100)].concat();
        assert_eq!(chosen(&many, usize::MAX), ([&whole[..], &[new.clone(), long], &apart(100)].concat(), 2));
        // Two longer passages together can mark the places of a short one, too.
        let halves = [extent(0, 0, 60), extent(60, 60, 60), extent(40, 20, 50)];
        let many = [&halves[..], &apart(100)].concat();
        assert_eq!(chosen(&many, usize::MAX), ([&halves[..2], &apart(100)].concat(), 1));
    }

    #[test]
    fn the_longest_stay_in_their_order() {
        let extents = [extent(0, 0, 5), extent(10, 10, 9), extent(20, 20, 5), extent(30, 30, 7)];
        assert_eq!(chosen(&extents, 3), ([&extents[..2], &extents[3..]].concat(), 1));
        assert_eq!(chosen(&extents, 0), (Vec::new(), 4));
    }

    fn tiled(extents: &[Extent], floor: u64) -> Vec<Extent> {
        let mut extents = extents.to_vec();
        tile(&mut extents, floor, Clone::clone);
        extents
    }

    #[test]
    fn passages_that_add_little_to_longer_ones_are_left_out() {
        let whole = [extent(0, 0, 500), extent(600, 700, 100)];
        // In order: inside longer passages on both sides; new by a few symbols; new on one side; new on both
        // sides and long enough; new but short.
        let (within, few, one_side) = (extent(10, 720, 30), extent(590, 690, 30), extent(20, 2000, 25));
        let (long, short) = (extent(1000, 1000, 20), extent(1100, 1100, 19));
        let all = [&whole[..], &[within, few, one_side.clone(), long.clone(), short.clone()]].concat();
        assert_eq!(tiled(&all, 20), [&whole[..], &[one_side, long]].concat());
        // If nothing is longer, short passages stay.
        assert_eq!(tiled(&[short.clone(), extent(0, 0, 12)], 20), vec![short.clone()]);
        assert_eq!(tiled(std::slice::from_ref(&short), 20), [short]);
        assert_eq!(tiled(&[], 20), []);
    }

    proptest! {
        #[test]
        fn what_stays_adds_enough_and_the_longest_stays(
            extents in prop::collection::vec((0u32..500, 0u32..500, 1u32..80), 1..60),
            floor in 1u64..40,
        ) {
            let extents: Vec<Extent> = extents.into_iter().map(|(query, document, length)| extent(query, document, length)).collect();
            let kept = tiled(&extents, floor);
            let floor = floor.min(extents.iter().map(|extent| extent.length).max().unwrap_or(0));
            prop_assert_eq!(kept.iter().map(|extent| extent.length).max(), extents.iter().map(|extent| extent.length).max());
            let mut longest_first = kept.clone();
            longest_first.sort_by_key(|extent| Reverse(extent.length));
            let (mut queries, mut documents) = (std::collections::HashSet::new(), std::collections::HashSet::new());
            for extent in longest_first {
                let new = |range: &Range<u32>, seen: &std::collections::HashSet<u32>| {
                    range.clone().filter(|at| !seen.contains(at)).count() as u64
                };
                prop_assert!(new(&extent.query, &queries).max(new(&extent.document, &documents)) >= floor);
                queries.extend(extent.query.clone());
                documents.extend(extent.document.clone());
            }
        }

        #[test]
        fn every_place_stays_in_some_passage(
            extents in prop::collection::vec((0u32..3000, 0u32..3000, 1u32..400), 0..400),
        ) {
            let extents: Vec<Extent> = extents.into_iter().map(|(query, document, length)| extent(query, document, length)).collect();
            let (kept, left_out) = chosen(&extents, usize::MAX);
            prop_assert_eq!(kept.len() as u64 + left_out, extents.len() as u64);
            prop_assert_eq!(union(kept.iter().map(|extent| &extent.query)), union(extents.iter().map(|extent| &extent.query)));
            let in_document = |extents: &[Extent]| union(extents.iter().map(|extent| &extent.document));
            prop_assert_eq!(in_document(&kept), in_document(&extents));
        }
    }
}
