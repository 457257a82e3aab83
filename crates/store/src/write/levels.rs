//! Levels: decides which runs are folded, and estimates the blocks that a lookup reads.
//!
//! A lookup visits every run. A small run costs a lookup little: the filters of the run are read early, stay
//! in memory, and keep out almost all absent hashes. A large run costs one block for each hash. So large runs
//! must be few, and small runs may be many.
//!
//! Runs are ranked by size. If a rank has too many runs, they are folded into one run of the next rank:
//! [`SMALL_FAN_IN`] runs below [`LARGE_RUN`], [`LARGE_FAN_IN`] runs from there on. That is lazy leveling
//! (Dayan and Idreos, *Dostoevsky*, SIGMOD 2018), with a fan-in that falls as runs grow.
//!
//! The figures below come from a model of 10,000 commits of 100 to a million postings each, 1.06 x 10^9
//! together. A test checks them. *Blocks* are the blocks read for each hash, if nothing is cached. *Writes*
//! are the times that each posting is written.
//!
//! | rule                                                                  | blocks           | writes |
//! |-----------------------------------------------------------------------|------------------|--------|
//! | this one                                                              | 3.3, at most 6.1 | 3.7    |
//! | sixteen at every size                                                 | 13.1             | 3.0    |
//! | the same, with filters used as in `read::filter_use`                  | 6.4              | 3.0    |
//! | all runs at once, at times                                            | 3.1              | 3.9    |
//!
//! The last rule folds all runs once the smaller ones together equal the largest, and folds the smaller ones
//! in groups of sixteen. This rule was rejected because it writes a load of 100 million postings 2.3 times.
//! The rule here writes such a load once.

use crate::codec::filter::FILTER_HASHES;
use crate::codec::records::RunRecord;
use crate::read::filter_use::{LARGEST_WORTH, rows_of_filters};

/// The number of hashes of a typical query: 10 kB of text by the profile `words`, 15 kB by `prose`. The sizes
/// in this file suit such a query.
pub(crate) const QUERY_HASHES: u64 = 1536;

/// The least number of postings of a large run. Such a run costs a typical query one block for each hash,
/// because reading its filters would cost as much.
const LARGE_RUN: u64 = QUERY_HASHES * FILTER_HASHES as u64;

/// The number of runs of one rank that are folded into one, below [`LARGE_RUN`].
pub(crate) const SMALL_FAN_IN: usize = 16;

/// The number of runs of one rank that are folded into one, at and above [`LARGE_RUN`]. A larger number means
/// fewer ranks, so fewer writes of each posting. But it also means more large runs.
const LARGE_FAN_IN: usize = 4;

/// Number of blocks read for each hash from which a compaction is advised. A compaction reduces the number to
/// one.
pub const MANY_BLOCKS: f64 = 3.0;

/// The rank of a run: negative for small runs, 0 and above for large ones.
fn rank(run: &RunRecord) -> i64 {
    match run.postings.checked_div(LARGE_RUN) {
        Some(times @ 1..) => i64::from(times.ilog(LARGE_FAN_IN as u64)),
        _ => -1 - i64::from((LARGE_RUN / run.postings.max(1)).ilog(SMALL_FAN_IN as u64)),
    }
}

/// The runs of the lowest rank that has too many runs. Includes all runs of lower ranks, which would be
/// folded soon anyway. `None` if no rank has too many.
///
/// Runs without filters come first: they were left by a load that failed or was killed before it could
/// replace them.
pub(super) fn excess(runs: &[(u32, RunRecord)]) -> Option<Vec<u32>> {
    let left: Vec<u32> = runs.iter().filter(|(_, run)| !run.has_filters()).map(|&(run, _)| run).collect();
    if !left.is_empty() {
        return Some(left);
    }
    let mut ranks: Vec<i64> = runs.iter().map(|(_, run)| rank(run)).collect();
    ranks.sort_unstable();
    let most = |rank: i64| if rank < 0 { SMALL_FAN_IN } else { LARGE_FAN_IN };
    let crowded = ranks.chunk_by(|a, b| a == b).find(|same| same.len() >= most(same[0]))?[0];
    Some(runs.iter().filter(|(_, run)| rank(run) <= crowded).map(|&(run, _)| run).collect())
}

