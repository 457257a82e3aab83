//! Runs of equal hashes, which plain winnowing selects all. They are found by comparing a block with the minimum at once, and
//! selected together.

use super::Selected;
use crate::lanes::{BLOCK, Lanes};

/// The hashes of which some are to be selected.
pub(super) struct HeldHashes<'a> {
    /// `length` of them, and then at least a block of anything.
    pub(super) hashes: &'a [u64],
    pub(super) length: usize,
    /// The position of the first.
    pub(super) base: u64,
}

impl HeldHashes<'_> {
    /// Selects the hashes after the minimum that are equal to it, as long as each block holds one and none smaller: each
    /// takes the place of the one before. Gives the last of them.
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

    /// Selects those of a block that the mask tells.
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
