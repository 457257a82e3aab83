//! Answer: the decisions with the names of documents, one document at a time.

use std::collections::HashMap;

use super::decisions::{Decision, Decisions};
use super::job::Job;
use super::measure::Threshold;
use super::ranking::{Rank, Ranking, Unmatched};
use super::{Because, DedupBy, DedupRow, DedupSummary, Removable, SourceTotals, Undecided};
use crate::document::DocId;
use crate::error::Result;
use crate::schema::Schema;
use crate::store::{DocumentRecord, Store};

/// What was decided.
pub(crate) struct Decided {
    pub(super) ranking: Ranking,
    pub(super) unmatched: Unmatched,
    /// None where only documents of the same bytes are removable.
    pub(super) decisions: Option<Decisions>,
    pub(super) by: DedupBy,
    pub(super) threshold: Threshold,
    /// Where the state of the job is kept until the answer has been given.
    pub(super) job: Option<Job>,
    pub(super) common: u64,
    pub(super) boilerplate: u64,
}

/// Names of survivors that are kept for the next document.
const MOST_NAMES: usize = 4096;

/// Sources that are counted by themselves. More are counted as one.
const MOST_SOURCES: usize = 1 << 16;

/// Sources that a summary lists.
const SOURCES_LISTED: usize = 20;

/// The source of what has none of its own.
const OTHER_SOURCES: &str = "(other)";

impl Decided {
    fn decision(&self, rank: Rank) -> Decision {
        self.decisions.as_ref().map_or(Decision::Stays, |decisions| decisions.get(rank))
    }

    /// Why a document goes, with the rank of its survivor.
    fn reason(&self, rank: Rank) -> Option<Reason> {
        let leader = self.ranking.leader(rank);
        match self.decision(leader) {
            Decision::Goes(witness) => {
                let (size, other) = (self.ranking.size(leader), self.ranking.size(witness.rank));
                Some(Reason {
                    keep: witness.rank,
                    because: if self.by == DedupBy::Resemblance { Because::Resembles } else { Because::Contained },
                    score: self.threshold.score(witness.shared, size, other),
                    shared: witness.shared.into(),
                    novel: witness.novel,
                })
            }
            _ if leader == rank => None,
            _ => Some(Reason {
                keep: leader,
                because: Because::Identical,
                score: 1.0,
                shared: self.ranking.size(leader).into(),
                novel: 0,
            }),
        }
    }

    /// Calls `visit` with each removable document and then with each that is undecided, both in order of ingestion. Then the
    /// state of the job is removed.
    pub(crate) fn tell(self, store: &Store, visit: &mut dyn FnMut(DedupRow) -> Result<()>) -> Result<DedupSummary> {
        let mut summary = DedupSummary {
            documents: self.ranking.len().into(),
            common: self.common,
            boilerplate: self.boilerplate,
            unmatched_protect: self.unmatched.protect.clone(),
            unmatched_prefer: self.unmatched.prefer.clone(),
            ..DedupSummary::default()
        };
        let mut names: HashMap<Rank, String> = HashMap::new();
        let mut sources: HashMap<String, SourceTotals> = HashMap::new();
        let mut justifies = vec![false; self.ranking.len() as usize];
        store.for_each_document(|id, record| {
            let rank = self.ranking.of(id);
            if rank >= self.ranking.len() {
                return Ok(true);
            }
            let source = source_of(&record);
            let known = sources.len() < MOST_SOURCES || sources.contains_key(source);
            let source = if known { source } else { OTHER_SOURCES };
            let totals = match sources.get_mut(source) {
                Some(totals) => totals,
                None => sources
                    .entry(source.to_owned())
                    .or_insert(SourceTotals { source: source.to_owned(), ..SourceTotals::default() }),
            };
            totals.documents += 1;
            let Some(reason) = self.reason(rank) else { return Ok(true) };
            totals.removable += 1;
            totals.bytes += record.bytes;
            summary.count(reason.because, record.bytes);
            justifies[reason.keep as usize] = true;
            let keep_id = self.ranking.id(reason.keep);
            if names.len() >= MOST_NAMES {
                names.clear();
            }
            let keep = match names.get(&reason.keep) {
                Some(name) => name.clone(),
                None => names.entry(reason.keep).or_insert(store.document(keep_id)?.name).clone(),
            };
            visit(DedupRow::Removable(Removable {
                schema: Schema::new(),
                remove: record.name,
                remove_id: DocId(id),
                keep,
                keep_id: DocId(keep_id),
                because: reason.because,
                score: reason.score,
                shared: reason.shared,
                novel: reason.novel,
                bytes: record.bytes,
                metadata: id_first(record.metadata),
            }))?;
            Ok(true)
        })?;
        summary.groups = justifies.into_iter().filter(|&justifies| justifies).count() as u64;
        let mut undecided: Vec<u32> = (0..self.ranking.len())
            .filter(|&rank| self.decision(rank) == Decision::Undecided)
            .map(|rank| self.ranking.id(rank))
            .collect();
        undecided.sort_unstable();
        summary.undecided = undecided.len() as u64;
        summary.kept = summary.documents - summary.removable;
        for id in undecided {
            let DocumentRecord { name, metadata, .. } = store.document(id)?;
            visit(DedupRow::Undecided(Undecided {
                schema: Schema::new(),
                document: name,
                id: DocId(id),
                metadata: id_first(metadata),
            }))?;
        }
        let mut sources: Vec<SourceTotals> = sources.into_values().filter(|totals| totals.removable > 0).collect();
        sources.sort_by(|a, b| b.removable.cmp(&a.removable).then_with(|| a.source.cmp(&b.source)));
        sources.truncate(SOURCES_LISTED);
        summary.sources = sources;
        self.job.map_or(Ok(()), Job::remove)?;
        Ok(summary)
    }
}

/// Why a document goes.
struct Reason {
    keep: Rank,
    because: Because,
    score: f64,
    shared: u64,
    novel: u64,
}

/// Where a document comes from: the archive it is a part of, else the folder it is in.
fn source_of(record: &DocumentRecord) -> &str {
    let name = record.name.as_str();
    match &record.member {
        Some(member) if !member.is_empty() => {
            name.strip_suffix(member.as_str()).unwrap_or(name).trim_end_matches(['!', '#', ':'])
        }
        _ => name.rfind('/').map_or("", |slash| &name[..slash + 1]),
    }
}

/// The fields of a record, its own name for itself first.
fn id_first(mut metadata: Vec<(String, String)>) -> Vec<(String, String)> {
    if let Some(place) = metadata.iter().position(|(name, _)| name == "id") {
        metadata[..=place].rotate_right(1);
    }
    metadata
}
