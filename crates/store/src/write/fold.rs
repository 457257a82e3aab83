//! Folding: several runs become one, without the postings of deleted documents. The tombstones that hid them alone go too.
//!
//! [`levels`] says when. A large fold is made in slices, ranges of hashes one after the other. Each is on the disk and noted
//! once it is made, so that a fold that is stopped or killed goes on where it was, if nothing was committed since.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::codec::format::{FAMILIES, FOLD_KEY, MAIN, RUN_FAMILIES, filter_key, keys_of, run_key};
use crate::codec::records::{self, FoldRecord, RunRecord};
use crate::read::run_reader::{self, RunReader};
use crate::read::run_rows::{ReadPattern, rows_of};
use crate::write::{levels, ranges, run_writer};
use crate::{Store, View};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{STEP, Task};

/// Below this a fold is not worth dividing among threads.
const POSTINGS_IN_PART: u64 = 1 << 20;

/// Postings of a slice: what a fold that is stopped loses at most, some seconds of work.
const POSTINGS_IN_SLICE: u64 = 64 << 20;

/// What a compaction has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactionPlan {
    /// Runs that become one; 0 where there is nothing to fold.
    pub runs: u64,
    /// Postings to be read and written.
    pub postings: u64,
    /// Bytes of other tables to be written again: positions, texts, documents.
    pub other_bytes: u64,
    /// Bytes of disk that it takes, while what it replaces is there too.
    pub bytes: u64,
}

impl Store {
    /// Folds runs until no rank is crowded. If the task is stopped, it returns and leaves the rest to a later call.
    pub fn fold_excess(&self, task: &Task<'_>) -> Result<()> {
        loop {
            // A view that is held keeps the runs it lists.
            let excess = levels::excess(&self.view().runs);
            let Some(runs) = excess else { break };
            match self.fold(&runs, POSTINGS_IN_SLICE, task) {
                Err(Error::Stopped) => break,
                folded => folded?,
            }
        }
        Ok(())
    }

    /// Folds all runs into one, and frees the space of what was deleted. Goes on with an earlier call that was stopped, if nothing was
    /// committed since.
    pub fn compact(&self, task: &Task<'_>) -> Result<()> {
        let runs = self.view().runs_to_compact();
        if let Some(runs) = runs {
            self.fold(&runs, POSTINGS_IN_SLICE, task)?;
        }
        for (done, name) in (0..).zip(FAMILIES) {
            task.step("parts of the store compacted", done, FAMILIES.len() as u64)?;
            // A run is a few large tables already; of the rest every commit may have left some.
            self.engine.compact(name, !RUN_FAMILIES.contains(&name))?;
        }
        Ok(())
    }

    /// What [`Self::compact`] has to do.
    pub fn compaction_plan(&self) -> Result<CompactionPlan> {
        let view = self.view();
        let (mut plan, mut of_runs) = (CompactionPlan::default(), 0);
        for name in FAMILIES {
            let bytes = self.engine.table_bytes(name)?;
            if RUN_FAMILIES.contains(&name) {
                of_runs += bytes;
            } else if !self.engine.is_compact(name)? {
                plan.other_bytes += bytes;
                // One family after the other: each frees its old tables.
                plan.bytes = plan.bytes.max(bytes);
            }
        }
        let Some(runs) = view.runs_to_compact() else { return Ok(plan) };
        let unfinished = self.unfinished_fold()?.filter(|fold| fold.goes_on(&view.state) && fold.runs == runs);
        let (folded, made) = unfinished.map_or((0, 0), |fold| (fold.read, fold.record.map_or(0, |run| run.postings)));
        plan.runs = runs.len() as u64;
        plan.postings = view.posting_count().saturating_sub(folded);
        // The tables hold the part of the new run that is there, too.
        let each = of_runs as f64 / (view.posting_count() + made).max(1) as f64;
        plan.bytes = plan.bytes.max((each * plan.postings as f64) as u64);
        Ok(plan)
    }

    /// Replaces `runs` by one. One synced write makes the change, so that a crash leaves either.
    pub(crate) fn fold(&self, runs: &[u32], postings_in_slice: u64, task: &Task<'_>) -> Result<()> {
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
            let (written, _) = run_writer::write_run(self, fold.run, slice.to_vec(), |hashes, part| {
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
            })?;
            fold.record = RunRecord::together(fold.record.into_iter().chain(written.map(|(_, record)| record)));
            fold.read = read.load(Ordering::Relaxed);
            let Some(next) = slice.last().and_then(|last| last.end().checked_add(1)) else { break };
            fold.next = next;
            // Marked before it is noted: a list of tables that has lost the slice since is then not taken for whole.
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
        view.runs.retain(|(run, _)| !runs.contains(run));
        for &run in runs {
            changes.delete(MAIN, run_key(run))?;
        }
        changes.delete(MAIN, FOLD_KEY)?;
        // The new run holds no posting of a deleted document.
        view.forget_tombstones(&mut changes)?;
        if let Some(record) = fold.record {
            changes.put(MAIN, run_key(fold.run), records::encode(&record)?)?;
            view.runs.push((fold.run, record));
        }
        view.state.next_run = view.state.next_run.max(fold.run + 1);
        self.change(changes, view, "commit folded runs")?;
        self.past.add_folded(runs);
        self.remove_folded()
    }

    /// The fold of `runs` that was stopped, if it can go on, or a new one. `noted` reserves the number of its run at once, so that no
    /// later commit uses it if the fold is stopped.
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

    /// The fold that was stopped or killed.
    fn unfinished_fold(&self) -> Result<Option<FoldRecord>> {
        let value = self.engine.get(MAIN, FOLD_KEY, "look for an unfinished fold")?;
        value.map(|value| records::decode(&value, || "the record of an unfinished fold".into())).transpose()
    }

    /// If an unfinished fold can go on, removes its rows past the last note, and returns its run. Otherwise removes all its rows.
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

    /// Removes the rows of a run that is in no list.
    pub(crate) fn remove_run(&self, run: u32) -> Result<()> {
        self.remove_rows(run, 0)
    }

    /// Removes the rows of a run that is in no list, from this hash on.
    fn remove_rows(&self, run: u32, from: u64) -> Result<()> {
        let (_, after) = keys_of(run);
        let first = filter_key(run, from);
        for name in RUN_FAMILIES {
            // Whole files go at once; a run shares none with another, nor a slice. Rows that are left, if any, are hidden.
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
