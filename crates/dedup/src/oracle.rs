//! Oracle: the rule by brute force over sets, compared with the join.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use proptest::prelude::*;

use super::DedupBy;
use super::DedupOptions;
use super::Keep;
use super::MemoryPlan;
use super::answer::decisions::{Decision, Decisions, Witness};
use super::between_runs::job::Job;
use super::join;
use super::join::measure::Threshold;
use super::monitor::Monitor;
use super::ranking::{Extent, RankKey, Ranking, RankingKey, Standing};
use super::terms::source::PostingSource;
use fpdb_host::clock::{DocumentTime, TimeSource};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{Progress, Task};
use fpdb_host::spill::{Sorter, TempSpace};
use fpdb_host::stop::StopToken;
use fpdb_kernel::profile::Profile;
use fpdb_store::Posting;

/// Symbols in a k-gram of the model.
pub(super) const K: u64 = 3;

/// Documents as sequences of hashes. The fingerprint with ordinal i is at symbol 2 i.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) documents: Vec<ModelDocument>,
    pub(super) boilerplate: BTreeSet<u32>,
    /// Documents that are deleted, or not yet stored.
    pub(super) absent: BTreeSet<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct ModelDocument {
    pub(super) hashes: Vec<u64>,
    /// The bytes of the document. Two documents of the same bytes and different hashes have different
    /// formats. `None` if no other document has these bytes and different hashes.
    bytes: Option<u8>,
    protected: bool,
    preferred: Option<u32>,
    time: i64,
}

impl ModelDocument {
    pub(super) fn set(&self) -> BTreeSet<u64> {
        self.hashes.iter().copied().collect()
    }

    /// The digest of the bytes.
    pub(super) fn digest(&self) -> [u8; 16] {
        self.bytes.map_or(xxhash_rust::xxh3::xxh3_128(&self.hash_bytes()).to_be_bytes(), |bytes| [bytes; 16])
    }

    fn hash_bytes(&self) -> Vec<u8> {
        self.hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect()
    }

    fn symbols(&self) -> u64 {
        if self.hashes.is_empty() { 0 } else { 2 * (self.hashes.len() as u64 - 1) + K }
    }
}

impl PostingSource for Model {
    fn k(&self) -> u64 {
        K
    }

    fn ranges(&self) -> Vec<RangeInclusive<u64>> {
        vec![0..=10, 11..=20, 21..=u64::MAX]
    }

    fn visit_batches(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(&[Posting]) -> Result<()>,
    ) -> Result<()> {
        let mut postings = Vec::new();
        for (document, held) in (0..).zip(&self.documents).filter(|(id, _)| !self.absent.contains(id)) {
            let held = held.hashes.iter().zip(0..).filter(|(hash, _)| hashes.contains(hash));
            postings.extend(held.map(|(&hash, ordinal)| Posting { hash, document, ordinal }));
        }
        postings.sort_unstable();
        // Batches of a few hashes, and all postings of each.
        postings.chunk_by(|a, b| a.hash / 3 == b.hash / 3).try_for_each(visit)
    }

    fn visit_positions(
        &self,
        document: u32,
        fingerprints: u32,
        visit: &mut dyn FnMut(Option<u64>) -> Result<()>,
    ) -> Result<()> {
        assert_eq!(fingerprints as usize, self.documents[document as usize].hashes.len());
        (0..fingerprints).try_for_each(|ordinal| visit(Some(2 * u64::from(ordinal))))
    }
}

impl Model {
    fn ranking(&self, keep: Keep, temp: &TempSpace, memory: u64) -> Ranking {
        self.ranking_after(keep, &mut |_| Standing::Open, (temp, memory))
    }

