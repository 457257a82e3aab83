//! Seeds: places of two texts that say the same, from which passages grow.
//!
//! There are two kinds: maximal matches; and pieces whose weighted words are similar, in any order.

use std::ops::Range;

use super::super::connected::Spanning;
use super::super::runs::MaximalMatch;
use super::words::{Bags, DOCUMENT, NO_WORD, QUERY, WordNumber, WordTexts};
use crate::ranges::{lies_in, union};
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;

/// The smallest cosine of two similar pieces, and the smallest share of their distinct words that both have
/// (Dice). Sanchez-Perez et al. 2014 use 0.3 and 0.33.
const COSINE: f64 = 0.3;
const DICE: f64 = 0.3;

/// The same if one text may be a summary of the other.
const COSINE_OF_SUMMARY: f64 = 0.25;
const DICE_OF_SUMMARY: f64 = 0.15;

/// Alternatively, the smallest share of the weight of the shorter piece that the other has too, with at least
/// this number of distinct common words.
const CONTAINED: f64 = 0.45;
const WORDS_OF_CONTAINED: usize = 8;

/// A pair of pieces is a seed if its similarity is at least this share of the highest similarity of either
/// piece.
const BEST: f64 = 0.8;

/// Maximum number of pairs of pieces found through common words, the rarest words first. Words beyond this
/// limit find no pairs, but count in pairs that other words find.
const PAIRS: u64 = 1 << 22;

/// A maximal match is insignificant if its rarest hash has more pairs of places than `RARE`: a phrase that
/// both texts repeat. It is significant if it is as long as `LONG` k-grams.
const RARE: u32 = 4;
const LONG: u32 = 3;

/// A pair of spans that may say the same in other words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seed {
    /// Start of the span in the query, and in the document.
    pub(super) starts: [u32; 2],
    pub(super) ends: [u32; 2],
    /// True if fragments can grow from it.
    pub(super) of_fragment: bool,
    pub(super) of_summary: bool,
    similarity: f64,
}

impl Seed {
    pub(super) fn span(&self, side: usize) -> Range<u32> {
        self.starts[side]..self.ends[side]
    }
}

impl Spanning for Seed {
    fn in_query(&self) -> Range<u32> {
        self.span(QUERY)
    }

    fn in_document(&self) -> Range<u32> {
        self.span(DOCUMENT)
    }
}

/// The maximal matches that are seeds: significant matches that do not lie, on either side, in one twice as
/// long.
pub(super) fn of_matches(matches: &[MaximalMatch], k: u32) -> Vec<Seed> {
    let tells = |found: &&MaximalMatch| found.rarest <= RARE || found.length >= LONG.saturating_mul(k);
    let significant: Vec<&MaximalMatch> = matches.iter().filter(tells).collect();
    let longest = significant.iter().map(|found| found.length).max().unwrap_or(0);
    // For each power of two, the places of all matches of at least that length, in either text.
    let levels: Vec<[Vec<Range<u32>>; 2]> = (0..=longest.max(1).ilog2())
        .map(|level| {
            let long = || significant.iter().filter(move |found| found.length >> level > 0);
            let (queries, documents): (Vec<_>, Vec<_>) =
                long().map(|found| (found.in_query(), found.in_document())).unzip();
            [union(queries.iter()), union(documents.iter())]
        })
        .collect();
    let stands_alone = |found: &&&MaximalMatch| {
        let level = (2 * u64::from(found.length)).next_power_of_two().ilog2();
        levels.get(level as usize).is_none_or(|[query, document]| {
            !lies_in(query, &found.in_query()) && !lies_in(document, &found.in_document())
        })
    };
    let seed = |found: &&MaximalMatch| Seed {
        starts: [found.query, found.document],
        ends: [found.query_end(), found.document_end()],
        of_fragment: true,
        of_summary: true,
        similarity: 1.0,
    };
    significant.iter().filter(stands_alone).map(seed).collect()
}

