//! Morphological opening: selects the minima of small windows. In small windows the minimum changes so often
//! that mispredicted branches cost most. Here no branch depends on a hash.
//!
//! A hash is the minimum of some window if and only if it equals the maximum, over the windows that contain
//! it, of their minima. Image processing calls this an *opening*: sliding minima, then sliding maxima. Each
//! takes a few passes over all hashes, with SIMD lanes.
//!
//! Only 32 bits of each hash, its *key*, are compared. So the result is a list of *candidates*. It contains
//! every hash to select and, if keys tie within a window, perhaps others. Each candidate is compared with the
//! candidate before it. This finds every tie, since no candidate lies between two that tie. If two tie, this
//! method selects nothing and the exact method decides.

use super::Selected;
use crate::lanes::{Lanes, SimdJob, TEXT};

/// Usual maximum of candidates among 64 hashes: windows of 17 have seven on average.
const USUAL: usize = 10;

/// Buffers for the keys and the passes, kept for reuse.
#[derive(Clone, Debug, Default)]
pub(super) struct MorphologicalOpening {
    keys: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
    candidates: Vec<u32>,
    /// True if the last windows could only be distinguished by lower bits.
    nearly_alike: bool,
}

/// Consecutive windows to select from.
pub(super) struct OpeningJob<'a> {
    pub(super) opening: &'a mut MorphologicalOpening,
    pub(super) w: usize,
    /// All hashes of the windows, except the first `missing` ones. The caller knows that those are not
    /// minima.
    pub(super) hashes: &'a [u64],
    pub(super) missing: usize,
    /// Minimum of the window before the first one. `after_least` is its index plus 1, counted with the
    /// missing hashes.
    pub(super) least: u64,
    pub(super) after_least: usize,
    /// Position of the first hash, counted with the missing ones.
    pub(super) position: u64,
    pub(super) out: &'a mut Vec<Selected>,
}

impl SimdJob for OpeningJob<'_> {
    /// Position of the last minimum. `None`, and nothing is selected, if keys tie.
    type Output = Option<u64>;

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) -> Option<u64> {
        const UPPER: u32 = 32;
        if !self.opening.nearly_alike
            && let Some(position) = self.select(lanes, UPPER)
        {
            return Some(position);
        }
        // Similar hashes agree in their highest bits. Compare the 32 bits from the highest differing bit
        // down.
        let different = self.hashes.iter().fold(0, |different, hash| different | (hash ^ self.hashes[0]));
        let shift = UPPER.saturating_sub(different.leading_zeros());
        let found = if shift < UPPER { self.select(lanes, shift) } else { None };
        self.opening.nearly_alike = found.is_some();
        found
    }
}

impl OpeningJob<'_> {
    /// Compares 32 bits from bit `shift` on. All bits above must be equal in all hashes.
    #[inline(always)]
    fn select<L: Lanes>(&mut self, lanes: L, shift: u32) -> Option<u64> {
        let Self { w, hashes, missing, after_least, position, .. } = *self;
        let opening = &mut *self.opening;
        opening.open(w, hashes, missing, shift);
        let count = opening.find_candidates(lanes, missing + hashes.len());
        let (keys, candidates) = (&opening.keys[..missing + hashes.len()], &opening.candidates[..count]);
        // Missing hashes are not candidates, nor is the minimum before the first window.
        let first = candidates.partition_point(|&index| (index as usize) < missing.max(after_least));
        let candidates = &candidates[first..];

        let (mut least, mut after_least) = ((self.least >> shift) as u32, after_least as u32);
        let mut is_tied = false;
        for &index in candidates {
            let key = keys[index as usize];
            is_tied |= (key == least) & (index + 1 - after_least < w as u32);
            (least, after_least) = (key, index + 1);
        }
        if is_tied {
            return None;
        }
        let selected = |&index: &u32| {
            let hash = hashes[index as usize - missing];
            Selected { hash, position: position + u64::from(index) }
        };
        self.out.extend(candidates.iter().map(selected));
        Some((position + u64::from(after_least)).wrapping_sub(1))
    }
}

impl MorphologicalOpening {
    /// Writes the indices of the candidates among `length` keys to `candidates`, ascending. Returns their
    /// number.
    #[inline(always)]
    fn find_candidates<L: Lanes>(&mut self, lanes: L, length: usize) -> usize {
        let Self { keys, from: opened, candidates, .. } = self;
        if candidates.len() < length + TEXT {
            candidates.resize(length + TEXT, 0);
        }
        let mut count = 0;
        let blocks = keys.as_chunks().0.iter().zip(opened.as_chunks().0).take(length.div_ceil(TEXT));
        for (block, (keys, opened)) in blocks.enumerate() {
            let found = lanes.equal_keys(keys, opened);
            if let Some(places) = candidates[count..].first_chunk_mut() {
                lanes.places::<USUAL>(found, (TEXT * block) as u32, places);
            }
            count += found.count_ones() as usize;
        }
        count
    }

    /// Writes the opening of the keys to `from`. A block in which nothing is equal follows both.
    #[inline(always)]
    fn open(&mut self, w: usize, hashes: &[u64], missing: usize, shift: u32) {
        let Self { keys, from, to, .. } = self;
        let length = missing + hashes.len();
        let room = length + 2 * w + TEXT;
        for buffer in [&mut *keys, from, to] {
            if buffer.len() < room {
                buffer.resize(room, 0);
            }
        }
        keys[..missing].fill(u32::MAX);
        for (key, hash) in keys[missing..length].iter_mut().zip(hashes) {
            *key = (hash >> shift) as u32;
        }
        keys[length..length + TEXT].fill(1);
        pass::<false>(keys, from, length - 1, 1);
        let windows = slide::<false>(from, to, length - 1, w, 2);
        // Hashes at either end are in fewer windows.
        to[..w - 1].fill(0);
        to[w - 1..w - 1 + windows].copy_from_slice(&from[..windows]);
        to[w - 1 + windows..length + w - 1].fill(0);
        std::mem::swap(from, to);
        slide::<true>(from, to, length + w - 1, w, 1);
        from[length..length + TEXT].fill(0);
    }
}

/// Widens windows: `from` holds minima or maxima over windows of `width` numbers, made from `length` numbers.
/// Afterwards it holds those over windows of w. Returns how many there are.
#[inline(always)]
fn slide<const MAXIMA: bool>(
    from: &mut Vec<u32>,
    to: &mut Vec<u32>,
    mut length: usize,
    w: usize,
    mut width: usize,
) -> usize {
    while width < w {
        let shift = width.min(w - width);
        length -= shift;
        pass::<MAXIMA>(from, to, length, shift);
        std::mem::swap(from, to);
        width += shift;
    }
    length
}

#[inline(always)]
fn pass<const MAXIMA: bool>(from: &[u32], to: &mut [u32], length: usize, shift: usize) {
    for ((to, &one), &other) in to[..length].iter_mut().zip(&from[..length]).zip(&from[shift..shift + length]) {
        *to = if MAXIMA { one.max(other) } else { one.min(other) };
    }
}
