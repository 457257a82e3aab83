//! Oracle of appending: documents come and go in any order, and earlier decisions are read from a record.
//! Each run is compared with the rule by brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use proptest::prelude::*;
use roaring::RoaringBitmap;

use super::Because;
use super::DedupBy;
use super::DedupOptions;
use super::MemoryPlan;
use super::answer::decisions::{Decision, Decisions, Witness};
use super::answer::outcome::RunOutcome;
use super::between_runs::job::Job;
use super::between_runs::past::Past;
use super::between_runs::record::{Fate, Reason, RecordEntry, RecordFiles, RecordHeader};
use super::join;
use super::monitor::Monitor;
use super::next_entry;
use super::open_documents;
use super::oracle::{Model, model, options};
use super::ranking::Ranking;
use super::terms::source::PostingSource;
use fpdb_host::error::Result;
use fpdb_host::progress::Task;
use fpdb_host::spill::TempSpace;
use fpdb_store::Posting;

/// A source of postings with only the hashes that these documents hold.
struct HashesOf<'a>(&'a Model, &'a BTreeSet<u32>);

impl PostingSource for HashesOf<'_> {
    fn k(&self) -> u64 {
        self.0.k()
    }

    fn ranges(&self) -> Vec<RangeInclusive<u64>> {
        self.0.ranges()
    }

    fn visit_batches(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(&[Posting]) -> Result<()>,
    ) -> Result<()> {
        self.0.visit_batches(hashes, &mut |postings| {
            let of_hashes = postings.chunk_by(|a, b| a.hash == b.hash);
            let held = of_hashes.filter(|held| held.iter().any(|posting| self.1.contains(&posting.document)));
            held.into_iter().try_for_each(&mut *visit)
        })
    }

    fn visit_positions(
        &self,
        document: u32,
        fingerprints: u32,
        visit: &mut dyn FnMut(Option<u64>) -> Result<()>,
    ) -> Result<()> {
        self.0.visit_positions(document, fingerprints, visit)
    }
}

#[derive(Clone, Debug)]
enum Operation {
    /// The next documents arrive.
    Add(usize),
    /// One of the stored documents is deleted.
    Remove(prop::sample::Index),
    /// All removable documents are deleted, as users do it.
    RemoveRemovable,
    Append,
    Rerank,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        4 => (1usize..9).prop_map(Operation::Add),
        2 => any::<prop::sample::Index>().prop_map(Operation::Remove),
        1 => Just(Operation::RemoveRemovable),
        4 => Just(Operation::Append),
        1 => Just(Operation::Rerank),
    ];
    prop::collection::vec(operation, 1..14)
}

/// The decision about each document, by the definition, after a run that knows the decisions in `earlier`.
fn expected(
    model: &Model,
    ranking: &Ranking,
    options: &DedupOptions,
    earlier: &BTreeMap<u32, RecordEntry>,
    run: u32,
) -> BTreeMap<u32, RecordEntry> {
    let (witnesses, superseded) = model.expected(ranking, options);
    let because = if options.by == DedupBy::Resemblance { Because::Resembles } else { Because::Contained };
    let reason = |Witness { rank: keep, shared, novel }: Witness| {
        let keep = ranking.id(keep);
        Reason { keep, because, shared, novel: novel as u32 }
    };
    let mut after = earlier.clone();
    for rank in 0..ranking.len() {
        let document = ranking.id(rank);
        if ranking.pinned.contains(rank) {
            continue;
        }
        let leader = ranking.leader(rank);
        let fate = match witnesses[leader as usize] {
            Some(witness) => Fate::Removable(reason(witness)),
            None if leader == rank => Fate::Stays,
            None => Fate::Removable(reason(Witness { rank: leader, shared: ranking.size(rank), novel: 0 })),
        };
        after.insert(document, RecordEntry { document, run, fate });
    }
    for (rank, witness) in superseded {
        let entry = after.get_mut(&ranking.id(rank)).unwrap();
        if entry.fate == Fate::Stays {
            *entry = RecordEntry { run, fate: Fate::Superseded(reason(witness)), ..*entry };
        }
    }
    after
}

/// The earlier decisions that still hold, by the definition.
fn holding(record: &BTreeMap<u32, RecordEntry>, stored: &BTreeSet<u32>) -> BTreeMap<u32, RecordEntry> {
    let holds = |entry: &RecordEntry| match entry.fate {
        Fate::Removable(reason) if !stored.contains(&reason.keep) => None,
        Fate::Superseded(reason) if !stored.contains(&reason.keep) => Some(RecordEntry { fate: Fate::Stays, ..*entry }),
        _ => Some(*entry),
    };
    let stored_entries = record.values().filter(|entry| stored.contains(&entry.document));
    stored_entries.filter_map(holds).map(|entry| (entry.document, entry)).collect()
}

