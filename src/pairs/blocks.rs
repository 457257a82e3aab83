//! Blocks: which documents are compared with all others at a time, so that the lists of their hashes fit in memory.

use std::ops::Range;

use super::{Documents, PairsOptions};
use crate::error::Result;
use crate::store::Store;

/// The blocks, and what was learnt on the way.
pub(super) struct Plan {
    /// Ranges of ids, ascending and without overlap.
    pub(super) blocks: Vec<Range<u32>>,
    /// For each id, the lists it has to be counted through.
    pub(super) lists: Vec<u32>,
    /// Hashes above the df cap.
    pub(super) common: u64,
    /// Hashes that boilerplate holds.
    pub(super) boilerplate: u64,
}

/// The documents that hold a hash, as far as they may be in pairs: each of the `anchors` with those of the `others`
/// that come after it, or with all of them where the two are different documents.
#[derive(Default)]
pub(super) struct Holders {
    pub(super) anchors: Vec<u32>,
    pub(super) others: Vec<u32>,
}

impl Holders {
    /// Takes the holders of a hash, ascending. Where only old and new documents are paired, the new ones are anchors and
    /// the old ones the others, so that what has long been stored costs nothing where nothing new has it.
    pub(super) fn take(&mut self, holders: &[u32], documents: &Documents) {
        self.anchors.clear();
        self.others.clear();
        for &holder in holders.iter().filter(|&&holder| documents.counts(holder)) {
            let is_new = documents.is_new(holder);
            if is_new != Some(false) {
                self.anchors.push(holder);
            }
            if is_new != Some(true) {
                self.others.push(holder);
            }
        }
        let pairs = match documents.are_divided() {
            true => !self.anchors.is_empty() && !self.others.is_empty(),
            false => self.others.len() > 1,
        };
        if !pairs {
            self.anchors.clear();
        }
    }
}

impl Plan {
    /// Counts, by one pass over the postings, the lists of each document and what they hold; and sums the weights.
    pub(super) fn make(store: &Store, documents: &mut Documents, options: &PairsOptions) -> Result<Self> {
        let ids = documents.ids();
        let (mut lists, mut bounds) = (vec![0u32; ids], vec![0u64; ids]);
        let (mut common, mut boilerplate, mut total) = (0, 0, 0u64);
        let view = store.view();
        let mut held = Holders::default();
        store.for_each_hash(|_, holders| {
            if holders.iter().any(|&holder| view.is_boilerplate(holder)) {
                boilerplate += 1;
                return Ok(());
            }
            if options.max_df.is_some_and(|most| holders.len() as u64 > most) {
                common += 1;
                return Ok(());
            }
            if !documents.weights.is_empty() {
                let weight = options.weight.of(holders.len() as u64, documents.count);
                for &holder in holders {
                    documents.weights[holder as usize] += weight;
                }
            }
            held.take(holders, documents);
            for (place, &anchor) in held.anchors.iter().enumerate() {
                lists[anchor as usize] += 1;
                let before = if documents.are_divided() { 0 } else { place };
                bounds[anchor as usize] += (held.others.len() - before) as u64;
            }
            if !held.anchors.is_empty() {
                total += held.others.len() as u64;
            }
            Ok(())
        })?;
        let counters = (rayon::current_num_threads() * ids * if documents.weights.is_empty() { 4 } else { 12 }) as u64;
        let capacity = options.memory.saturating_sub(counters);
        let mut blocks = Vec::new();
        let (mut start, mut entries, mut bound) = (0, 0u64, 0u64);
        for id in 0..ids {
            let (more, further) = (u64::from(lists[id]), bounds[id]);
            // Four bytes a list and document, four a holder, of whom a list has each once, and some a list.
            let bytes = |entries: u64, bound: u64| 4 * entries + 4 * bound.min(total) + 12 * entries.min(bound);
            if entries > 0 && bytes(entries + more, bound + further) > capacity {
                blocks.push(start..id as u32);
                (start, entries, bound) = (id as u32, 0, 0);
            }
            (entries, bound) = (entries + more, bound + further);
        }
        if entries > 0 {
            blocks.push(start..ids as u32);
        }
        Ok(Self { blocks, lists, common, boilerplate })
    }
}
