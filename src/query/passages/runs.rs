//! Runs: runs of symbols that are equal in two texts, and how far they extend.

use super::occurrences::Occurrences;

/// A run of equal symbols, by the index of its first symbol in the query and in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MaximalMatch {
    pub(super) query: u32,
    pub(super) document: u32,
    pub(super) length: u32,
    /// Number of pairs of occurrences of the rarest hash in the run.
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

/// One text: its symbols, and the occurrences of the hashes that both texts may have.
#[derive(Clone, Copy)]
pub(super) struct IndexedText<'a> {
    pub(super) values: &'a [u64],
    pub(super) occurrences: &'a Occurrences,
}

/// Settings of the comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Number of symbols in a k-gram.
    pub(super) k: usize,
    /// Number of hashes in a window; 1 if the selection has no window.
    pub(super) w: usize,
    /// Maximum number of pairs of occurrences of one hash that are all compared.
    pub(super) pairs_of_hash: u64,
    /// Maximum number of pairs of all hashes together that are compared.
    pub(super) pairs: u64,
}

impl Settings {
    /// The limits allow a hash that occurs 64 times in both texts, and a million pairs: some tens of
    /// milliseconds.
    pub(super) fn new(k: usize, w: usize) -> Self {
        Self { k, w, pairs_of_hash: 1 << 12, pairs: 1 << 20 }
    }

    /// t: every shared run of this number of symbols is found.
    pub(super) fn guarantee(&self) -> usize {
        self.w + self.k - 1
    }
}

/// The maximal match around a place at which at least `least` symbols should be equal; `None` if they are
/// not.
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
