//! Joining: turns maximal matches into the passages a reader would mark.
//!
//! Matches that follow each other in both texts with little in between are one passage with small edits. "If
//! a1 and b1 are consecutive in document 1 and a2 and b2 are consecutive in document 2, then we have
//! discovered a longer match" (Schleimer et al. 2003, section 5.2). A passage begins at the start of its
//! first match and ends at the end of its last, so its ends are exact. Every match lies in a passage, except
//! a match shorter than t if longer passages mark both of its places anyway.
//!
//! The default gap is t: the text between two matches is then shorter than any run that is guaranteed to be
//! found.
//!
//! In text that repeats itself, a passage goes on in the same repeat after an edit: of the matches that can
//! continue it, those that overlap it by more than a gap come last.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::gaps::Gaps;
use super::joined::{Joined, Joining};
use super::open::PassageIndex;
use super::runs::MaximalMatch;
use crate::ranges::{Uncounted, lies_in, union};
use fpdb_host::error::Result;

/// Joins matches to passages. Matches and passages are in order of the query.
///
/// # Errors
/// [`Error::Stopped`](fpdb_host::error::Error::Stopped).
pub fn join(
    query: &[u64],
    document: &[u64],
    matches: &[MaximalMatch],
    joining: &Joining<'_>,
    gaps: &mut Gaps,
) -> Result<Vec<Joined>> {
    let mut passages = chain(query, document, matches, joining, gaps)?;
    passages.retain(|passage| passage.counted >= joining.least);
    without_contained(&mut passages);
    without_repeated(&mut passages, joining.guarantee);
    Ok(passages)
}

fn chain(
    query: &[u64],
    document: &[u64],
    matches: &[MaximalMatch],
    joining: &Joining<'_>,
    gaps: &mut Gaps,
) -> Result<Vec<Joined>> {
    let mut chain = Chain { texts: [query, document], joining, gaps, passages: Vec::new(), open: PassageIndex::new() };
    // The matches that wait, each with the place in the query up to which it waits, the first one on top.
    let mut waiting: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::new();
    for next in matches.iter().enumerate().map(Some).chain([None]) {
        joining.stop.check()?;
        let place = next.map_or(u32::MAX, |(_, found)| found.query);
        while let Some(&Reverse((until, index))) = waiting.peek()
            && until < place
        {
            waiting.pop();
            chain.add(&matches[index], false);
        }
        if let Some((index, found)) = next {
            waiting.extend(chain.add(found, true).map(|until| Reverse((until, index))));
        }
    }
    Ok(chain.passages)
}

/// The passages made so far.
struct Chain<'a> {
    texts: [&'a [u64]; 2],
    joining: &'a Joining<'a>,
    gaps: &'a mut Gaps,
    passages: Vec<Joined>,
    /// The passages that a later match may continue or lie in, weighted by their agreement.
    open: PassageIndex,
}

impl Chain<'_> {
    /// Adds a match to the passages. If the match `may_wait` and a match at a later place of the query may
    /// continue the same passage better, adds nothing and returns the last such place.
    ///
    /// In text that repeats itself, a match of two different repeats can overlap the passage by much. The
    /// match of the same repeats begins where the passage ends, so it comes later. The part of a match after
    /// such an overlap is longer than a gap, so no match that follows it is added before it.
    fn add(&mut self, found: &MaximalMatch, may_wait: bool) -> Option<u32> {
        let &Joining { gap, guarantee, uncounted, .. } = self.joining;
        let (in_query, in_document) = (found.query..found.query_end(), found.document..found.document_end());
        if self.open.holds(&in_query, &in_document) {
            return None;
        }
        let overlaps = |passage: &Joined| u64::from(overlap(passage, found)) > guarantee.max(gap.into());
        let distance = |(at, index): (usize, usize)| {
            let passage = &self.passages[index];
            let distance = distance(passage, found, gap)?;
            Some((overlaps(passage), distance, Reverse(index), at))
        };
        let nearest = match self.open.continues(&in_query, &in_document, gap) {
            true => self.open.held().filter_map(distance).min(),
            false => None,
        };
        let Some((overlaps, _, Reverse(index), at)) = nearest else {
            let agreed = u64::from(found.length);
            let from = found.query.saturating_sub(gap);
            self.open.push(self.passages.len(), &in_query, &in_document, agreed, from);
            self.passages.push(Joined::of(found, uncounted));
            return None;
        };
        let passage = &mut self.passages[index];
        if may_wait && overlaps {
            return Some(passage.query.end.saturating_add(gap));
        }
        append(passage, found, self.texts, uncounted, self.gaps);
        self.open.extend(at, passage.query.end, passage.document.end, passage.agreed);
        None
    }
}

