//! Evidence of pairs: counting pairs looks at no document, so their passages are found when they are to be shown.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::wire::{MatchReport, PassageReport, QueryReport, SpanReport};
use crate::database::{Database, QuerySource};
use crate::document::DocId;
use crate::error::{Error, Result};
use crate::pairs::Pair;
use crate::query::{PassageOptions, QueryOptions};

/// How pairs were found, and how their passages are to be.
#[derive(Clone, Debug, Default)]
pub struct PairEvidence {
    /// The df cap that the pairs were counted with.
    pub max_df: Option<u64>,
    /// How shared runs become passages.
    pub joining: PassageOptions,
}

/// The passages of each pair, in their order: in a passage `query` is a and `document` is b.
///
/// # Errors
/// What keeps documents and postings from being read.
pub fn passages_of(database: &Database, pairs: &[Pair], how: &PairEvidence) -> Result<Vec<Vec<PassageReport>>> {
    let ids: Vec<(DocId, DocId)> = pairs.iter().map(|pair| (pair.a_id, pair.b_id)).collect();
    let mut found = found_in(database, &ids, how, None)?;
    Ok(ids.iter().map(|pair| found.matches.remove(pair).map_or_else(Vec::new, |found| found.0.passages)).collect())
}

/// What was found in pairs.
#[derive(Default)]
pub(super) struct FoundInPairs {
    /// By pair, the match and the number of all its passages.
    pub(super) matches: HashMap<(DocId, DocId), (MatchReport, u64)>,
    /// For each first document the parts that count for nothing.
    pub(super) ignored: HashMap<DocId, Vec<SpanReport>>,
}

/// Compares pairs of stored documents: each first document is a query, compared with its partners only. Each match has
/// as many of its passages as a page shows, or all.
///
/// # Errors
/// What keeps documents and postings from being read.
pub(super) fn found_in(
    database: &Database,
    pairs: &[(DocId, DocId)],
    how: &PairEvidence,
    most: Option<usize>,
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
    let compared: Vec<Result<_>> = partners
        .into_par_iter()
        .map(|(a, only)| {
            let mut report = query(database, a, only, how)?;
            let found: Vec<_> = std::mem::take(&mut report.matches)
                .into_iter()
                .map(|mut found| {
                    let all = found.passages.len() as u64;
                    let passages = most.map_or(all, |most| longest(&mut found, most));
                    ((a, DocId(found.id)), (found, passages))
                })
                .collect();
            Ok((found, a, spans(&report)))
        })
        .collect();
    let mut all = FoundInPairs::default();
    for compared in compared {
        let (found, a, ignored) = compared?;
        all.matches.extend(found);
        all.ignored.insert(a, ignored);
    }
    Ok(all)
}

/// The parts of stored documents that count for nothing.
///
/// # Errors
/// What keeps documents and postings from being read.
pub(super) fn ignored_in(
    database: &Database,
    documents: Vec<DocId>,
    how: &PairEvidence,
) -> Result<HashMap<DocId, Vec<SpanReport>>> {
    documents.into_par_iter().map(|id| Ok((id, spans(&query(database, id, Vec::new(), how)?)))).collect()
}

fn query(database: &Database, id: DocId, only: Vec<DocId>, how: &PairEvidence) -> Result<QueryReport> {
    let options = QueryOptions {
        top: None,
        // A query does not count itself among the holders of a hash; pairs count both.
        max_df: how.max_df.map(|most| most.saturating_sub(1)),
        joining: how.joining,
        only: Some(only),
        ..QueryOptions::default()
    };
    let mut answers = database.query(&[QuerySource::Number(id)], &options)?;
    let answer = answers.pop().unwrap_or(Err(Error::Interrupted))?;
    Ok(QueryReport::new(&answer, options.mode, database.profile()))
}

/// The parts of a query that count for nothing.
pub(super) fn spans(report: &QueryReport) -> Vec<SpanReport> {
    report.ignored.iter().map(|ignored| ignored.query.clone()).collect()
}

/// Keeps the `most` longest passages of a match, in their order, and of those that repeat within others none; returns how
/// many there were.
pub(super) fn longest(found: &mut MatchReport, most: usize) -> u64 {
    let all = found.passages.len() as u64;
    if found.passages.len() > READ {
        without_repeated(&mut found.passages);
    }
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

/// More passages of one pair than anybody reads one by one.
const READ: usize = 100;

/// A passage at least so many times as long is far longer, in bits.
const FAR: u32 = 3;

/// Drops passages both of whose places lie in far longer ones. Where both documents repeat themselves, as programs repeat
/// their idioms, each place of a phrase is paired with each; but what is copied there the long passages say already.
fn without_repeated(passages: &mut Vec<PassageReport>) {
    let level = |passage: &PassageReport| passage.symbols.max(1).ilog2();
    let mut levels: Vec<u32> = passages.iter().map(level).collect();
    levels.sort_unstable();
    levels.dedup();
    let covered: Vec<(u32, [Vec<Range<u64>>; 2])> = levels
        .into_iter()
        .map(|at| {
            let long = || passages.iter().filter(|passage| level(passage) >= at + FAR);
            (at, [union(long().map(|passage| &passage.query)), union(long().map(|passage| &passage.document))])
        })
        .collect();
    let lies_in = |ranges: &[Range<u64>], span: &SpanReport| {
        let after = ranges.partition_point(|range| range.start <= span.start);
        after > 0 && span.end <= ranges[after - 1].end
    };
    passages.retain(|passage| {
        let place = covered.partition_point(|(at, _)| *at < level(passage));
        let (_, [query, document]) = &covered[place];
        !(lies_in(query, &passage.query) && lies_in(document, &passage.document))
    });
}

/// The bytes that lie in some span, ascending.
fn union<'a>(spans: impl Iterator<Item = &'a SpanReport>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = spans.map(|span| span.start..span.end).collect();
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_phrases_within_long_passages_are_left_out() {
        let span = |start: u64, length: u64| SpanReport { start, end: start + length, lines: [1, 1] };
        let passage = |query: u64, document: u64, symbols: u64| PassageReport {
            query: span(query, symbols),
            document: span(document, symbols),
            symbols,
            agreement: Some(1.0),
            exact: true,
        };
        let whole = [passage(0, 0, 900), passage(1000, 1000, 900)];
        // A phrase of the first that the second has too, one that is new on one side, and one that is not far shorter.
        let (repeated, new, long) = (passage(10, 1010, 40), passage(10, 2000, 40), passage(20, 1100, 300));
        let mut passages = [&whole[..], &[repeated, new.clone(), long.clone()]].concat();
        without_repeated(&mut passages);
        assert_eq!(passages, [&whole[..], &[new, long]].concat());
    }
}
