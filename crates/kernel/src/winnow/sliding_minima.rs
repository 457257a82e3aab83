//! Sliding minima: finds where the minimum of consecutive windows changes. In small windows the minimum
//! changes so often that mispredicted branches take most of the time. In this method hardly any branch
//! depends on a hash.
//!
//! Only 16 bits of each hash, its *key*, are compared. A few passes with SIMD lanes compute the least key of
//! every window. A window *changes* if its least key differs from that of the window before, or if the
//! entering key equals the least key. Comparing the keys of a changed window with its least key gives the
//! place of the minimum.
//!
//! If several keys of a window are the least, they *tie*. Every tie is seen in a changed window. To show
//! this, take a window with a tie, and the last changed window up to that window. If the changed window
//! lacked the tie, a tied key would have entered in a later window. But a window whose least key has just
//! entered is itself a changed window, so this cannot happen.

use super::Selected;
use crate::lanes::{Lanes, SEARCHED, SimdJob, TEXT};

/// Usual maximum of changes among 64 windows: windows of 20 have six on average.
const USUAL: usize = 10;

/// Number of keys from which one pass takes the minimum.
const MERGED: usize = 5;

/// Consecutive windows and their changes. Buffers are kept for reuse.
#[derive(Clone, Debug, Default)]
pub(super) struct SlidingMinima {
    /// Keys from the start of window 0 on.
    keys: Vec<i16>,
    /// Least keys of the windows.
    minima: Vec<i16>,
    other: Vec<i16>,
    /// The changed windows, in ascending order.
    changed: Vec<u32>,
    count: usize,
}

/// Hashes whose windows are compared.
#[derive(Clone, Copy)]
pub(super) struct Windows<'a> {
    pub(super) w: usize,
    /// The hashes from the minimum of window 0, to the end of the last window.
    pub(super) hashes: &'a [u64],
    /// Number of hashes before this minimum in its window. These hashes are not minima of any window.
    pub(super) missing: usize,
    /// Position of this minimum.
    pub(super) position: u64,
}

impl SlidingMinima {
    /// The changed windows after window 0.
    pub(super) fn changed(&self) -> &[u32] {
        &self.changed[..self.count]
    }

    #[inline(always)]
    pub(super) fn find<L: Lanes>(&mut self, lanes: L, windows: Windows) {
        let Windows { w, hashes, missing, .. } = windows;
        let length = missing + hashes.len();
        let room = length + w + 2 * TEXT;
        for buffer in [&mut self.keys, &mut self.minima, &mut self.other] {
            if buffer.len() < room {
                buffer.resize(room, 0);
            }
        }
        if self.changed.len() < room {
            self.changed.resize(room, 0);
        }
        self.keys[..missing].fill(i16::MAX);
        for (key, hash) in self.keys[missing..].iter_mut().zip(hashes) {
            // SSE2 has the minimum of signed numbers only. The signed keys have the order of the unsigned
            // hashes.
            *key = ((hash >> 48) as u16 ^ 0x8000) as i16;
        }
        lanes.call(FindChanges { sliding: self, w, length });
    }

    /// True if least keys of window 0 tie.
    #[inline(always)]
    pub(super) fn begins_tied<L: Lanes>(&self, lanes: L, w: usize) -> bool {
        self.minima.first().is_none_or(|&least| Search::new(w).find(lanes, &self.keys, 0, least).is_tied)
    }
}

/// Computes the least keys, and finds the changed windows.
struct FindChanges<'a> {
    sliding: &'a mut SlidingMinima,
    w: usize,
    /// Number of keys.
    length: usize,
}

impl SimdJob for FindChanges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { sliding: SlidingMinima { keys, minima, other, changed, count }, w, length: mut windows } = self;
        let mut reach = 1;
        while reach < w {
            reach *= MERGED;
        }
        let (mut width, mut from) = (1, &*keys);
        while width < w {
            reach /= MERGED;
            let wider = w.div_ceil(reach);
            windows -= wider - width;
            let offset = |part: usize| (part * width).min(wider - width);
            let out = &mut other[..windows.next_multiple_of(TEXT)];
            match wider.div_ceil(width) {
                2 => merge(from, [1].map(offset), out),
                3 => merge(from, [1, 2].map(offset), out),
                4 => merge(from, [1, 2, 3].map(offset), out),
                _ => merge(from, [1, 2, 3, 4].map(offset), out),
            }
            std::mem::swap(minima, other);
            (width, from) = (wider, &*minima);
        }
        *count = 0;
        for first in (1..windows).step_by(TEXT) {
            let Some(before) = minima[first - 1..].first_chunk() else { break };
            let Some(least) = minima[first..].first_chunk() else { break };
            let Some(entering) = keys[first + w - 1..].first_chunk() else { break };
            let Some(places) = changed[*count..].first_chunk_mut() else { break };
            let valid = u64::MAX >> TEXT.saturating_sub(windows - first);
            let changes = (!lanes.equal_keys(before, least) | lanes.equal_keys(entering, least)) & valid;
            lanes.places::<USUAL>(changes, first as u32, places);
            *count += changes.count_ones() as usize;
        }
    }
}

