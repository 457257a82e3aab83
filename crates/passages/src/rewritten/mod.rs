//! Rewritten: finds the passages a reader would mark in text that was reworded, rearranged or summarised.
//!
//! The method is text alignment, with k-grams in addition to sentences: Sanchez-Perez, Sidorov and Gelbukh,
//! "A winning approach to text alignment for text reuse detection" (PAN at CLEF 2014).
//!
//! *Seeds* are maximal matches and similar sentences (`seeds`). Words weigh more the rarer they are in the
//! two texts (`words`). Seeds near each other grow to *fragments*, which must say the same as a whole
//! (`fragments`). A *summary* is a short stretch that repeats what the other text says at places far apart
//! (`summary`). A fragment is left out if most of one of its spans lies in a fragment with more than twice as
//! much in common. The constants were tuned on texts rewritten in several ways (docs/measurements.md).
//!
//! The index is the same as for other queries, and the places of shared fingerprints choose the documents to
//! compare (`candidates` in the library's `query`). Words of boilerplate, common fingerprints, quotations and
//! phrases make no passage. `agreement` counts equal words in the same order, so it is low if sentences were
//! rearranged. `exact` is true, since both texts were compared word by word. If a text is not available,
//! passages are inferred from fingerprints as usual, with a gap of 60 words and at least 20 words.

mod fragments;
mod seeds;
mod sentences;
mod summary;
#[cfg(test)]
mod tests;
mod words;

use std::cmp::Reverse;
use std::ops::Range;

use super::chain::longest_chain;
use super::join::without_contained;
use super::joined::Joined;
use super::runs::{MaximalMatch, extend};
use crate::ranges::{lies_in, union};
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;
use fragments::{Comparison, Fragment, LEAST, Spans};
pub use sentences::{sentences, sentences_of_utf8};
pub use words::QueryWords;
use words::{DOCUMENT, NO_WORD, QUERY, WordNumber, WordTexts};

/// Maximum gap between matches, in words, when only fingerprints are available.
pub const GAP_OF_FINGERPRINTS: u32 = 60;

/// Minimum number of words of a passage when only fingerprints are available.
pub const LEAST_OF_FINGERPRINTS: u64 = LEAST as u64;

/// A passage whose end cuts a match of at least this many k-grams is extended to the whole match.
const LONG: u32 = 3;

/// A fragment is left out if most of one of its spans lies in a fragment with more than this many times as
/// much in common.
const RIVAL: f64 = 2.0;

/// A fragment is compared with this number of the largest fragments only, to bound the time.
const RIVALS: usize = 1 << 10;

/// A word with more pairs of places in a passage than this shows nothing about the order.
const RARE: usize = 4;

/// Maximum number of words and matches examined for their order: this multiple of the words of the two texts,
/// but at least a minimum. The maximum bounds the time, because passages can overlap.
const LOOKS: usize = 16;
const LOOKS_AT_LEAST: usize = 1 << 22;

/// The two texts to compare.
pub struct Rewriting<'a> {
    /// The words of the query.
    pub query: &'a QueryWords,
    /// The symbols (words) of the document.
    pub values: &'a [u64],
    /// The first words of sentences in the document.
    pub sentences: &'a [u32],
    /// The maximal matches of the two texts, in order of the query.
    pub matches: &'a [MaximalMatch],
    /// Number of words in a k-gram.
    pub k: u32,
    /// The guarantee t, in words: the length from which a shared run is guaranteed to be found.
    pub guarantee: u64,
    /// Passages with fewer agreeing words that count are left out.
    pub least: u64,
    /// Stops the comparison.
    pub stop: &'a StopToken,
}

/// The passages of a pair of texts, in order of the query.
///
/// A shared run of at least t words, and at least 20 words, lies in passages on one side or on both. This
/// holds if the words of the run that count weigh as much as 20 words of mean weight.
///
/// # Errors
/// [`Error::Stopped`](fpdb_host::error::Error::Stopped).
pub fn passages(rewriting: &Rewriting<'_>) -> Result<Vec<Joined>> {
    let &Rewriting { query, values, sentences, matches, k, stop, .. } = rewriting;
    let words = WordTexts::new(query, values, sentences);
    let mut seeds = seeds::of_pieces(&words, stop)?;
    seeds.extend(seeds::of_matches(matches, k));
    let mut comparison = Comparison::new(&words);
    let mut fragments = without_rivals(comparison.fragments(&seeds, stop)?);
    for side in [QUERY, DOCUMENT] {
        stop.check()?;
        for summary in summary::summaries(&words, &seeds, side) {
            replace(&mut fragments, summary);
        }
    }
    whole_matches(&mut fragments, matches, LONG.saturating_mul(k));
    add_runs(&mut fragments, &words, rewriting);
    let mut counting = AgreementCounter::new(&words);
    let joined = fragments.iter().map(|fragment| {
        stop.check()?;
        Ok(counting.joined(&words, &fragment.spans, rewriting))
    });
    let mut joined = joined.collect::<Result<Vec<Joined>>>()?;
    joined.retain(|joined| joined.counted >= rewriting.least);
    without_contained(&mut joined);
    Ok(joined)
}

