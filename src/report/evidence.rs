//! Evidence of pairs: counting pairs looks at no document, so their passages are found when they are to be shown.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::database::Database;
use crate::document::DocId;
use crate::error::Result;
use crate::input::{InputLimits, ReadOptions};
use crate::pairs::Pair;
use crate::progress::Task;
use crate::query::{Location, Match, PassageOptions, QueryAnswer, QueryOptions, QuerySource, TextCache};
use crate::setters::setters;

/// How pairs were found, and how their passages are to be.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PairEvidence {
    /// The df cap that the pairs were counted with.
    pub max_df: Option<u64>,
    /// How shared runs become passages.
    pub joining: PassageOptions,
    /// Limits on the documents that are read again.
    pub limits: InputLimits,
}

impl PairEvidence {
    setters! { max_df: Option<u64>, joining: PassageOptions, limits: InputLimits }
}

impl Database {
    /// Finds the passages of pairs and puts them into each: in a passage `query` is a and `document` is b. The passages of two
    /// submissions are put into the pairs of their files.
    /// [`Self::pairs`] looks at no document, so passages are found where they are asked for.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped), and then no pair has got its passages; fails if documents or postings cannot be read.
    pub fn add_passages(&self, pairs: &mut [Pair], evidence: &PairEvidence, task: &Task<'_>) -> Result<()> {
        let mut pairs: Vec<&mut Pair> = pairs
            .iter_mut()
            .flat_map(|pair| if pair.files.is_empty() { vec![pair] } else { pair.files.iter_mut().collect() })
            .collect();
        let ids: Vec<(DocId, DocId)> = pairs.iter().map(|pair| (pair.a_id, pair.b_id)).collect();
        let mut found = found_in(self, &ids, evidence, task)?;
        for (pair, ids) in pairs.iter_mut().zip(&ids) {
            pair.passages = Some(found.matches.remove(ids).map_or_else(Vec::new, |found| found.passages));
        }
        Ok(())
    }
}

/// The evidence found for pairs.
#[derive(Default)]
pub(super) struct FoundInPairs {
    /// By pair.
    pub(super) matches: HashMap<(DocId, DocId), Match>,
    /// For each first document the parts that count for nothing.
    pub(super) ignored: HashMap<DocId, Vec<Location>>,
}

/// Compares pairs of stored documents: each first document is a query, compared with its partners only.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped); fails if documents or postings cannot be read.
pub(super) fn found_in(
    database: &Database,
    pairs: &[(DocId, DocId)],
    how: &PairEvidence,
    task: &Task<'_>,
) -> Result<FoundInPairs> {
    let mut partners: Vec<(DocId, Vec<DocId>)> = Vec::new();
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable();
    for (a, b) in sorted {
        match partners.last_mut() {
            Some((last, partners)) if *last == a => partners.push(b),
            _ => partners.push((a, vec![b])),
        }
    }
    let texts = TextCache::of_queries(partners.len());
    let (silent, compared, total) = (task.silent(), AtomicU64::new(0), partners.len() as u64);
    let compare = |(a, only)| {
        let mut answer = query(database, a, only, how, &texts, &silent)?;
        task.step("documents compared", compared.fetch_add(1, Ordering::Relaxed) + 1, total)?;
        let matches = std::mem::take(&mut answer.matches);
        let found: Vec<_> = matches.into_iter().map(|found| ((a, found.id), found)).collect();
        Ok((found, a, spans(&answer)))
    };
    let compared: Vec<_> = database.run(|| partners.into_par_iter().map(compare).collect::<Result<_>>())?;
    let mut all = FoundInPairs::default();
    for (found, a, ignored) in compared {
        all.matches.extend(found);
        all.ignored.insert(a, ignored);
    }
    Ok(all)
}

/// The parts of stored documents that count for nothing.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped); fails if documents or postings cannot be read.
pub(super) fn ignored_in(
    database: &Database,
    documents: Vec<DocId>,
    how: &PairEvidence,
    task: &Task<'_>,
) -> Result<HashMap<DocId, Vec<Location>>> {
    // None of their texts is compared.
    let texts = TextCache::default();
    let silent = task.silent();
    let ignored = |id| Ok((id, spans(&query(database, id, Vec::new(), how, &texts, &silent)?)));
    database.run(|| documents.into_par_iter().map(ignored).collect())
}

fn query(
    database: &Database,
    id: DocId,
    only: Vec<DocId>,
    how: &PairEvidence,
    texts: &TextCache,
    task: &Task<'_>,
) -> Result<QueryAnswer> {
    let options = QueryOptions {
        top: None,
        max_df: how.max_df,
        joining: how.joining,
        only: Some(only),
        read: ReadOptions { limits: how.limits.clone(), ..ReadOptions::default() },
        ..QueryOptions::default()
    };
    database.query_with(&QuerySource::Number(id), &options, texts, task)
}

/// The parts of a query that count for nothing.
pub(super) fn spans(answer: &QueryAnswer) -> Vec<Location> {
    answer.ignored.iter().map(|ignored| ignored.query).collect()
}
