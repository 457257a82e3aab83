//! Counting the pairs of one block of first documents.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{Counts, Documents, Found, PairsOptions};
use crate::error::Result;
use crate::store::Store;

/// The wanted pairs whose first document is in `block`.
pub(super) fn count(
    store: &Store,
    documents: &Documents,
    options: &PairsOptions,
    block: Range<u32>,
) -> Result<Vec<Found>> {
    let mut counts: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    store.for_each_hash(|_, holders| {
        if !matches!(documents.counts(holders, options), Counts::Yes) {
            return Ok(());
        }
        let first = holders.partition_point(|&holder| holder < block.start);
        let end = holders.partition_point(|&holder| holder < block.end);
        for index in first..end {
            let a = holders[index];
            for &b in &holders[index + 1..] {
                if documents.may_pair(a, b) {
                    *counts.entry((a, b)).or_default() += 1;
                }
            }
        }
        Ok(())
    })?;
    let found = counts.into_iter().map(|((a, b), shared)| Found { a, b, shared });
    Ok(found.filter(|&found| documents.is_wanted(found, options)).collect())
}