/// The pairs of pieces that are seeds, in order of the query.
///
/// # Errors
/// [`Error::Stopped`](fpdb_host::error::Error::Stopped).
pub(super) fn of_pieces(words: &WordTexts, stop: &StopToken) -> Result<Vec<Seed>> {
    let bags = [QUERY, DOCUMENT].map(|side| Bags::new(words, side));
    let candidates = Candidates::new(words, &bags);
    let [of_query, of_document] = [QUERY, DOCUMENT].map(|side| SentencePiece::all(words, &bags[side], &candidates));
    let mut seeds: Vec<(usize, usize, Seed)> = Vec::new();
    let mut shared: Vec<CommonWords> = vec![CommonWords::default(); bags[DOCUMENT].len()];
    let mut touched: Vec<u32> = Vec::new();
    for (here, query) in of_query.iter().enumerate() {
        stop.check()?;
        for &(word, count) in bags[QUERY].of(here) {
            let weight = words.weight(word);
            for &(piece, other) in candidates.pieces_with(word) {
                let shared = &mut shared[piece as usize];
                if shared.words == 0 {
                    touched.push(piece);
                }
                shared.add(weight, count, other);
            }
        }
        touched.sort_unstable();
        for there in touched.drain(..) {
            let there = there as usize;
            let found = std::mem::take(&mut shared[there]);
            let document = &of_document[there];
            if !found.may_be_seed(query, document) {
                continue;
            }
            let found = match query.common.min(document.common) > 0.0 {
                true => CommonWords::of(words, bags[QUERY].of(here), bags[DOCUMENT].of(there)),
                false => found,
            };
            if let Some((similarity, of_fragment)) = found.seed(query, document) {
                let pieces = [&words.pieces[QUERY][here], &words.pieces[DOCUMENT][there]];
                let (starts, ends) = (pieces.map(|piece| piece.start), pieces.map(|piece| piece.end));
                seeds.push((here, there, Seed { starts, ends, of_fragment, of_summary: true, similarity }));
            }
        }
    }
    Ok(best(seeds, bags.map(|bags| bags.len())))
}

/// Keeps the seeds for which neither piece has a clearly more similar partner: among seeds for fragments, and
/// among all.
fn best(mut seeds: Vec<(usize, usize, Seed)>, pieces: [usize; 2]) -> Vec<Seed> {
    let of_fragment = are_best(&seeds, pieces, |seed| seed.of_fragment);
    let of_summary = are_best(&seeds, pieces, |seed| seed.of_summary);
    for ((_, _, seed), (of_fragment, of_summary)) in seeds.iter_mut().zip(of_fragment.into_iter().zip(of_summary)) {
        (seed.of_fragment, seed.of_summary) = (of_fragment, of_summary);
    }
    seeds.into_iter().map(|(_, _, seed)| seed).filter(|seed| seed.of_fragment || seed.of_summary).collect()
}

fn are_best(seeds: &[(usize, usize, Seed)], pieces: [usize; 2], is_one: fn(&Seed) -> bool) -> Vec<bool> {
    let mut most = pieces.map(|pieces| vec![0.0f64; pieces]);
    for (here, there, seed) in seeds.iter().filter(|(_, _, seed)| is_one(seed)) {
        most[QUERY][*here] = most[QUERY][*here].max(seed.similarity);
        most[DOCUMENT][*there] = most[DOCUMENT][*there].max(seed.similarity);
    }
    let is_best = |&(here, there, seed): &(usize, usize, Seed)| {
        is_one(&seed) && seed.similarity >= BEST * most[QUERY][here].max(most[DOCUMENT][there])
    };
    seeds.iter().map(is_best).collect()
}

/// The pieces of the document, by the words through which pairs are found.
struct Candidates {
    /// By word, the index of its first piece; the last element is the end.
    first: Vec<usize>,
    pieces: Vec<(u32, u32)>,
    /// By word, true if it is in both texts but too common to find pairs.
    is_common: Vec<bool>,
}