    /// Like [`Ranking::of_store`].
    pub(super) fn ranking_after(
        &self,
        keep: Keep,
        standing: &mut dyn FnMut(u32) -> Standing,
        (temp, memory): (&TempSpace, u64),
    ) -> Ranking {
        let mut sorter = Sorter::new(temp, memory);
        let stored = (0..).zip(&self.documents).filter(|(id, _)| !self.absent.contains(id));
        for (id, document) in stored.filter(|(id, _)| !self.boilerplate.contains(id)) {
            let standing = standing(id);
            if standing == Standing::Removable {
                continue;
            }
            let ranked = RankingKey {
                id,
                digest: document.digest(),
                format: xxhash_rust::xxh3::xxh3_64(&document.hash_bytes()) as u32,
                distinct: document.set().len() as u32,
                extent: Extent::new(document.hashes.len() as u32, document.symbols()),
                protected: document.protected,
                preferred: document.preferred,
                file_time: (document.time > 0).then_some((document.time, 0)),
                time: DocumentTime { source: TimeSource::Ingest, time: (document.time, 0) },
                pinned: standing == Standing::Stays,
            };
            sorter.push(RankKey::of(&ranked, keep)).unwrap();
        }
        let boilerplate: Vec<u32> = self.boilerplate.difference(&self.absent).copied().collect();
        let ids = (self.documents.len() as u32, &boilerplate[..]);
        let ranking = Ranking::of_sorted(sorter, ids, keep, None, (temp, memory)).unwrap();
        for rank in 0..ranking.len() {
            let group = |rank: u32| (self.of(&ranking, rank).digest(), &self.of(&ranking, rank).hashes);
            let first = (0..rank).find(|&first| group(first) == group(rank)).unwrap_or(rank);
            let is_apart = rank < ranking.protected || ranking.pinned.contains(rank);
            assert_eq!(ranking.leader(rank), if is_apart { rank } else { first });
        }
        ranking
    }

    pub(super) fn of(&self, ranking: &Ranking, rank: u32) -> &ModelDocument {
        &self.documents[ranking.id(rank) as usize]
    }

    /// The options under which these documents are preferred.
    pub(super) fn preferring(&self, options: DedupOptions) -> DedupOptions {
        let is_preferred = |document: &ModelDocument| document.preferred.is_some();
        let patterns = usize::from(self.documents.iter().any(is_preferred));
        DedupOptions { prefer: vec![String::new(); patterns], ..options }
    }

    /// The witness if `keep` justifies the removal of `rank`, by the definition.
    pub(super) fn justifies(&self, ranking: &Ranking, options: &DedupOptions, keep: u32, rank: u32) -> Option<Witness> {
        let document = |rank: u32| self.of(ranking, rank);
        let left_out = |hash: &u64| {
            let holders = (0..ranking.len()).map(document).filter(|holder| holder.set().contains(hash));
            let holders: BTreeSet<_> = holders.map(|holder| (holder.digest(), &holder.hashes[..])).collect();
            let stored = self.boilerplate.difference(&self.absent);
            stored.into_iter().any(|&id| self.documents[id as usize].set().contains(hash))
                || options.max_df.is_some_and(|most| holders.len() as u64 > most)
        };
        let (d, s) = (document(rank), document(keep).set());
        let all = d.set();
        let shared: BTreeSet<u64> = all.intersection(&s).copied().filter(|hash| !left_out(hash)).collect();
        // Ignored hashes are part of both sizes.
        let union = all.len() + s.len() - shared.len();
        let of = if options.by == DedupBy::Resemblance { union } else { all.len() };
        if shared.is_empty() || (shared.len() as f64 / of as f64) < options.threshold {
            return None;
        }
        // The longest run of symbols outside shared k-grams that holds an unmatched fingerprint.
        let (mut novel, mut start, mut unmatched) = (0, 0, false);
        for (place, hash) in d.hashes.iter().enumerate() {
            let position = 2 * place as u64;
            if shared.contains(hash) {
                if unmatched {
                    novel = novel.max(position.saturating_sub(start));
                }
                (start, unmatched) = (position + K, false);
            } else {
                unmatched = true;
            }
        }
        if unmatched {
            novel = novel.max(d.symbols().saturating_sub(start));
        }
        let enough = options.max_novel.is_none_or(|most| novel <= most);
        enough.then_some(Witness { rank: keep, shared: shared.len() as u32, novel })
    }

