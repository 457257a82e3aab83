//! Evidence of pairs: counting pairs looks at no document, so their passages are found when they are to be shown.

use std::collections::HashMap;

use rayon::prelude::*;

use super::wire::{MatchReport, PassageReport, QueryReport};
use crate::database::{Database, QuerySource};
use crate::document::DocId;
use crate::error::Result;
use crate::pairs::Pair;
use crate::query::QueryOptions;

/// The passages of each pair, in their order, found with the df cap that the pairs were: in a passage `query` is a and
/// `document` is b.
///
/// # Errors
/// What keeps documents and postings from being read.
pub fn passages_of(database: &Database, pairs: &[Pair], max_df: Option<u64>) -> Result<Vec<Vec<PassageReport>>> {
    let ids: Vec<(DocId, DocId)> = pairs.iter().map(|pair| (pair.a_id, pair.b_id)).collect();
    let mut matches = matches_of(database, &ids, max_df, usize::MAX)?;
    Ok(ids.iter().map(|pair| matches.remove(pair).map_or_else(Vec::new, |(found, _)| found.passages)).collect())
}

/// The passages of pairs of stored documents: each first document is a query, compared with its partners only. Each match
/// has at most the `most` longest of its passages, and comes with the number of all.
///
/// # Errors
/// What keeps documents and postings from being read.
pub(super) fn matches_of(
    database: &Database,
    pairs: &[(DocId, DocId)],
    max_df: Option<u64>,
    most: usize,
) -> Result<HashMap<(DocId, DocId), (MatchReport, u64)>> {
    let mut partners: Vec<(DocId, Vec<DocId>)> = Vec::new();
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable();
    for (a, b) in sorted {
        match partners.last_mut() {
            Some((last, partners)) if *last == a => partners.push(b),
            _ => partners.push((a, vec![b])),
        }
    }
    let answers: Vec<Result<Vec<_>>> = partners
        .into_par_iter()
        .map(|(a, only)| {
            let options = QueryOptions { top: None, max_df, only: Some(only), ..QueryOptions::default() };
            let mut found = Vec::new();
            for answer in database.query(&[QuerySource::Number(a)], &options)? {
                let report = QueryReport::new(&answer?, options.mode, database.profile());
                found.extend(report.matches.into_iter().map(|mut found| {
                    let passages = longest(&mut found, most);
                    ((a, DocId(found.id)), (found, passages))
                }));
            }
            Ok(found)
        })
        .collect();
    let mut matches = HashMap::new();
    for found in answers {
        matches.extend(found?);
    }
    Ok(matches)
}

/// Keeps the `most` longest passages of a match, in their order; returns how many there were.
pub(super) fn longest(found: &mut MatchReport, most: usize) -> u64 {
    let all = found.passages.len() as u64;
    if found.passages.len() > most {
        let mut lengths: Vec<(u64, usize)> =
            found.passages.iter().enumerate().map(|(index, passage)| (passage.symbols, index)).collect();
        lengths.sort_unstable_by_key(|&(symbols, index)| (std::cmp::Reverse(symbols), index));
        let mut kept: Vec<usize> = lengths[..most].iter().map(|&(_, index)| index).collect();
        kept.sort_unstable();
        found.passages = kept.into_iter().map(|index| found.passages[index].clone()).collect();
    }
    all
}
