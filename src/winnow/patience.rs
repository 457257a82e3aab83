//! Whether a way that may fail, and then was of no use, is worth trying.

/// So often it is not tried after a failure, at most.
const MOST: usize = 64;

/// After each failure in turn a way is left alone twice as often.
#[derive(Clone, Debug, Default)]
pub(super) struct Patience {
    left: usize,
    last: usize,
}

impl Patience {
    /// Asked before each try.
    pub(super) fn is_over(&mut self) -> bool {
        let is_over = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_over
    }

    /// Told after each try.
    pub(super) fn learn(&mut self, has_failed: bool) {
        self.last = if has_failed { (2 * self.last + 1).min(MOST) } else { 0 };
        self.left = self.last;
    }
}
