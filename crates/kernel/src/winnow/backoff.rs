//! Backoff: decides when to try again a method that may fail. A failed try costs as much as a success.
//! Without a backoff, some inputs, such as long runs of one letter, would pay for a failure in every block.

/// Maximum number of tries skipped after a failure.
const MOST: usize = 64;

/// Exponential backoff: each consecutive failure doubles the number of tries that are skipped.
#[derive(Clone, Debug, Default)]
pub(super) struct Backoff {
    /// Tries still to skip.
    left: usize,
    /// Tries skipped after the last failure.
    last: usize,
}

impl Backoff {
    /// True if the method should be tried now. Call this before each try.
    pub(super) fn may_try(&mut self) -> bool {
        let may_try = self.left == 0;
        self.left = self.left.saturating_sub(1);
        may_try
    }

    /// Records the result of a try.
    pub(super) fn record(&mut self, has_failed: bool) {
        self.last = if has_failed { (2 * self.last + 1).min(MOST) } else { 0 };
        self.left = self.last;
    }
}