/// Number of symbols of a match that a passage marks already, in the text in which these are more.
fn overlap(passage: &Joined, found: &MaximalMatch) -> u32 {
    passage.query.end.saturating_sub(found.query).max(passage.document.end.saturating_sub(found.document))
}

/// The distances of a match from the end of a passage that it continues. `None` if the match does not
/// continue the passage.
fn distance(passage: &Joined, found: &MaximalMatch, gap: u32) -> Option<(u32, u32)> {
    let continues = found.query >= passage.query.start
        && found.document >= passage.document.start
        && found.query_end() > passage.query.end
        && found.document_end() > passage.document.end;
    let skipped = [
        i64::from(found.query) - i64::from(passage.query.end),
        i64::from(found.document) - i64::from(passage.document.end),
    ];
    let overlap = u64::from(overlap(passage, found));
    // If more than half of the match is already marked, it is another place of the same text, not a
    // continuation.
    if !continues || overlap * 2 > u64::from(found.length).min(passage.agreed) {
        return None;
    }
    let [here, there] = skipped.map(|symbols| u32::try_from(symbols).unwrap_or(0));
    (here.max(there) <= gap).then_some((here.max(there), here.abs_diff(there)))
}

fn append(
    passage: &mut Joined,
    found: &MaximalMatch,
    [query, document]: [&[u64]; 2],
    uncounted: &Uncounted,
    gaps: &mut Gaps,
) {
    let overlap = overlap(passage, found);
    if overlap == 0 {
        let between = |end: u32, start: u32| end as usize..start as usize;
        let here = &query[between(passage.query.end, found.query)];
        let there = &document[between(passage.document.end, found.document)];
        let agreeing = gaps.agreeing(here, there, passage.query.end.into(), uncounted);
        passage.agreed += agreeing.all;
        passage.counted += agreeing.counted;
    }
    passage.agreed += u64::from(found.length - overlap);
    passage.counted += uncounted.counted(&(u64::from(found.query + overlap)..found.query_end().into()));
    passage.in_order = passage.agreed;
    passage.query.end = found.query_end();
    passage.document.end = found.document_end();
}

/// Drops passages that lie in another one, and sorts the rest.
pub fn without_contained(passages: &mut Vec<Joined>) {
    // Passages are mostly in order of the query already, except those with equal starts.
    passages.sort_by_key(|passage| passage.query.start);
    for same_start in passages.chunk_by_mut(|a, b| a.query.start == b.query.start) {
        same_start
            .sort_by_key(|passage| (Reverse(passage.query.end), passage.document.start, Reverse(passage.document.end)));
    }
    let mut kept: Vec<Joined> = Vec::with_capacity(passages.len());
    // The passages that a later one may lie in, weighted by length.
    let mut open = PassageIndex::new();
    for passage in passages.drain(..) {
        if open.holds(&passage.query, &passage.document) {
            continue;
        }
        let from = passage.query.start + 1;
        open.push(kept.len(), &passage.query, &passage.document, passage.length(), from);
        kept.push(passage);
    }
    *passages = kept;
}

/// Drops passages shorter than t if both of their spans lie in longer passages. Such passages are repeated
/// phrases.
fn without_repeated(passages: &mut Vec<Joined>, guarantee: u64) {
    let is_long = |passage: &Joined| passage.agreed >= guarantee;
    let union = |span: fn(&Joined) -> &Range<u32>| union(passages.iter().filter(|passage| is_long(passage)).map(span));
    let (in_query, in_document) = (union(|passage| &passage.query), union(|passage| &passage.document));
    passages.retain(|passage| {
        is_long(passage) || !(lies_in(&in_query, &passage.query) && lies_in(&in_document, &passage.document))
    });
}
