//! Morphological opening: selection for small windows. Their minima change so often that mispredicted branches cost most: here no
//! branch depends on a hash.
//!
//! A hash is the minimum of some window if and only if it is the greatest of the minima of the windows that hold it (what
//! image processing calls an *opening*: minima, then maxima). Both take a few passes over all hashes, by lanes. Only 32
//! bits of the hashes are compared, as *keys*, so what is found are *candidates*: all hashes to be selected and,
//! where keys tie within a window, perhaps others. All ties are seen, since no candidate lies between two that tie:
//! each is compared with the one before it. If two tie, nothing is selected here, and the exact method decides.

use super::Selected;
use crate::lanes::{Lanes, SimdJob, TEXT};

/// Candidates of 64 hashes that there often are at most: of windows of 17 there are seven on average.
const USUAL: usize = 10;

/// Room for keys and passes, reused.
#[derive(Clone, Debug, Default)]
pub(super) struct MorphologicalOpening {
    keys: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
    candidates: Vec<u32>,
    /// True if the last windows had to be told apart by lower bits.
    nearly_alike: bool,
}

/// Windows that follow one another, to be selected from.
pub(super) struct OpeningJob<'a> {
    pub(super) opening: &'a mut MorphologicalOpening,
    pub(super) w: usize,
    /// All hashes of the windows, except so many at the beginning that are known not to be minimal.
    pub(super) hashes: &'a [u64],
    pub(super) missing: usize,
    /// The minimum of the window before the first one, and its index among the hashes (with the missing ones) and one.
    pub(super) least: u64,
    pub(super) after_least: usize,
    /// The position of the first hash, be it missing or not.
    pub(super) position: u64,
    pub(super) out: &'a mut Vec<Selected>,
}

impl SimdJob for OpeningJob<'_> {
    /// The position of the last minimum; none, and nothing selected, where keys tie.
    type Output = Option<u64>;

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) -> Option<u64> {
        const UPPER: u32 = 32;
        if !self.opening.nearly_alike
            && let Some(position) = self.select(lanes, UPPER)
        {
            return Some(position);
        }
        // Hashes that are nearly alike differ in lower bits: the highest 32 that are not the same everywhere.
        let different = self.hashes.iter().fold(0, |different, hash| different | (hash ^ self.hashes[0]));
        let shift = UPPER.saturating_sub(different.leading_zeros());
        let found = if shift < UPPER { self.select(lanes, shift) } else { None };
        self.opening.nearly_alike = found.is_some();
        found
    }
}

impl OpeningJob<'_> {
    /// Compares by the 32 bits from `shift` on: those above must be the same in all hashes.
    #[inline(always)]
    fn select<L: Lanes>(&mut self, lanes: L, shift: u32) -> Option<u64> {
        let Self { w, hashes, missing, after_least, position, .. } = *self;
        let opening = &mut *self.opening;
        opening.open(w, hashes, missing, shift);
        let count = opening.find_candidates(lanes, missing + hashes.len());
        let (keys, candidates) = (&opening.keys[..missing + hashes.len()], &opening.candidates[..count]);
        // Missing hashes, and the minimum before the first window, are none.
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
    /// Leaves the indices of the candidates among `length` keys in `candidates`, ascending; gives how many they are.
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

    /// Leaves the opening of the keys in `from`; both end with a block of which nothing is equal.
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
        // A hash at either end is in fewer windows than others.
        to[..w - 1].fill(0);
        to[w - 1..w - 1 + windows].copy_from_slice(&from[..windows]);
        to[w - 1 + windows..length + w - 1].fill(0);
        std::mem::swap(from, to);
        slide::<true>(from, to, length + w - 1, w, 1);
        from[length..length + TEXT].fill(0);
    }
}

/// Minima or maxima of the `length` numbers in `from` over windows of w, where those over windows of `width` are there
/// already. They are left in `from`; gives how many they are.
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