/// Estimates the blocks that a process without a cache reads for each of [`QUERY_HASHES`] hashes, all of
/// which the largest run holds.
///
/// The largest run costs one block for each hash, and the read of its filters if these are at most a tenth of
/// that. Each other run costs one block for each hash or the read of all its filters, whichever is less. A
/// run without filters costs one block for each hash.
pub(crate) fn cold_blocks<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> f64 {
    let filters = |run: &RunRecord| if run.has_filters() { rows_of_filters(run) } else { u64::MAX };
    let mut filters: Vec<u64> = runs.map(filters).collect();
    filters.sort_unstable();
    let Some(largest) = filters.pop() else { return 0.0 };
    let of_largest = if largest <= QUERY_HASHES / LARGEST_WORTH { largest } else { 0 };
    let others: u64 = filters.into_iter().map(|filters| filters.min(QUERY_HASHES)).sum();
    1.0 + (of_largest + others) as f64 / QUERY_HASHES as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::filter::FULL_FILTER_BYTES;

    fn run(postings: u64) -> RunRecord {
        let filters = postings.div_ceil(FILTER_HASHES as u64);
        RunRecord { postings, first_document: 0, last_document: 0, filter_bytes: filters * FULL_FILTER_BYTES as u64 }
    }

    fn runs(sizes: &[u64]) -> Vec<(u32, RunRecord)> {
        (0..).zip(sizes.iter().map(|&postings| run(postings))).collect()
    }

    #[test]
    fn few_runs_are_left_alone_and_many_of_a_rank_are_folded_with_the_smaller() {
        assert_eq!(excess(&runs(&[])), None);
        assert_eq!(excess(&runs(&[100; SMALL_FAN_IN - 1])), None);
        assert_eq!(excess(&runs(&[100; SMALL_FAN_IN])), Some((0..SMALL_FAN_IN as u32).collect()));
        let mut sizes = vec![1_000_000, 3];
        sizes.extend([100; SMALL_FAN_IN]);
        assert_eq!(excess(&runs(&sizes)), Some((1..SMALL_FAN_IN as u32 + 2).collect()));
        assert_eq!(excess(&runs(&[LARGE_RUN - 1; SMALL_FAN_IN - 1])), None);
        assert_eq!(excess(&runs(&[LARGE_RUN; LARGE_FAN_IN - 1])), None);
        assert_eq!(excess(&runs(&[LARGE_RUN * LARGE_FAN_IN as u64, 5, LARGE_RUN, LARGE_RUN])), None);
        let large = [LARGE_RUN * LARGE_FAN_IN as u64, 5, LARGE_RUN, LARGE_RUN, 2 * LARGE_RUN, 3 * LARGE_RUN];
        assert_eq!(excess(&runs(&large)), Some((1..6).collect()));
    }

    #[test]
    fn a_cold_lookup_reads_a_block_of_each_large_run_and_the_filters_of_the_small() {
        let blocks = |sizes: &[u64]| cold_blocks(runs(sizes).iter().map(|(_, run)| run));
        assert_eq!(blocks(&[]), 0.0);
        assert_eq!(blocks(&[7]), 1.0 + 1.0 / QUERY_HASHES as f64);
        assert_eq!(blocks(&[LARGE_RUN / 16]), 1.0625);
        assert_eq!(blocks(&[LARGE_RUN / 8]), 1.0);
        assert_eq!(blocks(&[20 * LARGE_RUN]), 1.0);
        assert_eq!(blocks(&[LARGE_RUN / 2, 20 * LARGE_RUN, LARGE_RUN, LARGE_RUN / 4]), 2.75);
    }

    /// The long-term cost of an archive, in three models: commits of mixed sizes, of equal size, and few
    /// large commits among small ones.
    #[test]
    fn ten_thousand_commits_cost_four_blocks_a_hash_and_four_bytes_written_for_each_kept() {
        // SplitMix64.
        let random = |number: u64| {
            let z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) as f64 / 2_f64.powi(64)
        };
        // From a hundred to a million postings, evenly distributed on a logarithmic scale.
        let mixed = |number: u64| 10_f64.powf(2.0 + 4.0 * random(number)) as u64;
        let equal = |_: u64| 50_000;
        let loads = |number: u64| if number.is_multiple_of(100) { 9_000_000 } else { 1_000 };
        let models: [(&str, &dyn Fn(u64) -> u64); 3] = [("mixed", &mixed), ("equal", &equal), ("loads", &loads)];
        for (name, size) in models {
            let mut held: Vec<RunRecord> = Vec::new();
            let (mut kept, mut written, mut blocks, mut most_blocks, mut most_runs) = (0, 0, 0.0, 0.0_f64, 0);
            for number in 1..=10_000 {
                let postings = size(number);
                (kept, written) = (kept + postings, written + postings);
                held.push(run(postings));
                while let Some(folded) = excess(&(0..).zip(held.iter().cloned()).collect::<Vec<_>>()) {
                    let sum = folded.iter().map(|&number| held[number as usize].postings).sum();
                    written += sum;
                    let mut number = 0..;
                    held.retain(|_| number.next().is_some_and(|number| !folded.contains(&number)));
                    held.push(run(sum));
                }
                let now = cold_blocks(held.iter());
                blocks += now;
                most_blocks = most_blocks.max(now);
                most_runs = most_runs.max(held.len());
            }
            let (blocks, written) = (blocks / 10_000.0, written as f64 / kept as f64);
            println!(
                "{name}: {kept} postings, {blocks:.2} blocks, at most {most_blocks:.2}, {written:.2} times written, {most_runs} runs"
            );
            assert!(blocks <= 4.0, "{name}: {blocks} blocks a hash");
            assert!(most_blocks <= 7.0, "{name}: {most_blocks} blocks a hash at worst");
            assert!(written <= 4.0, "{name}: each posting is written {written} times");
            assert!(most_runs <= 80, "{name}: {most_runs} runs");
        }
    }
}
