//! Rewritten: compares a query with the candidates for rewritten text, and keeps those with a passage.

use std::collections::HashMap;

use rustc_hash::FxHashSet;

use super::answer::Ignored;
use super::answering::Query;
use super::candidates::{Candidates, MISSES, comparable};
use super::evidence::{Evidence, SharedFingerprints};
use super::passages::DocumentPassages;
use super::tally::Tally;
use fpdb_host::error::Result;
use fpdb_store::{DocumentRecord, Lookup};

/// Number of documents whose shared fingerprints are found in one pass over the query's hashes. Most queries
/// need one pass.
const AT_A_TIME: usize = 2 * MISSES;

/// The passages of documents by id; if they are inferred, also the reason.
pub(super) type PassagesOf = HashMap<u32, (DocumentPassages, Option<&'static str>)>;

/// The documents with a passage, and the documents with the query's bytes.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) passages: PassagesOf,
    /// Number of documents that were compared.
    pub(super) count: u64,
    /// Parts of the query with ignored hashes.
    pub(super) ignored: Vec<Ignored>,
    /// The documents, and their units.
    pub(super) documents: FxHashSet<u32>,
    pub(super) units: FxHashSet<u32>,
}

/// Compares the documents with the query's bytes (`identical`), then other documents until [`MISSES`] in a
/// row have no passage.
///
/// # Errors
/// [`Error::Stopped`](fpdb_host::error::Error::Stopped); errors from reading the store.
pub(super) fn compare(
    query: &Query<'_>,
    lookup: &mut Lookup<'_>,
    tally: &Tally<'_>,
    identical: &[u32],
) -> Result<Compared> {
    let &Query { store, subject, options, units, texts, task } = query;
    let stop = task.token();
    let identical_units: Vec<u32> = {
        let mut identical: Vec<u32> = identical.iter().map(|&id| units.of(id)).collect();
        identical.sort_unstable();
        identical
    };
    let candidates = Candidates::find(lookup, subject, store.profile(), tally, options, stop)?;
    let candidates = comparable(candidates, tally, &identical_units, options);
    let candidates = candidates.filter(|document| identical.binary_search(document).is_err());
    let mut candidates = identical.iter().copied().chain(candidates);
    let (mut compared, mut misses) = (Compared::default(), 0);
    while misses < MISSES {
        let records = candidates
            .by_ref()
            .take(AT_A_TIME.max(identical.len()))
            .map(|id| stop.check().and_then(|()| Ok((id, store.document(id)?))))
            .collect::<Result<Vec<(u32, DocumentRecord)>>>()?;
        let documents: Vec<(u32, &DocumentRecord)> = records.iter().map(|(id, record)| (*id, record)).collect();
        let shared = SharedFingerprints::find(lookup, subject, &documents, options.max_df, units, stop)?;
        if documents.is_empty() {
            compared.ignored = shared.ignored;
            break;
        }
        let mut evidence = Evidence::new(store, subject, options, texts, &documents, &shared, stop)?;
        for document in documents {
            let is_identical = identical.binary_search(&document.0).is_ok();
            if misses == MISSES {
                break;
            }
            // The number of documents to compare is unknown, because it depends on the passages found.
            task.step("documents compared", compared.count, 0)?;
            let (found, why) = evidence.of(document, &shared)?;
            compared.count += 1;
            if found.passages.is_empty() && !is_identical {
                misses += 1;
                continue;
            }
            misses = 0;
            compared.documents.insert(document.0);
            compared.units.insert(units.of(document.0));
            compared.passages.insert(document.0, (found, why));
        }
        compared.ignored = shared.ignored;
    }
    Ok(compared)
}
