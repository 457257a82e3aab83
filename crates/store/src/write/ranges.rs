//! Ranges of hashes with about equal numbers of postings, so that threads can share the work on a run.
//!
//! Winnowed hashes are minima, so low hashes are frequent. Let x = hash / 2^64. Then winnowing selects a
//! k-gram with a probability of (1-x)^(w-1) (1 + (w-1) x). The ranges end at the quantiles of that density,
//! which depend only on the profile. Text that repeats itself makes some ranges fuller than others. This
//! costs only time.

use std::ops::RangeInclusive;

use fpdb_kernel::profile::{Profile, Selection};

/// Divides all hashes into `count` ascending ranges. A fingerprint of the profile lies in each with about the
/// same probability.
pub fn of_hashes(profile: &Profile, count: usize) -> Vec<RangeInclusive<u64>> {
    let w = match profile.selection() {
        Selection::Robust | Selection::Plain => f64::from(profile.w()),
        Selection::Mod(_) | Selection::SafeMod(_) | Selection::All => 1.0,
    };
    let mut ranges = Vec::with_capacity(count);
    let mut start = 0;
    for number in 1..count {
        let end = quantile(w, number as f64 / count as f64).max(start);
        ranges.push(start..=end);
        start = end.saturating_add(1);
    }
    ranges.push(start..=u64::MAX);
    ranges
}

/// The hash below which `share` of the fingerprints lie. `share` is between 0 and 1.
fn quantile(w: f64, share: f64) -> u64 {
    // The integral of the density up to x, as a share of the whole, is 1 - y^w (w + 1 - (w - 1) y) / 2 with y
    // = 1 - x.
    let below = |x: f64| {
        let y = 1.0 - x;
        1.0 - y.powf(w) * (w + 1.0 - (w - 1.0) * y) / 2.0
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if below(middle) < share { low = middle } else { high = middle }
    }
    (high * 2_f64.powi(64)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_kernel::profile::{Unit, WordRule};
    use fpdb_kernel::winnow::Winnower;

    #[test]
    fn ranges_cover_all_hashes_once_and_share_the_fingerprints_evenly() {
        // SplitMix64.
        let hashes: Vec<u64> = (1..=400_000u64)
            .map(|i| {
                let z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                z ^ (z >> 31)
            })
            .collect();
        for (w, selection) in
            [(1, Selection::All), (1, Selection::Robust), (20, Selection::Robust), (100, Selection::Plain)]
        {
            let profile = Profile::new(Unit::Char, WordRule::Letters, 5, w, selection).unwrap();
            let mut selected = Vec::new();
            let mut winnower = Winnower::new(selection, w);
            winnower.feed(&hashes, &mut selected);
            winnower.finish(&mut selected);
            for count in [1, 2, 7] {
                let ranges = of_hashes(&profile, count);
                assert_eq!((ranges.len(), *ranges[0].start(), *ranges[count - 1].end()), (count, 0, u64::MAX));
                assert!(ranges.windows(2).all(|pair| pair[0].end() + 1 == *pair[1].start()));
                let expected = selected.len() / count;
                for range in &ranges {
                    let held = selected.iter().filter(|one| range.contains(&one.hash)).count();
                    assert!(held.abs_diff(expected) < expected / 10 + 10, "w {w}, {count}: {held}, not {expected}");
                }
            }
        }
    }
}