    /// The rule, by its definition: the witness of each removable leader, and each superseded pinned
    /// document.
    pub(super) fn expected(
        &self,
        ranking: &Ranking,
        options: &DedupOptions,
    ) -> (Vec<Option<Witness>>, Vec<(u32, Witness)>) {
        let justifies = |keep: u32, rank: u32| self.justifies(ranking, options, keep, rank);
        let identical = |keep: u32, rank: u32| {
            let shared = ranking.size(rank).min(ranking.size(keep));
            let is_identical = self.of(ranking, keep).digest() == self.of(ranking, rank).digest();
            is_identical.then_some(Witness { rank: keep, shared, novel: 0 })
        };
        let is_pinned = |rank: u32| ranking.pinned.contains(rank);
        let leaders: Vec<u32> = (0..ranking.len()).filter(|&rank| ranking.leads(rank)).collect();
        let mut witnesses: Vec<Option<Witness>> = vec![None; ranking.len() as usize];
        let mut stays: BTreeSet<u32> = BTreeSet::new();
        for &rank in &leaders {
            let witness = stays.iter().find_map(|&keep| justifies(keep, rank).or(identical(keep, rank)));
            let witness = witness.filter(|_| rank >= ranking.protected && !is_pinned(rank));
            witnesses[rank as usize] = witness;
            if witness.is_none() {
                stays.insert(rank);
            }
        }
        let mut superseded: Vec<(u32, Witness)> = Vec::new();
        for rank in ranking.pinned.iter().filter(|&rank| rank >= ranking.protected) {
            let newcomers = stays.iter().filter(|&&keep| keep < rank && !is_pinned(keep));
            let witness = newcomers.filter_map(|&keep| justifies(keep, rank).or(identical(keep, rank)));
            superseded.extend(witness.take(1).map(|witness| (rank, witness)));
        }
        let better: BTreeSet<u32> = superseded.iter().map(|(_, witness)| witness.rank).collect();
        let supersedes = |rank: u32| better.contains(&rank);
        for &rank in leaders.iter().rev().filter(|&&rank| rank >= ranking.protected) {
            if is_pinned(rank) || supersedes(rank) || !stays.remove(&rank) {
                continue;
            }
            let theirs = leaders.iter().filter(|&&of| witnesses[of as usize].is_some_and(|one| one.rank == rank));
            let others: Option<Vec<(u32, Witness)>> = theirs
                .chain([&rank])
                .map(|&of| Some((of, stays.iter().find_map(|&keep| justifies(keep, of).filter(|_| keep != of))?)))
                .collect();
            match others {
                None => {
                    stays.insert(rank);
                }
                Some(others) => {
                    for (of, witness) in others {
                        witnesses[of as usize] = Some(witness);
                    }
                }
            }
        }
        let larger_first = options.keep == Keep::Longest && options.prefer.is_empty() && ranking.protected == 0;
        let symmetric = options.by == DedupBy::Resemblance;
        let asks = options.max_novel.is_some() || !(larger_first || symmetric);
        for rank in ranking.pinned.iter().filter(|&rank| rank >= ranking.protected && asks) {
            if superseded.iter().all(|&(listed, _)| listed != rank) {
                let later = stays.range(rank + 1..).filter(|&&keep| !is_pinned(keep));
                superseded
                    .extend(later.filter_map(|&keep| justifies(keep, rank)).take(1).map(|witness| (rank, witness)));
            }
        }
        superseded.sort_by_key(|&(rank, _)| rank);
        (witnesses, superseded)
    }
}

