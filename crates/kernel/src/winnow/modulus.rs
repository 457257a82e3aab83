//! The baselines: `0 mod p`, and safe `0 mod p` of Schleimer et al. 2003, section 3.1.2.
//!
//! Safe `0 mod p` divides hashes into three classes. A hash is *good* if it is 0 mod p. A hash is *bad* if
//! neither this hash nor any of the w - 1 hashes on its left is good. All other hashes are *ugly*. Good and
//! bad hashes are selected, so every window has a fingerprint.

use super::Selected;

/// Selects the hashes that are 0 mod p. With a window, it also selects the bad hashes.
#[derive(Clone, Debug)]
pub(super) struct ModulusSelector {
    p: u64,
    /// The window of safe `0 mod p`; `None` for plain `0 mod p`.
    window: Option<u64>,
    next: u64,
    /// Hashes since the last good one, or since the start.
    drought: u64,
    last: u64,
    /// Buffer for the hashes.
    space: Vec<u64>,
}

impl ModulusSelector {
    pub(super) fn new(p: u64, window: Option<u32>) -> Self {
        Self { p, window: window.map(u64::from), next: 0, drought: 0, last: 0, space: Vec::new() }
    }

    /// Reads the next `count` hashes, which `fill` writes.
    pub(super) fn feed_with(&mut self, count: usize, fill: impl FnOnce(&mut [u64]), out: &mut Vec<Selected>) {
        self.space.resize(count.max(self.space.len()), 0);
        let hashes = &mut self.space[..count];
        fill(hashes);
        for &mut hash in hashes {
            let good = hash.is_multiple_of(self.p);
            self.drought = if good { 0 } else { self.drought + 1 };
            if good || self.window.is_some_and(|w| self.drought >= w) {
                out.push(Selected { hash, position: self.next });
            }
            self.next += 1;
            self.last = hash;
        }
    }

    pub(super) fn finish(&mut self, out: &mut Vec<Selected>) {
        // The document is shorter than one window and has no good hash: its last hash is bad.
        if self.window.is_some_and(|w| (1..w).contains(&self.next)) && self.drought == self.next {
            out.push(Selected { hash: self.last, position: self.next - 1 });
        }
        self.next = 0;
        self.drought = 0;
        self.last = 0;
    }
}
