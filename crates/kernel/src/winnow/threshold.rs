//! Threshold: selects the minima of large windows from *low* hashes only. A hash is low if it is below a
//! threshold. On average four hashes of a window are low.
//!
//! Take the nearest smaller hashes on the left and right of a hash. The hash is the minimum of some window if
//! and only if these two smaller hashes are more than w apart. Every hash below a low hash is low too. So low
//! hashes are compared only with low hashes, and only with a few neighbours on each side, with SIMD lanes. No
//! step depends on the previous minimum, and hardly any branch depends on a hash.
//!
//! Only 31 bits of each hash, its *key*, are compared. The exact method handles windows without a low hash,
//! keys that tie, and inputs with many low hashes.

use crate::lanes::{GROUP, Lanes, NEIGHBOURHOOD, REACH, TEXT};

/// Average number of low hashes in a window. A smaller number leaves more windows without a low hash. A
/// larger number causes more comparisons.
const EXPECTED: usize = 4;

/// Number of low hashes of a block that are stored without a test, even if the block has fewer. This saves a
/// branch.
const UNASKED: usize = 5;

/// A place further away than any real place.
const NOWHERE: i32 = i32::MAX / 2;

/// The low hashes of consecutive windows. Buffers are kept for reuse.
#[derive(Clone, Debug)]
pub(super) struct BelowThreshold {
    w: usize,
    threshold: u64,
    /// Lowest bit of a low hash that belongs to its key.
    shift: u32,
    /// Keys of the first hash and of the low hashes. `REACH` maximal keys stand before and after them as
    /// padding.
    keys: Vec<i32>,
    /// Places of these hashes. The first hash has place w, so that place - w is never negative.
    places: Vec<i32>,
    pub(super) minima: Minima,
}

/// The low minima that were found, in ascending order of place.
#[derive(Clone, Debug, Default)]
pub(super) struct Minima {
    /// The first `count` keys are valid; the rest are arbitrary.
    keys: Vec<i32>,
    places: Vec<i32>,
    count: usize,
}

impl Minima {
    /// The key and the place of each minimum. The first hash has place w.
    #[inline(always)]
    pub(super) fn found(&self) -> (&[i32], &[i32]) {
        (&self.keys[..self.count], &self.places[..self.count])
    }

    /// Index after the run of minima that begins at `first`. Each minimum of the run is within w places of
    /// the minimum before it, and their keys differ. `key` and `place` belong to the minimum before `first`.
    #[inline(always)]
    pub(super) fn succeeding(&self, first: usize, mut key: i32, mut place: i32, w: usize) -> usize {
        let (keys, places) = self.found();
        let mut end = first;
        for (&next_key, &next) in keys[first..].iter().zip(&places[first..]) {
            if next - place > w as i32 || next_key == key {
                break;
            }
            (key, place) = (next_key, next);
            end += 1;
        }
        end
    }

    /// Appends the keys and places in the middle whose bits are set in `least`, if there is room for a group.
    #[inline(always)]
    fn keep<L: Lanes>(&mut self, lanes: L, keys: &[i32; NEIGHBOURHOOD], places: &[i32; NEIGHBOURHOOD], least: u32) {
        let to = self.count;
        for (numbers, kept) in [(keys, &mut self.keys), (places, &mut self.places)] {
            if let (Some(numbers), Some(kept)) = (numbers[REACH..].first_chunk(), kept[to..].first_chunk_mut()) {
                lanes.keep(numbers, least, kept);
            }
        }
        self.count += least.count_ones() as usize;
    }

    /// Removes all minima, and makes room for `room` of them.
    #[inline(always)]
    fn clear(&mut self, room: usize) {
        if self.keys.len() < room {
            self.keys.resize(room, 0);
            self.places.resize(room, 0);
        }
        self.count = 0;
    }
}

impl BelowThreshold {
    /// Makes a finder for windows of `w` hashes.
    pub(super) fn new(w: usize) -> Self {
        let threshold = u64::MAX / w.max(2 * EXPECTED) as u64 * EXPECTED as u64;
        let shift = u64::BITS - threshold.leading_zeros() - (i32::BITS - 1);
        Self { w, threshold, shift, keys: Vec::new(), places: Vec::new(), minima: Minima::default() }
    }

    /// The key of a hash; `None` if the hash is not low.
    #[inline(always)]
    pub(super) fn key(&self, hash: u64) -> Option<i32> {
        (hash < self.threshold).then_some((hash >> self.shift) as i32)
    }

    /// Finds the low minima of the windows in the first `length` hashes. The first hash must be the minimum
    /// of a window. At least `TEXT` arbitrary values must follow the hashes. Returns `false` if there are too
    /// many low hashes to decide.
    #[inline(always)]
    pub(super) fn find<L: Lanes>(&mut self, lanes: L, hashes: &[u64], length: usize) -> bool {
        let Some(count) = self.collect(lanes, hashes, length) else { return false };
        let Self { w, keys, places, minima, .. } = self;
        minima.clear(count + GROUP);
        let mut crowded = 0;
        for at in (0..count).step_by(GROUP) {
            let Some(keys) = keys[at..].first_chunk() else { break };
            let Some(places) = places[at..].first_chunk() else { break };
            let (mut least, near) = lanes.least_within(keys, places, *w as i32, (length + *w) as i32);
            let held = u32::MAX >> (u32::BITS as usize - GROUP.min(count - at));
            crowded |= near & held;
            // The first hash is already selected.
            least &= held & if at == 0 { !1 } else { !0 };
            minima.keep(lanes, keys, places, least);
        }
        crowded == 0
    }

    /// Fills `keys` and `places`, and returns the number of their entries. `None` if there are many more low
    /// hashes than expected.
    #[inline(always)]
    fn collect<L: Lanes>(&mut self, lanes: L, hashes: &[u64], length: usize) -> Option<usize> {
        let first = self.key(hashes[0]).unwrap_or(i32::MAX);
        let Self { w, threshold, shift, keys, places, .. } = self;
        let most = 2 * EXPECTED * length / *w + TEXT;
        let room = REACH + most + TEXT + REACH + GROUP;
        if keys.len() < room {
            keys.resize(room, 0);
            places.resize(room, 0);
        }
        keys[..REACH].fill(i32::MAX);
        keys[REACH] = first;
        places[REACH] = *w as i32;
        let mut end = REACH + 1;
        for at in (1..length).step_by(TEXT) {
            let mut low = lanes.below_in_64(hashes[at..].first_chunk()?, *threshold);
            if length - at < TEXT {
                low &= (1 << (length - at)) - 1;
            }
            let taken = low.count_ones() as usize;
            let places: &mut [i32; TEXT] = places[end..].first_chunk_mut()?;
            let (first, mut i) = ((at + *w) as u32, 0);
            while i < UNASKED || low != 0 {
                places[i] = (first + low.trailing_zeros()) as i32;
                low &= low.wrapping_sub(1);
                i += 1;
            }
            end += taken;
            if end > REACH + most {
                return None;
            }
        }
        for (key, &place) in keys[REACH + 1..end].iter_mut().zip(&places[REACH + 1..end]) {
            *key = (hashes[place as usize - *w] >> *shift) as i32;
        }
        keys[end..end + REACH + GROUP].fill(i32::MAX);
        places[end..end + REACH + GROUP].fill(NOWHERE);
        Some(end - REACH)
    }
}
