//! Estimates: what a sample of hashes says about the whole, and how sure it is.

/// The 95% Wilson score interval of a share, `found` of `sampled` (Wilson 1927): unlike the interval of
/// the normal approximation it stays within 0 and 1, and keeps its coverage near them.
pub(super) fn wilson_interval(found: u64, sampled: u64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    if sampled == 0 {
        return (0.0, 1.0);
    }
    let n = sampled as f64;
    let share = found as f64 / n;
    let centre = share + Z * Z / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
}

/// The upper end of an interval from a sample that is the share `sampled` of all fingerprints, with room for the
/// edges of shared runs. There the selection depends on what lies outside the run, so that some fingerprints are not
/// shared though their k-grams are: 0.193 an edge for every window, hardly any of them among the smallest. The
/// room was measured on texts that share runs of about a window, the worst that are found surely; with it the interval
/// covers 93.8% or more whatever the sample (docs/measurements.md).
pub(super) fn with_edges(high: f64, sampled: f64) -> f64 {
    (high * (1.0 + 0.2 * sampled.powf(1.5))).min(1.0)
}

/// The two set sizes |A| of the query and |B| of the document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) query: f64,
    pub(super) document: f64,
}

impl Sizes {
    /// c|A|, the size of the intersection where `found` of `sampled` hashes were found, c = found / sampled; at
    /// most both sets. Multiplied first: exact where all hashes were looked up, so that equal measures tie.
    fn intersection(self, found: f64, sampled: f64) -> f64 {
        (found * self.query / sampled).min(self.document).min(self.query)
    }

    /// c|A| / (|A| + |B| - c|A|).
    pub(super) fn resemblance(self, found: f64, sampled: f64) -> f64 {
        let both = self.intersection(found, sampled);
        ratio(both, self.query + self.document - both)
    }

    /// c|A| / |B|.
    pub(super) fn document_containment(self, found: f64, sampled: f64) -> f64 {
        ratio(self.intersection(found, sampled), self.document)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        // Newcombe 1998, table I: 81 of 263 gives 0.2553 to 0.3662, 0 of 20 gives 0 to 0.1611.
        for (found, sampled, low, high) in [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)] {
            let (l, h) = wilson_interval(found, sampled);
            assert!((l - low).abs() < 1e-4 && (h - high).abs() < 1e-4, "{l} {h}");
        }
        assert_eq!(wilson_interval(20, 20).1, 1.0);
        assert_eq!(wilson_interval(0, 0), (0.0, 1.0));
    }

    #[test]
    fn measures_follow_from_containment_and_sizes() {
        let sizes = Sizes { query: 100.0, document: 50.0 };
        assert!((sizes.resemblance(1.0, 4.0) - 0.2).abs() < 1e-12);
        assert!((sizes.document_containment(1.0, 4.0) - 0.5).abs() < 1e-12);
        // A sample can suggest more than the document holds.
        assert!((sizes.document_containment(0.9, 1.0) - 1.0).abs() < 1e-12);
        assert_eq!(Sizes { query: 0.0, document: 0.0 }.resemblance(0.0, 1.0), 0.0);
        // 15 of 30, exactly; 15 / 22 * 22 is a little less than 15.
        assert_eq!(Sizes { query: 22.0, document: 23.0 }.resemblance(15.0, 22.0), 0.5);
    }
}
