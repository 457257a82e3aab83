//! Index: lists the survivors that hold a term. Survivors are added in order of rank, so every list ascends.
//!
//! All lists are in one arena. A full list moves to a slot of twice its size, and its old slot is reused. A
//! list of one survivor takes no slot.

use rustc_hash::FxHashMap;

use crate::ranking::Rank;
use crate::terms::holders::TermKey;

/// Survivors by term.
#[derive(Default)]
pub(crate) struct SurvivorIndex {
    /// The rank of each survivor, ascending. Lists hold indexes into this vector.
    members: Vec<Rank>,
    lists: FxHashMap<TermKey, List>,
    arena: Vec<u32>,
    /// By power of two, the free slots of that size.
    free: Vec<Vec<u32>>,
}

/// A list of survivors.
#[derive(Clone, Copy)]
struct List {
    length: u32,
    /// Offset of the list in the arena. If the list has one survivor, this is the survivor itself.
    start: u32,
}

/// Maximum length of the arena: offsets have 32 bits.
const MOST_LISTED: usize = 1 << 31;

/// Maximum number of terms in an index whose size is not checked while it is filled. Each term of each
/// survivor takes at most four places in the arena. Up to half of a list is empty, and the smaller slots that
/// the list has left take as many places as the list.
pub(crate) const MOST_TERMS: u64 = MOST_LISTED as u64 / 4;

impl SurvivorIndex {
    /// Adds a survivor with its terms. Its rank must exceed the ranks added before.
    pub(crate) fn add(&mut self, rank: Rank, terms: impl Iterator<Item = TermKey>) {
        let member = self.members.len() as u32;
        self.members.push(rank);
        for term in terms {
            let list = self.lists.entry(term).or_insert(List { length: 0, start: member });
            if list.length.is_power_of_two() {
                let class = list.length.trailing_zeros() as usize + 1;
                if self.free.len() <= class {
                    self.free.resize_with(class + 1, Vec::new);
                }
                let start = match self.free[class].pop() {
                    Some(start) => start,
                    None => {
                        let start = self.arena.len() as u32;
                        self.arena.resize(self.arena.len() + (1 << class), 0);
                        start
                    }
                };
                if list.length == 1 {
                    self.arena[start as usize] = list.start;
                } else {
                    let old = list.start as usize;
                    self.arena.copy_within(old..old + list.length as usize, start as usize);
                    self.free[class - 1].push(list.start);
                }
                list.start = start;
            }
            if list.length > 0 {
                self.arena[(list.start + list.length) as usize] = member;
            }
            list.length += 1;
        }
    }

    /// The survivors that hold a term, as indexes into [`members`](Self::members), ascending.
    pub(crate) fn holders<'a>(&'a self, term: TermKey, one: &'a mut [u32; 1]) -> &'a [u32] {
        match self.lists.get(&term) {
            None => &[],
            Some(&List { length: 1, start }) => {
                one[0] = start;
                one
            }
            Some(list) => &self.arena[list.start as usize..(list.start + list.length) as usize],
        }
    }

    /// The ranks of the survivors, ascending.
    pub(crate) fn members(&self) -> &[Rank] {
        &self.members
    }

    /// Removes all survivors and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.members.clear();
        self.lists.clear();
        self.arena.clear();
        self.free.clear();
    }

    /// Approximate bytes of memory; `elsewhere` is the bytes that each survivor takes in other structures.
    fn bytes(&self, elsewhere: u64) -> u64 {
        let slot = size_of::<(TermKey, List)>() + 1;
        // A table that has just grown is half empty, and exists beside its predecessor while it grows.
        let bytes = self.members.len() * 8 + self.lists.len() * slot * 3 + self.arena.len() * 8;
        bytes as u64 + self.members.len() as u64 * elsewhere
    }

    /// True if the index must not grow further.
    pub(crate) fn is_full(&self, memory: u64, elsewhere: u64) -> bool {
        self.bytes(elsewhere) > memory || self.arena.len() > MOST_LISTED
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_hold_what_was_added(sets in prop::collection::vec(prop::collection::btree_set(0u64..12, 0..8), 0..90)) {
            let mut index = SurvivorIndex::default();
            let mut expected: BTreeMap<TermKey, Vec<u32>> = BTreeMap::new();
            for round in 0..2 {
                index.clear();
                expected.clear();
                for (number, set) in (0..).zip(&sets) {
                    index.add(number * 3 + round, set.iter().copied());
                    for &term in set {
                        expected.entry(term).or_default().push(number);
                    }
                }
                for term in 0..13 {
                    let holders = index.holders(term, &mut [0]).to_vec();
                    prop_assert_eq!(holders, expected.get(&term).cloned().unwrap_or_default());
                }
                prop_assert!(index.members().iter().enumerate().all(|(i, &rank)| rank == i as u32 * 3 + round));
            }
        }
    }
}