/// Models of some documents, each an edited part of one of a few base documents. Some documents have the same
/// bytes.
pub(super) fn model() -> impl Strategy<Value = Model> {
    let base = prop::collection::vec(0u64..30, 0..14);
    let edit = (0usize..14, prop::option::of(0u64..34));
    let variation = (0usize..4, prop::collection::vec(edit, 0..4), 0usize..14, 0usize..15);
    let flags = (prop::bool::weighted(0.06), prop::option::weighted(0.1, 0u32..2), 0i64..4);
    let documents = prop::collection::vec((variation, flags, prop::option::weighted(0.4, 0u8..4)), 0..22);
    let boilerplate = prop::collection::btree_set(0u32..60, 0..2);
    (prop::collection::vec(base, 4), documents, boilerplate).prop_map(|(bases, documents, boilerplate)| {
        let documents: Vec<ModelDocument> = documents
            .into_iter()
            .map(|((base, edits, start, length), (protected, preferred, time), bytes)| {
                let mut hashes: Vec<u64> =
                    bases[base].iter().copied().skip(start / 3).take(length.max(1) + 4).collect();
                for (place, hash) in edits {
                    let place = place.min(hashes.len());
                    match hash {
                        Some(hash) => hashes.insert(place, hash),
                        None if place < hashes.len() => drop(hashes.remove(place)),
                        None => {}
                    }
                }
                ModelDocument { hashes, bytes, protected, preferred, time }
            })
            .collect();
        let boilerplate = boilerplate.into_iter().filter(|&id| (id as usize) < documents.len()).collect();
        Model { documents, boilerplate, absent: BTreeSet::new() }
    })
}

pub(super) fn options() -> impl Strategy<Value = DedupOptions> {
    let by = prop::sample::select(vec![DedupBy::Containment, DedupBy::Resemblance]);
    let threshold = prop::sample::select(vec![0.3, 0.5, 0.6, 0.75, 0.8, 0.9, 1.0]);
    let keep = prop::sample::select(vec![Keep::Longest, Keep::First, Keep::Newest, Keep::Oldest]);
    let max_novel = prop::option::of(0u64..16);
    let max_df = prop::option::weighted(0.2, 2u64..6);
    (by, threshold, keep, max_novel, max_df).prop_map(|(by, threshold, keep, max_novel, max_df)| DedupOptions {
        threshold,
        keep,
        max_novel,
        max_df,
        ..DedupOptions::of(&Profile::default(), by)
    })
}

struct Run {
    model: Model,
    ranking: Ranking,
    options: DedupOptions,
    temp: TempSpace,
    threads: usize,
}

/// Stops its task after a number of reports.
struct Limited {
    left: AtomicU64,
    token: StopToken,
}

impl Progress for Limited {
    fn step(&self, _: &'static str, _: u64, _: u64) {
        if self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_err() {
            self.token.stop();
        }
    }
}

impl Run {
    /// Makes all decisions, unless the limit on progress reports stops the run.
    fn decisions(&self, plan: &MemoryPlan, job: &mut Job, decisions: &mut Decisions, reports: u64) -> Result<()> {
        let limited = Limited { left: AtomicU64::new(reports), token: StopToken::new() };
        let task = Task::new().progress(&limited).stop(&limited.token);
        let monitor = Monitor { task: &task, postings: 0, documents: 0 };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().unwrap();
        pool.install(|| {
            join(
                &self.model,
                (&self.ranking, self.ranking.extents.clone()),
                &self.options,
                plan,
                &self.temp,
                (decisions, job),
                &monitor,
            )
            .map(|_| ())
        })
    }
}

