//! Search in consecutive hashes, sixteen at a time: for the first hash that replaces the minimum, and for the
//! minimum of a range.

use std::ops::Range;

use crate::lanes::{BLOCK, Lanes};

/// True if `hash` replaces the minimum `least` on its left.
#[inline(always)]
pub(super) fn follows<const RIGHTMOST: bool>(hash: u64, least: u64) -> bool {
    if RIGHTMOST { hash <= least } else { hash < least }
}

/// Index of the first hash in the range that replaces the minimum `least`.
#[inline(always)]
pub(super) fn smaller<L: Lanes, const RIGHTMOST: bool>(
    lanes: L,
    hashes: &[u64],
    range: Range<usize>,
    least: u64,
) -> Option<usize> {
    let mut start = range.start;
    while start < range.end {
        let block = hashes[start..].first_chunk()?;
        let mut found = lanes.below(block, least);
        if RIGHTMOST {
            found |= lanes.equal(block, least);
        }
        if found != 0 {
            // A block may extend beyond the range. Hashes there do not count yet.
            let index = start + found.trailing_zeros() as usize;
            return (index < range.end).then_some(index);
        }
        start += BLOCK;
    }
    None
}

/// Index of the rightmost minimum in the range, which must not be empty.
#[inline(always)]
pub(super) fn rightmost_minimum<L: Lanes>(lanes: L, hashes: &[u64], range: Range<usize>) -> usize {
    let scanned = &hashes[range.clone()];
    let Some(last) = scanned.last_chunk() else {
        let mut minimum = scanned.len() - 1;
        for index in (0..minimum).rev() {
            if scanned[index] < scanned[minimum] {
                minimum = index;
            }
        }
        return range.start + minimum;
    };
    let (blocks, _) = scanned.as_chunks();
    let least = lanes.least(blocks, last);
    let mut end = scanned.len();
    loop {
        // The last block may overlap the block searched before. The minimum is not in the overlap.
        let start = end.saturating_sub(BLOCK);
        let Some(block) = scanned[start..].first_chunk() else { return range.start };
        let found = lanes.equal(block, least);
        if found != 0 || start == 0 {
            return range.start + start + found.checked_ilog2().unwrap_or(0) as usize;
        }
        end = start;
    }
}
