//! Top k: the k smallest items of a sequence in any order.

use std::collections::BinaryHeap;

/// A heap of the smallest items added; an addition costs the logarithm of the number held.
pub(super) struct TopK<T> {
    most: usize,
    held: BinaryHeap<T>,
}

impl<T: Ord> TopK<T> {
    /// Holds at most `most` items.
    pub(super) fn new(most: usize) -> Self {
        Self { most, held: BinaryHeap::new() }
    }

    /// True if the heap holds `most` items: another item can only replace the largest.
    pub(super) fn is_full(&self) -> bool {
        self.held.len() >= self.most
    }

    /// The largest item held.
    pub(super) fn last(&self) -> Option<&T> {
        self.held.peek()
    }

    pub(super) fn add(&mut self, thing: T) {
        self.held.push(thing);
        if self.held.len() > self.most {
            self.held.pop();
        }
    }

    /// All items held, ascending.
    pub(super) fn into_sorted(self) -> Vec<T> {
        self.held.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::*;

    thread_local!(static COMPARED: Cell<u64> = const { Cell::new(0) });

    #[derive(PartialEq, Eq)]
    struct Counted(u32);

    impl Ord for Counted {
        fn cmp(&self, other: &Self) -> Ordering {
            COMPARED.set(COMPARED.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Counted {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    #[test]
    fn many_cost_no_more_than_their_sorting() {
        let count = 100_000u32;
        for most in [10, 50_000, usize::MAX] {
            COMPARED.set(0);
            let mut top = TopK::new(most);
            // The worst come first, so each is among the best when it is added.
            (0..count).rev().for_each(|number| top.add(Counted(number)));
            assert_eq!(top.into_sorted().len(), most.min(count as usize));
            assert!(COMPARED.get() <= 4 * u64::from(count * count.ilog2()), "{most}: {}", COMPARED.get());
        }
    }

    proptest! {
        #[test]
        fn they_are_the_first_of_all_sorted(things in prop::collection::vec(0u32..50, 0..60), most in 0usize..70) {
            let mut top = TopK::new(most);
            things.iter().for_each(|&thing| top.add(thing));
            let mut sorted = things;
            sorted.sort_unstable();
            sorted.truncate(most);
            prop_assert_eq!(top.is_full(), sorted.len() >= most);
            prop_assert_eq!(top.last(), sorted.last());
            prop_assert_eq!(top.into_sorted(), sorted);
        }
    }
}
