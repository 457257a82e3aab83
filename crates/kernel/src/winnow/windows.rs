//! Winnowing proper: selects the minimum of each window, plain (rightmost) or robust.
//!
//! As in Figure 5 of the paper, the common step compares new hashes with the current minimum, here a block of
//! hashes at once. This file differs from Figure 5 when the minimum leaves the window. Figure 5 then scans
//! the whole window again. Such scans are the fastest method if they are rare, but take O(n w) steps if the
//! hashes ascend.
//!
//! So each scan uses up a *credit*, which grows with every hash. Without enough credit, a slower scan also
//! records the *chain* of suffix minima. These are the hashes that become minimal in turn if no smaller hash
//! arrives. Hashes after the scanned window are reduced to one running minimum, the *tail*. Such a scan of w
//! hashes serves at least w steps, so the work is O(n) for every input.
//!
//! Two faster methods (`threshold` and `sliding_minima`) are tried first. The exact method of this file
//! handles the windows that they cannot decide.

use std::mem;

use super::Selected;
use super::backoff::Backoff;
use super::runs::HeldHashes;
use super::search::{follows, rightmost_minimum, smaller};
use super::sliding_minima::{LocateMinima, SlidingMinima, Windows};
use super::threshold::{BelowThreshold, Minima};
use crate::lanes::{BLOCK, Lanes, Processor, SimdJob, TEXT};

/// Credit per new hash: the number of hashes that may be scanned again.
const EARNED: usize = 4;

/// Number of windows per call of the faster methods: the maximum and the minimum.
const MOST_AT_ONCE: usize = 1 << 11;
const LEAST_AT_ONCE: usize = 64;

/// Number of windows that the exact method handles after the first tie.
const TIED_AT_ONCE: usize = 32;

/// Selects the minimum of every window of w hashes.
#[derive(Clone, Debug)]
pub(super) struct WindowSelector {
    processor: Processor,
    state: WindowState,
}

#[derive(Clone, Debug)]
struct WindowState {
    w: usize,
    /// True for plain winnowing, which replaces the minimum by an equal hash on its right. Robust winnowing
    /// keeps the minimum.
    rightmost: bool,
    /// The hashes from position `base` on that a later step may read. The first `length` are valid. At least
    /// a block of arbitrary values follows, so that a block may begin at each hash.
    hashes: Vec<u64>,
    length: usize,
    base: u64,
    /// Index into `hashes` of the next hash to compare with the minimum.
    next: usize,
    /// Index of the minimum of the window that ends before `next`. `None` until one window is full.
    minimum: Option<usize>,
    /// Number of hashes that may be scanned again.
    credit: usize,
    /// Suffix minima of the scanned window to the right of `minimum`, the nearest last.
    chain: Vec<usize>,
    /// Index of the rightmost minimum of the hashes after the scanned window, up to `tail_end`.
    tail: Option<usize>,
    tail_end: usize,
    sliding: SlidingMinima,
    sliding_backoff: Backoff,
    below_threshold: BelowThreshold,
    threshold_backoff: Backoff,
}

impl WindowSelector {
    pub(super) fn new(w: u32, rightmost: bool) -> Self {
        Self { processor: Processor::detect(), state: WindowState::new(w as usize, rightmost) }
    }

    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub(super) fn set_processor(&mut self, processor: Processor) {
        self.processor = processor;
    }

    /// Reads the next `count` hashes, which `fill` writes.
    pub(super) fn feed_with(&mut self, count: usize, fill: impl FnOnce(&mut [u64]), out: &mut Vec<Selected>) {
        let state = &mut self.state;
        state.forget();
        let end = state.length + count;
        if state.hashes.len() < end + TEXT {
            state.hashes.resize(end + TEXT, 0);
        }
        fill(&mut state.hashes[state.length..end]);
        state.length = end;
        self.processor.run(Advance { state, out });
    }

    pub(super) fn finish(&mut self, out: &mut Vec<Selected>) {
        let state = &mut self.state;
        if state.minimum.is_none() && state.length > 0 {
            state.scan(0, out);
        }
        // Keeps only the buffers, for the next document.
        let ended = mem::replace(state, WindowState::new(state.w, state.rightmost));
        (state.hashes, state.chain) = (ended.hashes, ended.chain);
        (state.sliding, state.below_threshold) = (ended.sliding, ended.below_threshold);
        state.chain.clear();
    }
}