/// Leaves out a fragment if most of one of its spans lies in another fragment with more than twice as much in
/// common.
fn without_rivals(mut fragments: Vec<Fragment>) -> Vec<Fragment> {
    let place = |fragment: &Fragment| fragment.spans.clone().map(|span| (span.start, span.end));
    fragments.sort_by(|a, b| b.common.total_cmp(&a.common).then_with(|| place(a).cmp(&place(b))));
    let mut kept: Vec<Fragment> = Vec::new();
    for fragment in fragments {
        let rival = |other: &Fragment| {
            let mostly_in = |side: usize| {
                let (inner, outer) = (&fragment.spans[side], &other.spans[side]);
                overlap(inner, outer) as usize * 2 > inner.len()
            };
            other.common > RIVAL * fragment.common && (mostly_in(QUERY) || mostly_in(DOCUMENT))
        };
        if !kept.iter().take(RIVALS).any(rival) {
            kept.push(fragment);
        }
    }
    kept
}

fn overlap(a: &Range<u32>, b: &Range<u32>) -> u32 {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

/// Replaces the fragments that are parts of a summary by the summary. Keeps them if one of them is a copy
/// that makes up most of the summary.
fn replace(fragments: &mut Vec<Fragment>, summary: Fragment) {
    let is_part = |fragment: &Fragment| {
        [QUERY, DOCUMENT].iter().all(|&side| overlap(&fragment.spans[side], &summary.spans[side]) > 0)
    };
    if !fragments.iter().any(|fragment| is_part(fragment) && summary::is_mostly(&summary, fragment)) {
        fragments.retain(|fragment| !is_part(fragment));
        fragments.push(summary);
    }
}

/// Extends fragments whose ends cut a long match. If one side then consists of long matches only, the other
/// side is cut to the counterparts of these matches.
fn whole_matches(fragments: &mut [Fragment], matches: &[MaximalMatch], long: u32) {
    let long: Vec<Spans> = matches
        .iter()
        .filter(|found| found.length >= long)
        .map(|found| [found.query..found.query_end(), found.document..found.document_end()])
        .collect();
    // For each match, the furthest end of this match and all matches before it.
    let mut reach = Vec::with_capacity(long.len());
    let mut furthest = 0;
    for found in &long {
        furthest = furthest.max(found[QUERY].end);
        reach.push(furthest);
    }
    for fragment in fragments {
        let inner = fragment.spans.clone();
        let from = reach.partition_point(|&end| end <= inner[QUERY].start);
        let near = long[from..].iter().take_while(|found| found[QUERY].start < inner[QUERY].end);
        // Most of the match must be inside on both sides, so a passage grows little.
        let mostly_inside: Vec<&Spans> = near
            .filter(|found| (0..2).all(|side| 2 * overlap(&found[side], &inner[side]) as usize > found[side].len()))
            .collect();
        for (found, side) in mostly_inside.iter().flat_map(|found| [(found, QUERY), (found, DOCUMENT)]) {
            fragment.spans[side] = around(&fragment.spans[side], &found[side]);
        }
        for side in [QUERY, DOCUMENT] {
            // The other side may repeat the text, so it can hold several matches with this side.
            let whole = mostly_inside.iter().filter(|found| found[side] == fragment.spans[side]);
            if let Some(matched) = whole.map(|found| found[1 - side].clone()).reduce(|a, b| around(&a, &b)) {
                fragment.spans[1 - side] = matched;
            }
        }
    }
}

/// The smallest range that contains both.
fn around(a: &Range<u32>, b: &Range<u32>) -> Range<u32> {
    a.start.min(b.start)..a.end.max(b.end)
}

/// Adds the shared runs that are long and heavy enough. Leaves out a run if its place in one of the texts
/// already lies in passages.
fn add_runs(fragments: &mut Vec<Fragment>, words: &WordTexts<'_>, rewriting: &Rewriting<'_>) {
    let marked = [QUERY, DOCUMENT].map(|side| union(fragments.iter().map(|fragment| &fragment.spans[side])));
    let mut runs: Vec<Fragment> = Vec::new();
    for found in rewriting.matches {
        let spans = [found.query..found.query_end(), found.document..found.document_end()];
        if u64::from(found.length) < rewriting.guarantee
            || f64::from(found.length) < LEAST
            || (0..2).any(|side| lies_in(&marked[side], &spans[side]))
        {
            continue;
        }
        let common = words.weight_of(QUERY, &spans[QUERY]);
        if common >= LEAST {
            runs.push(Fragment { spans, common });
        }
    }
    fragments.extend(runs);
}

/// Counts the agreeing words of passages, with a table that is reused.
struct AgreementCounter {
    /// By word, the number of occurrences in the document's span; 0 between calls.
    counts: Vec<u32>,
    /// Number of words and matches that may still be examined for their order.
    budget: usize,
}

impl AgreementCounter {
    fn new(words: &WordTexts<'_>) -> Self {
        let length = words.length();
        Self { counts: vec![0; words.numbers()], budget: (length * LOOKS).max(LOOKS_AT_LEAST) }
    }

    fn joined(&mut self, words: &WordTexts<'_>, spans: &Spans, rewriting: &Rewriting<'_>) -> Joined {
        let there = words.whole_span(DOCUMENT, &spans[DOCUMENT]);
        let agreed = self.agreeing(words.whole_span(QUERY, &spans[QUERY]), there);
        let counted = self.agreeing(words.span(QUERY, &spans[QUERY]), there);
        Joined {
            query: spans[QUERY].clone(),
            document: spans[DOCUMENT].clone(),
            agreed,
            counted,
            in_order: in_order(words, spans, rewriting, &mut self.budget),
        }
    }

    /// Number of words that both spans have, in any order.
    fn agreeing(&mut self, here: &[WordNumber], there: &[WordNumber]) -> u64 {
        there.iter().for_each(|&word| self.counts[word as usize] += 1);
        let mut agreed = 0;
        for &word in here.iter().filter(|&&word| word != NO_WORD) {
            let left = &mut self.counts[word as usize];
            agreed += u64::from(*left > 0);
            *left = left.saturating_sub(1);
        }
        there.iter().for_each(|&word| self.counts[word as usize] = 0);
        agreed
    }
}

/// Number of words of two spans that are equal in the same order, as a lower bound; 0 once the budget is
/// spent. It counts the longest chain of the matches in the spans and of the runs around their rare words.
fn in_order(words: &WordTexts<'_>, spans: &Spans, rewriting: &Rewriting<'_>, budget: &mut usize) -> u64 {
    let [query, document] = spans;
    let from = rewriting.matches.partition_point(|found| found.query < query.start);
    let inside = |found: &&MaximalMatch| {
        found.query_end() <= query.end && found.document >= document.start && found.document_end() <= document.end
    };
    let near = &rewriting.matches[from..];
    let near = &near[..near.partition_point(|found| found.query < query.end)];
    let Some(left) = budget.checked_sub(near.len() + query.len() + document.len()) else { return 0 };
    *budget = left;
    let mut matches: Vec<MaximalMatch> = near.iter().filter(inside).copied().collect();
    let [here, there] = [QUERY, DOCUMENT].map(|side| words.whole_span(side, &spans[side]));
    let places = |text: &[WordNumber]| {
        let mut places: Vec<(WordNumber, u32)> = text.iter().copied().zip(0..).collect();
        places.sort_unstable();
        places
    };
    let (here_places, there_places) = (places(here), places(there));
    let mut rest = &there_places[..];
    // Diagonal and place in the query.
    let mut pairs: Vec<(i64, u32)> = Vec::new();
    for same in here_places.chunk_by(|a, b| a.0 == b.0) {
        rest = &rest[rest.partition_point(|&(word, _)| word < same[0].0)..];
        let others = &rest[..rest.partition_point(|&(word, _)| word == same[0].0)];
        if same.len() * others.len() <= RARE {
            let diagonal = |&(_, place): &(WordNumber, u32)| {
                others.iter().map(move |&(_, other)| (i64::from(place) - i64::from(other), place))
            };
            pairs.extend(same.iter().flat_map(diagonal));
        }
    }
    pairs.sort_unstable();
    let mut last: Option<(i64, u32)> = None;
    for (diagonal, place) in pairs {
        if last.is_some_and(|(at, end)| at == diagonal && place < end) {
            continue;
        }
        let other = (i64::from(place) - diagonal) as u32;
        if let Some(found) = extend(here, there, place, other, 1) {
            last = Some((diagonal, found.query_end()));
            matches.push(MaximalMatch {
                query: found.query + query.start,
                document: found.document + document.start,
                ..found
            });
        }
    }
    matches.sort_unstable_by_key(|found| (found.query, found.document, Reverse(found.length)));
    matches.dedup_by_key(|found| (found.query, found.document));
    longest_chain(&matches)
}
