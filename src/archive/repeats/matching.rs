//! Matching: finds the repeated windows, and the first occurrence of each.
//!
//! Anchors come in order of hash, and anchors of one hash in order of place. Equal windows have anchors of
//! one hash, so each hash is processed by itself. An anchor is compared with *holders*: earlier anchors of
//! its hash, each with at least one window that has no earlier occurrence. The first occurrence of a window
//! is always at a holder, so other anchors need no comparison.
//!
//! If the text around an anchor always differs, each occurrence becomes a holder. An example is the last
//! anchor of a menu on thousands of pages. So at most [`MOST_HOLDERS`] holders of a hash are kept. A window
//! that no kept holder has goes to a second sort, by the hash of all its symbols. All equal windows go to the
//! second sort too, since their first occurrence is not at a kept holder either. So comparisons are few: at
//! most `MOST_HOLDERS` comparisons for an anchor, and two records for a window. The second sort has a hash of
//! its own, for which nobody can construct texts, whereas anchors of one hash may all differ.

use rayon::prelude::*;

use super::anchor::{Anchor, Candidate, Cover, Window, WindowShape};
use super::packed::SymbolRun;
use super::symbol_store::SymbolStore;
use super::window_hash::WindowHash;
use fpdb_host::error::Result;
use fpdb_host::progress::{STEP, Task, is_due};
use fpdb_host::spill::{Sorter, TempSpace};

/// Maximum number of holders kept for one hash.
const MOST_HOLDERS: usize = 16;

/// Number of anchors, and of their windows, processed at a time. All of these windows can go to the second
/// sort.
const BATCH: usize = 1 << 16;
const BATCH_WINDOWS: u64 = 1 << 21;

/// Number of anchors of one hash that a thread compares at a time, once the holders are complete.
const CHUNK: usize = 1 << 10;

/// Compares windows.
pub(super) struct Matching<'a, 't> {
    pub(super) symbol_store: &'a SymbolStore,
    pub(super) cut: WindowShape,
    pub(super) window_hash: &'a WindowHash,
    pub(super) temp: &'t TempSpace,
    pub(super) memory: u64,
    pub(super) task: &'a Task<'a>,
}

/// An anchor with the symbols of all its windows.
struct Context {
    anchor: Anchor,
    symbols: SymbolRun,
}

/// The anchors of one hash.
#[derive(Default)]
struct Group {
    hash: u64,
    holders: Vec<Context>,
}

/// The matches of a portion of anchors.
#[derive(Default)]
struct AnchorMatches {
    covers: Vec<Cover>,
    /// Windows that no holder has, found once the holders are complete.
    rest: Vec<Window>,
}

/// The state of one thread.
struct MatchWorker<'a> {
    matching: &'a Matching<'a, 'a>,
    numbers: Vec<u64>,
    hashes: Vec<u64>,
    found: AnchorMatches,
}

