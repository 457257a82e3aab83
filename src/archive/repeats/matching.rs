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
//! second sort too, since their first occurrence is not at a kept holder either. So the work is linear: at
//! most `MOST_HOLDERS` comparisons for an anchor, and one record for a window.

use rayon::prelude::*;

use super::anchor::{Anchor, Cover, Window, WindowShape};
use super::packed::SymbolRun;
use super::symbol_store::SymbolStore;
use fpdb_host::error::Result;
use fpdb_host::progress::{Task, is_due};
use fpdb_host::spill::{Sorter, TempSpace};
use fpdb_kernel::kgram::KgramHasher;

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
    hasher: KgramHasher,
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
        self.compare_rest(rest, &mut covers)?;
        Ok(covers)
    }

    fn worker(&self) -> MatchWorker<'_> {
        MatchWorker {
            matching: self,
            hasher: KgramHasher::new(self.cut.window),
            numbers: Vec::new(),
            hashes: Vec::new(),
            found: AnchorMatches::default(),
        }
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

    /// Compares the windows that no holder has.
    fn compare_rest(&self, rest: Sorter<'_, Window>, covers: &mut Sorter<'_, Cover>) -> Result<()> {
        let mut symbols = SymbolRun::default();
        // The first occurrence of each distinct window with the current hash. Symbols are read when needed.
        let mut firsts: Vec<(Window, Option<SymbolRun>)> = Vec::new();
        let mut done = 0;
        for window in rest.sorted()? {
            let window = window?;
            done += 1;
            if is_due(done) {
                self.task.step("passages compared one by one", done, 0)?;
            }
            if firsts.first().is_none_or(|(first, _)| first.hash != window.hash) {
                firsts.clear();
                firsts.push((window, None));
                continue;
            }
            let get = |window: Window, out: &mut SymbolRun| {
                self.symbol_store.symbols(window.document, window.start, self.cut.window, out)
            };
            get(window, &mut symbols)?;
            let mut source = None;
            for (first, known) in &mut firsts {
                let known = match known {
                    Some(known) => known,
                    None => {
                        let mut held = SymbolRun::default();
                        get(*first, &mut held)?;
                        known.insert(held)
                    }
                };
                if known.equals(&symbols) {
                    source = Some(*first);
                    break;
                }
            }
            match source {
                None => firsts.push((window, Some(symbols.clone()))),
                Some(first) => covers.push(Cover {
                    document: window.document,
                    start: window.start,
                    windows: 1,
                    source: first.document,
                    source_start: first.start,
                })?,
            }
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
        self.hashes.clear();
        self.hasher.reset();
        context.symbols.numbers(&mut self.numbers);
        self.hasher.feed(&self.numbers, 0, &mut self.hashes);
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