fn check(model: Model, options: DedupOptions, plan: &MemoryPlan, threads: usize) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let temp = TempSpace::new(folder.path()).unwrap();
    let options = model.preferring(options);
    let ranking = model.ranking(options.keep, &temp, plan.sorting);
    let (expected, _) = model.expected(&ranking, &options);
    let run = Run { model, ranking, options, temp, threads };
    let total = run.ranking.len();
    let compare = |decisions: &Decisions| {
        for rank in (0..total).filter(|&rank| run.ranking.leads(rank)) {
            let wanted = expected[rank as usize].map_or(Decision::Stays, Decision::Removable);
            prop_assert_eq!(decisions.get(rank), wanted, "rank {} of {:?}", rank, run.options);
        }
        Ok(())
    };
    let mut decisions = Decisions::new(total, false);
    run.decisions(plan, &mut Job::unsaved(), &mut decisions, u64::MAX).unwrap();
    compare(&decisions)?;
    // A large enough budget changes nothing.
    let generous = Run { options: DedupOptions { budget: Some(1 << 40), ..run.options.clone() }, ..run };
    let mut decisions = Decisions::new(total, true);
    generous.decisions(plan, &mut Job::unsaved(), &mut decisions, u64::MAX).unwrap();
    for rank in (0..total).filter(|&rank| generous.ranking.leads(rank)) {
        let wanted = expected[rank as usize].map_or(Decision::Stays, Decision::Removable);
        prop_assert_eq!(decisions.get(rank), wanted);
    }
    // Interruptions change nothing either.
    let path = folder.path().join("job");
    let resumed = Cell::new(0);
    let mut reports = 1;
    loop {
        let mut decisions = Decisions::new(total, true);
        let mut job = match Job::resume(&path, "rule", &generous.ranking, &mut decisions) {
            // A process that another test starts holds the lock until it has executed its program.
            Err(Error::JobInUse { .. }) => continue,
            job => job.unwrap(),
        };
        match generous.decisions(plan, &mut job, &mut decisions, reports) {
            Err(Error::Stopped) => {
                resumed.set(resumed.get() + 1);
                prop_assert!(resumed.get() < 200, "it never ends");
                // Each run stops later than the one before, because preparation is not saved.
                reports = 1 << (resumed.get() / 8);
            }
            outcome => {
                outcome.unwrap();
                for rank in (0..total).filter(|&rank| generous.ranking.leads(rank)) {
                    let wanted = expected[rank as usize].map_or(Decision::Stays, Decision::Removable);
                    prop_assert_eq!(decisions.get(rank), wanted, "after {} interruptions", resumed.get());
                }
                return Ok(());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn the_join_decides_as_the_definition_does(
        model in model(), options in options(), sets in 0u64..400, rest in 0u64..3000, batch in 1u32..9, threads in 1usize..3,
    ) {
        check(model, options, &MemoryPlan { sorting: rest, sets, rest, batch }, threads)?;
    }
}

/// The budget alone decides which documents are undecided. A smaller budget never makes more documents
/// removable.
#[test]
fn a_budget_decides_alike_whatever_the_memory() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    runner
        .run(&(model(), options(), 0u64..12), |(model, options, budget)| {
            let folder = tempfile::tempdir().unwrap();
            let temp = TempSpace::new(folder.path()).unwrap();
            let options = DedupOptions { budget: Some(budget), ..model.preferring(options) };
            let ranking = model.ranking(options.keep, &temp, 1 << 20);
            let run = Run { model, ranking, options, temp, threads: 2 };
            let total = run.ranking.len();
            let decided = |plan: MemoryPlan| {
                let mut decisions = Decisions::new(total, true);
                run.decisions(&plan, &mut Job::unsaved(), &mut decisions, u64::MAX).unwrap();
                (0..total).map(|rank| decisions.get(rank)).filter(|one| !matches!(one, Decision::Open { .. })).collect()
            };
            let roomy: Vec<Decision> =
                decided(MemoryPlan { sorting: 1 << 20, sets: 1 << 20, rest: 1 << 20, batch: 64 });
            let narrow: Vec<Decision> = decided(MemoryPlan { sorting: 0, sets: 0, rest: 0, batch: 3 });
            prop_assert_eq!(roomy, narrow);
            Ok(())
        })
        .unwrap();
}

#[test]
fn thresholds_compare_only_where_fingerprints_do() {
    assert!(!Threshold::new(DedupBy::Exact, 0.8).compares());
}
