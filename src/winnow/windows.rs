//! Winnowing proper: the minimum of each window, plain (rightmost) or robust.
//!
//! As in Figure 5 of the paper the common step is one comparison with the current minimum. What happens
//! when that minimum leaves the window differs: Figure 5 scans the whole window again, which costs
//! O(n w) where the hashes ascend. Here the scan also keeps the *chain* of suffix minima (the hashes that
//! will be minimal in turn if nothing smaller arrives), and the hashes that arrived after the scan are
//! folded into one running minimum, the *tail*. A scan of w hashes then serves at least w steps, so the
//! work is O(n) for every input.

use super::Selected;

/// Selects the minimum of every window of w hashes.
#[derive(Clone, Debug)]
pub(super) struct WindowSelector {
    w: usize,
    /// Plain winnowing moves to an equal hash on the right; robust winnowing stays.
    rightmost: bool,
    /// The hashes from `base` on; all that a later step may look at.
    hashes: Vec<u64>,
    base: u64,
    /// Index into `hashes` of the next hash to compare with the minimum.
    next: usize,
    /// The minimum of the window that ends before `next`; `None` until one window is full.
    minimum: Option<usize>,
    /// Suffix minima of the scanned window to the right of `minimum`, the nearest last.
    chain: Vec<usize>,
    /// The rightmost minimum of the hashes after the scanned window, and how far it has been taken.
    tail: Option<usize>,
    tail_end: usize,
}

impl WindowSelector {
    pub(super) fn new(w: u32, rightmost: bool) -> Self {
        Self {
            w: w as usize,
            rightmost,
            hashes: Vec::new(),
            base: 0,
            next: 0,
            minimum: None,
            chain: Vec::new(),
            tail: None,
            tail_end: 0,
        }
    }

    pub(super) fn feed(&mut self, hashes: &[u64], out: &mut Vec<Selected>) {
        self.forget();
        self.hashes.extend_from_slice(hashes);
        let mut minimum = match self.minimum {
            Some(minimum) => minimum,
            None if self.hashes.len() < self.w => return,
            None => {
                self.next = self.w;
                self.scan(0, out)
            }
        };
        loop {
            // The first window without the minimum ends here.
            let expiry = minimum + self.w;
            let stop = expiry.min(self.hashes.len());
            let least = self.hashes[minimum];
            let fresh = &self.hashes[self.next.min(stop)..stop];
            let smaller = if self.rightmost {
                fresh.iter().position(|&hash| hash <= least)
            } else {
                fresh.iter().position(|&hash| hash < least)
            };
            if let Some(offset) = smaller {
                minimum = self.next + offset;
                self.next = minimum + 1;
                self.chain.clear();
                self.select(minimum, out);
            } else if expiry < self.hashes.len() {
                self.next = expiry + 1;
                minimum = self.succeed(minimum, expiry, out);
            } else {
                self.next = stop;
                break;
            }
        }
        self.minimum = Some(minimum);
    }

    pub(super) fn finish(&mut self, out: &mut Vec<Selected>) {
        if self.minimum.is_none() && !self.hashes.is_empty() {
            self.scan(0, out);
        }
        self.hashes.clear();
        self.chain.clear();
        self.base = 0;
        self.next = 0;
        self.minimum = None;
        self.tail = None;
        self.tail_end = 0;
    }

    /// The rightmost minimum of the window that ends at `expiry`, the first one without `minimum`.
    fn succeed(&mut self, minimum: usize, expiry: usize, out: &mut Vec<Selected>) -> usize {
        let Some(&candidate) = self.chain.last() else {
            return self.scan(minimum + 1, out);
        };
        for index in self.tail_end..=expiry {
            if self.tail.is_none_or(|tail| self.hashes[index] <= self.hashes[tail]) {
                self.tail = Some(index);
            }
        }
        self.tail_end = expiry + 1;
        let successor = match self.tail {
            Some(tail) if self.hashes[tail] <= self.hashes[candidate] => {
                self.chain.clear();
                tail
            }
            _ => {
                self.chain.pop();
                candidate
            }
        };
        self.select(successor, out);
        successor
    }

    /// Looks through one window from its right end, keeps its suffix minima and selects the last of
    /// them, the rightmost minimum of the window.
    fn scan(&mut self, start: usize, out: &mut Vec<Selected>) -> usize {
        let end = (start + self.w).min(self.hashes.len());
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

    fn select(&self, index: usize, out: &mut Vec<Selected>) {
        out.push(Selected { hash: self.hashes[index], position: self.base + index as u64 });
    }

    /// Drops the hashes to the left of the minimum: no later window reaches them.
    fn forget(&mut self) {
        let Some(minimum) = self.minimum else { return };
        self.hashes.drain(..minimum);
        self.base += minimum as u64;
        self.next -= minimum;
        self.minimum = Some(0);
        self.tail_end = self.tail_end.saturating_sub(minimum);
        for index in self.chain.iter_mut().chain(self.tail.as_mut()) {
            *index -= minimum;
        }
    }
}