impl<'t> Matching<'_, 't> {
    /// Finds the repeated windows. The sorter returns them by document and place.
    pub(super) fn all(&self, anchors: Sorter<'_, Anchor>) -> Result<Sorter<'t, Cover>> {
        let mut covers = Sorter::new(self.temp, self.memory / 8);
        let mut rest = Sorter::new(self.temp, self.memory / 8);
        let mut open = Group::default();
        let mut batch: Vec<Anchor> = Vec::with_capacity(BATCH);
        let (mut windows, mut compared) = (0, 0);
        let mut sorted = anchors.sorted()?;
        loop {
            let next = sorted.next().transpose()?;
            if next.is_none() || batch.len() == BATCH || windows >= BATCH_WINDOWS {
                for found in self.batch(&batch, &mut open)? {
                    found.covers.into_iter().try_for_each(|cover| covers.push(cover))?;
                    found.rest.into_iter().try_for_each(|window| rest.push(window))?;
                }
                compared += batch.len() as u64;
                batch.clear();
                windows = 0;
                self.task.step("passages compared", compared, 0)?;
            }
            let Some(next) = next else { break };
            windows += u64::from(next.last - next.first) + 1;
            batch.push(next);
        }
        drop(sorted);
        self.compare_rest(rest, &mut covers)?;
        Ok(covers)
    }

    fn worker(&self) -> MatchWorker<'_> {
        MatchWorker { matching: self, numbers: Vec::new(), hashes: Vec::new(), found: AnchorMatches::default() }
    }

    /// Compares a portion of anchors, and returns the matches. The first anchors can belong to the group
    /// `open`. Afterwards `open` is the last group.
    fn batch(&self, anchors: &[Anchor], open: &mut Group) -> Result<Vec<AnchorMatches>> {
        let mut groups: Vec<&[Anchor]> = anchors.chunk_by(|one, next| one.hash == next.hash).collect();
        let mut found = Vec::new();
        // The first group can continue a group of an earlier batch, and a later batch can continue the last
        // group. These two groups are handled separately.
        let last = if groups.len() > 1 { groups.pop() } else { None };
        let first = if groups.is_empty() { None } else { Some(groups.remove(0)) };
        for group in first.into_iter().chain(last) {
            if open.hash != group[0].hash {
                *open = Group { hash: group[0].hash, holders: Vec::new() };
            }
            self.group(group, open, &mut found)?;
        }
        // A single anchor has nothing to be compared with.
        let several = groups.into_par_iter().filter(|group| group.len() > 1);
        let compared = several.try_fold(
            || None,
            |worker, group| {
                let mut worker = match worker {
                    Some(worker) => worker,
                    None => self.worker(),
                };
                let mut holders = Group { hash: group[0].hash, holders: Vec::new() };
                group.iter().try_for_each(|&anchor| worker.anchor(anchor, &mut holders))?;
                Ok::<_, fpdb_host::error::Error>(Some(worker))
            },
        );
        let workers: Vec<Option<MatchWorker<'_>>> = compared.collect::<Result<_>>()?;
        found.extend(workers.into_iter().flatten().map(|worker| worker.found));
        Ok(found)
    }

    /// Compares anchors of one hash. Once the holders are complete, all threads take part.
    fn group(&self, anchors: &[Anchor], group: &mut Group, found: &mut Vec<AnchorMatches>) -> Result<()> {
        let mut worker = self.worker();
        let mut left = anchors.iter();
        while group.holders.len() < MOST_HOLDERS
            && let Some(&anchor) = left.next()
        {
            worker.anchor(anchor, group)?;
        }
        found.push(worker.found);
        let group = &*group;
        let compared = left.as_slice().par_chunks(CHUNK).map(|anchors| {
            let mut worker = self.worker();
            for &anchor in anchors {
                let (context, open) = worker.compare(anchor, &group.holders)?;
                worker.rest(&context, &open);
            }
            Ok(worker.found)
        });
        found.extend(compared.collect::<Result<Vec<AnchorMatches>>>()?);
        Ok(())
    }

    /// Compares the windows that no holder has. Of the windows of one hash, the first is the first
    /// occurrence, and the others are compared with it. Windows that differ from it have the same hash by
    /// chance, and form the next round.
    fn compare_rest(&self, mut rest: Sorter<'t, Window>, covers: &mut Sorter<'_, Cover>) -> Result<()> {
        while rest.count() > 0 {
            let mut candidates = Sorter::new(self.temp, self.memory / 8);
            let (mut first, mut done) = (None, 0);
            for window in rest.sorted()? {
                let window = window?;
                done += 1;
                if is_due(done) {
                    self.task.step("passages grouped", done, 0)?;
                }
                match first.filter(|first: &Window| first.hash == window.hash) {
                    None => first = Some(window),
                    Some(first) => candidates.push(Candidate {
                        document: window.document,
                        start: window.start,
                        source: first.document,
                        source_start: first.start,
                        hash: window.hash,
                    })?,
                }
            }
            rest = Sorter::new(self.temp, self.memory / 8);
            self.verify(candidates, covers, &mut rest)?;
        }
        Ok(())
    }

    /// Compares windows with their sources. Runs of windows at one distance from their sources are compared
    /// together: otherwise each symbol would be compared once for each window that holds it. Windows that
    /// differ go to `rest`.
    fn verify(
        &self,
        candidates: Sorter<'_, Candidate>,
        covers: &mut Sorter<'_, Cover>,
        rest: &mut Sorter<'_, Window>,
    ) -> Result<()> {
        let mut symbols = [SymbolRun::default(), SymbolRun::default()];
        let mut run: Vec<Candidate> = Vec::new();
        let (mut candidates, mut done, mut symbols_read) = (candidates.sorted()?, 0, 0);
        loop {
            let next = candidates.next().transpose()?;
            let continues = |next: &Candidate| {
                run.len() < self.cut.window as usize && run.last().is_some_and(|last| last.is_before(next))
            };
            if !next.as_ref().is_some_and(continues) {
                self.verify_run(&run, &mut symbols, covers, rest)?;
                done += run.len() as u64;
                symbols_read += run.len() as u64 + u64::from(self.cut.window);
                if symbols_read >= STEP {
                    symbols_read = 0;
                    self.task.step("passages compared one by one", done, 0)?;
                }
                run.clear();
            }
            let Some(next) = next else { return Ok(()) };
            run.push(next);
        }
    }

    fn verify_run(
        &self,
        run: &[Candidate],
        [symbols, source_symbols]: &mut [SymbolRun; 2],
        covers: &mut Sorter<'_, Cover>,
        rest: &mut Sorter<'_, Window>,
    ) -> Result<()> {
        let Some(first) = run.first() else { return Ok(()) };
        let count = run.len() as u32 + self.cut.window - 1;
        self.symbol_store.symbols(first.document, first.start, count, symbols)?;
        self.symbol_store.symbols(first.source, first.source_start, count, source_symbols)?;
        let mut left = run;
        while !left.is_empty() {
            let place = run.len() - left.len();
            let (_, equal) = symbols.equal_around(place, source_symbols, place);
            let same = (equal + 1).saturating_sub(self.cut.window as usize).min(left.len());
            // All windows that hold the symbol after the equal ones differ from their sources.
            let seen = (equal + 1).min(left.len());
            for &Candidate { document, start, source, source_start, .. } in &left[..same] {
                covers.push(Cover { document, start, windows: 1, source, source_start })?;
            }
            for &Candidate { document, start, hash, .. } in &left[same..seen] {
                rest.push(Window { hash, document, start })?;
            }
            left = &left[seen..];
        }
        Ok(())
    }
}

