//! Count: counts the shared hashes of the pairs of one block of documents.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::blocks::{BlockPlan, HolderLists};
use super::documents::{CountedPair, Documents};
use super::options::PairsOptions;
use super::ranked::Measured;
use super::verdict::Verdict;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{Task, is_due};
use fpdb_store::Store;

/// Number of documents between two progress reports.
const REPORTED: u64 = 1024;

/// The lists of the hashes that the documents of a block hold.
struct Lists {
    /// The holders of all lists, end to end.
    holders: Vec<u32>,
    /// By list, twice the end of its holders in `holders`, plus the view of its hash.
    ends: Vec<u64>,
    /// By list, the weight of its hash; empty if all hashes weigh the same.
    weights: Vec<f64>,
    /// The lists of each document of the block, by index, in order of document, then of hash.
    of_documents: Vec<u32>,
    /// By document of the block, the end of its lists in `of_documents`.
    document_ends: Vec<u64>,
}

/// Maximum number of pairs passed on at a time.
const HANDED_OVER: usize = 4096;

/// Receives pairs, on any thread.
type Take<'a> = dyn Fn(&[Measured]) -> Result<()> + Sync + 'a;

/// Reports the number of documents of a block that are done, on any thread.
type Report<'a> = dyn Fn(u64) -> Result<()> + Sync + 'a;

/// The inputs of counting, which are the same in every block.
struct Counting<'a> {
    store: &'a Store,
    documents: &'a Documents,
    options: &'a PairsOptions,
    plan: &'a BlockPlan,
    task: &'a Task<'a>,
    take: &'a Take<'a>,
}

/// Calls `take` with all wanted pairs, in portions without order. Returns the number of pairs below the
/// thresholds.
pub(super) fn count_all(
    store: &Store,
    documents: &Documents,
    options: &PairsOptions,
    plan: &BlockPlan,
    task: &Task<'_>,
    take: &Take<'_>,
) -> Result<u64> {
    Counting { store, documents, options, plan, task, take }.all()
}

impl Counting<'_> {
    fn all(&self) -> Result<u64> {
        let total = self.plan.blocks.iter().map(|block| block.len() as u64).sum();
        let (mut before, mut below) = (0, 0);
        let what = match (self.documents.are_joined(), self.documents.are_of_submissions()) {
            (true, _) => "submissions compared",
            (false, true) => "files of submissions compared",
            _ => "documents compared",
        };
        for block in &self.plan.blocks {
            let report = |done| self.task.step(what, before + done, total);
            below += match (self.documents.views(), self.documents.weights.is_empty()) {
                (1, true) => self.block::<1, ()>(block, &report)?,
                (1, false) => self.block::<1, f64>(block, &report)?,
                _ => self.block::<2, f64>(block, &report)?,
            };
            before += block.len() as u64;
        }
        Ok(below)
    }

    /// Counts the pairs of the documents in `block` with all others, in `VIEWS` views. Returns the number of
    /// pairs below the thresholds.
    fn block<const VIEWS: usize, W: WeightSum>(&self, block: &Range<u32>, report: &Report<'_>) -> Result<u64> {
        let Self { documents, options, plan, take, .. } = *self;
        let lists = Lists::gather(self, block)?;
        let thresholds = documents.thresholds(options);
        let judge = |pair| documents.judge(pair, options, &thresholds);
        let done = AtomicU64::new(0);
        // Each thread has its own counter, so there must be no more parts than counters that fit in memory.
        let least = if plan.threads < rayon::current_num_threads() { block.len().div_ceil(plan.threads) } else { 1 };
        let found = block.clone().into_par_iter().with_min_len(least).map_init(
            || Counter::<VIEWS, W>::new(documents),
            |counter, anchor| {
                let below = counter.count(anchor, (anchor - block.start) as usize, &lists, documents, &judge, take)?;
                let so_far = done.fetch_add(1, Ordering::Relaxed) + 1;
                if so_far.is_multiple_of(REPORTED) {
                    report(so_far)?;
                }
                Ok::<_, Error>(below)
            },
        );
        let below = found.try_reduce(|| 0, |a, b| Ok(a + b))?;
        report(block.len() as u64)?;
        Ok(below)
    }
}

