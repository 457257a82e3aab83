//! Verdict: the decision whether two documents are a pair.

use super::ranked::Measured;

/// The thresholds of pairs in one view.
#[derive(Clone, Copy)]
pub(super) struct Thresholds {
    /// The smallest resemblance.
    pub(super) least: f64,
    /// Pairs with fewer common hashes need the resemblance `least_of_few`.
    pub(super) few_shared: u64,
    pub(super) least_of_few: f64,
}

/// The relation of two documents that share a hash.
pub(super) enum Verdict {
    /// The two documents must not be paired.
    NoPair,
    /// A pair below the thresholds.
    Below,
    /// A pair that reaches the thresholds, with its measures.
    Wanted(Measured),
}