impl MatchWorker<'_> {
    /// Compares the windows of an anchor with earlier windows. Keeps the anchor as a holder if some windows
    /// are new.
    fn anchor(&mut self, anchor: Anchor, group: &mut Group) -> Result<()> {
        let (context, open) = self.compare(anchor, &group.holders)?;
        if open.is_empty() {
            return Ok(());
        }
        match group.holders.len() < MOST_HOLDERS {
            true => group.holders.push(context),
            false => self.rest(&context, &open),
        }
        Ok(())
    }

    /// Records the windows of an anchor that occur at a holder too, each with the first such holder. Returns
    /// the ranges of the other windows, by the index of their first symbols in the context.
    fn compare(&mut self, anchor: Anchor, holders: &[Context]) -> Result<(Context, Vec<(usize, usize)>)> {
        let window = self.matching.cut.window as usize;
        let windows = (anchor.last - anchor.first + 1) as usize;
        let mut context = Context { anchor, symbols: SymbolRun::default() };
        let count = (windows + window - 1) as u32;
        self.matching.symbol_store.symbols(anchor.document, anchor.first, count, &mut context.symbols)?;
        let mut open = vec![(0, windows)];
        for holder in holders {
            if open.is_empty() {
                break;
            }
            let Some((first, end)) = context.shared(holder, window) else { continue };
            let mut left = Vec::with_capacity(open.len() + 1);
            for (from, to) in open {
                let (start, stop) = (from.max(first), to.min(end));
                if start >= stop {
                    left.push((from, to));
                    continue;
                }
                left.extend([(from, start), (stop, to)].into_iter().filter(|(from, to)| from < to));
                // Both anchors are at the same place in their windows.
                let before = (anchor.position - anchor.first) as usize;
                self.found.covers.push(Cover {
                    document: anchor.document,
                    start: anchor.first + start as u32,
                    windows: (stop - start) as u32,
                    source: holder.anchor.document,
                    source_start: (holder.anchor.position as usize + start - before) as u32,
                });
            }
            open = left;
        }
        Ok((context, open))
    }

    /// Sends windows of an anchor to the second sort.
    fn rest(&mut self, context: &Context, open: &[(usize, usize)]) {
        if open.is_empty() {
            return;
        }
        context.symbols.numbers(&mut self.numbers);
        self.matching.window_hash.of_windows(&self.numbers, &mut self.hashes);
        let Anchor { document, first, .. } = context.anchor;
        for &(from, to) in open {
            let windows = self.hashes[from..to].iter().zip(first + from as u32..);
            self.found.rest.extend(windows.map(|(&hash, start)| Window { hash, document, start }));
        }
    }
}

impl Context {
    /// The index of the anchor in `symbols`.
    fn place(&self) -> usize {
        (self.anchor.position - self.anchor.first) as usize
    }

    /// The range of windows that a holder has too, if any.
    fn shared(&self, holder: &Self, window: usize) -> Option<(usize, usize)> {
        let place = self.place();
        let (before, after) = self.symbols.equal_around(place, &holder.symbols, holder.place());
        (before + after >= window).then(|| (place - before, place + after + 1 - window))
    }
}