/// Advances to the last available hash.
struct Advance<'a> {
    state: &'a mut WindowState,
    out: &'a mut Vec<Selected>,
}

impl SimdJob for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { state, out } = self;
        if state.w == 1 {
            return state.select_all(out);
        }
        if state.minimum.is_none() && state.length >= state.w {
            state.next = state.w;
            state.minimum = Some(state.scan(0, out));
        }
        let Some(mut minimum) = state.minimum else { return };
        while state.next < state.length {
            if state.rightmost {
                state.proceed::<L, true>(lanes, &mut minimum, out);
            } else {
                state.proceed::<L, false>(lanes, &mut minimum, out);
            }
        }
        state.minimum = Some(minimum);
    }
}

impl WindowState {
    fn new(w: usize, rightmost: bool) -> Self {
        Self {
            w,
            rightmost,
            hashes: Vec::new(),
            length: 0,
            base: 0,
            next: 0,
            minimum: None,
            credit: EARNED * EARNED * w,
            chain: Vec::new(),
            tail: None,
            tail_end: 0,
            sliding: SlidingMinima::default(),
            below_threshold: BelowThreshold::new(w),
            sliding_backoff: Backoff::default(),
            threshold_backoff: Backoff::default(),
        }
    }

    /// Selects every hash, for windows of one hash.
    #[inline(always)]
    fn select_all(&mut self, out: &mut Vec<Selected>) {
        let from = self.minimum.map_or(0, |minimum| minimum + 1);
        let fresh = &self.hashes[from..self.length];
        out.extend(fresh.iter().zip(self.base + from as u64..).map(|(&hash, position)| Selected { hash, position }));
        self.minimum = self.length.checked_sub(1);
        self.next = self.length;
    }

    /// Advances by the fastest method that succeeds.
    #[inline(always)]
    fn proceed<L: Lanes, const RIGHTMOST: bool>(&mut self, lanes: L, minimum: &mut usize, out: &mut Vec<Selected>) {
        let end = self.length.min(self.next + MOST_AT_ONCE);
        if self.select_below_threshold::<L, RIGHTMOST>(lanes, minimum, end, out) {
            return;
        }
        if !self.select_by_sliding::<L, RIGHTMOST>(lanes, minimum, end, out) {
            self.advance::<L, RIGHTMOST>(lanes, minimum, end, out);
        }
    }

    /// Tries to advance to `end` by the threshold method, if success is likely. Returns true if the method
    /// succeeded.
    #[inline(always)]
    fn select_below_threshold<L: Lanes, const RIGHTMOST: bool>(
        &mut self,
        lanes: L,
        minimum: &mut usize,
        end: usize,
        out: &mut Vec<Selected>,
    ) -> bool {
        let is_quicker = L::THRESHOLD_WINDOWS.contains(&self.w);
        if !is_quicker || end - self.next < LEAST_AT_ONCE || !self.threshold_backoff.may_try() {
            return false;
        }
        let (from, next, selected) = (*minimum, self.next, out.len());
        let has_succeeded = self.below_threshold.find(lanes, &self.hashes[from..], end - from) && {
            let minima = mem::take(&mut self.below_threshold.minima);
            let has_succeeded = self.follow_minima::<L, RIGHTMOST>(lanes, minimum, end, &minima, out);
            self.below_threshold.minima = minima;
            has_succeeded
        };
        self.threshold_backoff.record(!has_succeeded);
        if has_succeeded {
            self.next = end;
        } else {
            out.truncate(selected);
            (*minimum, self.next) = (from, next);
        }
        has_succeeded
    }

