//! What the survivor join reads: postings by hash, and the positions of a document's fingerprints.

use std::ops::RangeInclusive;

use crate::error::Result;
use crate::store::{Posting, Store};

/// The store, or a model of it in tests.
pub(super) trait PostingSource: Sync {
    /// Symbols in a k-gram.
    fn k(&self) -> u64;

    /// Divides all hashes into ranges that hold about as many postings each.
    fn ranges(&self) -> Vec<RangeInclusive<u64>>;

    /// Calls `visit` with each hash of a range, ascending, and its postings, ascending by document and ordinal.
    fn visit_hashes(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(u64, &[Posting]) -> Result<()>,
    ) -> Result<()>;

    /// The number of fingerprints of a document, repeated ones counted each time, and its length in symbols.
    fn extent(&self, document: u32) -> Result<(u32, u64)>;

    /// The position (in symbols) of each of these fingerprints of a document. `ordinals` must ascend.
    fn positions(&self, document: u32, ordinals: &[u32]) -> Result<Vec<u64>>;
}

/// Postings from which on it pays to read several ranges at once.
pub(super) const LARGE: u64 = 1 << 17;

impl PostingSource for Store {
    fn k(&self) -> u64 {
        self.profile().k.into()
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
        self.for_each_hash_in(hashes, visit)
    }

    fn extent(&self, document: u32) -> Result<(u32, u64)> {
        let record = self.document(document)?;
        // A document has fewer fingerprints than 2^32.
        Ok((u32::try_from(record.fingerprints).unwrap_or(u32::MAX), record.symbols))
    }

    fn positions(&self, document: u32, ordinals: &[u32]) -> Result<Vec<u64>> {
        Ok(self.places(document, ordinals)?.into_iter().map(|place| place.position).collect())
    }
}
