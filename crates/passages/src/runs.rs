//! Runs of symbols that are equal in two texts, and the search for the ends of such a run.

use super::occurrences::Occurrences;

/// A run of equal symbols, by the index of its first symbol in the query and in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaximalMatch {
    /// Its first symbol in the query.
    pub query: u32,
    /// Its first symbol in the document.
    pub document: u32,
    /// Number of symbols.
    pub length: u32,
    /// Number of pairs of occurrences of the rarest hash in the run.
    pub rarest: u32,
}

impl MaximalMatch {
    /// Index of the symbol after the match in the query.
    pub fn query_end(&self) -> u32 {
        self.query + self.length
    }

    /// Index of the symbol after the match in the document.
    pub fn document_end(&self) -> u32 {
        self.document + self.length
    }
}

/// One text: its symbols, and the occurrences of the hashes that both texts may have.
#[derive(Clone, Copy)]
pub struct IndexedText<'a> {
    /// Its symbols.
    pub values: &'a [u64],
    /// The places of the hashes in it.
    pub occurrences: &'a Occurrences,
}

/// Settings of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Number of symbols in a k-gram.
    pub k: usize,
    /// Number of hashes in a window; 1 if the selection has no window.
    pub w: usize,
    /// Maximum number of pairs of occurrences of one hash. If a hash has more, not all its pairs are
    /// compared.
    pub pairs_of_hash: u64,
    /// Maximum number of pairs of all hashes together that are compared.
    pub pairs: u64,
}

impl Settings {
    /// The settings for this k and w. The limits allow a hash that occurs 64 times in both texts, and a
    /// million pairs in all, which take some tens of milliseconds.
    pub fn new(k: usize, w: usize) -> Self {
        Self { k, w, pairs_of_hash: 1 << 12, pairs: 1 << 20 }
    }

    /// t: every shared run of this number of symbols is found. At most 2^32 - 1, which is longer than any
    /// text that is compared.
    pub fn guarantee(&self) -> usize {
        self.w.saturating_add(self.k - 1).min(u32::MAX as usize)
    }
}

/// The maximal match around a pair of places. `None` if fewer than `least` symbols from these places on
/// are equal.
pub fn extend<T: PartialEq>(query: &[T], document: &[T], here: u32, there: u32, least: usize) -> Option<MaximalMatch> {
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
