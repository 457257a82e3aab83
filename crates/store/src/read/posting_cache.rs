//! Caches a query's postings: ranking looks up every hash, and passage search looks them up again.

use crate::codec::block::Posting;

/// Maximum number of hashes and postings in the cache, together. A posting takes 16 bytes, so at most 16 MB.
const MOST: usize = 1 << 20;

/// Postings of hashes, in ascending order of hash.
#[derive(Debug)]
pub(crate) struct PostingCache {
    /// Maximum number of hashes and postings, together.
    most: usize,
    hashes: Vec<u64>,
    /// The end of the postings of each hash, as an index into `postings`.
    ends: Vec<usize>,
    postings: Vec<Posting>,
}

impl Default for PostingCache {
    fn default() -> Self {
        Self::within(MOST)
    }
}

impl PostingCache {
    /// A cache of at most this many hashes and postings, together.
    pub(crate) fn within(most: usize) -> Self {
        Self { most, hashes: Vec::new(), ends: Vec::new(), postings: Vec::new() }
    }

    /// Caches the postings of a hash, if they fit and the hash is above all cached ones. Returns true if it
    /// has cached them.
    pub(crate) fn add(&mut self, hash: u64, found: &[Posting]) -> bool {
        let fits = self.hashes.last().is_none_or(|&last| last < hash)
            && self.hashes.len() + 1 + self.postings.len() + found.len() <= self.most;
        if fits {
            self.postings.extend_from_slice(found);
            self.hashes.push(hash);
            self.ends.push(self.postings.len());
        }
        fits
    }

    /// True if it has no room even for a hash without postings.
    pub(crate) fn is_full(&self) -> bool {
        self.hashes.len() + self.postings.len() >= self.most
    }

    /// The greatest cached hash.
    pub(crate) fn last_hash(&self) -> Option<u64> {
        self.hashes.last().copied()
    }

    /// The postings of a hash. `None` if the hash is not cached.
    pub(crate) fn get(&self, hash: u64) -> Option<&[Posting]> {
        if self.hashes.last().is_none_or(|&last| last < hash) {
            return None;
        }
        let number = self.hashes.binary_search(&hash).ok()?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.postings[start..self.ends[number]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postings(hash: u64, count: u32) -> Vec<Posting> {
        (0..count).map(|document| Posting { hash, document, ordinal: 0 }).collect()
    }

    #[test]
    fn what_was_found_is_known_and_nothing_else() {
        let mut cache = PostingCache::default();
        assert_eq!(cache.get(3), None);
        cache.add(3, &postings(3, 2));
        cache.add(5, &[]);
        cache.add(4, &postings(4, 1));
        cache.add(9, &postings(9, 3));
        assert_eq!(cache.get(3), Some(&postings(3, 2)[..]));
        assert_eq!(cache.get(5), Some(&[][..]));
        assert_eq!(cache.get(9), Some(&postings(9, 3)[..]));
        for unknown in [0, 4, 7, 10] {
            assert_eq!(cache.get(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut cache = PostingCache::default();
        cache.add(1, &postings(1, MOST as u32 - 3));
        cache.add(2, &postings(2, 2));
        cache.add(3, &postings(3, 1));
        assert_eq!((cache.get(2), cache.get(3)), (None, Some(&postings(3, 1)[..])));
    }
}
