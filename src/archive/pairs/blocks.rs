//! Blocks: groups of documents, so small that the hash lists of one group fit in memory. One pass over the
//! postings compares a group with all documents.

use std::ops::Range;

use super::documents::Documents;
use super::options::PairsOptions;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{Task, is_due};
use fpdb_store::Store;

/// The blocks, and figures found while they were planned.
pub(super) struct BlockPlan {
    /// Ranges of ids, ascending and without overlap.
    pub(super) blocks: Vec<Range<u32>>,
    /// By id, the number of hash lists that the document is counted through.
    pub(super) lists: Vec<u32>,
    /// Maximum number of threads that count at a time.
    pub(super) threads: usize,
    /// Number of hashes above the df cap.
    pub(super) common: u64,
    /// Number of hashes that boilerplate holds.
    pub(super) boilerplate: u64,
    /// As [`PairsSummary::handed_out`](super::PairsSummary::handed_out).
    pub(super) handed_out: Option<(u64, u64)>,
}

/// If nearly all documents hold at least this number of hashes, a text was probably handed out. Without a
/// handout, four fifths of 87 papers share 7 hashes of three words, and four fifths of 24 programs for one
/// task share 8. The shortest task of an essay has 20.
const HANDED_OUT: u64 = 16;

/// If a text was handed out, the common hashes of the structure are at most this multiple of the common
/// hashes of the text as written. For 223 handed-out lines the multiple is 2. For 12 collections of unrelated
/// modules it is 6.
const STRUCTURE_OF_TEXT: u64 = 4;

/// The documents that hold one hash and may be in pairs. Each anchor is paired with the later documents in
/// `others`. If documents are divided into old and new ones, each anchor is also paired with the old
/// documents in `others`.
#[derive(Default)]
pub(super) struct HolderLists {
    pub(super) anchors: Vec<u32>,
    pub(super) others: Vec<u32>,
}

impl HolderLists {
    /// Takes the holders of a hash, ascending. If old documents are not paired with each other, the anchors
    /// are the new documents. `others` then has the old documents, and also the new ones if pairs of new
    /// documents are wanted. So a hash that only old documents hold costs nothing.
    pub(super) fn take(&mut self, holders: &[u32], documents: &Documents) {
        self.anchors.clear();
        self.others.clear();
        let new_together = documents.are_new_together();
        for &holder in holders.iter().filter(|&&holder| documents.counts(holder)) {
            let is_new = documents.is_new(holder);
            if is_new != Some(false) {
                self.anchors.push(holder);
            }
            if is_new != Some(true) || new_together {
                self.others.push(holder);
            }
        }
        let pairs = match documents.are_divided() {
            true => !self.anchors.is_empty() && self.others.len() > usize::from(new_together),
            false => self.others.len() > 1,
        };
        if !pairs {
            self.anchors.clear();
        }
    }
}

/// The number that counts as nearly all documents: four fifths of all documents, or of the new ones if some
/// are old. `None` if there are too few documents to distinguish a handout from a copy. `boilerplate` is the
/// number of boilerplate documents.
fn nearly_all(documents: &Documents, boilerplate: u64) -> Option<u64> {
    let all = documents.divided.map_or(documents.count.saturating_sub(boilerplate), |(_, new)| new);
    (all >= 6).then(|| (all * 4).div_ceil(5))
}

/// True if at least `least` of these holders count and are not old.
fn are_held_by(documents: &Documents, least: u64, holders: &[u32]) -> bool {
    let is_one = |&&holder: &&u32| documents.counts(holder) && documents.is_new(holder) != Some(false);
    holders.len() as u64 >= least && holders.iter().filter(is_one).count() as u64 >= least
}

