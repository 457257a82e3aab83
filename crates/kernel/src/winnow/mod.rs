//! Selection: chooses which k-gram hashes become fingerprints. A window is w consecutive hashes.
//!
//! The example of Schleimer et al. 2003, Figure 2, with windows of 4 hashes:
//!
//! ```
//! use fpdb_kernel::winnow::{Selected, Winnower};
//! use fpdb_kernel::profile::Selection;
//!
//! let hashes = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98];
//! let mut selected = Vec::new();
//! let mut winnower = Winnower::new(Selection::Robust, 4);
//! winnower.feed(&hashes, &mut selected);
//! winnower.finish(&mut selected);
//! let pairs: Vec<(u64, u64)> = selected.iter().map(|s: &Selected| (s.hash, s.position)).collect();
//! assert_eq!(pairs, [(17, 3), (17, 6), (8, 8), (39, 11), (17, 15)]);
//! ```
//!
//! Fewer than w hashes count as one window, so a short document has one fingerprint.

mod backoff;
mod modulus;
#[cfg(any(test, fuzzing))]
pub(crate) mod properties;
mod runs;
mod search;
mod selected;
mod sliding_minima;
#[cfg(test)]
mod tests;
mod threshold;
mod windows;

use modulus::ModulusSelector;
pub use selected::Selected;
use windows::WindowSelector;

use crate::profile::Selection;

/// Selects fingerprints from a document's hashes, piece by piece.
///
/// A winnower holds about 2 w hashes and the longest piece in memory, and keeps this memory for the next
/// document. Time is linear in the number of hashes, for any input.
#[derive(Clone, Debug)]
pub struct Winnower {
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    Windows(Box<WindowSelector>),
    Modulus(ModulusSelector),
}

impl Winnower {
    /// A winnower with windows of `w` hashes. [`Selection::All`] and [`Selection::Mod`] ignore `w`.
    ///
    /// # Panics
    /// If `w` or the modulus of the selection is 0.
    #[must_use]
    pub fn new(selection: Selection, w: u32) -> Self {
        assert!(w > 0, "a window has at least 1 hash");
        assert!(!matches!(selection, Selection::Mod(0) | Selection::SafeMod(0)), "a modulus is at least 1");
        let rule = match selection {
            Selection::Robust => Rule::Windows(Box::new(WindowSelector::new(w, false))),
            Selection::Plain => Rule::Windows(Box::new(WindowSelector::new(w, true))),
            Selection::All => Rule::Windows(Box::new(WindowSelector::new(1, false))),
            Selection::Mod(p) => Rule::Modulus(ModulusSelector::new(p, None)),
            Selection::SafeMod(p) => Rule::Modulus(ModulusSelector::new(p, Some(w))),
        };
        Self { rule }
    }

    /// Reads the next hashes of the document. Appends to `out` the fingerprints that later hashes cannot
    /// change, ordered by position.
    pub fn feed(&mut self, hashes: &[u64], out: &mut Vec<Selected>) {
        self.feed_with(hashes.len(), |space| space.copy_from_slice(hashes), out);
    }

    /// Like [`feed`](Self::feed), for `count` hashes that `fill` writes straight into the winnower's buffer.
    #[doc(hidden)]
    pub fn feed_with(&mut self, count: usize, fill: impl FnOnce(&mut [u64]), out: &mut Vec<Selected>) {
        match &mut self.rule {
            Rule::Windows(selector) => selector.feed_with(count, fill, out),
            Rule::Modulus(selector) => selector.feed_with(count, fill, out),
        }
    }

    /// Ends the document. Appends the fingerprint of a document that is shorter than one window.
    /// [`Selection::Mod`] has no windows, so it appends nothing here. Afterwards the winnower is ready for
    /// the next document.
    pub fn finish(&mut self, out: &mut Vec<Selected>) {
        match &mut self.rule {
            Rule::Windows(selector) => selector.finish(out),
            Rule::Modulus(selector) => selector.finish(out),
        }
    }

    /// Forces this instruction set.
    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub fn set_processor(&mut self, processor: crate::lanes::Processor) {
        if let Rule::Windows(selector) = &mut self.rule {
            selector.set_processor(processor);
        }
    }
}