/// Writes to `out[i]` the minimum of `from[i]` and of the keys at these offsets after it.
#[inline(always)]
fn merge<const N: usize>(from: &[i16], offsets: [usize; N], out: &mut [i16]) {
    for (block, out) in out.as_chunks_mut::<TEXT>().0.iter_mut().enumerate() {
        let from = &from[TEXT * block..];
        let Some(&(mut least)) = from.first_chunk::<TEXT>() else { break };
        for offset in offsets {
            let Some(other) = from[offset..].first_chunk::<TEXT>() else { break };
            for (least, &other) in least.iter_mut().zip(other) {
                *least = other.min(*least);
            }
        }
        *out = least;
    }
}

/// Writes the minima of the changed windows, from the change with index `from` on, up to the first window
/// with a tie. Returns the number of minima. Sets `last` to the index of the last minimum in
/// `windows.hashes`.
pub(super) struct LocateMinima<'a> {
    pub(super) sliding: &'a SlidingMinima,
    pub(super) windows: Windows<'a>,
    pub(super) from: usize,
    pub(super) last: &'a mut usize,
    pub(super) out: &'a mut [Selected],
}

impl SimdJob for LocateMinima<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let Self { sliding, windows: Windows { w, hashes, missing, position }, from, last, out } = self;
        // Plain slices, so that the compiler knows that writing to `out` does not change them.
        let (keys, minima, changed) = (&*sliding.keys, &*sliding.minima, &sliding.changed()[from..]);
        let search = Search::new(w);
        let (mut index, mut located) = (*last, changed.len());
        // A loop, because a closure would be compiled without the instruction set.
        for (i, (slot, &window)) in out.iter_mut().zip(changed).enumerate() {
            let found = search.find(lanes, keys, window as usize, minima[window as usize]);
            if found.is_tied {
                located = i;
                break;
            }
            index = found.place - missing;
            *slot = Selected { hash: hashes[index], position: position + index as u64 };
        }
        *last = index;
        located
    }
}

/// Searches windows of one size for a key.
struct Search {
    /// Number of stretches of `SEARCHED` keys in a window before the last stretch, which may be shorter.
    whole: usize,
    /// Mask of the keys of the last stretch.
    rest: u32,
}

/// The place of a key in a window. If the window has the key at several places, `is_tied` is true and `place`
/// is one of them.
struct Found {
    place: usize,
    is_tied: bool,
}

impl Search {
    #[inline(always)]
    fn new(w: usize) -> Self {
        let whole = (w - 1) / SEARCHED;
        Self { whole, rest: u32::MAX >> (SEARCHED * (whole + 1) - w) }
    }

    /// Finds a key in the window that begins at `at`. The window must hold the key.
    #[inline(always)]
    fn find<L: Lanes>(&self, lanes: L, keys: &[i16], mut at: usize, key: i16) -> Found {
        let (mut place, mut count) = (0, 0);
        for _ in 0..self.whole {
            let found = keys[at..].first_chunk::<SEARCHED>();
            let found = if let Some(some) = found { lanes.search(some, key) } else { 0 };
            if found != 0 {
                (place, count) = (at + found.trailing_zeros() as usize, count + found.count_ones());
            }
            at += SEARCHED;
        }
        let found = keys[at..].first_chunk::<SEARCHED>();
        let found = if let Some(some) = found { lanes.search(some, key) & self.rest } else { 0 };
        let is_alone = found & found.wrapping_sub(1) == 0;
        if self.whole == 0 {
            return Found { place: at + found.trailing_zeros() as usize, is_tied: !is_alone };
        }
        if found != 0 {
            (place, count) = (at + found.trailing_zeros() as usize, count + 1 + u32::from(!is_alone));
        }
        Found { place, is_tied: count != 1 }
    }
}
