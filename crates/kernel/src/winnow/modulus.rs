//! The baselines: `0 mod p`, and safe `0 mod p` of Schleimer et al. 2003, section 3.1.2.
//!
//! Safe `0 mod p`: a hash is *good* if it is 0 mod p, *bad* if it and the w - 1 hashes to its left are
//! not good, *ugly* otherwise; all but the ugly ones are selected, so that every window holds one.

use super::Selected;

/// Selects hashes that are 0 mod p, and with a window the bad ones too.
#[derive(Clone, Debug)]
pub(super) struct ModulusSelector {
    p: u64,
    /// The window of the safe form.
    window: Option<u64>,
    next: u64,
    /// Hashes since the last good one, or since the start.
    drought: u64,
    last: u64,
    any_good: bool,
    /// Where hashes are written to.
    space: Vec<u64>,
}

impl ModulusSelector {
    pub(super) fn new(p: u64, window: Option<u32>) -> Self {
        Self { p, window: window.map(u64::from), next: 0, drought: 0, last: 0, any_good: false, space: Vec::new() }
    }

    /// Takes the next `count` hashes, which `fill` writes.
    pub(super) fn feed_with(&mut self, count: usize, fill: impl FnOnce(&mut [u64]), out: &mut Vec<Selected>) {
        self.space.resize(count.max(self.space.len()), 0);
        let hashes = &mut self.space[..count];
        fill(hashes);
        for &mut hash in hashes {
            let good = hash.is_multiple_of(self.p);
            self.drought = if good { 0 } else { self.drought + 1 };
            self.any_good |= good;
            if good || self.window.is_some_and(|w| self.drought >= w) {
                out.push(Selected { hash, position: self.next });
            }
            self.next += 1;
            self.last = hash;
        }
    }

    pub(super) fn finish(&mut self, out: &mut Vec<Selected>) {
        // Shorter than one window and nothing good in it: the hash at the window's end is bad.
        if self.window.is_some_and(|w| (1..w).contains(&self.next)) && !self.any_good {
            out.push(Selected { hash: self.last, position: self.next - 1 });
        }
        self.next = 0;
        self.drought = 0;
        self.last = 0;
        self.any_good = false;
    }
}
