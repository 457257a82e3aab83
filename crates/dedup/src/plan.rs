//! Plan: divides the memory, and estimates the cost of a run before it starts.

use std::path::PathBuf;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::answer::decisions;
use super::between_runs::job::job_path;
use super::between_runs::past::Past;
use super::between_runs::record::RecordFiles;
use super::join::measure::Threshold;
use super::options::{DedupBy, DedupMode, DedupOptions};
use super::ranking;
use super::ranking::Standing;
use super::ranking::check_choices;
use super::ranking::same_text;
use super::terms::partitions;
use super::terms::places;
use super::terms::sets;
use fpdb_host::error::{Error, Result};
use fpdb_host::schema::{Answer, Schema};
use fpdb_host::spill::TempSpace;
use fpdb_host::stop::StopToken;
use fpdb_store::Store;

/// The division of the memory. All sizes are in bytes.
pub(super) struct MemoryPlan {
    /// For sorting documents.
    pub(super) sorting: u64,
    /// For the sets of all documents, before they go to disk.
    pub(super) sets: u64,
    /// For the sets and the index of survivors.
    pub(super) rest: u64,
    /// Number of documents compared with the same survivors at a time.
    pub(super) batch: u32,
}

/// Number of documents in a batch: enough to keep all threads busy, and few enough that comparing them with
/// each other costs little.
const BATCH: u32 = 2048;

/// Bytes that each document takes in the second pass, without those that other modules count. The results of
/// searches in other blocks are counted separately.
const BYTES_PER_DOCUMENT: u64 = 13;

/// Extents are dropped once places are read, so they need no memory of their own: the second pass takes more.
const _: () = assert!(ranking::BYTES_OF_EXTENT <= decisions::BYTES_PER_DOCUMENT + BYTES_PER_DOCUMENT);

/// Number of documents, and number of ids given so far. The id of a deleted document is not given again, so
/// there can be far more ids, and some tables have an entry for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    documents: u64,
    ids: u64,
}

impl Counts {
    pub(super) fn of(store: &Store) -> Self {
        let view = store.view();
        Self { documents: view.state().documents, ids: view.state().next_document.into() }
    }

    /// Bytes taken while documents are ranked.
    fn ranked_bytes(self) -> u64 {
        self.documents * (ranking::BYTES_PER_DOCUMENT + ranking::BYTES_OF_EXTENT) + self.ids * ranking::BYTES_PER_ID
    }

    /// Bytes of the tables of a run.
    fn fixed_bytes(self, options: &DedupOptions) -> u64 {
        let cost = if options.budget.is_some() { 2 * decisions::BYTES_OF_COST } else { 0 };
        let (text, text_of_id) = match options.by {
            DedupBy::ExactText => (same_text::BYTES_PER_DOCUMENT, same_text::BYTES_PER_ID),
            _ => (0, 0),
        };
        let per_document = ranking::BYTES_PER_DOCUMENT
            // The decisions of the run, and the answers of the blocks of survivors in its second pass.
            + 2 * decisions::BYTES_PER_DOCUMENT
            + sets::BYTES_PER_DOCUMENT
            + BYTES_PER_DOCUMENT
            + cost
            + text;
        self.documents * per_document + self.ids * (ranking::BYTES_PER_ID + places::BYTES_PER_ID + text_of_id)
    }

    /// The smallest useful memory: the index needs some room.
    fn needed(self, options: &DedupOptions) -> u64 {
        let fixed = self.fixed_bytes(options);
        fixed + fixed / 4
    }
}

/// Maximum bytes of one decision in the file of a job.
const JOB_BYTES: u64 = 24;

impl MemoryPlan {
    pub(super) fn new(counts: Counts, options: &DedupOptions, memory: u64) -> Result<Self> {
        let needed = counts.needed(options);
        if memory < needed {
            return Err(Error::TooLittleMemory { needed, allowed: memory });
        }
        let rest = memory - counts.fixed_bytes(options);
        Ok(Self { sorting: memory - counts.ranked_bytes(), sets: rest / 2, rest, batch: BATCH })
    }
}

