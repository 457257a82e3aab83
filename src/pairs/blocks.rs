//! Blocks: which first documents are counted together, so that their pairs fit in memory.

use std::ops::Range;

use super::{Counts, Documents, LeftOut, PairsOptions};
use crate::error::Result;
use crate::store::Store;

/// What a counted pair takes in a hash map that is at least half full.
const PAIR_BYTES: u64 = 32;

/// The blocks, and what was learnt on the way.
pub(super) struct Plan {
    /// Ranges of ids, ascending and without overlap.
    pub(super) blocks: Vec<Range<u32>>,
    /// Hashes that are not counted.
    pub(super) left_out: LeftOut,
}

impl Plan {
    /// Bounds the pairs of each document by one pass over the postings: a document cannot be the first of
    /// more pairs than its hashes have later holders, nor than there are later documents.
    pub(super) fn make(store: &Store, documents: &Documents, options: &PairsOptions) -> Result<Self> {
        let ids = documents.sizes.len() as u32;
        let mut bounds = vec![0u64; ids as usize];
        let mut left_out = LeftOut::default();
        store.for_each_hash(|_, holders| {
            match documents.counts(holders, options) {
                Counts::Common => left_out.common += 1,
                Counts::Boilerplate => left_out.boilerplate += 1,
                Counts::Yes => {
                    for (after, &holder) in holders.iter().rev().enumerate() {
                        bounds[holder as usize] += after as u64;
                    }
                }
            }
            Ok(())
        })?;
        let threads = rayon::current_num_threads() as u64;
        let capacity = (options.memory / PAIR_BYTES / threads).max(1);
        // As many blocks as threads at least, or some would have nothing to do.
        let total: u64 = (0..ids).zip(&bounds).map(|(id, &bound)| bound.min((ids - id).into())).sum();
        let capacity = capacity.min(total / threads + 1);
        let mut blocks = Vec::new();
        let (mut start, mut held) = (0, 0);
        for (id, bound) in (0..ids).zip(bounds) {
            let bound = bound.min((ids - id).into());
            if held > 0 && held + bound > capacity {
                blocks.push(start..id);
                (start, held) = (id, 0);
            }
            held += bound;
        }
        if held > 0 {
            blocks.push(start..ids);
        }
        Ok(Self { blocks, left_out })
    }
}
