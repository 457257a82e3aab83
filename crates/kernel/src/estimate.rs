//! Estimates: derives measures from a sample of hashes, with their uncertainty.
//!
//! The sizes |A| and |B| are the numbers of distinct k-grams. Each is estimated as the number of k-grams
//! times the share of the fingerprints that are distinct. This adds a mean error of 0.0001 to 0.0002 to a
//! resemblance. If the numbers of distinct fingerprints were the sizes, the error would be 0.0003 to 0.0017
//! (`tools/experiments/resemblance.py --sizes`).
//!
//! [`with_edges`] raises the upper end of the 95% interval. Without this, the interval would cover 88% of
//! cases if half of the fingerprints are looked up, and 63% if nearly all are looked up.

/// The 95% score interval of the share `found` / `sampled` (Wilson 1927). Unlike the interval of the normal
/// approximation, it stays within 0 and 1, and keeps its coverage near 0 and 1.
pub fn wilson_interval(found: u64, sampled: u64) -> (f64, f64) {
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

/// Raises the upper end of an interval, for the edges of shared runs. `sampled` is the share of all
/// fingerprints in the sample.
///
/// At an edge, the selection depends on symbols outside the run. So each edge loses 0.193 shared fingerprints
/// on average, at every window. Hardly any of the lost fingerprints are among the smallest hashes. The
/// constant was measured on texts that share runs of about a window, the shortest runs that are guaranteed to
/// be found. With this constant, the interval covers at least 93.8% at every sample size
/// (docs/measurements.md).
pub fn with_edges(high: f64, sampled: f64) -> f64 {
    (high * (1.0 + 0.2 * sampled.powf(1.5))).min(1.0)
}

/// The two set sizes: |A| of the query and |B| of the document.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// |A|.
    pub query: f64,
    /// |B|.
    pub document: f64,
}

impl Sizes {
    /// c|A|, the size of the intersection, with c = `found` / `sampled`; at most the size of either set.
    /// Multiplies before it divides, so the result is exact if all hashes were looked up, and equal measures
    /// tie.
    fn intersection(self, found: f64, sampled: f64) -> f64 {
        (found * self.query / sampled).min(self.document).min(self.query)
    }

    /// The estimated resemblance, c|A| / (|A| + |B| - c|A|).
    pub fn resemblance(self, found: f64, sampled: f64) -> f64 {
        let both = self.intersection(found, sampled);
        ratio(both, self.query + self.document - both)
    }

    /// The estimated share c|A| / |B| of the document that is also in the query.
    pub fn document_containment(self, found: f64, sampled: f64) -> f64 {
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
        // A sample can suggest that the document shares more than it holds.
        assert!((sizes.document_containment(0.9, 1.0) - 1.0).abs() < 1e-12);
        assert_eq!(Sizes { query: 0.0, document: 0.0 }.resemblance(0.0, 1.0), 0.0);
        // The intersection is exactly 15 of 30, although 15 / 22 * 22 is a little less than 15.
        assert_eq!(Sizes { query: 22.0, document: 23.0 }.resemblance(15.0, 22.0), 0.5);
    }
}
