//! Pairs: all pairs of stored documents that share enough text.
//!
//! The postings are read hash by hash, and the documents that hold a hash are kept as one list. Then, for one document
//! after the other, the lists of its hashes are counted through into one counter per document: some nanoseconds a pair
//! and hash, and no pair below the threshold is ever kept (as in the winnowing paper, section 5.2). Memory is bounded:
//! documents are worked on in blocks whose lists fit, and each block costs one pass over the postings.

mod answer;
mod blocks;
mod count;
mod documents;
mod measured;
mod options;
mod submissions;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::document::DocId;
use crate::error::Result;
use crate::progress::Task;
use crate::schema::Schema;
use crate::store::{DocumentRecord, Store};
use answer::Metadata;
use blocks::Plan;
use count::Compared;
use documents::Documents;

pub use answer::{Pair, PairsAnswer};
pub(crate) use measured::Measured;
pub use options::{Few, GroupBy, PairsOptions, Since};

/// Pairs of documents that are shown of a pair of submissions.
const FILES: usize = 10;

/// All pairs, in no order, and what was left out.
pub(crate) struct Counted {
    pub(crate) pairs: Vec<Measured>,
    pub(crate) common: u64,
    pub(crate) boilerplate: u64,
    pub(crate) below: u64,
    unmatched: Vec<String>,
    divided: Option<(u64, u64)>,
    /// The names of submissions by their first documents.
    submissions: HashMap<u32, String>,
}

/// Finds the pairs.
pub(crate) fn pairs(store: &Store, options: &PairsOptions, task: &Task<'_>) -> Result<PairsAnswer> {
    let Counted { pairs: measured, common, boilerplate, below, unmatched, divided, submissions } =
        measured(store, options, &[], task)?;
    let pairs = named(store, measured, &submissions)?;
    Ok(PairsAnswer { pairs, common, boilerplate, below, unmatched, divided })
}

/// Adds to pairs of submissions the pairs of their documents that share most, at most [`FILES`] to each.
pub(crate) fn add_files(store: &Store, pairs: &mut [Pair], options: &PairsOptions, task: &Task<'_>) -> Result<()> {
    let wanted = pairs.iter().map(|pair| (pair.a_id.0, pair.b_id.0)).collect();
    let all = PairsOptions { max_df: options.max_df, ..PairsOptions::default() };
    let documents = Documents::load_within(store, options, &all, wanted)?;
    let counted = counted(store, documents, &all, task)?;
    let mut of_pairs: HashMap<(u32, u32), Vec<Measured>> = HashMap::new();
    for (of, found) in counted.0.pairs.into_iter().map(|found| counted.1.submissions_of(found)) {
        of_pairs.entry(of).or_default().push(found);
    }
    for pair in pairs {
        let mut files = of_pairs.remove(&(pair.a_id.0, pair.b_id.0)).unwrap_or_default();
        files.sort_unstable_by_key(|found| (Reverse(found.shared), found.a, found.b));
        pair.files_left_out = files.len().saturating_sub(FILES) as u64;
        files.truncate(FILES);
        pair.files = named(store, files, &HashMap::new())?;
        pair.files.sort_by_key(|file| Reverse(file.shared));
    }
    Ok(())
}

/// Pairs with the names and metadata of their documents, or the names of their submissions; best first.
fn named(store: &Store, measured: Vec<Measured>, submissions: &HashMap<u32, String>) -> Result<Vec<Pair>> {
    let mut names: HashMap<u32, (Arc<str>, Metadata)> = HashMap::new();
    for id in measured.iter().flat_map(|pair| [pair.a, pair.b]) {
        if let Entry::Vacant(vacant) = names.entry(id) {
            vacant.insert(match submissions.get(&id) {
                Some(name) => (name.as_str().into(), Metadata::default()),
                None => {
                    let DocumentRecord { name, metadata, .. } = store.document(id)?;
                    (name.into(), Arc::new(metadata.into_iter().collect()))
                }
            });
        }
    }
    let named = measured.into_iter().map(|pair| Pair {
        schema: Schema::new(),
        a: Arc::clone(&names[&pair.a].0),
        b: Arc::clone(&names[&pair.b].0),
        a_id: DocId(pair.a),
        b_id: DocId(pair.b),
        shared: pair.shared,
        resemblance: pair.resemblance,
        containment_a: pair.containment_a,
        containment_b: pair.containment_b,
        score: pair.score,
        passages: None,
        files: Vec::new(),
        files_left_out: 0,
        a_metadata: Arc::clone(&names[&pair.a].1),
        b_metadata: Arc::clone(&names[&pair.b].1),
    });
    let mut pairs: Vec<Pair> = named.collect();
    // Versions of one name are told apart by their numbers.
    pairs.sort_unstable_by(|x, y| {
        let names = || (&x.a, &x.b, x.a_id, x.b_id).cmp(&(&y.a, &y.b, y.a_id, y.b_id));
        y.score.total_cmp(&x.score).then_with(names)
    });
    Ok(pairs)
}

/// Finds the pairs without the documents of `left_out`.
pub(crate) fn measured(store: &Store, options: &PairsOptions, left_out: &[u32], task: &Task<'_>) -> Result<Counted> {
    let documents = Documents::load(store, options, left_out)?;
    let (mut counted, documents) = counted(store, documents, options, task)?;
    let Documents { unmatched, divided, submissions, .. } = documents;
    (counted.unmatched, counted.divided, counted.submissions) = (unmatched, divided, submissions.into_names());
    Ok(counted)
}

/// Counts the pairs of these documents.
fn counted(
    store: &Store,
    mut documents: Documents,
    options: &PairsOptions,
    task: &Task<'_>,
) -> Result<(Counted, Documents)> {
    let plan = Plan::make(store, &mut documents, options, task)?;
    let total = plan.blocks.iter().map(|block| block.len() as u64).sum();
    let mut pairs = Vec::new();
    let (mut done, mut below) = (0, 0);
    for block in &plan.blocks {
        below += count::count(
            store,
            &documents,
            options,
            &plan,
            block.clone(),
            &Compared { task, before: done, total },
            &mut pairs,
        )?;
        done += block.len() as u64;
    }
    let Plan { common, boilerplate, .. } = plan;
    let (unmatched, divided, submissions) = (Vec::new(), None, HashMap::new());
    Ok((Counted { pairs, common, boilerplate, below, unmatched, divided, submissions }, documents))
}
