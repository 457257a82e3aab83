//! Seeds: places of two texts that say the same, from which passages grow.
//!
//! A seed is a maximal match, or a pair of pieces whose weighted words are similar in any order.

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

/// The smallest cosine of two similar pieces if one text may be a summary of the other.
const COSINE_OF_SUMMARY: f64 = 0.25;
const DICE_OF_SUMMARY: f64 = 0.15;

/// Pieces are also similar if the longer piece has this share of the shorter one's weight, in at least this
/// number of distinct words.
const CONTAINED: f64 = 0.45;
const WORDS_OF_CONTAINED: usize = 8;

/// A pair of pieces is a seed if its similarity is at least this share of the highest similarity of either
/// piece.
const BEST: f64 = 0.8;

/// Maximum number of pairs of pieces found through common words, the rarest words first. Words beyond this
/// limit find no pairs, but count in pairs that other words find.
const PAIRS: u64 = 1 << 22;

/// A word is common if more than one in `COMMON` pieces of both texts has it.
const COMMON: u64 = 12;

/// A piece needs its common words to find its pairs if these words have more than this share of its norm, or
/// of its weight. The square of `NEEDED_OF_NORM` is below `COSINE_OF_SUMMARY`, and `NEEDED_OF_WEIGHT` is
/// below `CONTAINED`. So if neither piece needs its common words, these words alone make no seed.
const NEEDED_OF_NORM: f64 = 0.49;
const NEEDED_OF_WEIGHT: f64 = 0.4;

/// A maximal match is insignificant if its rarest hash has more pairs of places than `RARE`. Such a match is
/// a phrase that both texts repeat. But a match as long as `LONG` k-grams is always significant.
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

/// The maximal matches that are seeds: significant matches that do not lie, on either side, in much longer
/// matches. A much longer match has at least twice the length, rounded up to a power of two.
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
pub(super) fn of_pieces(words: &WordTexts<'_>, stop: &StopToken) -> Result<Vec<Seed>> {
    let bags = [QUERY, DOCUMENT].map(|side| words.bags(side));
    let roles = Roles::new(words);
    let [of_query, of_document] = bags.map(|bags| SentencePiece::all(words, bags, &roles));
    let index = PieceIndex::new(words, &roles, &of_document);
    let mut seeds: Vec<(usize, usize, Seed)> = Vec::new();
    let mut shared: Vec<CommonWords> = vec![CommonWords::default(); bags[DOCUMENT].len()];
    let mut touched: Vec<u32> = Vec::new();
    for (here, query) in of_query.iter().enumerate() {
        stop.check()?;
        for &(word, count) in bags[QUERY].of(here) {
            let weight = words.weight(word);
            for &(piece, other) in index.pieces_with(word, query.needs_common) {
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
            let mut found = std::mem::take(&mut shared[there]);
            let document = &of_document[there];
            if query.common.min(document.common) > 0.0 {
                if !found.may_be_seed(query, document) {
                    continue;
                }
                found = CommonWords::of(words, bags[QUERY].of(here), bags[DOCUMENT].of(there));
            }
            if let Some((similarity, of_fragment)) = found.seed(query, document) {
                let pieces = [&words.pieces(QUERY)[here], &words.pieces(DOCUMENT)[there]];
                let (starts, ends) = (pieces.map(|piece| piece.start), pieces.map(|piece| piece.end));
                seeds.push((here, there, Seed { starts, ends, of_fragment, of_summary: true, similarity }));
            }
        }
    }
    Ok(best(seeds, bags.map(Bags::len)))
}

/// Keeps a seed if neither of its pieces has a clearly more similar partner. Seeds of fragments and seeds of
/// summaries are compared separately.
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

/// The role of a word that both texts have, in the search for pairs of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The word finds all pairs of pieces that have it. A word that one text lacks has this role too.
    Rare,
    /// Many pieces have the word, and it weighs little. It finds only pairs in which a piece needs its common
    /// words.
    Common,
    /// Too many pairs of pieces have the word. It finds no pairs.
    TooCommon,
}

/// The roles of words.
struct Roles {
    /// By word of the query.
    of_query: Vec<Role>,
    /// By word, its weight if it is not rare, or 0. Words that only the document has are rare.
    common_weights: Vec<f64>,
}

impl Roles {
    fn new(words: &WordTexts<'_>) -> Self {
        let [query, document] = [QUERY, DOCUMENT].map(|side| words.holding(side));
        let all = (words.pieces(QUERY).len() + words.pieces(DOCUMENT).len()) as u64;
        let mut total = 0u64;
        let role = |(&here, &there): (&u32, &u32)| {
            total = total.saturating_add(u64::from(here) * u64::from(there));
            let is_common = there > 0 && u64::from(here + there) * COMMON > all;
            if is_common { Role::Common } else { Role::Rare }
        };
        let mut roles: Vec<Role> = query.iter().zip(document).map(role).collect();
        if total > PAIRS {
            let pairs = |word: usize| u64::from(query[word]) * u64::from(document[word]);
            let mut shared: Vec<(u64, usize)> =
                (0..roles.len()).map(|word| (pairs(word), word)).filter(|&(pairs, _)| pairs > 0).collect();
            shared.sort_unstable();
            let mut total = 0u64;
            let too_common = shared.iter().skip_while(|(pairs, _)| {
                total = total.saturating_add(*pairs);
                total <= PAIRS
            });
            too_common.for_each(|&(_, word)| roles[word] = Role::TooCommon);
        }
        let mut common_weights = vec![0.0; words.numbers()];
        for (word, _) in (0..).zip(&roles).filter(|(_, role)| **role != Role::Rare) {
            common_weights[word as usize] = words.weight(word);
        }
        Self { of_query: roles, common_weights }
    }
}

