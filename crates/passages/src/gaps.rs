//! Gaps: counts how much of the text between two neighbouring matches of a passage agrees too.
//!
//! The search takes the longest run that the gap has in both texts. Then it searches the text on the left of
//! this run, and the text on its right, in the same way (Ratcliff and Obershelp 1988). Runs shorter than
//! `least` are ignored as chance. In characters, a run counts from 8 characters on; in words, a single word
//! counts. The runs found are a common subsequence of both sides, not always the longest one. A gap of more
//! than 512 symbols is not compared.

/// Maximum number of symbols of a gap on either side: the time is proportional to their product.
const WIDEST: usize = 512;

use crate::ranges::Uncounted;

/// Counts the agreeing symbols in the gaps of one pair of documents. Its budget bounds the time of that pair.
pub struct Gaps {
    least: usize,
    /// Number of pairs of symbols that may still be compared.
    budget: usize,
    row: Vec<u32>,
}

/// Numbers of agreeing symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreeing {
    pub all: u64,
    /// Number of these symbols that count.
    pub counted: u64,
}

impl Gaps {
    /// A counter of equal runs of at least `least` symbols.
    pub fn new(least: usize) -> Self {
        Self { least: least.max(1), budget: 1 << 26, row: Vec::new() }
    }

    /// Counts the symbols that agree, in order, in runs of at least `least` symbols. Returns 0 once the
    /// budget is spent. `start` is the position of `a` in its text. `uncounted` holds the symbols of that
    /// text that do not count.
    pub fn agreeing(&mut self, a: &[u64], b: &[u64], start: u64, uncounted: &Uncounted) -> Agreeing {
        if a.len().min(b.len()) < self.least || a.len().max(b.len()) > WIDEST {
            return Agreeing::default();
        }
        let Some(left) = self.budget.checked_sub(a.len() * b.len()) else { return Agreeing::default() };
        self.budget = left;
        let (end_a, end_b, length) = self.longest_run(a, b);
        if length < self.least {
            return Agreeing::default();
        }
        let end = start + end_a as u64;
        let before = self.agreeing(&a[..end_a - length], &b[..end_b - length], start, uncounted);
        let after = self.agreeing(&a[end_a..], &b[end_b..], end, uncounted);
        Agreeing {
            all: length as u64 + before.all + after.all,
            counted: uncounted.counted(&(end - length as u64..end)) + before.counted + after.counted,
        }
    }

    /// The ends of the longest common run on both sides, and its length. Of several longest runs, the first
    /// one.
    fn longest_run(&mut self, a: &[u64], b: &[u64]) -> (usize, usize, usize) {
        // row[j + 1]: the number of equal symbols before a[i + 1] and b[j + 1].
        self.row.clear();
        self.row.resize(b.len() + 1, 0);
        let mut best = (0, 0, 0);
        for (i, x) in a.iter().enumerate() {
            let mut before = 0;
            for (j, y) in b.iter().enumerate() {
                let run = if x == y { before + 1 } else { 0 };
                before = std::mem::replace(&mut self.row[j + 1], run);
                if run as usize > best.2 {
                    best = (i + 1, j + 1, run as usize);
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreeing(a: &str, b: &str, least: usize) -> u64 {
        let values = |text: &str| text.bytes().map(u64::from).collect::<Vec<u64>>();
        Gaps::new(least).agreeing(&values(a), &values(b), 0, &Uncounted::default()).all
    }

    #[test]
    fn runs_are_counted_in_order_and_chance_is_not() {
        assert_eq!(agreeing("one two three", "one ten three", 3), 11);
        assert_eq!(agreeing("one two three", "one ten three", 6), 6);
        assert_eq!(agreeing("three one", "one three", 3), 5);
        assert_eq!(agreeing("abcdef", "ghijkl", 1), 0);
        assert_eq!(agreeing("", "a", 1), 0);
        let long = "x".repeat(WIDEST + 1);
        assert_eq!(agreeing(&long, &long, 1), 0);
        let most = "x".repeat(WIDEST);
        assert_eq!(agreeing(&most, &most, 1), WIDEST as u64);
    }

    #[test]
    fn what_is_uncounted_agrees_and_does_not_count() {
        let values = |text: &str| text.bytes().map(u64::from).collect::<Vec<u64>>();
        let uncounted = Uncounted::new([100..105, 112..200].iter());
        let found = Gaps::new(3).agreeing(&values("one two three"), &values("one ten three"), 101, &uncounted);
        // "one t" begins at 101, and only its last symbol counts. " three" begins at 108, and all but two
        // symbols count.
        assert_eq!(found, Agreeing { all: 5 + 6, counted: 1 + 4 });
    }

    #[test]
    fn the_budget_ends() {
        let text: Vec<u64> = vec![7; WIDEST];
        let mut gaps = Gaps { budget: WIDEST * WIDEST, ..Gaps::new(1) };
        let mut agreeing = || gaps.agreeing(&text, &text, 0, &Uncounted::default()).all;
        assert_eq!((agreeing(), agreeing()), (WIDEST as u64, 0));
    }
}
