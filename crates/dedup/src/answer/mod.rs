//! Answer: visits the decisions of a run one document at a time, and adds names and digests.

pub(super) mod decisions;
mod ordered_map;
pub(super) mod outcome;
pub(super) mod report;

use std::collections::HashMap;
use std::path::PathBuf;

use roaring::RoaringBitmap;

use crate::answer::outcome::RunOutcome;
use crate::between_runs::job::Job;
use crate::between_runs::past::Past;
use crate::between_runs::record::{Fate, Reason, RecordFiles};
use crate::join::measure::Threshold;
use crate::{Because, BySource, DedupRow, DedupSummary, LatestRun, Removable, SourceTotals, Superseded, Undecided};
use fpdb_host::error::Result;
use fpdb_host::schema::Schema;
use fpdb_kernel::document::{Digest, DocId};
use fpdb_store::{DocumentRecord, Store};

/// The decisions of a run, and the figures of the summary.
pub struct Decided {
    pub(crate) decisions: DecisionSource,
    pub(crate) threshold: Threshold,
    pub(crate) common: u64,
    pub(crate) boilerplate: u64,
    pub(crate) unread: u64,
}

/// Source of the decisions.
pub(crate) enum DecisionSource {
    /// In memory. The file of the job keeps the decisions until the answer has been given.
    InMemory(Box<RunOutcome>, Option<Job>),
    /// In the record of a database, with the stored documents.
    /// `decides`: this run decided something.
    Recorded { files: RecordFiles, stored: RoaringBitmap, database: String, rule: String, job: PathBuf, decides: bool },
}

/// Maximum number of survivors whose facts are kept in memory for later rows.
const MOST_SURVIVORS: usize = 4096;

/// Number of documents whose fates are looked up together.
const FATES_AHEAD: u32 = 1024;

/// Maximum bytes of metadata in the facts of all these survivors. One document can have 1 MiB of metadata.
const MOST_SURVIVOR_BYTES: usize = 16 << 20;

/// A text is short if it has fewer symbols than this multiple of the guarantee. A short text has about four
/// fingerprints at most.
const SHORT: u64 = 2;

impl Decided {
    /// Calls `visit` with each removable document, then with each undecided one, then with each superseded
    /// one. Each kind is in order of ingestion. Deletes the state of the job at the end, or at the start if a
    /// record holds the decisions.
    ///
    /// # Errors
    /// The error of `visit`; a failure to read the store, the record or the job.
    pub fn for_each(self, store: &Store, visit: &mut dyn FnMut(DedupRow) -> Result<()>) -> Result<DedupSummary> {
        let Self { decisions, threshold, common, boilerplate, unread } = self;
        let summary = DedupSummary { common, boilerplate, unread, ..DedupSummary::default() };
        let (survivors, sources) = (HashMap::new(), BySource::default());
        let mut writer = AnswerWriter { store, threshold, summary, survivors, survivor_bytes: 0, sources };
        match decisions {
            DecisionSource::InMemory(outcome, job) => {
                // Fates are looked up many at a time, so that the processor overlaps the reads of memory.
                let mut ahead = (0, Vec::new());
                let mut fate = |id: u32| {
                    let (first, fates) = &mut ahead;
                    if (id - *first) as usize >= fates.len() {
                        *first = id;
                        fates.clear();
                        fates.extend((id..id.saturating_add(FATES_AHEAD)).map(|id| outcome.fate(id)));
                    }
                    Ok(fates[(id - *first) as usize].map(|fate| (fate, None)))
                };
                writer.for_each(None, &mut fate, visit)?;
                job.map_or(Ok(()), Job::remove)?;
            }
            DecisionSource::Recorded { files, stored, database, rule, job, decides } => {
                Job::discard(&job)?;
                let mut past = Past::read(&files, &stored, &database, &rule)?;
                let latest = past.header().map(|header| header.run);
                let mut fate = |id| Ok(past.entry(id)?.map(|entry| (entry.fate, Some(entry.run))));
                writer.for_each(latest, &mut fate, visit)?;
                if let Some(latest) = &mut writer.summary.latest {
                    latest.is_earlier = !decides;
                }
            }
        }
        Ok(writer.summary)
    }
}

/// Looks up the decision about a document, and the run that made it.
type FateOf<'a> = dyn FnMut(u32) -> Result<Option<(Fate, Option<u32>)>> + 'a;

/// An answer while it is written.
struct AnswerWriter<'a> {
    store: &'a Store,
    threshold: Threshold,
    summary: DedupSummary,
    survivors: HashMap<u32, SurvivorInfo>,
    /// Bytes of metadata in `survivors`.
    survivor_bytes: usize,
    sources: BySource<SourceTotals>,
}