/// For each word of the query that finds pairs, the pieces of the document that hold it.
struct PieceIndex {
    /// By word, the index of its first piece; the last element is the end.
    first: Vec<usize>,
    /// By word, the end of the pieces that the word finds for every piece of the query. The pieces after that
    /// end are found only for pieces of the query that need their common words.
    always: Vec<usize>,
    /// Pieces, each with the number of occurrences of the word.
    pieces: Vec<(u32, u32)>,
}

impl PieceIndex {
    fn new(words: &WordTexts<'_>, roles: &Roles, of_document: &[SentencePiece]) -> Self {
        let of_query = &roles.of_query;
        let mut first = Vec::with_capacity(of_query.len() + 1);
        let mut end = 0;
        for (&role, &holding) in of_query.iter().zip(words.holding(DOCUMENT)) {
            first.push(end);
            end += if role == Role::TooCommon { 0 } else { holding as usize };
        }
        first.push(end);
        let mut pieces = vec![(0, 0); end];
        let mut next = first.clone();
        let mut always = Vec::new();
        for needs_common in [true, false] {
            for (piece, _) in of_document.iter().enumerate().filter(|(_, piece)| piece.needs_common == needs_common) {
                for &(word, count) in words.bags(DOCUMENT).of(piece) {
                    if of_query.get(word as usize).is_some_and(|role| *role != Role::TooCommon) {
                        pieces[next[word as usize]] = (piece as u32, count);
                        next[word as usize] += 1;
                    }
                }
            }
            if needs_common {
                always.clone_from(&next);
            }
        }
        for ((always, &end), _) in always.iter_mut().zip(&next).zip(of_query).filter(|(_, role)| **role == Role::Rare) {
            *always = end;
        }
        Self { first, always, pieces }
    }

    /// The pieces of the document that `word` finds for a piece of the query, each with the number of
    /// occurrences of `word` in it.
    fn pieces_with(&self, word: WordNumber, needs_common: bool) -> &[(u32, u32)] {
        let word = word as usize;
        let end = if needs_common { self.first[word + 1] } else { self.always[word] };
        &self.pieces[self.first[word]..end]
    }
}

/// The measures of one piece.
struct SentencePiece {
    norm: f64,
    weight: f64,
    words: usize,
    /// The norm and the weight of its words that are not rare.
    common_norm: f64,
    common: f64,
    /// True if the words that are not rare can alone make the piece a part of a seed.
    needs_common: bool,
}

impl SentencePiece {
    fn all(words: &WordTexts<'_>, bags: &Bags, roles: &Roles) -> Vec<Self> {
        let piece = |piece: usize| {
            let (mut squares, mut weight, mut common_squares, mut common) = (0.0, 0.0, 0.0, 0.0);
            for &(word, count) in bags.of(piece) {
                debug_assert!(word != NO_WORD);
                let heavy = words.weight(word) * f64::from(count);
                squares += heavy * heavy;
                weight += heavy;
                let heavy = roles.common_weights[word as usize] * f64::from(count);
                common_squares += heavy * heavy;
                common += heavy;
            }
            let (norm, common_norm) = (f64::sqrt(squares), f64::sqrt(common_squares));
            let needs_common = common_norm > NEEDED_OF_NORM * norm || common > NEEDED_OF_WEIGHT * weight;
            Self { norm, weight, words: bags.of(piece).len(), common_norm, common, needs_common }
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

    fn of(words: &WordTexts<'_>, mut here: &[(WordNumber, u32)], mut there: &[(WordNumber, u32)]) -> Self {
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

    /// False if the two pieces cannot be a seed, even if they share all their words that are not rare
    /// (Cauchy-Schwarz inequality).
    fn may_be_seed(&self, query: &SentencePiece, document: &SentencePiece) -> bool {
        let product = self.product + query.common_norm * document.common_norm;
        let weight = self.weight + query.common.min(document.common);
        product > COSINE_OF_SUMMARY * query.norm * document.norm
            || weight > CONTAINED * query.weight.min(document.weight)
    }

    /// The cosine of the two pieces, and true if a fragment can grow from them. `None` if they are not even a
    /// seed of a summary.
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

    use super::super::words::QueryWords;
    use super::*;
    use crate::ranges::Uncounted;

    /// Seeds by comparing each piece with each.
    fn naive(words: &WordTexts<'_>) -> Vec<Seed> {
        let bags = [QUERY, DOCUMENT].map(|side| words.bags(side));
        let none = Roles { of_query: Vec::new(), common_weights: vec![0.0; words.numbers()] };
        let pieces = bags.map(|bags| SentencePiece::all(words, bags, &none));
        let mut seeds = Vec::new();
        for (here, query) in pieces[QUERY].iter().enumerate() {
            for (there, document) in pieces[DOCUMENT].iter().enumerate() {
                let shared = CommonWords::of(words, bags[QUERY].of(here), bags[DOCUMENT].of(there));
                if shared.words > 0
                    && let Some((similarity, of_fragment)) = shared.seed(query, document)
                {
                    let spans = [&words.pieces(QUERY)[here], &words.pieces(DOCUMENT)[there]];
                    let (starts, ends) = (spans.map(|span| span.start), spans.map(|span| span.end));
                    seeds.push((here, there, Seed { starts, ends, of_fragment, of_summary: true, similarity }));
                }
            }
        }
        best(seeds, bags.map(Bags::len))
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
            let uncounted: Vec<Range<u32>> = (0..200).step_by(11).map(|place| place..place + 1).collect();
            let query = QueryWords::new(&texts[QUERY], &sentences[QUERY], &Uncounted::new(uncounted.iter()));
            let words = WordTexts::new(&query, &texts[DOCUMENT], &sentences[DOCUMENT]);
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
