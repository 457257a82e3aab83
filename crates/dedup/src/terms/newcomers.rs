//! Newcomers: the postings that concern *newcomers*, documents that no earlier run has decided about.
//!
//! Only the hashes that newcomers hold can make a newcomer removable, or let it supersede a survivor. So only
//! these hashes are visited, with all their holders.

use std::ops::RangeInclusive;

use roaring::RoaringBitmap;

use crate::terms::source::{LARGE, PostingSource};
use fpdb_host::error::Result;
use fpdb_kernel::profile::View;
use fpdb_store::{Posting, Store};

/// The postings of hashes that at least one newcomer holds.
pub(crate) struct Newcomers<'a> {
    store: &'a Store,
    documents: RoaringBitmap,
    /// Number of postings read to find the newcomers' hashes.
    postings: u64,
    ranges: usize,
}

impl<'a> Newcomers<'a> {
    pub(crate) fn new(store: &'a Store, documents: RoaringBitmap) -> Self {
        let postings = store.postings_near(&documents);
        let ranges = if postings < LARGE { 1 } else { 4 * rayon::current_num_threads() };
        Self { store, documents, postings, ranges }
    }
}

impl PostingSource for Newcomers<'_> {
    fn k(&self) -> u64 {
        self.store.k()
    }

    fn ranges(&self) -> Vec<RangeInclusive<u64>> {
        self.store.hash_ranges(self.ranges)
    }

    fn visit_batches(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(&[Posting]) -> Result<()>,
    ) -> Result<()> {
        let expected = usize::try_from(self.postings).unwrap_or(usize::MAX) / self.ranges;
        let profile = *self.store.profile();
        self.store.for_each_hash_of(
            &self.documents,
            hashes,
            expected,
            &mut |hash, postings| match profile.view_of(hash) {
                View::Structure => visit(postings),
                View::Text => Ok(()),
            },
        )
    }

    fn visit_positions(
        &self,
        document: u32,
        fingerprints: u32,
        visit: &mut dyn FnMut(Option<u64>) -> Result<()>,
    ) -> Result<()> {
        self.store.visit_positions(document, fingerprints, visit)
    }
}