impl Candidates {
    fn new(words: &WordTexts, bags: &[Bags; 2]) -> Self {
        let mut holding = [vec![0u64; words.numbers()], vec![0u64; words.numbers()]];
        for (bags, holding) in bags.iter().zip(&mut holding) {
            for piece in 0..bags.len() {
                bags.of(piece).iter().for_each(|&(word, _)| holding[word as usize] += 1);
            }
        }
        let pairs = |word: usize| holding[QUERY][word] * holding[DOCUMENT][word];
        let mut shared: Vec<(u64, usize)> =
            (0..words.numbers()).map(|word| (pairs(word), word)).filter(|&(pairs, _)| pairs > 0).collect();
        shared.sort_unstable();
        let mut total = 0u64;
        let affordable = shared
            .iter()
            .take_while(|(pairs, _)| {
                total = total.saturating_add(*pairs);
                total <= PAIRS
            })
            .count();
        let [mut is_rare, mut is_common] = [(); 2].map(|()| vec![false; words.numbers()]);
        shared[..affordable].iter().for_each(|&(_, word)| is_rare[word] = true);
        shared[affordable..].iter().for_each(|&(_, word)| is_common[word] = true);
        let mut first = Vec::with_capacity(words.numbers() + 1);
        let mut end = 0;
        for word in 0..words.numbers() {
            first.push(end);
            end += if is_rare[word] { holding[DOCUMENT][word] as usize } else { 0 };
        }
        first.push(end);
        let mut next = first.clone();
        let mut pieces = vec![(0, 0); end];
        for piece in 0..bags[DOCUMENT].len() {
            for &(word, count) in bags[DOCUMENT].of(piece).iter().filter(|(word, _)| is_rare[*word as usize]) {
                pieces[next[word as usize]] = (piece as u32, count);
                next[word as usize] += 1;
            }
        }
        Self { first, pieces, is_common }
    }

    /// The pieces of the document that hold a word, with its number of occurrences. Empty if the word is too
    /// common, or not shared.
    fn pieces_with(&self, word: WordNumber) -> &[(u32, u32)] {
        &self.pieces[self.first[word as usize]..self.first[word as usize + 1]]
    }
}

/// The measures of one piece.
struct SentencePiece {
    norm: f64,
    weight: f64,
    words: usize,
    /// The norm and the weight of its words that find no pairs.
    common_norm: f64,
    common: f64,
}

impl SentencePiece {
    fn all(words: &WordTexts, bags: &Bags, candidates: &Candidates) -> Vec<Self> {
        let piece = |piece: usize| {
            let (mut squares, mut weight, mut common_squares, mut common) = (0.0, 0.0, 0.0, 0.0);
            for &(word, count) in bags.of(piece) {
                debug_assert!(word != NO_WORD);
                let heavy = words.weight(word) * f64::from(count);
                squares += heavy * heavy;
                weight += heavy;
                if candidates.is_common[word as usize] {
                    common_squares += heavy * heavy;
                    common += heavy;
                }
            }
            let words = bags.of(piece).len();
            Self { norm: f64::sqrt(squares), weight, words, common_norm: f64::sqrt(common_squares), common }
        };
        (0..bags.len()).map(piece).collect()
    }
}

/// The words that two pieces have in common.
#[derive(Clone, Copy, Debug, Default)]
struct CommonWords {
    words: usize,
    product: f64,
    weight: f64,
}

impl CommonWords {
    fn add(&mut self, weight: f64, here: u32, there: u32) {
        self.words += 1;
        self.product += weight * weight * f64::from(here) * f64::from(there);
        self.weight += weight * f64::from(here.min(there));
    }

    fn of(words: &WordTexts, mut here: &[(WordNumber, u32)], mut there: &[(WordNumber, u32)]) -> Self {
        let mut shared = Self::default();
        while let (Some((first, rest)), Some((other, others))) = (here.split_first(), there.split_first()) {
            if first.0 == other.0 {
                shared.add(words.weight(first.0), first.1, other.1);
            }
            if first.0 <= other.0 {
                here = rest;
            }
            if other.0 <= first.0 {
                there = others;
            }
        }
        shared
    }

