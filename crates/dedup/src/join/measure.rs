//! Measure: the number of fingerprints that a survivor must hold to justify a removal.
//!
//! A score is a quotient of counts. The join compares the threshold with the same number that the report
//! shows, so 55 of 100 reach 0.55.

use crate::DedupBy;

/// A measure and its threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threshold {
    by: DedupBy,
    least: f64,
}

impl Threshold {
    pub(crate) fn new(by: DedupBy, least: f64) -> Self {
        Self { by, least }
    }

    /// True if documents are compared by their fingerprints.
    pub(crate) fn compares(&self) -> bool {
        matches!(self.by, DedupBy::Containment | DedupBy::Resemblance)
    }

    /// The score of a document of `size` fingerprints that shares `shared` with a document of `other`
    /// fingerprints.
    pub(crate) fn score(&self, shared: u32, size: u32, other: u32) -> f64 {
        let (shared, size, other) = (f64::from(shared), f64::from(size), f64::from(other));
        match self.by {
            DedupBy::Resemblance => shared / (size + other - shared),
            _ => shared / size,
        }
    }

    /// The smallest number of shared fingerprints, at least 1, that can justify the removal of a document of
    /// `size`, whatever the size of the survivor.
    pub(crate) fn least_shared(&self, size: u32) -> u32 {
        // A survivor resembles the document most if all fingerprints of the survivor are shared.
        self.smallest(size, |shared| f64::from(shared) / f64::from(size))
    }

    /// The smallest number of shared fingerprints that removes a document of `size` in favour of a survivor
    /// of `other` fingerprints. If this number exceeds one of the sizes, no such survivor suffices.
    pub(crate) fn needed(&self, size: u32, other: u32) -> u32 {
        match self.by {
            DedupBy::Resemblance => self.smallest(size.min(other), |shared| self.score(shared, size, other)),
            _ => self.least_shared(size),
        }
    }

    /// The smallest number from 1 to `most` whose score reaches the threshold; `most` + 1 if none does.
    fn smallest(&self, most: u32, score: impl Fn(u32) -> f64) -> u32 {
        let (mut low, mut high) = (1, most.saturating_add(1));
        while low < high {
            let middle = low + (high - low) / 2;
            if score(middle) >= self.least { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// True if the rule is symmetric: two documents justify each other's removal, or neither does.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.by == DedupBy::Resemblance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_reach_the_thresholds_they_equal() {
        for (by, least, size, expected) in [
            (DedupBy::Containment, 0.55, 100, 55),
            (DedupBy::Containment, 0.9, 100, 90),
            (DedupBy::Containment, 0.83, 238, 198),
            (DedupBy::Containment, 0.84, 238, 200),
            (DedupBy::Containment, 1.0, 7, 7),
            (DedupBy::Containment, 0.0, 7, 1),
            (DedupBy::Containment, 0.5, u32::MAX, 1 << 31),
        ] {
            assert_eq!(Threshold::new(by, least).least_shared(size), expected, "{least} of {size}");
        }
        let resembles = Threshold::new(DedupBy::Resemblance, 0.5);
        assert_eq!((resembles.least_shared(10), resembles.needed(10, 10), resembles.needed(10, 30)), (5, 7, 11));
        for size in 1..60 {
            for other in 1..60 {
                let needed = resembles.needed(size, other);
                assert!(needed >= resembles.least_shared(size) || needed > size.min(other));
                assert!(needed > size.min(other) || resembles.score(needed, size, other) >= 0.5);
                assert!(needed == 1 || resembles.score(needed - 1, size, other) < 0.5);
            }
        }
    }
}
