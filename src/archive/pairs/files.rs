//! Files: compares single documents of submissions. Two similar documents make a pair of their submissions.
//! For a pair of submissions, the best pairs of their documents are found.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::answer::Pair;
use super::blocks::BlockPlan;
use super::count;
use super::documents::{Documents, key};
use super::names::PairNames;
use super::options::PairsOptions;
use super::ranked::Measured;
use super::ranked::{PairRecord, SORTER_SHARE};
use fpdb_host::error::Result;
use fpdb_host::progress::Task;
use fpdb_store::Store;
use roaring::RoaringTreemap;

/// Approximate bytes of a pair of submissions, and of each pair of its files.
const PAIR_BYTES: u64 = 1024;

/// A batch of pairs takes 1/`BATCH_SHARE` of the memory.
const BATCH_SHARE: u64 = 4;

/// Number of pairs of submissions in a batch.
pub(super) fn batch(memory: u64, files: usize) -> usize {
    let bytes = PAIR_BYTES.saturating_mul((files as u64).saturating_add(1));
    usize::try_from(memory / BATCH_SHARE / bytes).unwrap_or(usize::MAX).max(1)
}

/// Memory that is not available for counting, because the batch and the sorted pairs use it.
fn reserved(memory: u64) -> u64 {
    memory / BATCH_SHARE + memory / SORTER_SHARE
}

/// The pairs of documents of one pair of submissions.
#[derive(Default)]
struct Files {
    /// The best pairs, and at most the same number of other pairs. These other pairs are dropped from time to
    /// time.
    best: Vec<Measured>,
    count: u64,
}

impl Files {
    fn add(&mut self, found: Measured, most: usize, places: &[u32]) {
        self.count += 1;
        self.best.push(found);
        if self.best.len() > most.saturating_mul(2) {
            self.keep_best(most, places);
        }
    }

    /// Sorts the pairs: first those that reach the thresholds, then those that share most. `places` has the
    /// place of each document in the order of names.
    fn keep_best(&mut self, most: usize, places: &[u32]) {
        self.best.sort_unstable_by_key(|found| {
            let shared = u64::from(found.shared[0]) + u64::from(found.shared[1]);
            // The smaller place comes first. With the order of ids, the result would depend on the order of
            // ingestion.
            let [a, b] = [found.a, found.b].map(|id| places[id as usize]);
            let names = [a.min(b), a.max(b)];
            // Scores are not negative, so their bits are in the order of the scores.
            (!found.reaches, Reverse((shared, found.score.to_bits())), names)
        });
        self.best.truncate(most);
    }
}

/// The pairs of submissions that have a pair of documents above the thresholds, by [`key`]. A copied function
/// is a small share of a large program, but a large share of its file. The set takes two bytes for a pair,
/// and some hundred bytes for a submission.
pub(super) fn reaching(store: &Store, options: &PairsOptions, task: &Task<'_>) -> Result<RoaringTreemap> {
    let PairsOptions { min_resemblance, few_min_resemblance, min_containment, .. } = *options;
    // Two submissions share at least what two of their documents share.
    let are_enough_together = [min_resemblance, few_min_resemblance, min_containment].iter().all(|&least| least <= 0.0);
    if options.submission_by.is_none() || are_enough_together {
        return Ok(RoaringTreemap::new());
    }
    let mut documents = Documents::load(store, options, false, task)?;
    let plan = BlockPlan::make(store, &mut documents, options, reserved(store.memory()), task)?;
    let reaching: Mutex<RoaringTreemap> = Mutex::default();
    count::count_all(store, &documents, options, &plan, task, &|found| {
        let mut reaching = reaching.lock().unwrap_or_else(PoisonError::into_inner);
        reaching.extend(found.iter().map(|&found| documents.submissions_of(found).0).map(|(a, b)| key(a, b)));
        Ok(())
    })?;
    Ok(reaching.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Adds to each pair of submissions the best pairs of their documents.
pub(super) fn add(store: &Store, pairs: &mut [Pair], options: &PairsOptions, task: &Task<'_>) -> Result<()> {
    let wanted = pairs.iter().map(|pair| (pair.a_id.0, pair.b_id.0)).collect();
    let mut documents = Documents::load_within(store, options, wanted, task)?;
    let plan = BlockPlan::make(store, &mut documents, options, reserved(store.memory()), task)?;
    let (mut places, mut place) = (vec![0; documents.ids()], 0);
    store.for_each_name(|_, id| {
        (places[id as usize], place) = (place, place + 1);
        Ok(())
    })?;
    let files: Mutex<HashMap<(u32, u32), Files>> = Mutex::default();
    count::count_all(store, &documents, options, &plan, task, &|found| {
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        for &found in found {
            let (of, found) = documents.submissions_of(found);
            files.entry(of).or_default().add(found, options.submission_files, &places);
        }
        Ok(())
    })?;
    let mut files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut names = PairNames::new(store, HashMap::new(), options.file_times);
    for pair in pairs {
        let mut of_pair = files.remove(&(pair.a_id.0, pair.b_id.0)).unwrap_or_default();
        of_pair.keep_best(options.submission_files, &places);
        pair.files_left_out = of_pair.count - of_pair.best.len() as u64;
        let named = of_pair.best.iter().map(|found| names.pair(&PairRecord::of(found, &[]), &documents));
        pair.files = named.collect::<Result<_>>()?;
        // The flag has a meaning for submissions only.
        pair.files.iter_mut().for_each(|file| file.by_files = false);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_in_what_the_pairs_leave() {
        for memory in [0, 1, 1000, 1 << 20, (1 << 30) + 7, u64::MAX] {
            for files in [0, 10, usize::MAX] {
                let bytes = PAIR_BYTES.saturating_mul((files as u64).saturating_add(1));
                let held = u128::from(bytes) * batch(memory, files) as u128;
                assert!(held <= u128::from(memory / BATCH_SHARE) || held == u128::from(bytes));
            }
            // Counters take at most half of the memory.
            assert!(reserved(memory) <= memory / 2);
        }
    }
}