    /// Selects the minima that the threshold method found. Selects by the exact method from windows without a
    /// low hash. Returns `false` if keys tie.
    #[inline(always)]
    fn follow_minima<L: Lanes, const RIGHTMOST: bool>(
        &mut self,
        lanes: L,
        minimum: &mut usize,
        end: usize,
        minima: &Minima,
        out: &mut Vec<Selected>,
    ) -> bool {
        self.chain.clear();
        let (from, w) = (*minimum, self.w);
        let (keys, places) = minima.found();
        let index = |place: i32| from + place as usize - w;
        let mut least = self.below_threshold.key(self.hashes[from]);
        let mut i = 0;
        loop {
            if let Some(key) = least {
                // Until this minimum leaves the window, no hash replaces it before the next low minimum.
                let (first, place) = (i, (*minimum - from + w) as i32);
                i = minima.succeeding(first, key, place, w);
                let hashes = &self.hashes[from..end];
                let position = self.base + from as u64;
                out.extend(places[first..i].iter().map(|&place| {
                    let at = place as usize - w;
                    Selected { hash: hashes[at], position: position + at as u64 }
                }));
                if i > first {
                    (*minimum, least) = (index(places[i - 1]), Some(keys[i - 1]));
                    self.next = *minimum + 1;
                }
            }
            let found = places.get(i).map_or(end, |&place| index(place));
            let exact_from = if least.is_some() { self.next.max(*minimum + w) } else { self.next };
            if exact_from < found {
                self.next = exact_from;
                self.advance::<L, RIGHTMOST>(lanes, minimum, found, out);
                self.chain.clear();
            }
            let Some(&key) = keys.get(i) else { break };
            if least == Some(key) && found - *minimum < w {
                return false;
            }
            self.select(found, out);
            (*minimum, least, self.next) = (found, Some(key), found + 1);
            i += 1;
        }
        true
    }

    /// Advances to `end` by sliding minima, if this is likely to be faster. Returns true if it advanced.
    /// Selects by the exact method from windows in which keys tie.
    #[inline(always)]
    fn select_by_sliding<L: Lanes, const RIGHTMOST: bool>(
        &mut self,
        lanes: L,
        minimum: &mut usize,
        end: usize,
        out: &mut Vec<Selected>,
    ) -> bool {
        if self.w > L::SMALL_WINDOW || end - self.next < LEAST_AT_ONCE || !self.sliding_backoff.may_try() {
            return false;
        }
        let (from, w, first) = (*minimum, self.w, self.next);
        let (missing, position) = (from + w - first, self.base + from as u64);
        let mut sliding = mem::take(&mut self.sliding);
        sliding.find(lanes, Windows { w, hashes: &self.hashes[from..end], missing, position });
        let changed = sliding.changed();
        self.chain.clear();
        // After a tie, the exact method selects from a few windows. Each further tie doubles their number.
        let (mut at_once, mut exact) = (TIED_AT_ONCE, 0);
        let (mut i, mut tied) = (0, sliding.begins_tied(lanes, w).then_some(0));
        loop {
            if let Some(window) = tied {
                i += changed[i..].iter().take_while(|&&next| (next as usize) < window + at_once).count();
                let to = changed.get(i).map_or(end, |&next| first + next as usize - 1);
                self.next = first.max(first + window - 1);
                exact += to - self.next;
                at_once *= 2;
                self.advance::<L, RIGHTMOST>(lanes, minimum, to, out);
                self.chain.clear();
            }
            let written = out.len();
            out.resize(written + changed.len() - i, Selected { hash: 0, position: 0 });
            let (mut last, out_here) = (*minimum - from, &mut out[written..]);
            let windows = Windows { w, hashes: &self.hashes[from..end], missing, position };
            let job = LocateMinima { sliding: &sliding, windows, from: i, last: &mut last, out: out_here };
            let located = lanes.call(job);
            out.truncate(written + located);
            *minimum = from + last;
            i += located;
            let Some(&window) = changed.get(i) else { break };
            tied = Some(window as usize);
        }
        self.next = end;
        self.sliding = sliding;
        self.sliding_backoff.record(2 * exact > end - first);
        true
    }

