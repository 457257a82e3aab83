//! The input of the survivor join: postings by hash, and the positions of a document's fingerprints.

use std::ops::RangeInclusive;

use fpdb_host::error::Result;
use fpdb_kernel::profile::View;
use fpdb_store::{Posting, Store};

/// The store, or its model in tests.
pub(crate) trait PostingSource: Sync {
    /// Number of symbols in a k-gram.
    fn k(&self) -> u64;

    /// Divides all hashes into ranges with about equally many postings.
    fn ranges(&self) -> Vec<RangeInclusive<u64>>;

    /// Memory, in bytes, for each holder of a hash while the hash is read.
    fn bytes_per_holder(&self) -> u64 {
        BYTES_PER_HOLDER
    }

    /// Calls `visit` with the postings of a range of hashes, ascending, in batches. All postings of a hash
    /// are in one batch.
    fn visit_batches(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(&[Posting]) -> Result<()>,
    ) -> Result<()>;

    /// Calls `visit` with the position, in symbols, of each fingerprint of a document, in order. `None` for
    /// fingerprints of the text as written: documents are compared by their structure.
    fn visit_positions(
        &self,
        document: u32,
        fingerprints: u32,
        visit: &mut dyn FnMut(Option<u64>) -> Result<()>,
    ) -> Result<()>;
}

/// Memory, in bytes, for each holder of a hash while the hash is read. These bytes hold the decoded posting,
/// the copies for merging and sorting, and the posting by rank. With two views, postings of structure are
/// also copied.
const BYTES_PER_HOLDER: u64 = 52;

/// Minimum number of ranges for one thread. If threads had fewer ranges, they could together exceed `memory`
/// if all documents hold a hash. At least one thread reads.
pub(crate) fn ranges_per_reader(source: &dyn PostingSource, ranges: usize, documents: u32, memory: u64) -> usize {
    let most = memory / (u64::from(documents) * source.bytes_per_holder()).max(1);
    let readers = rayon::current_num_threads().min(usize::try_from(most).unwrap_or(usize::MAX)).max(1);
    if readers < rayon::current_num_threads() { ranges.div_ceil(readers) } else { 1 }
}

/// From this number of postings on, reading several ranges at once pays.
pub(crate) const LARGE: u64 = 1 << 17;

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

    fn bytes_per_holder(&self) -> u64 {
        let copied = if self.profile().has_two_views() { size_of::<Posting>() as u64 } else { 0 };
        BYTES_PER_HOLDER + copied
    }

    fn visit_batches(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(&[Posting]) -> Result<()>,
    ) -> Result<()> {
        let profile = *self.profile();
        if !profile.has_two_views() {
            return self.for_each_batch_in(hashes, visit);
        }
        let mut of_structure = Vec::new();
        self.for_each_batch_in(hashes, &mut |postings| {
            let is_structure = |posting: &&Posting| profile.view_of(posting.hash) == View::Structure;
            of_structure.clear();
            of_structure.extend(postings.iter().filter(is_structure));
            visit(&of_structure)
        })
    }

    fn visit_positions(
        &self,
        document: u32,
        fingerprints: u32,
        visit: &mut dyn FnMut(Option<u64>) -> Result<()>,
    ) -> Result<()> {
        self.for_each_position(document, fingerprints, |position, of_text| visit((!of_text).then_some(position)))
    }
}

#[cfg(test)]
mod tests {
    use fpdb_kernel::profile::Profile;
    use fpdb_store::StoreOptions;

    use super::*;

    #[test]
    fn readers_keep_to_the_memory() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        // A database of programs also has postings of the text as written.
        for (name, bytes) in [("prose", 52), ("code", 68)] {
            let profile = Profile::named(name).unwrap();
            let store = Store::create(&folder.path().join(name), &profile, &StoreOptions::default()).unwrap();
            let (store, holders) = (&store, 1_000_000 * bytes);
            pool.install(|| {
                for (memory, per_reader) in
                    [(0, 32), (holders, 32), (2 * holders, 16), (3 * holders, 11), (8 * holders, 1)]
                {
                    assert_eq!(ranges_per_reader(store, 32, 1_000_000, memory), per_reader, "{name} {memory}");
                }
                assert_eq!(ranges_per_reader(store, 1, 0, 0), 1);
                assert_eq!(ranges_per_reader(store, 0, 9, 0), 0);
            });
        }
    }
}
