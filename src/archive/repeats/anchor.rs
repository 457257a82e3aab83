//! Anchor: the k-gram that leads to equal windows.

use bytemuck::{Pod, Zeroable};

use fpdb_host::error::{Error, Result};
use fpdb_kernel::profile::Profile;
use fpdb_kernel::winnow::Selected;

/// Maximum number of symbols in a window: several windows are in memory at a time.
const LONGEST: u32 = 1 << 16;

/// The lengths of windows and of their k-grams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowShape {
    /// Number of symbols in a window.
    pub(super) window: u32,
    /// Number of symbols in an anchor: half of a window. So there are about 4 anchors per window, and few
    /// k-grams of that length repeat without the window around them.
    pub(super) kgram: u32,
}

impl WindowShape {
    /// The shape for repeats of `min_length` symbols in documents of this profile.
    pub(super) fn of(min_length: u32, profile: &Profile) -> Result<Self> {
        let guarantee = profile.guarantee().unwrap_or_else(|| u64::from(profile.w()) + u64::from(profile.k()) - 1);
        let least = guarantee.max(1);
        if u64::from(min_length) < least || min_length > LONGEST {
            return Err(Error::PassageLength { asked: min_length, least, most: LONGEST });
        }
        Ok(Self { window: min_length, kgram: min_length.div_ceil(2) })
    }

    /// Number of k-grams in a window: the w of its winnowing.
    pub(super) fn kgrams(self) -> u32 {
        self.window - self.kgram + 1
    }
}

/// An anchor, and the windows that have this anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Anchor {
    pub(super) hash: u64,
    pub(super) document: u32,
    /// Index of the anchor's first symbol.
    pub(super) position: u32,
    /// First symbol of the first window that has this anchor; `last` is the first symbol of the last such
    /// window.
    pub(super) first: u32,
    pub(super) last: u32,
}

/// A run of repeated windows. Their first occurrences are a run of windows in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Cover {
    pub(super) document: u32,
    /// First symbol of the first window.
    pub(super) start: u32,
    pub(super) windows: u32,
    /// The document in which the first window first occurs.
    pub(super) source: u32,
    pub(super) source_start: u32,
}

/// A single window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Window {
    pub(super) hash: u64,
    pub(super) document: u32,
    pub(super) start: u32,
}

/// A window and an earlier one with the same hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Candidate {
    pub(super) document: u32,
    pub(super) start: u32,
    pub(super) source: u32,
    pub(super) source_start: u32,
    pub(super) hash: u64,
}

impl Candidate {
    /// True if `next` is the next window of the document, and its source the next window of the source.
    pub(super) fn is_before(&self, next: &Self) -> bool {
        let following = (self.document, self.start + 1, self.source, self.source_start + 1);
        following == (next.document, next.start, next.source, next.source_start)
    }
}

/// Appends the anchors of a document to `out`, with document id 0. `selected` is the result of winnowing, and
/// `symbols` is the document's length.
///
/// The windows of an anchor begin after the windows of the previous selected k-gram. If the anchor's hash is
/// larger than the hash of that k-gram, its windows begin with the first window without that k-gram.
/// Otherwise its windows begin with the first window that holds the anchor.
pub(super) fn anchors(selected: &[Selected], symbols: usize, cut: WindowShape, out: &mut Vec<Anchor>) {
    let Some(windows) = (symbols + 1).checked_sub(cut.window as usize).filter(|&windows| windows > 0) else { return };
    let kgrams = u64::from(cut.kgrams());
    let first_of = |index: usize| match (selected.get(index), index.checked_sub(1).map(|before| selected[before])) {
        (None, _) => windows as u64,
        (_, None) => 0,
        (Some(this), Some(before)) if this.hash <= before.hash => (this.position + 1).saturating_sub(kgrams),
        (_, Some(before)) => before.position + 1,
    };
    let mut first = 0;
    for (index, this) in selected.iter().enumerate() {
        let next = first_of(index + 1);
        // Symbols of a document are counted in 32 bits.
        let (position, last) = (this.position as u32, next as u32 - 1);
        out.push(Anchor { hash: this.hash, document: 0, position, first: first as u32, last });
        first = next;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use fpdb_kernel::profile::Selection;
    use fpdb_kernel::winnow::Winnower;

    proptest! {
        #[test]
        fn each_window_has_the_rightmost_least_hash(hashes in prop::collection::vec(0u64..6, 0..80), window in 1u32..20) {
            let cut = WindowShape { window, kgram: window.div_ceil(2) };
            let symbols = if hashes.is_empty() { 0 } else { hashes.len() + cut.kgram as usize - 1 };
            let mut selected = Vec::new();
            let mut winnower = Winnower::new(Selection::Plain, cut.kgrams());
            winnower.feed(&hashes, &mut selected);
            winnower.finish(&mut selected);
            let mut found = Vec::new();
            anchors(&selected, symbols, cut, &mut found);
            let served: Vec<(u32, u32)> =
                found.iter().flat_map(|anchor| (anchor.first..=anchor.last).map(|start| (start, anchor.position))).collect();
            let rightmost_least = |hashes: &[u64]| {
                (0..hashes.len()).rev().min_by_key(|&place| hashes[place]).unwrap()
            };
            let expected: Vec<(u32, u32)> = hashes
                .windows(cut.kgrams() as usize)
                .enumerate()
                .map(|(start, hashes)| (start as u32, (start + rightmost_least(hashes)) as u32))
                .collect();
            prop_assert_eq!(served, expected);
        }
    }
}
