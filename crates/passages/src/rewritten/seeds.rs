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

/// The tail of a piece has at most this share of the norm of its words, and of their weight. The square of
/// the first is below `COSINE_OF_SUMMARY`, and the second is below `CONTAINED`. So two pieces whose common
/// words all lie in both tails are no seed. Words beyond `PAIRS` always lie in the tails.
const TAIL_OF_NORM: f64 = 0.499;
const TAIL_OF_WEIGHT: f64 = 0.449;

/// Number of ranks of words. The ranks divide the words by how many pieces hold them, in steps of a factor
/// of two.
const RANKS: usize = 10;

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
    let ranks = Ranks::new(words);
    let [of_query, of_document] = bags.map(|bags| SentencePiece::all(words, bags, &ranks));
    let index = PieceIndex::new(words, &ranks, &of_document);
    let mut seeds: Vec<(usize, usize, Seed)> = Vec::new();
    let mut shared: Vec<CommonWords> = vec![CommonWords::default(); bags[DOCUMENT].len()];
    let mut touched: Vec<u32> = Vec::new();
    // By word, the number of occurrences in the piece of the query.
    let mut counts: Vec<u32> = vec![0; words.numbers()];
    for (here, query) in of_query.iter().enumerate() {
        stop.check()?;
        let bag = bags[QUERY].of(here);
        for &(word, count) in bag {
            counts[word as usize] = count;
            let found = index.pieces_with(word, ranks.of(word) < query.tail);
            if found.is_empty() {
                continue;
            }
            let weight = words.weight(word);
            for &(piece, other) in found {
                let shared = &mut shared[piece as usize];
                if shared.words == 0 {
                    touched.push(piece);
                }
                shared.add(weight, count, other);
            }
        }
        let first = seeds.len();
        for there in touched.drain(..) {
            let there = there as usize;
            let found = std::mem::take(&mut shared[there]);
            let document = &of_document[there];
            if !found.may_be_seed(query, document) {
                continue;
            }
            let found = CommonWords::of(words, &counts, bags[DOCUMENT].of(there));
            if let Some((similarity, of_fragment)) = found.seed(query, document) {
                let pieces = [&words.pieces(QUERY)[here], &words.pieces(DOCUMENT)[there]];
                let (starts, ends) = (pieces.map(|piece| piece.start), pieces.map(|piece| piece.end));
                seeds.push((here, there, Seed { starts, ends, of_fragment, of_summary: true, similarity }));
            }
        }
        seeds[first..].sort_unstable_by_key(|&(_, there, _)| there);
        bag.iter().for_each(|&(word, _)| counts[word as usize] = 0);
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

/// The rank of each word of the query: the higher, the fewer pieces hold the word.
struct Ranks {
    of_query: Vec<u8>,
}

impl Ranks {
    /// The rank of a word that too many pairs of pieces have. It finds no pairs.
    const TOO_COMMON: u8 = 0;
    /// The rank of a word that one text lacks.
    const UNSHARED: u8 = RANKS as u8;

    fn new(words: &WordTexts<'_>) -> Self {
        let [query, document] = [QUERY, DOCUMENT].map(|side| words.holding(side));
        let all = (words.pieces(QUERY).len() + words.pieces(DOCUMENT).len()) as u32;
        let mut total = 0u64;
        let rank = |(&here, &there): (&u32, &u32)| {
            total = total.saturating_add(u64::from(here) * u64::from(there));
            match all.checked_div(here + there) {
                Some(times) if there > 0 => (times.max(1).ilog2() as u8 + 1).min(Self::UNSHARED - 1),
                _ => Self::UNSHARED,
            }
        };
        let mut of_query: Vec<u8> = query.iter().zip(document).map(rank).collect();
        if total > PAIRS {
            let pairs = |word: usize| u64::from(query[word]) * u64::from(document[word]);
            let mut shared: Vec<(u64, usize)> =
                (0..of_query.len()).map(|word| (pairs(word), word)).filter(|&(pairs, _)| pairs > 0).collect();
            shared.sort_unstable();
            let mut total = 0u64;
            let too_common = shared.iter().skip_while(|(pairs, _)| {
                total = total.saturating_add(*pairs);
                total <= PAIRS
            });
            too_common.for_each(|&(_, word)| of_query[word] = Self::TOO_COMMON);
        }
        Self { of_query }
    }

    fn of(&self, word: WordNumber) -> u8 {
        self.of_query.get(word as usize).copied().unwrap_or(Self::UNSHARED)
    }
}

/// For each word of the query that finds pairs, the pieces of the document that hold it.
struct PieceIndex {
    /// By word, the index of its first piece; the last element is the end.
    first: Vec<u32>,
    /// By word, the end of the pieces whose tail does not have it. The pieces after that end are found only
    /// for pieces of the query whose tail does not have it either.
    outside_tail: Vec<u32>,
    /// Pieces, each with the number of occurrences of the word.
    pieces: Vec<(u32, u32)>,
}

impl PieceIndex {
    fn new(words: &WordTexts<'_>, ranks: &Ranks, of_document: &[SentencePiece]) -> Self {
        let mut first = Vec::with_capacity(ranks.of_query.len() + 1);
        let mut end = 0;
        for (&rank, &holding) in ranks.of_query.iter().zip(words.holding(DOCUMENT)) {
            first.push(end);
            end += if rank == Ranks::TOO_COMMON { 0 } else { holding };
        }
        first.push(end);
        let mut pieces = vec![(0, 0); end as usize];
        let mut next = first.clone();
        let mut in_tail = vec![0; first.len()];
        // From the shortest tail to the longest, so the pieces whose tail has a word come last.
        let mut by_tail: Vec<(u8, u32)> = (0..).zip(of_document).map(|(number, piece)| (piece.tail, number)).collect();
        by_tail.sort_unstable();
        for (tail, piece) in by_tail {
            for &(word, count) in words.bags(DOCUMENT).of(piece as usize) {
                let rank = ranks.of(word);
                if rank != Ranks::TOO_COMMON && rank != Ranks::UNSHARED {
                    let word = word as usize;
                    pieces[next[word] as usize] = (piece, count);
                    next[word] += 1;
                    in_tail[word] += u32::from(rank < tail);
                }
            }
        }
        let outside_tail = next.iter().zip(in_tail).map(|(end, in_tail)| end - in_tail).collect();
        Self { first, outside_tail, pieces }
    }

    /// The pieces of the document that `word` finds for a piece of the query, each with the number of
    /// occurrences of `word` in it.
    fn pieces_with(&self, word: WordNumber, in_tail: bool) -> &[(u32, u32)] {
        let word = word as usize;
        let end = if in_tail { self.outside_tail[word] } else { self.first[word + 1] };
        &self.pieces[self.first[word] as usize..end as usize]
    }
}

/// The measures of one piece.
struct SentencePiece {
    norm: f64,
    weight: f64,
    words: usize,
    /// The *tail* of the piece has its words of ranks below this one: the most common of the words that both
    /// texts have. Few of its pairs are seeds by the tail alone, so the tail does not search for pairs.
    tail: u8,
    tail_norm: f64,
    tail_weight: f64,
}

impl SentencePiece {
    fn all(words: &WordTexts<'_>, bags: &Bags, ranks: &Ranks) -> Vec<Self> {
        (0..bags.len()).map(|piece| Self::new(words, bags.of(piece), ranks)).collect()
    }

    fn new(words: &WordTexts<'_>, bag: &[(WordNumber, u32)], ranks: &Ranks) -> Self {
        // By rank.
        let (mut squares, mut weights) = ([0.0; RANKS + 1], [0.0; RANKS + 1]);
        for &(word, count) in bag {
            debug_assert!(word != NO_WORD);
            let heavy = words.weight(word) * f64::from(count);
            let rank = usize::from(ranks.of(word));
            squares[rank] += heavy * heavy;
            weights[rank] += heavy;
        }
        let (square, weight) = (squares.iter().sum::<f64>(), weights.iter().sum::<f64>());
        // Words that are too common always belong to the tail.
        let (mut tail, mut tail_square, mut tail_weight) = (1, squares[0], weights[0]);
        for rank in 1..RANKS {
            let (next_square, next_weight) = (tail_square + squares[rank], tail_weight + weights[rank]);
            if next_square > TAIL_OF_NORM * TAIL_OF_NORM * square || next_weight > TAIL_OF_WEIGHT * weight {
                break;
            }
            (tail, tail_square, tail_weight) = (rank as u8 + 1, next_square, next_weight);
        }
        Self { norm: square.sqrt(), weight, words: bag.len(), tail, tail_norm: tail_square.sqrt(), tail_weight }
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

    /// `counts` are the occurrences of each word in the piece of the query; `there` is the piece of the
    /// document.
    fn of(words: &WordTexts<'_>, counts: &[u32], there: &[(WordNumber, u32)]) -> Self {
        let mut shared = Self::default();
        for &(word, count) in there {
            let here = counts[word as usize];
            if here > 0 {
                shared.add(words.weight(word), here, count);
            }
        }
        shared
    }

    /// False if the two pieces cannot be a seed, even if they share all words of their tails (Cauchy-Schwarz
    /// inequality).
    fn may_be_seed(&self, query: &SentencePiece, document: &SentencePiece) -> bool {
        let product = self.product + query.tail_norm * document.tail_norm;
        let weight = self.weight + query.tail_weight.min(document.tail_weight);
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
        let none = Ranks { of_query: Vec::new() };
        let pieces = bags.map(|bags| SentencePiece::all(words, bags, &none));
        let mut seeds = Vec::new();
        for (here, query) in pieces[QUERY].iter().enumerate() {
            let mut counts = vec![0; words.numbers()];
            bags[QUERY].of(here).iter().for_each(|&(word, count)| counts[word as usize] = count);
            for (there, document) in pieces[DOCUMENT].iter().enumerate() {
                let shared = CommonWords::of(words, &counts, bags[DOCUMENT].of(there));
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
