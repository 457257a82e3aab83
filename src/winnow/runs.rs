//! Runs of hashes that are all selected, or nearly all: equal ones and ascending ones. They are found by comparing a block
//! at once, with the minimum or with the hashes to its right, and selected together.

use super::Selected;
use crate::lanes::{BLOCK, Lanes};

/// The hashes of which some are to be selected.
pub(super) struct HeldHashes<'a> {
    /// `length` of them, and then at least a block and one of anything.
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

    /// Selects the minima of the windows of w hashes that begin at `start` or later, as long as no hash in them is above the
    /// next one. Gives the last of them, if there is any.
    ///
    /// The minimum of such a window is the hash it begins with, or the last one equal to that. For this one to be in the
    /// window, each block must hold a hash that is below the next one, and a window two blocks.
    #[inline(always)]
    pub(super) fn select_ascending<L: Lanes>(
        &self,
        lanes: L,
        start: usize,
        w: usize,
        out: &mut Vec<Selected>,
    ) -> Option<usize> {
        // Nearly always this tells that there are none.
        let [a, b, c, d] = *self.hashes[start..].first_chunk()?;
        if (a > b) | (b > c) | (c > d) {
            return None;
        }
        let last = self.length - 1;
        // Up to `end` no hash is above the next one. It is looked for no further than the next block needs: where few are
        // selected, little is looked at in vain.
        let (mut end, mut is_end) = (start, false);
        let (mut at, mut minimum) = (start, None);
        while let Some((block, next)) = self.block(at).zip(self.block(at + 1)) {
            let below = lanes.greater(next, block);
            if below == 0 {
                break;
            }
            while !is_end
                && end < at + BLOCK + w
                && let Some((block, next)) = self.block(end).zip(self.block(end + 1))
            {
                let above = lanes.greater(block, next);
                end = last.min(end + (above | 1 << BLOCK).trailing_zeros() as usize);
                is_end = above != 0 || end == last;
            }
            // So many windows begin at `at` or later and hold nothing after `end`.
            let windows = (end + 2).saturating_sub(at + w);
            let below = if windows < BLOCK { below & ((1 << windows) - 1) } else { below };
            if below == 0 {
                break;
            }
            self.select(block, below, at, out);
            minimum = Some(at + below.ilog2() as usize);
            if windows <= BLOCK {
                break;
            }
            at += BLOCK;
        }
        minimum
    }

    #[inline(always)]
    fn block(&self, start: usize) -> Option<&[u64; BLOCK]> {
        self.hashes.get(start..)?.first_chunk()
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