    /// False if they cannot be a seed even if all words that find no pairs are common (Cauchy-Schwarz
    /// inequality).
    fn may_be_seed(&self, query: &SentencePiece, document: &SentencePiece) -> bool {
        let product = self.product + query.common_norm * document.common_norm;
        let weight = self.weight + query.common.min(document.common);
        product > COSINE_OF_SUMMARY * query.norm * document.norm
            || weight > CONTAINED * query.weight.min(document.weight)
    }

    /// Their cosine, and whether a fragment can grow from them. `None` if they are not even a seed of a
    /// summary.
    fn seed(&self, query: &SentencePiece, document: &SentencePiece) -> Option<(f64, bool)> {
        let cosine = self.product / (query.norm * document.norm);
        let dice = 2.0 * self.words as f64 / (query.words + document.words) as f64;
        let contained = self.weight > CONTAINED * query.weight.min(document.weight)
            && query.words.min(document.words) >= WORDS_OF_CONTAINED;
        let strong = cosine > COSINE && dice > DICE;
        let weak = contained || (cosine > COSINE_OF_SUMMARY && dice > DICE_OF_SUMMARY);
        (strong || weak).then_some((cosine, strong))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Seeds by comparing each piece with each.
    fn naive(words: &WordTexts) -> Vec<Seed> {
        let bags = [QUERY, DOCUMENT].map(|side| Bags::new(words, side));
        let whole = Candidates { first: Vec::new(), pieces: Vec::new(), is_common: vec![false; words.numbers()] };
        let pieces = [QUERY, DOCUMENT].map(|side| SentencePiece::all(words, &bags[side], &whole));
        let mut seeds = Vec::new();
        for (here, query) in pieces[QUERY].iter().enumerate() {
            for (there, document) in pieces[DOCUMENT].iter().enumerate() {
                let shared = CommonWords::of(words, bags[QUERY].of(here), bags[DOCUMENT].of(there));
                if shared.words > 0
                    && let Some((similarity, of_fragment)) = shared.seed(query, document)
                {
                    let spans = [&words.pieces[QUERY][here], &words.pieces[DOCUMENT][there]];
                    let (starts, ends) = (spans.map(|span| span.start), spans.map(|span| span.end));
                    seeds.push((here, there, Seed { starts, ends, of_fragment, of_summary: true, similarity }));
                }
            }
        }
        best(seeds, bags.map(|bags| bags.len()))
    }

    fn found(query: u32, document: u32, length: u32, rarest: u32) -> MaximalMatch {
        MaximalMatch { query, document, length, rarest }
    }

    #[test]
    fn a_match_within_one_twice_as_long_and_a_phrase_both_repeat_are_no_seeds() {
        let long = found(0, 0, 64, 1);
        let matches = [long, found(10, 500, 8, 1), found(700, 10, 8, 1), found(800, 800, 8, 1), found(900, 900, 8, 5)];
        let starts: Vec<u32> = of_matches(&matches, 3).iter().map(|seed| seed.starts[QUERY]).collect();
        assert_eq!(starts, [0, 800]);
    }

    proptest! {
        #[test]
        fn they_are_those_of_comparing_each_piece_with_each(
            texts in prop::array::uniform2(prop::collection::vec(0u64..60, 0..200)),
            every in 5u32..20,
        ) {
            let sentences = texts.each_ref().map(|text| (0..text.len() as u32).step_by(every as usize).collect::<Vec<u32>>());
            let words = WordTexts::new([&texts[0], &texts[1]], [&sentences[0], &sentences[1]], |place| place % 11 != 0);
            let (fast, slow) = (of_pieces(&words, &StopToken::new()).unwrap(), naive(&words));
            prop_assert_eq!(fast.len(), slow.len());
            for (fast, slow) in fast.iter().zip(&slow) {
                let parts = |seed: &Seed| (seed.starts, seed.ends, seed.of_fragment, seed.of_summary);
                prop_assert_eq!(parts(fast), parts(slow));
                prop_assert!((fast.similarity - slow.similarity).abs() < 1e-9);
            }
        }
    }
}