impl AnswerWriter<'_> {
    fn for_each(
        &mut self,
        latest: Option<u32>,
        fate: &mut FateOf<'_>,
        visit: &mut dyn FnMut(DedupRow) -> Result<()>,
    ) -> Result<()> {
        let store = self.store;
        let (mut justify, mut undecided) = (RoaringBitmap::new(), RoaringBitmap::new());
        let mut superseded: Vec<(u32, Reason, u32)> = Vec::new();
        let mut last = LatestRun { run: latest.unwrap_or_default(), ..LatestRun::default() };
        store.for_each_document(|id, record| {
            let Some((fate, run)) = fate(id)?.filter(|_| !record.boilerplate) else { return Ok(true) };
            self.summary.documents += 1;
            let is_new = run == latest && !matches!(fate, Fate::Superseded(_));
            last.decided += u64::from(is_new);
            let totals = self.sources.of(&record);
            totals.documents += 1;
            let reason = match fate {
                Fate::Removable(reason) => reason,
                Fate::Stays => return Ok(true),
                Fate::Undecided => {
                    undecided.insert(id);
                    return Ok(true);
                }
                Fate::Superseded(reason) => {
                    superseded.push((id, reason, run.unwrap_or_default()));
                    return Ok(true);
                }
            };
            totals.removable += 1;
            totals.bytes += record.bytes;
            last.removable += u64::from(is_new);
            justify.insert(reason.keep);
            let (survivor, because, score) = self.survivor(&record, &reason)?;
            self.summary.count(because, record.bytes);
            self.summary.parts_not_compared += u64::from(has_parts_not_compared(because, &record));
            let profile = store.profile();
            // If w is 1, every k-gram is a fingerprint, and no difference is missed.
            let is_short = profile.w() > 1 && profile.guarantee().is_some_and(|t| record.symbols < SHORT * t);
            self.summary.short += u64::from(is_short && is_likeness(because));
            visit(DedupRow::Removable(Removable {
                schema: Schema::new(),
                remove: record.name,
                remove_id: DocId(id),
                keep: survivor.name,
                keep_id: DocId(reason.keep),
                because,
                score,
                shared: reason.shared.into(),
                novel: reason.novel.into(),
                bytes: record.bytes,
                remove_digest: record.digest,
                keep_digest: survivor.digest,
                run,
                metadata: id_first(record.metadata),
                keep_metadata: survivor.metadata,
            }))?;
            Ok(true)
        })?;
        for id in &undecided {
            let DocumentRecord { name, metadata, .. } = store.document(id)?;
            visit(DedupRow::Undecided(Undecided {
                schema: Schema::new(),
                document: name,
                id: DocId(id),
                metadata: id_first(metadata),
            }))?;
        }
        last.superseded = superseded.len() as u64;
        for (id, reason, run) in superseded {
            let record = store.document(id)?;
            let (survivor, because, score) = self.survivor(&record, &reason)?;
            visit(DedupRow::Superseded(Superseded {
                schema: Schema::new(),
                document: record.name,
                id: DocId(id),
                by: survivor.name,
                by_id: DocId(reason.keep),
                because,
                score,
                shared: reason.shared.into(),
                novel: reason.novel.into(),
                bytes: record.bytes,
                run,
                metadata: id_first(record.metadata),
                by_metadata: survivor.metadata,
            }))?;
        }
        let summary = &mut self.summary;
        summary.groups = justify.len();
        summary.undecided = undecided.len();
        summary.kept = summary.documents - summary.removable;
        summary.latest = latest.map(|_| last);
        let largest = std::mem::take(&mut self.sources).largest(|totals| totals.removable);
        summary.sources = largest.map(|(source, totals)| SourceTotals { source, ..totals }).collect();
        Ok(())
    }

    /// The document that justifies a removal, with the cause and the score.
    fn survivor(&mut self, record: &DocumentRecord, reason: &Reason) -> Result<(SurvivorInfo, Because, f64)> {
        if self.survivors.len() >= MOST_SURVIVORS || self.survivor_bytes >= MOST_SURVIVOR_BYTES {
            self.survivors.clear();
            self.survivor_bytes = 0;
        }
        let survivor = match self.survivors.get(&reason.keep) {
            Some(survivor) => survivor,
            None => {
                let record = self.store.document(reason.keep)?;
                let distinct = record.structure().distinct;
                let DocumentRecord { name, digest, metadata, .. } = record;
                self.survivor_bytes += metadata.iter().map(|(field, value)| field.len() + value.len()).sum::<usize>();
                let metadata = id_first(metadata);
                self.survivors.entry(reason.keep).or_insert(SurvivorInfo { name, distinct, digest, metadata })
            }
        };
        // A document has fewer than 2^32 fingerprints.
        let size_of = |distinct: u64| u32::try_from(distinct).unwrap_or(u32::MAX);
        let (because, score) = match reason.because {
            _ if survivor.digest == record.digest => (Because::Identical, 1.0),
            Because::Identical => (Because::SameText, 1.0),
            because => {
                let (size, other) = (size_of(record.structure().distinct), size_of(survivor.distinct));
                (because, self.threshold.score(reason.shared, size, other))
            }
        };
        Ok((survivor.clone(), because, score))
    }
}

/// True if only texts were compared, and the removable document may hold attachments or pictures.
fn has_parts_not_compared(because: Because, record: &DocumentRecord) -> bool {
    is_likeness(because) && record.extracted
}

fn is_likeness(because: Because) -> bool {
    matches!(because, Because::Contained | Because::Resembles)
}

/// Facts of a survivor that rows repeat.
#[derive(Clone)]
struct SurvivorInfo {
    name: String,
    distinct: u64,
    digest: Digest,
    metadata: Vec<(String, String)>,
}

/// Moves the field named `id` to the front.
fn id_first(mut metadata: Vec<(String, String)>) -> Vec<(String, String)> {
    if let Some(place) = metadata.iter().position(|(name, _)| name == "id") {
        metadata[..=place].rotate_right(1);
    }
    metadata
}