struct Archive {
    model: Model,
    options: DedupOptions,
    plan: MemoryPlan,
    temp: TempSpace,
    files: RecordFiles,
    /// The expected record: its last run and its decisions.
    record: Option<(u32, BTreeMap<u32, RecordEntry>)>,
}

impl Archive {
    fn stored(&self) -> BTreeSet<u32> {
        let all = 0..self.model.documents.len() as u32;
        all.filter(|id| !self.model.absent.contains(id) && !self.model.boilerplate.contains(id)).collect()
    }

    /// Does the same as a run of the program, with the model instead of a store.
    fn run(&mut self, appends: bool) -> std::result::Result<(), TestCaseError> {
        let Self { model, options, plan, temp, files, record } = self;
        let all = 0..model.documents.len() as u32;
        let stored: RoaringBitmap =
            all.filter(|id| !model.absent.contains(id) && !model.boilerplate.contains(id)).collect();
        let read = || if appends { Past::read(files, &stored, "model", "rule") } else { Ok(Past::none(&stored)) };
        let mut past = read().unwrap();
        let mut standing = |id| past.standing(id).unwrap();
        let ranking = model.ranking_after(options.keep, &mut standing, (temp, plan.sorting));
        let run = past.header().map_or(0, |header| header.run) + 1;

        let known = stored.iter().collect();
        let earlier =
            record.as_ref().filter(|_| appends).map(|(_, record)| holding(record, &known)).unwrap_or_default();
        let is_gone = |id: &u32| matches!(earlier.get(id).map(|entry| entry.fate), Some(Fate::Removable(_)));
        prop_assert_eq!(ranking.len() as usize, known.iter().filter(|id| !is_gone(id)).count());
        let wanted = expected(model, &ranking, options, &earlier, run);
        let open: BTreeSet<u32> = open_documents(&ranking).collect();
        prop_assert_eq!(&open, &known.iter().copied().filter(|id| !earlier.contains_key(id)).collect());
        if open.is_empty() && past.header().is_some() {
            return Ok(());
        }
        let task = Task::new();
        let monitor = Monitor { task: &task, postings: 0, documents: 0 };
        let mut decisions = Decisions::new(ranking.len(), false);
        for rank in &ranking.pinned {
            decisions.set(rank, Decision::Stays);
        }
        let source = HashesOf(model, &open);
        let job = &mut Job::unsaved();
        let joined =
            join(&source, (&ranking, ranking.extents.clone()), options, plan, temp, (&mut decisions, job), &monitor)
                .unwrap();
        let superseded = joined.superseded;
        let outcome = RunOutcome { ranking, decisions: Some(decisions), superseded, by: options.by };
        let mut past = read().unwrap();
        let entries = stored.iter().map(|id| next_entry(&outcome, &mut past, id, run));
        let entries: Vec<RecordEntry> = entries.map(|entry| entry.unwrap()).collect();
        prop_assert_eq!(
            &entries,
            &wanted.values().copied().collect::<Vec<RecordEntry>>(),
            "run {} of {:?}",
            run,
            options
        );
        let header = RecordHeader { database: "model".into(), rule: "rule".into(), run, ..RecordHeader::default() };
        files.write(&header, entries.into_iter().map(Ok)).unwrap();
        *record = Some((run, wanted));
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, ..ProptestConfig::default() })]

    #[test]
    fn appending_decides_as_the_definition_does(
        model in model(), options in options(), operations in operations(), rest in 0u64..3000, batch in 1u32..9,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let options = model.preferring(options);
        let mut archive = Archive {
            options,
            plan: MemoryPlan { sorting: rest, sets: rest / 4, rest, batch },
            temp: TempSpace::new(folder.path()).unwrap(),
            files: RecordFiles::lock(folder.path()).unwrap(),
            record: None,
            model,
        };
        let documents = archive.model.documents.len() as u32;
        archive.model.absent = (0..documents).collect();
        let mut next = 0;
        for operation in operations.into_iter().chain([Operation::Append]) {
            match operation {
                Operation::Add(more) => {
                    for id in (next..documents).take(more) {
                        archive.model.absent.remove(&id);
                        next = id + 1;
                    }
                }
                Operation::Remove(which) => {
                    let stored: Vec<u32> = archive.stored().into_iter().collect();
                    if !stored.is_empty() {
                        archive.model.absent.insert(stored[which.index(stored.len())]);
                    }
                }
                Operation::RemoveRemovable => {
                    let entries = archive.record.iter().flat_map(|(_, record)| record.values());
                    let gone = entries.filter(|entry| matches!(entry.fate, Fate::Removable(_))).map(|entry| entry.document);
                    archive.model.absent.extend(gone.collect::<Vec<_>>());
                }
                Operation::Append => archive.run(true)?,
                Operation::Rerank => archive.run(false)?,
            }
        }
    }
}
