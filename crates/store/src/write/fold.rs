//! Folding: merges several runs into one, without the postings of deleted documents. Also removes the
//! tombstones that hide no posting after the fold.
//!
//! [`levels`] decides which runs are folded. A large fold is made in slices, which are consecutive ranges of
//! hashes. A fold that was stopped or killed continues after its last slice.
//!
//! A slice has 67 million postings (2^26), some seconds of work. After each slice one synced row records the
//! new run, its source runs, the next hash and the totals. If anything was committed since the fold began, a
//! later call discards the slices. No reader sees slices before the one write that replaces the old runs. The
//! number of the new run is reserved at the beginning, so that no later commit uses it.
//!
//! A fold fails and changes nothing if it has not read as many postings as the records of its runs say. The
//! old runs stay until the end, so a compaction needs free space for another copy of postings and filters.

use std::ops::RangeInclusive;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::codec::format::{FAMILIES, FOLD_KEY, MAIN, RUN_FAMILIES, filter_key, keys_of, run_key};
use crate::codec::records::{self, FoldRecord, RunRecord};
use crate::engine::Changes;
use crate::read::run_reader::{self, RunReader};
use crate::read::run_rows::{ReadPattern, rows_of};
use crate::write::run_writer::{Filters, RunPart};
use crate::write::{levels, ranges, run_writer};
use crate::{Store, View};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{STEP, Task};

/// A fold of fewer postings is not divided among threads.
const POSTINGS_IN_PART: u64 = 1 << 20;

/// The postings of one slice. A stopped fold loses at most this much work.
const POSTINGS_IN_SLICE: u64 = 64 << 20;

/// Number of postings that a compaction folds per second, measured (`docs/measurements.md`) and rounded down.
const FOLDED_A_SECOND: u64 = 15_000_000;

/// Bytes of other tables that a compaction rewrites per second. This is an assumption, because most of these
/// tables are compressed.
const REWRITTEN_A_SECOND: u64 = 100_000_000;

/// The work, time and disk space of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactionPlan {
    /// Number of runs to fold into one; 0 if no postings move.
    pub runs: u64,
    /// Number of postings to fold. Postings that an earlier, stopped call has folded do not count.
    pub postings: u64,
    /// Bytes of other tables to rewrite: positions, texts, records of documents. 0 if a compaction would
    /// free nothing there.
    pub other_bytes: u64,
    /// Bytes of disk needed beside the database, because old tables stay until the new ones are complete.
    pub bytes: u64,
    /// Bytes free on that disk. `None` if the system does not report them.
    pub free: Option<u64>,
    /// Approximate seconds on two cores of a server.
    pub seconds: u64,
}

impl Store {
    /// Folds runs until no rank has too many runs. If the task is stopped, returns without an error, and a
    /// later call does the rest. If the disk has no space for a fold, the runs stay as they are.
    ///
    /// # Errors
    /// The error of a fold. This handle does not fold the runs of a failed fold again.
    pub fn fold_excess(&self, task: &Task<'_>) -> Result<()> {
        self.fold_excess_within(self.free_bytes(), task)
    }