impl BlockPlan {
    /// Reads the postings once: counts the lists of each document, the holders in them and the hashes of
    /// boilerplate, and sums the weights. The lists leave `reserved` bytes of the memory free. The
    /// counters take at most half of the memory.
    pub(super) fn make(
        store: &Store,
        documents: &mut Documents,
        options: &PairsOptions,
        reserved: u64,
        task: &Task<'_>,
    ) -> Result<Self> {
        let ids = documents.ids();
        let (mut lists, mut bounds) = (vec![0u32; ids], vec![0u64; ids]);
        let (mut common, mut boilerplate, mut handed_out, mut total) = (0, 0, [0u64; 2], 0u64);
        let view = store.view();
        let nearly_all = nearly_all(documents, view.boilerplate_count());
        let mut held = HolderLists::default();
        let mut hashes = 0;
        let mut room = Vec::new();
        // Weights are summed by hash. Summed by document, the last digit would depend on the order of
        // documents.
        let mut all_weights = [0.0; 2];
        let mut sizes = if documents.are_joined() { vec![[0u32; 2]; ids] } else { Vec::new() };
        store.for_each_hash(|hash, _, holders| {
            let kind = documents.view_of(hash);
            hashes += 1;
            if is_due(hashes) {
                task.token().check()?;
            }
            let ignored = holders.iter().any(|&holder| view.is_boilerplate(holder));
            let holders = documents.holders(holders, &mut room);
            if !sizes.is_empty() {
                holders.iter().for_each(|&holder| sizes[holder as usize][kind] += 1);
            }
            if ignored {
                boilerplate += 1;
                documents.note_boilerplate(holders, kind);
                return Ok(());
            }
            if !documents.weights.is_empty() {
                let weight = documents.weight_of(holders.len() as u64, kind);
                for &holder in holders {
                    documents.weights[holder as usize][kind] += weight;
                }
                all_weights[kind] += weight * holders.len() as f64;
            }
            if options.max_df.is_some_and(|most| holders.len() as u64 > most) {
                common += 1;
                return Ok(());
            }
            if nearly_all.is_some_and(|least| are_held_by(documents, least, holders)) {
                handed_out[kind] += 1;
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
        if !sizes.is_empty() {
            for id in (0..ids).filter(|&id| !documents.counts(id as u32)) {
                // Boilerplate is in no pair.
                sizes[id] = [0; 2];
            }
            documents.set_sizes(sizes);
        }
        documents.weights_are_known(all_weights);
        let counter = counter_bytes(ids, documents.views(), !documents.weights.is_empty());
        let memory = store.memory();
        let threads = threads(counter, memory)?;
        let capacity = memory.saturating_sub(threads as u64 * counter + reserved);
        let blocks = divide(&lists, &bounds, total, capacity);
        // Programs of one language share a frame, and PairsOptions::of gives its size in the structure. Large
        // programs also share the structure of idioms. But a handed-out text is shared as written too.
        let least = HANDED_OUT.max(PairsOptions::of(store.profile()).few_shared);
        let [structure, text] = handed_out;
        let is_text = documents.views() == 1 || text * STRUCTURE_OF_TEXT >= structure;
        let handed_out = nearly_all.filter(|_| is_text && structure >= least).map(|documents| (structure, documents));
        Ok(Self { blocks, lists, threads, common, boilerplate, handed_out })
    }
}

/// Bytes of the counters of one thread. A counter has a number for each view of each document, and a weight
/// if hashes are weighted.
fn counter_bytes(ids: usize, views: usize, weighted: bool) -> u64 {
    (ids * if weighted { (12 * views).next_multiple_of(8) } else { 4 * views }) as u64
}

/// The number of threads that count, with `counter` bytes each: all threads, unless their counters exceed
/// half of the memory. The other half is for lists, since each block of them costs a pass over all postings.
fn threads(counter: u64, memory: u64) -> Result<usize> {
    let counter = counter.max(1);
    match memory / 2 / counter {
        0 => Err(Error::TooLittleMemory { needed: 2 * counter, allowed: memory }),
        most => Ok(rayon::current_num_threads().min(usize::try_from(most).unwrap_or(usize::MAX))),
    }
}

/// Divides documents into blocks whose lists take at most `capacity` bytes, unless one document needs more.
/// `bounds` has, by document, the maximum number of holders in its lists; `total` is the number of all
/// holders. A block has at most 2^32 - 1 entries, because lists are numbered in 32 bits.
fn divide(lists: &[u32], bounds: &[u64], total: u64, capacity: u64) -> Vec<Range<u32>> {
    let mut blocks = Vec::new();
    let (mut start, mut entries, mut bound) = (0, 0u64, 0u64);
    for (id, (&more, &further)) in (0..).zip(lists.iter().zip(bounds)) {
        let more = u64::from(more);
        // Four bytes for each entry (a list of a document), four for each holder, and twelve for each list.
        let bytes = |entries: u64, bound: u64| 4 * entries + 4 * bound.min(total) + 12 * entries.min(bound);
        let too_many = bytes(entries + more, bound + further) > capacity || entries + more > u64::from(u32::MAX);
        if entries > 0 && too_many {
            blocks.push(start..id);
            (start, entries, bound) = (id, 0, 0);
        }
        (entries, bound) = (entries + more, bound + further);
    }
    if entries > 0 {
        blocks.push(start..lists.len() as u32);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists have room, however large the counters are. So a block takes more than one document.
    #[test]
    fn counters_leave_room_for_lists() {
        for (ids, memory) in [(1000u64, 1u64 << 20), (1000, 20_000), (1000, 8_000), (100_000, 1 << 20)] {
            let counter = 4 * ids;
            let threads = threads(counter, memory).unwrap() as u64;
            assert!(threads >= 1 && threads <= rayon::current_num_threads() as u64);
            assert!(threads * counter <= memory / 2);
        }
        let error = threads(4000, 7999).unwrap_err();
        assert!(error.to_string().contains("8000 bytes") && error.to_string().contains("7999"), "{error}");
        assert!(threads(0, 0).is_err() && threads(0, 2).is_ok());
    }

    #[test]
    fn blocks_hold_all_documents_and_what_fits() {
        let (lists, bounds) = ([10, 10, 0, 10, 1000, 10, 0], [20, 20, 0, 20, 9000, 20, 0]);
        let one = 4 * 10 + 4 * 20 + 12 * 10;
        assert_eq!(divide(&lists, &bounds, 9080, 2 * one), [0..3, 3..4, 4..5, 5..7]);
        assert_eq!(divide(&lists, &bounds, 9080, u64::MAX), vec![0..7; 1]);
        assert_eq!(divide(&lists, &bounds, 9080, 0), [0..1, 1..2, 2..4, 4..5, 5..6]);
        assert_eq!(divide(&[0, 0], &[0, 0], 0, 0), [0..0; 0]);
        let numbers = u32::MAX;
        assert_eq!(divide(&[numbers - 1, 1, 1], &[1; 3], 3, u64::MAX), [0..2, 2..3], "as many lists as have numbers");
    }
}