    /// Advances to `length` by the exact method.
    #[inline(always)]
    fn advance<L: Lanes, const RIGHTMOST: bool>(
        &mut self,
        lanes: L,
        last: &mut usize,
        length: usize,
        out: &mut Vec<Selected>,
    ) {
        let (w, mut minimum) = (self.w, *last);
        let mut next = self.next;
        loop {
            // The first window without the minimum ends here.
            let expiry = minimum + w;
            let stop = expiry.min(length);
            let least = self.hashes[minimum];
            if let Some(smaller) = smaller::<L, RIGHTMOST>(lanes, &self.hashes, next..stop, least) {
                minimum = smaller;
                next = minimum + 1;
                self.chain.clear();
                self.select(minimum, out);
                // If w is at least two blocks, equal hashes of two adjacent blocks are within one window.
                if RIGHTMOST && w >= 2 * BLOCK {
                    minimum = self.held(length).select_equal(lanes, minimum, out);
                    next = minimum + 1;
                }
                // If the next hash or the one after it replaces the minimum, no search is needed.
                loop {
                    let least = self.hashes[minimum];
                    if next < length && follows::<RIGHTMOST>(self.hashes[next], least) {
                        minimum = next;
                    } else if next + 1 < length && w > 2 && follows::<RIGHTMOST>(self.hashes[next + 1], least) {
                        minimum = next + 1;
                    } else {
                        break;
                    }
                    next = minimum + 1;
                    self.select(minimum, out);
                }
            } else if expiry < length {
                if !self.chain.is_empty() {
                    (minimum, next) = self.succeed(expiry, length, out);
                    continue;
                }
                next = expiry + 1;
                minimum = if self.credit >= w {
                    self.credit -= w;
                    let found = rightmost_minimum(lanes, &self.hashes, minimum + 1..next);
                    self.select(found, out);
                    found
                } else {
                    self.scan(minimum + 1, out)
                };
                self.credit = (self.credit + EARNED * (minimum + w - expiry)).min(EARNED * EARNED * w);
            } else {
                next = next.max(stop);
                break;
            }
        }
        self.next = next;
        *last = minimum;
    }

    /// Uses the chain to find the next minima. The window that ends at `expiry` is the first without the
    /// previous minimum. The rightmost minimum of this window is the next minimum. This is repeated for the
    /// windows after it, until the minimum stays in the window or the chain is empty. Returns the index of
    /// the last minimum and the index of the next hash to compare with it.
    #[inline(always)]
    fn succeed(&mut self, mut expiry: usize, length: usize, out: &mut Vec<Selected>) -> (usize, usize) {
        let hashes = &self.hashes[..length];
        let mut tail = self.tail.unwrap_or(self.tail_end);
        for index in self.tail_end..expiry {
            if hashes[index] <= hashes[tail] {
                tail = index;
            }
        }
        let minimum = loop {
            if hashes[expiry] <= hashes[tail] {
                tail = expiry;
            }
            let minimum = match self.chain.pop() {
                Some(candidate) if hashes[candidate] < hashes[tail] => candidate,
                _ => {
                    self.chain.clear();
                    tail
                }
            };
            out.push(Selected { hash: hashes[minimum], position: self.base + minimum as u64 });
            let next = minimum + self.w;
            expiry += 1;
            if next != expiry || next >= hashes.len() || self.chain.is_empty() {
                break minimum;
            }
        };
        self.tail = Some(tail);
        self.tail_end = expiry;
        (minimum, expiry)
    }

    /// Scans one window from its right end, and records its suffix minima in the chain. Selects the last of
    /// these minima, which is the rightmost minimum of the window, and returns its index.
    fn scan(&mut self, start: usize, out: &mut Vec<Selected>) -> usize {
        let end = (start + self.w).min(self.length);
        let mut minimum = end - 1;
        self.chain.clear();
        for index in (start..end - 1).rev() {
            if self.hashes[index] < self.hashes[minimum] {
                self.chain.push(minimum);
                minimum = index;
            }
        }
        self.tail = None;
        self.tail_end = end;
        self.select(minimum, out);
        minimum
    }

    #[inline(always)]
    fn held(&self, length: usize) -> HeldHashes<'_> {
        HeldHashes { hashes: &self.hashes, length, base: self.base }
    }

    #[inline(always)]
    fn select(&self, index: usize, out: &mut Vec<Selected>) {
        out.push(Selected { hash: self.hashes[index], position: self.base + index as u64 });
    }

    /// Drops the hashes to the left of the minimum: no later window contains them.
    fn forget(&mut self) {
        let Some(minimum) = self.minimum else { return };
        self.hashes.copy_within(minimum..self.length, 0);
        self.length -= minimum;
        self.base += minimum as u64;
        self.next -= minimum;
        self.minimum = Some(0);
        self.tail_end = self.tail_end.saturating_sub(minimum);
        for index in self.chain.iter_mut().chain(self.tail.as_mut()) {
            *index = index.saturating_sub(minimum);
        }
    }
}
