//! Runs: equal symbols of two texts side by side, and how far one extends.

use super::occurrences::Occurrences;

/// A run of equal symbols, by the index of its first symbol in the query and in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MaximalMatch {
    pub(super) query: u32,
    pub(super) document: u32,
    pub(super) length: u32,
    /// The pairs of occurrences of the rarest hash it leads through.
    pub(super) rarest: u32,
}

impl MaximalMatch {
    pub(super) fn query_end(&self) -> u32 {
        self.query + self.length
    }

    pub(super) fn document_end(&self) -> u32 {
        self.document + self.length
    }
}

/// One text: its symbols, and where the k-grams that both may have stand.
#[derive(Clone, Copy)]
pub(super) struct IndexedText<'a> {
    pub(super) values: &'a [u64],
    pub(super) occurrences: &'a Occurrences,
}

/// Settings of the comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Symbols of a k-gram.
    pub(super) k: usize,
    /// Hashes of a window; 1 where the selection has none.
    pub(super) w: usize,
    /// The most pairs of occurrences of one hash that are compared each with each.
    pub(super) pairs_of_hash: u64,
    /// The same for all hashes together.
    pub(super) pairs: u64,
}

impl Settings {
    /// A hash found 64 times in both texts, and a million pairs: some tens of milliseconds.
    pub(super) fn new(k: usize, w: usize) -> Self {
        Self { k, w, pairs_of_hash: 1 << 12, pairs: 1 << 20 }
    }

    /// t: every shared run of as many symbols is found.
    pub(super) fn guarantee(&self) -> usize {
        self.w + self.k - 1
    }
}

/// The maximal match around a place where at least `least` symbols should be equal; `None` where they are not.
pub(super) fn extend<T: PartialEq>(
    query: &[T],
    document: &[T],
    here: u32,
    there: u32,
    least: usize,
) -> Option<MaximalMatch> {
    let (query_before, query_after) = query.split_at(here as usize);
    let (document_before, document_after) = document.split_at(there as usize);
    let after = query_after.iter().zip(document_after).take_while(|(a, b)| a == b).count();
    if after < least {
        return None;
    }
    let before = query_before.iter().rev().zip(document_before.iter().rev()).take_while(|(a, b)| a == b).count();
    let length = (before + after) as u32;
    Some(MaximalMatch { query: here - before as u32, document: there - before as u32, length, rarest: u32::MAX })
}
