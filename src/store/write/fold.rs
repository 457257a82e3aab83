//! Folding: several runs become one, without the postings of deleted documents. The tombstones that hid them alone go too.
//!
//! A lookup visits every run, so their number must stay small however many commits a database has seen. Runs
//! are ranked by size in steps of [`FAN_IN`]; as many runs of one rank are folded into one of the next. A
//! posting is so written once for each rank, and a database of n postings in batches of b has at most
//! (FAN_IN - 1) log(n / b) / log(FAN_IN) runs or so.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::progress::{STEP, Task, is_due};
use crate::store::codec::format::{FAMILIES, MAIN, RUN_FAMILIES, keys_of, run_key};
use crate::store::codec::records::{self, RunRecord};
use crate::store::read::run_reader::{self, RunReader};
use crate::store::read::run_rows::{ReadPattern, rows_of};
use crate::store::write::ranges;
use crate::store::write::run_writer;
use crate::store::{Store, View};

/// Runs of one rank that are folded into one of the next.
pub(in crate::store) const FAN_IN: usize = 16;

/// Below this a fold is not worth dividing among threads.
const POSTINGS_IN_PART: u64 = 1 << 20;

impl Store {
    /// Folds as many runs as there are too many of.
    pub(crate) fn fold_excess(&self) -> Result<()> {
        while let Some(runs) = excess(&self.view().runs) {
            self.fold(&runs, &Task::new())?;
        }
        Ok(())
    }

    /// Folds all runs into one, if documents were deleted or the runs are many, and frees the space of what was deleted.
    pub(crate) fn compact(&self, task: &Task<'_>) -> Result<()> {
        let view = self.view();
        let runs: Vec<u32> = view.runs.iter().map(|&(run, _)| run).collect();
        // Blocks keep document numbers and ordinals in the width of their largest, so runs of small and of large documents take
        // some 3% more space together than apart. A few runs cost a lookup little: they stay as they are.
        let folds = runs.len() >= FAN_IN || view.tombstone_count() > 0;
        // The runs that it lists can go.
        drop(view);
        if folds {
            self.fold(&runs, task)?;
        }
        for (done, name) in (0..).zip(FAMILIES) {
            task.step("parts of the store compacted", done, FAMILIES.len() as u64)?;
            // A run is a few large tables already; of the rest every commit may have left some.
            self.engine.compact(name, !RUN_FAMILIES.contains(&name))?;
        }
        Ok(())
    }

    /// Replaces `runs` by one. One synced write makes the change, so that a crash leaves either.
    fn fold(&self, runs: &[u32], task: &Task<'_>) -> Result<()> {
        let mut view = View::clone(&self.view());
        let folding = view.runs.iter().filter(|(run, _)| runs.contains(run));
        let postings: u64 = folding.map(|(_, record)| record.postings).sum();
        let parts = postings.div_ceil(POSTINGS_IN_PART).clamp(1, self.pool.threads() as u64);
        let parts = ranges::of_hashes(&self.profile, parts as usize);
        let folded = AtomicU64::new(0);
        let tell = |more| task.step("postings folded", folded.fetch_add(more, Ordering::Relaxed) + more, postings);
        let (folded, _) = run_writer::write_run(self, view.state.next_run, parts, |hashes, part| {
            let mut seen = 0;
            let readers = runs.iter().map(|&run| RunReader::of_hashes(&self.engine, run, hashes.clone()));
            run_reader::merge(&mut readers.collect::<Result<Vec<RunReader<'_>>>>()?, |posting| {
                seen += 1;
                if is_due(seen) {
                    tell(STEP)?;
                }
                if view.is_live(posting.document) { part.push(posting) } else { Ok(()) }
            })
        })?;

        let mut changes = self.engine.changes();
        view.runs.retain(|(run, _)| !runs.contains(run));
        for &run in runs {
            changes.delete(MAIN, run_key(run))?;
        }
        // The new run holds no posting of a deleted document.
        view.forget_tombstones(&mut changes)?;
        if let Some((run, record)) = folded {
            changes.put(MAIN, run_key(run), records::encode(&record)?)?;
            view.runs.push((run, record));
        }
        view.state.next_run += 1;
        self.change(changes, view, "commit folded runs")?;
        self.past.add_folded(runs);
        self.remove_folded()
    }

    /// Removes the rows of a run that is in the list of runs no more.
    pub(in crate::store) fn remove_run(&self, run: u32) -> Result<()> {
        let (first, after) = keys_of(run);
        for name in RUN_FAMILIES {
            // Whole files go at once; a run shares none with another. Rows that are left, if any, are hidden.
            self.engine.delete_files_between(name, &first, &after, "remove a folded run")?;
            let mut left = rows_of(&self.engine, name, run, ReadPattern::Points)?;
            left.seek_to_first();
            if left.valid() {
                let mut changes = self.engine.changes();
                changes.delete_between(name, &first, &after)?;
                changes.write("remove a folded run")?;
            }
        }
        Ok(())
    }
}

/// The runs of the smallest rank that has too many.
fn excess(runs: &[(u32, RunRecord)]) -> Option<Vec<u32>> {
    let rank = |record: &RunRecord| record.postings.max(1).ilog(FAN_IN as u64);
    let ranks = runs.iter().map(|(_, record)| rank(record));
    let mut ranks: Vec<u32> = ranks.collect();
    ranks.sort_unstable();
    let crowded = ranks.chunk_by(|a, b| a == b).find(|same| same.len() >= FAN_IN)?[0];
    // Smaller runs go along: they would only wait for their turn.
    Some(runs.iter().filter(|(_, record)| rank(record) <= crowded).map(|&(run, _)| run).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(sizes: &[u64]) -> Vec<(u32, RunRecord)> {
        let record = |&postings| RunRecord { postings, first_document: 0, last_document: 0, filter_bytes: 0 };
        (0..).zip(sizes.iter().map(record)).collect()
    }

    #[test]
    fn few_runs_are_left_alone_and_equal_ones_are_folded_with_the_smaller() {
        assert_eq!(excess(&runs(&[])), None);
        assert_eq!(excess(&runs(&[100; FAN_IN - 1])), None);
        assert_eq!(excess(&runs(&[100; FAN_IN])), Some((0..FAN_IN as u32).collect()));
        let mut sizes = vec![1_000_000, 3];
        sizes.extend([100; FAN_IN]);
        assert_eq!(excess(&runs(&sizes)), Some((1..FAN_IN as u32 + 2).collect()));
    }

    #[test]
    fn the_number_of_runs_grows_with_the_logarithm() {
        let mut sizes: Vec<u64> = Vec::new();
        let (mut most, mut written) = (0, 0);
        for _ in 0..4096 {
            sizes.push(1000);
            while let Some(folded) = excess(&runs(&sizes)) {
                let sum = folded.iter().map(|&run| sizes[run as usize]).sum();
                written += sum;
                let mut index = 0;
                sizes.retain(|_| {
                    index += 1;
                    !folded.contains(&(index - 1))
                });
                sizes.push(sum);
            }
            most = most.max(sizes.len());
        }
        assert!(most <= 5 * (FAN_IN - 1), "{most} runs");
        assert!(written <= 5 * 4096 * 1000, "{written} postings written again");
    }
}
