//! The input of the survivor join: postings by hash, and the positions of a document's fingerprints.

use std::ops::RangeInclusive;

use fpdb_host::error::Result;
use fpdb_kernel::profile::View;
use fpdb_store::{Posting, Store};

/// The store, or its model in tests.
pub(in crate::archive::dedup) trait PostingSource: Sync {
    /// Number of symbols in a k-gram.
    fn k(&self) -> u64;

    /// Divides all hashes into ranges with about equally many postings.
    fn ranges(&self) -> Vec<RangeInclusive<u64>>;

    /// Calls `visit` with each hash of a range, ascending, and its postings, ascending by document and
    /// ordinal.
    fn visit_hashes(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(u64, &[Posting]) -> Result<()>,
    ) -> Result<()>;

    /// The positions, in symbols, of these fingerprints of a document. `ordinals` must ascend. `None` for
    /// fingerprints of the text as written: documents are compared by their structure.
    fn positions(&self, document: u32, ordinals: &[u32]) -> Result<Vec<Option<u64>>>;
}

/// Bytes for each document that holds a hash while its postings are read: decoded, merged and sorted, and by
/// rank.
const BYTES_PER_HOLDER: u64 = 48;

/// Number of these ranges that one thread reads, so that all threads together stay within `memory` even if
/// all documents hold a hash. At least one thread reads.
pub(in crate::archive::dedup) fn ranges_per_reader(ranges: usize, documents: u32, memory: u64) -> usize {
    let most = memory / (u64::from(documents) * BYTES_PER_HOLDER).max(1);
    let readers = rayon::current_num_threads().min(usize::try_from(most).unwrap_or(usize::MAX)).max(1);
    if readers < rayon::current_num_threads() { ranges.div_ceil(readers) } else { 1 }
}

/// From this number of postings on, reading several ranges at once pays.
pub(in crate::archive::dedup) const LARGE: u64 = 1 << 17;

impl PostingSource for Store {
    fn k(&self) -> u64 {
        self.profile().k().into()
    }

    fn ranges(&self) -> Vec<RangeInclusive<u64>> {
        match self.view().posting_count() {
            0..LARGE => self.hash_ranges(1),
            _ => self.hash_ranges(4 * rayon::current_num_threads()),
        }
    }

    fn visit_hashes(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(u64, &[Posting]) -> Result<()>,
    ) -> Result<()> {
        let profile = *self.profile();
        self.for_each_hash_in(hashes, &mut |hash, postings| match profile.view_of(hash) {
            View::Structure => visit(hash, postings),
            View::Text => Ok(()),
        })
    }

    fn positions(&self, document: u32, ordinals: &[u32]) -> Result<Vec<Option<u64>>> {
        let places = self.places(document, ordinals)?.into_iter();
        Ok(places.map(|place| (!place.of_text).then_some(place.position)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_keep_to_the_memory() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        pool.install(|| {
            let holders = 1_000_000 * BYTES_PER_HOLDER;
            for (memory, per_reader) in [(0, 32), (holders, 32), (2 * holders, 16), (3 * holders, 11), (8 * holders, 1)]
            {
                assert_eq!(ranges_per_reader(32, 1_000_000, memory), per_reader, "{memory} bytes");
            }
            assert_eq!(ranges_per_reader(1, 0, 0), 1);
            assert_eq!(ranges_per_reader(0, 9, 0), 0);
        });
    }
}
