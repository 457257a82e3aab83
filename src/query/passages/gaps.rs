//! Gaps: how much of what lies between two neighbouring matches of a passage agrees as well.
//!
//! The longest run that both sides of the gap have, then what is left and right of it in the same way (Ratcliff and
//! Obershelp 1988). Shorter runs than `least` are chance. What is counted is a common subsequence, never more than there is.

/// Symbols of a gap on either side, at most: the time is their product.
const WIDEST: usize = 512;

/// Counts what agrees in gaps; one per pair of documents, which bounds its time.
pub(super) struct Gaps {
    least: usize,
    /// Pairs of symbols that may still be compared.
    budget: usize,
    row: Vec<u32>,
}

impl Gaps {
    pub(super) fn new(least: usize) -> Self {
        Self { least: least.max(1), budget: 1 << 26, row: Vec::new() }
    }

    /// The symbols that agree, in order, in runs of at least `least`. None are counted once the budget is spent.
    pub(super) fn agreeing(&mut self, a: &[u64], b: &[u64]) -> u64 {
        if a.len().min(b.len()) < self.least || a.len().max(b.len()) > WIDEST {
            return 0;
        }
        let Some(left) = self.budget.checked_sub(a.len() * b.len()) else { return 0 };
        self.budget = left;
        let (end_a, end_b, length) = self.longest_run(a, b);
        if length < self.least {
            return 0;
        }
        length as u64
            + self.agreeing(&a[..end_a - length], &b[..end_b - length])
            + self.agreeing(&a[end_a..], &b[end_b..])
    }

    /// Where the longest common run ends on both sides, and its length; the first of equals.
    fn longest_run(&mut self, a: &[u64], b: &[u64]) -> (usize, usize, usize) {
        // row[j + 1]: how many symbols before a[i + 1] and b[j + 1] are equal.
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
        Gaps::new(least).agreeing(&values(a), &values(b))
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
    fn the_budget_ends() {
        let text: Vec<u64> = vec![7; WIDEST];
        let mut gaps = Gaps { budget: WIDEST * WIDEST, ..Gaps::new(1) };
        assert_eq!((gaps.agreeing(&text, &text), gaps.agreeing(&text, &text)), (WIDEST as u64, 0));
    }
}