    /// [`Self::fold_excess`] with this many free bytes at the beginning; `None` if they are unknown.
    pub(crate) fn fold_excess_within(&self, free: Option<u64>, task: &Task<'_>) -> Result<()> {
        let mut made = None;
        loop {
            // The view is dropped before the fold: a view that is held keeps the runs it lists.
            let excess = levels::excess(&self.view().runs);
            let Some(runs) = excess else { break };
            // Folding one run alone makes the same run again, so the loop would not end.
            if made.is_some_and(|made| runs == [made]) || self.have_failed(&runs) {
                break;
            }
            let (_, bytes) = self.fold_costs(&runs)?;
            if free.is_some_and(|free| bytes > free) {
                // The fold cannot be completed now, so its finished slices only take space.
                if let Some(fold) = self.unfinished_fold()? {
                    self.discard_fold(&fold)?;
                }
                break;
            }
            match self.fold(&runs, POSTINGS_IN_SLICE, task) {
                Ok(run) => made = Some(run),
                Err(Error::Stopped) => break,
                Err(error) => {
                    // If the system only refused something, such as space, a later fold may succeed.
                    if !matches!(&error, Error::Store { failure, .. } if failure.is_refusal()) {
                        self.unfoldable.lock().unwrap_or_else(PoisonError::into_inner).extend(runs);
                        // The finished slices only take space. If they cannot be removed now, the next
                        // opening removes them.
                        if let Ok(Some(fold)) = self.unfinished_fold() {
                            let _ = self.discard_fold(&fold);
                        }
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// True if a fold of one of these runs has failed in this handle.
    fn have_failed(&self, runs: &[u32]) -> bool {
        let failed = self.unfoldable.lock().unwrap_or_else(PoisonError::into_inner);
        runs.iter().any(|run| failed.contains(run))
    }

    /// The number of postings that a fold of these runs has still to write, and the free bytes of disk that
    /// it needs.
    fn fold_costs(&self, runs: &[u32]) -> Result<(u64, u64)> {
        let view = self.view();
        let mut of_runs = 0;
        for name in RUN_FAMILIES {
            of_runs += self.engine.table_bytes(name)?;
        }
        let unfinished = self.unfinished_fold()?.filter(|fold| fold.goes_on(&view.state));
        let made = unfinished.as_ref().and_then(|fold| fold.record.as_ref()).map_or(0, |run| run.postings);
        let folded = unfinished.filter(|fold| fold.runs == runs).map_or(0, |fold| fold.read);
        let all: u64 = view.runs.iter().filter(|(run, _)| runs.contains(run)).map(|(_, record)| record.postings).sum();
        let postings = all.saturating_sub(folded);
        // The size of the tables includes the finished part of the new run.
        let each = of_runs as f64 / (view.posting_count() + made).max(1) as f64;
        Ok((postings, (each * postings as f64) as u64))
    }

    /// Folds all runs into one, and frees the space of deleted documents. Continues a stopped earlier call if
    /// nothing was committed after that call.
    ///
    /// # Errors
    /// [`Error::Stopped`], or an error of reading or writing the store.
    pub fn compact(&self, task: &Task<'_>) -> Result<()> {
        let runs = self.view().runs_to_compact();
        if let Some(runs) = runs {
            self.fold(&runs, POSTINGS_IN_SLICE, task)?;
        }
        for (done, name) in (0..).zip(FAMILIES) {
            task.step("parts of the store compacted", done, FAMILIES.len() as u64)?;
            // A run already consists of a few large tables. In other families each commit may have left a
            // small table, so all their tables are rewritten.
            self.engine.compact(name, !RUN_FAMILIES.contains(&name))?;
        }
        Ok(())
    }

    /// The work that [`Self::compact`] has to do.
    pub fn compaction_plan(&self) -> Result<CompactionPlan> {
        let mut plan = CompactionPlan::default();
        for name in FAMILIES.into_iter().filter(|name| !RUN_FAMILIES.contains(name)) {
            if !self.engine.is_compact(name)? {
                let bytes = self.engine.table_bytes(name)?;
                plan.other_bytes += bytes;
                // The families are compacted one after the other, and each frees its old tables. So the
                // largest one counts.
                plan.bytes = plan.bytes.max(bytes);
            }
        }
        let runs = self.view().runs_to_compact();
        if let Some(runs) = runs {
            let (postings, bytes) = self.fold_costs(&runs)?;
            plan.runs = runs.len() as u64;
            plan.postings = postings;
            plan.bytes = plan.bytes.max(bytes);
        }
        plan.free = self.free_bytes();
        plan.seconds = plan.postings.div_ceil(FOLDED_A_SECOND) + plan.other_bytes / REWRITTEN_A_SECOND;
        Ok(plan)
    }

    /// Replaces `runs` by one run, and returns its number. One synced write makes the change, so a crash
    /// leaves either the old or the new runs.
    pub(crate) fn fold(&self, runs: &[u32], postings_in_slice: u64, task: &Task<'_>) -> Result<u32> {
        let mut view = View::clone(&self.view());
        let folding = view.runs.iter().filter(|(run, _)| runs.contains(run));
        let postings: u64 = folding.map(|(_, record)| record.postings).sum();
        let slices = postings.div_ceil(postings_in_slice).max(1);
        let parts = (postings / slices).div_ceil(POSTINGS_IN_PART).clamp(1, self.pool.threads() as u64);
        let mut fold = self.begin_fold(&mut view, runs, slices > 1)?;
        let ranges = ranges::of_hashes(&self.profile, (slices * parts) as usize);
        let left = ranges.into_iter().filter(|range| *range.end() >= fold.next);
        let left: Vec<_> = left.map(|range| fold.next.max(*range.start())..=*range.end()).collect();
        let read = AtomicU64::new(fold.read);
        let tell = |more| task.step("postings folded", read.fetch_add(more, Ordering::Relaxed) + more, postings);
        for slice in left.chunks(parts as usize) {
            let write = |hashes: RangeInclusive<u64>, part: &mut RunPart<'_>| {
                let readers = runs.iter().map(|&run| RunReader::of_hashes(&self.engine, run, hashes.clone()));
                let mut readers = readers.collect::<Result<Vec<RunReader<'_>>>>()?;
                let (mut untold, mut live) = (0, Vec::new());
                run_reader::merge_batches(&mut readers, &mut |batch| {
                    untold += batch.len() as u64;
                    if untold >= STEP {
                        tell(std::mem::take(&mut untold))?;
                    }
                    if !view.has_deleted() {
                        return part.extend(batch);
                    }
                    live.clear();
                    live.extend(batch.iter().filter(|posting| view.is_live(posting.document)));
                    part.extend(&live)
                })?;
                tell(untold)
            };
            let (written, _) = run_writer::write_run(self, fold.run, Filters::Whole, slice.to_vec(), write)?;
            fold.record = RunRecord::together(fold.record.into_iter().chain(written.map(|(_, record)| record)));
            fold.read = read.load(Ordering::Relaxed);
            let Some(next) = slice.last().and_then(|last| last.end().checked_add(1)) else { break };
            fold.next = next;
            // The list of tables is marked before the slice is recorded. If the list later loses the slice,
            // the mark shows it.
            self.mark()?;
            let mut note = self.engine.changes();
            note.put(MAIN, FOLD_KEY, records::encode(&fold)?)?;
            note.commit("note how far runs are folded")?;
        }
        if fold.read != postings {
            let detail = "they hold more or fewer postings than their records say";
            return Err(Error::Damaged { what: "the runs to be folded".into(), detail });
        }

        let mut changes = self.engine.changes();
        changes.delete(MAIN, FOLD_KEY)?;
        self.replace_runs(changes, view, runs, (fold.run, fold.record))?;
        Ok(fold.run)
    }

    /// Replaces `runs` by one run, which must hold exactly their postings in live documents. `view` is the
    /// view of the last commit. One synced write makes the change.
    pub(crate) fn replace_runs(
        &self,
        mut changes: Changes<'_>,
        mut view: View,
        runs: &[u32],
        (run, record): (u32, Option<RunRecord>),
    ) -> Result<()> {
        view.runs.retain(|(run, _)| !runs.contains(run));
        for &run in runs {
            changes.delete(MAIN, run_key(run))?;
        }
        // The new run holds no posting of a deleted document.
        view.forget_tombstones(&mut changes)?;
        if let Some(record) = record {
            changes.put(MAIN, run_key(run), records::encode(&record)?)?;
            view.runs.push((run, record));
        }
        view.state.next_run = view.state.next_run.max(run + 1);
        self.change(changes, view, "commit folded runs")?;
        self.past.add_folded(runs);
        self.remove_folded()
    }

    /// Returns the stopped fold of `runs` if it can continue, and begins a new one otherwise. If `noted` is
    /// true, the record of the new fold is written first, which reserves the number of the new run.
    fn begin_fold(&self, view: &mut View, runs: &[u32], noted: bool) -> Result<FoldRecord> {
        let unfinished = self.unfinished_fold()?;
        if let Some(fold) = &unfinished
            && fold.goes_on(&view.state)
            && fold.runs == runs
        {
            return Ok(fold.clone());
        }
        if let Some(fold) = unfinished {
            self.discard_fold(&fold)?;
        }
        let (run, commits) = (view.state.next_run, view.state.commits);
        let mut fold = FoldRecord { commits, run, runs: runs.to_vec(), next: 0, read: 0, record: None };
        if noted {
            view.state.next_run += 1;
            fold.commits += 1;
            let mut changes = self.engine.changes();
            changes.put(MAIN, FOLD_KEY, records::encode(&fold)?)?;
            self.change(changes, view.clone(), "begin to fold runs")?;
            *view = View::clone(&self.view());
        }
        Ok(fold)
    }

    /// The record of a fold that was stopped or killed. `None` if there is none.
    fn unfinished_fold(&self) -> Result<Option<FoldRecord>> {
        let value = self.engine.get(MAIN, FOLD_KEY, "look for an unfinished fold")?;
        value.map(|value| records::decode(&value, || "the record of an unfinished fold".into())).transpose()
    }

    /// If an unfinished fold can continue, removes its rows after the last recorded slice, and returns the
    /// number of its run. Otherwise removes all its rows.
    pub(crate) fn tidy_unfinished_fold(&self) -> Result<Option<u32>> {
        let Some(fold) = self.unfinished_fold()? else { return Ok(None) };
        if fold.goes_on(&self.view().state) {
            self.remove_rows(fold.run, fold.next)?;
            return Ok(Some(fold.run));
        }
        self.discard_fold(&fold)?;
        Ok(None)
    }

    fn discard_fold(&self, fold: &FoldRecord) -> Result<()> {
        let mut changes = self.engine.changes();
        changes.delete(MAIN, FOLD_KEY)?;
        changes.commit("give up an unfinished fold")?;
        self.remove_run(fold.run)
    }

    /// Removes the rows of a run that no view lists.
    pub(crate) fn remove_run(&self, run: u32) -> Result<()> {
        self.remove_rows(run, 0)
    }

    /// Removes the rows of a run that no view lists, from the hash `from` on.
    fn remove_rows(&self, run: u32, from: u64) -> Result<()> {
        let (_, after) = keys_of(run);
        let first = filter_key(run, from);
        for name in RUN_FAMILIES {
            // Whole files are removed first. No file holds rows of two runs or of two slices. If rows remain,
            // a deleted range hides them.
            self.engine.delete_files_between(name, &first, &after, "remove a folded run")?;
            let mut left = rows_of(&self.engine, name, run, ReadPattern::Points)?;
            left.seek(first);
            if left.valid() {
                let mut changes = self.engine.changes();
                changes.delete_between(name, &first, &after)?;
                changes.write("remove a folded run")?;
            }
        }
        Ok(())
    }
}
