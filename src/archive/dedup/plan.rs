//! Plan: how the memory is divided, and what a run will take, which can be asked for beforehand.

use std::path::PathBuf;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::job_place::job_path;
use super::measure::Threshold;
use super::options::{DedupBy, DedupMode, DedupOptions};
use super::past::Past;
use super::ranking::Standing;
use super::record::RecordFiles;
use super::{decisions, places, ranking, same_text, sets};
use crate::archive::spill::TempSpace;
use fpdb_host::error::{Error, Result};
use fpdb_host::schema::{Answer, Schema};
use fpdb_store::Store;

/// How the memory is divided.
pub(super) struct MemoryPlan {
    /// For sorting documents.
    pub(super) sorting: u64,
    /// For the sets of all documents, before they go to disk.
    pub(super) sets: u64,
    /// For sets and the index of survivors.
    pub(super) rest: u64,
    /// Documents that are compared with the same survivors at a time.
    pub(super) batch: u32,
}

/// So many documents occupy all threads, and comparing them with each other costs little.
const BATCH: u32 = 2048;

/// Bytes that each document takes in the second pass, beside those of the other rooms and of the answers of other blocks.
const BYTES_PER_DOCUMENT: u64 = 13;

/// Bytes that each document takes while documents are ranked.
const RANKED_BYTES: u64 = ranking::BYTES_PER_DOCUMENT + ranking::BYTES_OF_EXTENT;

/// Extents are dropped once places are read. The second pass takes more.
const _: () = assert!(ranking::BYTES_OF_EXTENT <= decisions::BYTES_PER_DOCUMENT + BYTES_PER_DOCUMENT);

/// Bytes of a decision in the file of a job, at most.
const JOB_BYTES: u64 = 24;

impl MemoryPlan {
    pub(super) fn new(documents: u64, options: &DedupOptions, memory: u64) -> Result<Self> {
        let needed = needed(documents, options);
        if memory < needed {
            return Err(Error::TooLittleMemory { needed, allowed: memory });
        }
        let rest = memory - documents * bytes_per_document(options);
        Ok(Self { sorting: memory - documents * RANKED_BYTES, sets: rest / 2, rest, batch: BATCH })
    }
}

fn bytes_per_document(options: &DedupOptions) -> u64 {
    let cost = if options.budget.is_some() { 2 * decisions::BYTES_OF_COST } else { 0 };
    let text = if options.by == DedupBy::ExactText { same_text::BYTES_PER_DOCUMENT } else { 0 };
    ranking::BYTES_PER_DOCUMENT
        // Those of the run, and the answers of the blocks of survivors in its second pass.
        + 2 * decisions::BYTES_PER_DOCUMENT
        + sets::BYTES_PER_DOCUMENT
        + BYTES_PER_DOCUMENT
        + cost
        + text
}

/// The least memory that makes sense: the index needs some room.
fn needed(documents: u64, options: &DedupOptions) -> u64 {
    let fixed = documents * bytes_per_document(options);
    fixed + fixed / 4
}

/// The cost of a dedup. Also its JSON (`fpdb.dedup.plan/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DedupPlan {
    pub(crate) schema: Schema<Self>,
    /// All documents but boilerplate.
    pub documents: u64,
    /// Documents that it will decide about.
    pub open: u64,
    /// Postings that it will read in each pass.
    pub postings: u64,
    /// How often it will read them.
    pub passes: u32,
    /// Bytes of memory allowed.
    pub memory: u64,
    /// The fewest bytes of memory that serve.
    pub least_memory: u64,
    /// The most bytes of temporary files.
    pub disk: u64,
    /// The folder they will be in.
    pub temp_dir: PathBuf,
    /// True if an interrupted job has left its state there. It goes on if the documents are the same.
    pub interrupted: bool,
}

impl Answer for DedupPlan {
    const SCHEMA: &'static str = "fpdb.dedup.plan/1";
}

/// The cost of a run with these options.
///
/// # Errors
/// As those of the run, but that too little memory is no error.
pub(crate) fn plan(store: &Store, options: &DedupOptions) -> Result<DedupPlan> {
    options.check()?;
    let (view, stored) = (store.view(), store.document_ids()?);
    let temp = TempSpace::beside(store.root(), options.temp_dir.as_deref())?;
    let documents = view.state().documents;
    let compares = Threshold::new(options.by, options.threshold).compares();
    let (mut open, mut postings) = (stored.clone(), view.posting_count());
    if options.mode == DedupMode::Append {
        let files = RecordFiles::lock(store.root())?;
        let mut past = Past::read(&files, &stored, &store.identity()?, &options.rule())?;
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
        _ => 2,
    };
    let least_memory = needed(documents, options);
    let rest = store.memory().saturating_sub(documents * bytes_per_document(options));
    let sets = if compares { sets::most_on_disk(postings, rest / 2) } else { 0 };
    // Also survivors of earlier runs are compared, whole.
    let places = places::most_bytes(stored.len(), view.posting_count(), store.profile().w().into());
    let places = if compares && places > rest / places::SHARE { places } else { 0 };
    let sorting = store.memory().saturating_sub(documents * RANKED_BYTES) / 2;
    let sorted = if documents * ranking::SORTED_BYTES > sorting { documents * ranking::SORTED_BYTES } else { 0 };
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