impl Lists {
    fn gather(counting: &Counting<'_>, block: &Range<u32>) -> Result<Self> {
        let &Counting { store, documents, options, plan, task, .. } = counting;
        let counts = &plan.lists[block.start as usize..block.end as usize];
        let mut next: Vec<u64> = Vec::with_capacity(counts.len());
        let mut total = 0;
        for &count in counts {
            next.push(total);
            total += u64::from(count);
        }
        let mut lists = Self {
            holders: Vec::new(),
            ends: Vec::new(),
            weights: Vec::new(),
            of_documents: vec![0; total as usize],
            document_ends: Vec::new(),
        };
        let view = store.view();
        let mut held = HolderLists::default();
        let mut hashes = 0;
        let mut room = Vec::new();
        store.for_each_hash(|hash, _, holders| {
            hashes += 1;
            if is_due(hashes) {
                task.token().check()?;
            }
            if holders.iter().any(|&holder| view.is_boilerplate(holder)) {
                return Ok(());
            }
            let holders = documents.holders(holders, &mut room);
            if options.max_df.is_some_and(|most| holders.len() as u64 > most) {
                return Ok(());
            }
            held.take(holders, documents);
            let first = held.anchors.partition_point(|&anchor| anchor < block.start);
            let end = held.anchors.partition_point(|&anchor| anchor < block.end);
            if first == end {
                return Ok(());
            }
            for &anchor in &held.anchors[first..end] {
                let place = &mut next[(anchor - block.start) as usize];
                // A block has at most 2^32 - 1 lists.
                lists.of_documents[*place as usize] = lists.ends.len() as u32;
                *place += 1;
            }
            // If no document is old, each document pairs only with later ones.
            let before = if documents.are_divided() { 0 } else { first };
            lists.holders.extend(&held.others[before..]);
            let kind = documents.view_of(hash);
            lists.ends.push((lists.holders.len() as u64) << 1 | kind as u64);
            if !documents.weights.is_empty() {
                lists.weights.push(documents.weight_of(holders.len() as u64, kind));
            }
            Ok(())
        })?;
        lists.document_ends = next;
        Ok(lists)
    }

    /// The view of a list, and its holders.
    fn list(&self, number: u32) -> (usize, &[u32]) {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] >> 1);
        let end = self.ends[number];
        ((end & 1) as usize, &self.holders[start as usize..(end >> 1) as usize])
    }

    /// The lists of a document, by its index in the block.
    fn of_document(&self, place: usize) -> &[u32] {
        let start = place.checked_sub(1).map_or(0, |before| self.document_ends[before]);
        &self.of_documents[start as usize..self.document_ends[place] as usize]
    }
}

/// The sum of the weights of shared hashes; `()` if all hashes weigh the same.
trait WeightSum: Copy + Default {
    fn add(&mut self, weight: f64);
    fn get(self) -> f64;
}

impl WeightSum for () {
    fn add(&mut self, _: f64) {}

    fn get(self) -> f64 {
        0.0
    }
}

impl WeightSum for f64 {
    fn add(&mut self, weight: f64) {
        *self += weight;
    }

    fn get(self) -> f64 {
        self
    }
}

/// The shared hashes of the anchor and another document, and their weights, in each view. They lie together,
/// because they are counted together.
#[derive(Clone, Copy)]
struct Shared<const VIEWS: usize, W> {
    weights: [W; VIEWS],
    hashes: [u32; VIEWS],
}

/// The counters of one thread, by document.
struct Counter<const VIEWS: usize, W> {
    shared: Vec<Shared<VIEWS, W>>,
    /// Documents whose counter is not zero.
    touched: Vec<u32>,
    /// Pairs not yet passed on.
    found: Vec<Measured>,
}

impl<const VIEWS: usize, W: WeightSum> Counter<VIEWS, W> {
    fn new(documents: &Documents) -> Self {
        Self { shared: vec![Self::none(); documents.ids()], touched: Vec::new(), found: Vec::new() }
    }

    fn none() -> Shared<VIEWS, W> {
        Shared { weights: [W::default(); VIEWS], hashes: [0; VIEWS] }
    }

    /// Passes on the wanted pairs of one document. Returns the number of its pairs below the thresholds.
    fn count(
        &mut self,
        anchor: u32,
        place: usize,
        lists: &Lists,
        documents: &Documents,
        judge: &impl Fn(CountedPair) -> Verdict,
        take: &Take<'_>,
    ) -> Result<u64> {
        let (paired_with_all, new_together) = (documents.are_divided(), documents.are_new_together());
        for &number in lists.of_document(place) {
            let (view, list) = lists.list(number);
            let view = view.min(VIEWS - 1);
            let weight = lists.weights.get(number as usize).copied().unwrap_or(0.0);
            // Lists ascend. A list is read from its end, which needs no search for the first document after
            // the anchor.
            for &other in list.iter().rev().take_while(|&&other| paired_with_all || other > anchor) {
                // Two new documents are counted as a pair only once: when the earlier document is the anchor.
                if new_together && other <= anchor && documents.is_new(other) == Some(true) {
                    continue;
                }
                let shared = &mut self.shared[other as usize];
                if shared.hashes == [0; VIEWS] {
                    self.touched.push(other);
                }
                shared.hashes[view] += 1;
                shared.weights[view].add(weight);
            }
        }
        let mut below = 0;
        for other in self.touched.drain(..) {
            let Shared { weights, hashes } = std::mem::replace(&mut self.shared[other as usize], Self::none());
            let shared = [hashes[0], *hashes.get(1).unwrap_or(&0)];
            let weight = [weights[0].get(), weights.get(1).map_or(0.0, |weight| weight.get())];
            let pair = CountedPair { a: anchor.min(other), b: anchor.max(other), shared, weight };
            match judge(pair) {
                Verdict::Wanted(measured) => self.found.push(measured),
                Verdict::Below => below += 1,
                Verdict::NoPair => {}
            }
            if self.found.len() == HANDED_OVER {
                take(&self.found)?;
                self.found.clear();
            }
        }
        if !self.found.is_empty() {
            take(&self.found)?;
            self.found.clear();
        }
        Ok(below)
    }
}
