//! Runs of equal hashes. Plain winnowing selects every hash of such a run. One comparison of a whole block
//! with the minimum finds the equal hashes, which are then selected together.

use super::Selected;
use crate::lanes::{BLOCK, Lanes};

/// The hashes to select from.
pub(super) struct HeldHashes<'a> {
    /// The hashes: `length` valid ones, then at least a block of arbitrary values.
    pub(super) hashes: &'a [u64],
    pub(super) length: usize,
    /// Position of the first hash.
    pub(super) base: u64,
}

impl HeldHashes<'_> {
    /// Selects the hashes after the minimum that are equal to it. Each replaces the previous one as the
    /// minimum. The selection continues as long as each block has an equal hash and no smaller hash. Returns
    /// the index of the last selected hash.
    #[inline(always)]
    pub(super) fn select_equal<L: Lanes>(&self, lanes: L, mut minimum: usize, out: &mut Vec<Selected>) -> usize {
        let least = self.hashes[minimum];
        let mut start = minimum + 1;
        while start + BLOCK <= self.length
            && let Some(block) = self.hashes[start..].first_chunk()
            && lanes.below(block, least) == 0
        {
            let equal = lanes.equal(block, least);
            if equal == 0 {
                break;
            }
            minimum = start + equal.ilog2() as usize;
            self.select(block, equal, start, out);
            start += BLOCK;
        }
        minimum
    }

    /// Selects the hashes of a block whose bits are set in the mask.
    #[inline(always)]
    fn select(&self, block: &[u64; BLOCK], mut mask: u32, start: usize, out: &mut Vec<Selected>) {
        let position = self.base + start as u64;
        if mask == (1 << BLOCK) - 1 {
            out.extend(block.iter().zip(position..).map(|(&hash, position)| Selected { hash, position }));
            return;
        }
        while mask != 0 {
            let i = mask.trailing_zeros() as usize;
            out.push(Selected { hash: self.hashes[start + i], position: position + i as u64 });
            mask &= mask - 1;
        }
    }
}