/// The estimated cost of a dedup. Also its JSON (`fpdb.dedup.plan/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DedupPlan {
    pub(crate) schema: Schema<Self>,
    /// Number of documents, boilerplate excluded.
    pub documents: u64,
    /// Number of documents the run will decide about.
    pub open: u64,
    /// Number of postings that each pass reads.
    pub postings: u64,
    /// Number of passes over the postings.
    pub passes: u32,
    /// Bytes of memory allowed.
    pub memory: u64,
    /// The smallest sufficient memory, in bytes.
    pub least_memory: u64,
    /// Maximum bytes of temporary files.
    pub disk: u64,
    /// The folder for the temporary files.
    pub temp_dir: PathBuf,
    /// True if an interrupted job left its state in that folder. The job continues if the documents are the
    /// same.
    pub interrupted: bool,
}

impl Answer for DedupPlan {
    const SCHEMA: &'static str = "fpdb.dedup.plan/1";
}

/// Estimates the cost of a run with these options.
///
/// # Errors
/// The errors of [`decide`](crate::decide), except too little memory.
pub fn plan(store: &Store, options: &DedupOptions) -> Result<DedupPlan> {
    options.check()?;
    check_choices(store, options, &StopToken::new())?;
    let (view, stored) = (store.view(), store.document_ids()?);
    let temp = TempSpace::beside(store.root(), options.temp_dir.as_deref())?;
    let counts = Counts::of(store);
    let compares = Threshold::new(options.by, options.threshold).compares();
    let (mut open, mut postings) = (stored.clone(), view.posting_count());
    if options.mode == DedupMode::Append {
        let files = RecordFiles::lock(store.root())?;
        let mut past = Past::read(&files, &stored, &store.made_as()?, &options.rule())?;
        if past.header().is_some() {
            open = RoaringBitmap::new();
            for id in &stored {
                if past.standing(id)? == Standing::Open {
                    open.insert(id);
                }
            }
            past.check_ends_before(view.state().next_document, &files)?;
            if compares {
                postings = store.postings_near(&open);
            }
        }
    }
    let passes = match options.by {
        DedupBy::Exact => 0,
        DedupBy::ExactText => 1,
        _ if open.is_empty() => 0,
        _ => 1,
    };
    let least_memory = counts.needed(options);
    let rest = store.memory().saturating_sub(counts.fixed_bytes(options));
    let sets = if compares { partitions::most_on_disk(postings, rest / 2) } else { 0 };
    // Survivors of earlier runs are compared too, with all their fingerprints.
    let places = places::most_bytes(stored.len(), view.posting_count(), store.profile().w().into());
    let places = if compares && places > rest / places::SHARE { places } else { 0 };
    let sorting = store.memory().saturating_sub(counts.ranked_bytes()) / 2;
    let sorted = counts.documents * ranking::SORTED_BYTES;
    let sorted = if sorted > sorting { sorted } else { 0 };
    let job = if compares { open.len() * JOB_BYTES } else { 0 };
    Ok(DedupPlan {
        schema: Schema::new(),
        documents: stored.len(),
        open: open.len(),
        postings: if passes == 0 { 0 } else { postings },
        passes,
        memory: store.memory(),
        least_memory,
        disk: sets + places + sorted + job,
        interrupted: job_path(store.root(), &temp, options)?.exists(),
        temp_dir: temp.folder().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use fpdb_kernel::profile::Profile;

    use super::*;

    /// Ids of deleted documents are not given again, and tables have entries for them.
    #[test]
    fn ids_take_memory_after_their_documents_are_gone() {
        for by in [DedupBy::Exact, DedupBy::ExactText, DedupBy::Containment] {
            let options = DedupOptions::of(&Profile::PROSE, by);
            let ids = 1_000_000;
            // Each id has an entry in the ranks, in the compared ranks or later the places, and in the sums
            // of texts.
            let tables = ids * if by == DedupBy::ExactText { 20 } else { 12 };
            let few = MemoryPlan::new(Counts { documents: 1, ids: 1 }, &options, 1 << 30).unwrap();
            let many = MemoryPlan::new(Counts { documents: 1, ids }, &options, 1 << 30).unwrap();
            assert_eq!(few.rest - many.rest, tables - tables / ids);
            assert!(MemoryPlan::new(Counts { documents: 1, ids }, &options, tables).is_err());
        }
    }
}
