//! Pairs: finds all pairs of stored documents that share enough text.
//!
//! [`Database::pairs`](crate::Database::pairs) returns them, and
//! [`Database::for_each_pair`](crate::Database::for_each_pair) visits them one by one, best first. Pairs are
//! ordered by resemblance, a symmetric measure. If containment ordered them, a short document that shares its
//! boilerplate with everything would come first.
//!
//! Pairs come from shared hashes alone. A document that is too short for a fingerprint, or has only common
//! hashes, is in no pair, not even with its copy. Otherwise a thousand empty files would make half a million
//! pairs. Queries and [`dedup`](crate::dedup) find such documents by their digests. [`PairsSummary`] reports
//! how many hashes [`PairsOptions::max_df`] and boilerplate left out.
//!
//! Memory is bounded. Documents are counted in blocks that fit, and each block costs one pass over the
//! postings. Pairs that do not fit are sorted on disk ([`PairsOptions::temp_dir`]).

// The postings are read hash by hash, and the documents that hold a hash become one list. Then each document
// is counted through the lists of its hashes, into one counter for each other document. No pair below the
// threshold is kept (as in the winnowing paper, section 5.2).
//
// Counting takes two or three nanoseconds for a pair and hash; with a hash map it would take some hundred.
// Lists take 4 bytes a posting, 4 a holder and 12 a list. Pairs take 40 bytes each and are sorted in an
// eighth of the memory. If the caller wants the best pairs only, at most twice their number is held. Counters
// take half of the memory at most. If the counters of all threads take more, fewer threads count, since
// passes over the postings cost more than threads save. If some documents are old, only new documents are
// counted through the lists.

mod answer;
mod blocks;
mod count;
mod documents;
mod files;
mod grouping;
mod names;
mod options;
mod ranked;
mod same_files;
mod verdict;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::ingest::is_empty_file;
use blocks::BlockPlan;
use documents::Documents;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::spill::TempSpace;
use fpdb_store::Store;
use names::{PairNames, name_places};
use ranked::{PairCollector, PairRecord, SORTER_SHARE, SortedPairs};

pub use answer::{Pair, PairMeasures, PairsAnswer, PairsSummary};
pub use options::{GroupBy, PairsOptions, Since};

/// The pairs of a database, in order and without names.
pub(crate) struct FoundPairs<'a> {
    records: Box<dyn Iterator<Item = Result<PairRecord>> + Send + 'a>,
    documents: Documents,
    /// The names of submissions, by their first documents.
    submissions: HashMap<u32, String>,
    summary: PairsSummary,
}

/// Finds the pairs. Data beyond the memory goes to `temp`.
pub(crate) fn find<'a>(
    store: &Store,
    options: &PairsOptions,
    temp: &'a TempSpace,
    task: &Task<'_>,
) -> Result<FoundPairs<'a>> {
    let by_files = files::reaching(store, options, task)?;
    let set_bytes = by_files.serialized_size() as u64;
    let mut documents = Documents::load_joined(store, options, by_files, task)?;
    let same_file = std::mem::take(&mut documents.same_files).most_frequent();
    // Submissions, and documents outside any, without a fingerprint. Not every id has a document.
    let without_fingerprint: Vec<u32> = (store.document_ids()?.range(..documents.ids() as u32))
        .filter(|&id| !documents.counts(id) && documents.submission_of(id) == id)
        .collect();
    let sorting = store.memory() / SORTER_SHARE;
    let plan = BlockPlan::make(store, &mut documents, options, sorting + set_bytes, task)?;
    let places = name_places(store, &documents)?;
    let ranked = Mutex::new(PairCollector::new(options.top, temp, sorting));
    let by_files = AtomicU64::new(0);
    let below = count::count_all(store, &documents, options, &plan, task, &|found| {
        by_files.fetch_add(found.iter().filter(|pair| !pair.reaches).count() as u64, Ordering::Relaxed);
        let mut ranked = ranked.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter().try_for_each(|pair| ranked.push(PairRecord::of(pair, &places)))
    })?;
    drop(places);
    let ranked = ranked.into_inner().unwrap_or_else(PoisonError::into_inner);
    let SortedPairs { records, found, ends } = ranked.sorted()?;
    let renewed = documents.submissions.renewed();
    let submissions = std::mem::take(&mut documents.submissions).into_names();
    let name = |id: u32| match submissions.get(&id) {
        Some(name) => Ok::<_, Error>(name.clone()),
        None => Ok(store.document(id)?.name),
    };
    let same_file = same_file.map(|(id, number)| Ok::<_, Error>((store.document(id)?.name, number))).transpose()?;
    let (mut too_short, mut too_short_names) = (0, Vec::new());
    for id in without_fingerprint {
        let name = match submissions.get(&id) {
            Some(name) => name.clone(),
            None => {
                let record = store.document(id)?;
                // An ingest does not name empty files either.
                if is_empty_file(&record) {
                    continue;
                }
                record.name
            }
        };
        too_short += 1;
        if too_short_names.len() < PairsSummary::LISTED {
            too_short_names.push(name);
        }
    }
    let summary = PairsSummary {
        found,
        // Boilerplate is in no submission.
        documents: documents.count.saturating_sub(store.view().boilerplate_count()),
        submissions: submissions.len() as u64,
        names: ends.map(|[first, last]| Ok::<_, Error>((name(first)?, name(last)?))).transpose()?,
        common: plan.common,
        boilerplate: plan.boilerplate,
        handed_out: plan.handed_out,
        same_file,
        below,
        by_files: by_files.into_inner(),
        divided: documents.divided,
        renewed,
        grouped: documents.grouped,
        too_short,
        too_short_names,
    };
    Ok(FoundPairs { records, documents, submissions, summary })
}

impl FoundPairs<'_> {
    /// The figures of all pairs.
    pub(crate) fn summary(&self) -> &PairsSummary {
        &self.summary
    }

    /// Calls `visit` with each pair, best first.
    pub(crate) fn for_each(
        self,
        store: &Store,
        options: &PairsOptions,
        task: &Task<'_>,
        visit: &mut dyn FnMut(Pair) -> Result<()>,
    ) -> Result<()> {
        let Self { records, documents, submissions, .. } = self;
        let mut names = PairNames::new(store, submissions, options.file_times);
        // Each batch of submissions costs two passes over the postings.
        let batch =
            if options.submission_by.is_some() { files::batch(store.memory(), options.submission_files) } else { 1 };
        let mut pairs = Vec::new();
        let mut visit_all = |pairs: &mut Vec<Pair>| -> Result<()> {
            if options.submission_by.is_some() && !pairs.is_empty() {
                store.pool().run(|| files::add(store, pairs, options, task))?;
            }
            pairs.drain(..).try_for_each(&mut *visit)
        };
        for record in records {
            task.token().check()?;
            pairs.push(names.pair(&record?, &documents)?);
            if pairs.len() == batch {
                visit_all(&mut pairs)?;
            }
        }
        visit_all(&mut pairs)
    }
}
