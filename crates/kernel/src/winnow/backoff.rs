//! Backoff: when to try again a method that may fail. A failure costs as much as a success, and inputs on which a method fails
//! often, such as long runs of one letter, would pay for each.

/// Tries skipped after a failure, at most.
const MOST: usize = 64;

/// Exponential backoff: each failure in a row doubles the tries that are skipped.
#[derive(Clone, Debug, Default)]
pub(super) struct Backoff {
    /// Tries still to be skipped.
    left: usize,
    /// Tries skipped after the last failure.
    last: usize,
}

impl Backoff {
    /// True if to try now. To be called before each try.
    pub(super) fn may_try(&mut self) -> bool {
        let may_try = self.left == 0;
        self.left = self.left.saturating_sub(1);
        may_try
    }

    /// Takes the result of a try.
    pub(super) fn record(&mut self, has_failed: bool) {
        self.last = if has_failed { (2 * self.last + 1).min(MOST) } else { 0 };
        self.left = self.last;
    }
}
