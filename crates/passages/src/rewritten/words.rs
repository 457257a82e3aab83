//! Words: numbers the words of two texts, weighs them, and cuts the texts into pieces.
//!
//! A *piece* is a sentence; short sentences are merged with the next, and long ones are cut. A word weighs
//! more the fewer pieces of both texts hold it (the inverse sentence frequency of Sanchez-Perez et al. 2014).
//! So no list of stop words is needed, in any language.

use std::ops::Range;

use rustc_hash::{FxBuildHasher, FxHashMap};

/// A word, by number.
pub(super) type WordNumber = u32;

/// A word that does not count: its weight is 0, and it equals no other word.
pub(super) const NO_WORD: WordNumber = 0;

/// A sentence of fewer words is merged with the next one.
const SHORT: u32 = 5;

/// A sentence of more words is cut into equal parts of at most this length.
const LONG: u32 = 40;

/// Subtracted from each weight, so that a word in nearly every piece weighs little beside a rare one. It is
/// below ln 2, so every weight is above 0.
const OFFSET: f64 = 0.5;

/// Index of the query among the two texts.
pub(super) const QUERY: usize = 0;
/// Index of the document among the two texts.
pub(super) const DOCUMENT: usize = 1;

/// Two texts in words.
pub(super) struct WordTexts {
    /// The words of the query that count, and all words of the document.
    pub(super) texts: [Vec<WordNumber>; 2],
    /// All words of the query; `None` if all of them count.
    whole_query: Option<Vec<WordNumber>>,
    /// The pieces of each text, in order.
    pub(super) pieces: [Vec<Range<u32>>; 2],
    /// By word.
    weights: Vec<f64>,
    /// The mean weight of the words of both texts.
    pub(super) mean: f64,
}

impl WordTexts {
    /// Numbers the words of two texts. `values` are the words and `sentences` the places where sentences
    /// begin; `counts` says whether a place of the query counts.
    pub(super) fn new(values: [&[u64]; 2], sentences: [&[u32]; 2], counts: impl Fn(u32) -> bool) -> Self {
        let length = values.iter().map(|text| text.len()).sum();
        let mut numbers: FxHashMap<u64, WordNumber> = FxHashMap::with_capacity_and_hasher(length, FxBuildHasher);
        let mut texts = values.map(|values| {
            let number = |&value: &u64| {
                let next = numbers.len() as WordNumber + 1;
                *numbers.entry(value).or_insert(next)
            };
            values.iter().map(number).collect::<Vec<WordNumber>>()
        });
        let masked: Vec<WordNumber> =
            (0..).zip(&texts[QUERY]).map(|(place, &word)| if counts(place) { word } else { NO_WORD }).collect();
        let whole_query = (masked != texts[QUERY]).then(|| std::mem::replace(&mut texts[QUERY], masked));
        let pieces = [QUERY, DOCUMENT].map(|side| pieces(sentences[side], values[side].len() as u32));
        let mut words = Self { texts, whole_query, pieces, weights: Vec::new(), mean: 0.0 };
        words.weigh(numbers.len() + 1);
        words
    }

    fn weigh(&mut self, words: usize) {
        let mut holding = vec![0u32; words];
        // By word, the last piece that held it, numbered over both texts.
        let mut last = vec![0u32; words];
        let mut number = 0;
        for (text, pieces) in self.texts.iter().zip(&self.pieces) {
            for piece in pieces {
                number += 1;
                for &word in &text[piece.start as usize..piece.end as usize] {
                    if std::mem::replace(&mut last[word as usize], number) != number {
                        holding[word as usize] += 1;
                    }
                }
            }
        }
        // Few numbers of pieces are different, and a logarithm takes long.
        let mut known: Vec<Option<f64>> = Vec::new();
        let weight = |&held: &u32| {
            let held = held.max(1) as usize;
            if known.len() <= held {
                known.resize(held + 1, None);
            }
            *known[held].get_or_insert_with(|| (f64::from(number) / held as f64).ln_1p() - OFFSET)
        };
        self.weights = holding.iter().map(weight).collect();
        self.weights[NO_WORD as usize] = 0.0;
        let counting = self.texts.iter().flatten().filter(|&&word| word != NO_WORD).count();
        let total: f64 = self.texts.iter().flatten().map(|&word| self.weight(word)).sum();
        self.mean = if counting == 0 { 1.0 } else { total / counting as f64 };
    }

    pub(super) fn weight(&self, word: WordNumber) -> f64 {
        self.weights[word as usize]
    }

    /// One more than the largest word number.
    pub(super) fn numbers(&self) -> usize {
        self.weights.len()
    }

    /// The words of a span of one text that count; others are [`NO_WORD`].
    pub(super) fn span(&self, side: usize, span: &Range<u32>) -> &[WordNumber] {
        &self.texts[side][span.start as usize..span.end as usize]
    }

    /// All words of a span, including those that do not count.
    pub(super) fn whole_span(&self, side: usize, span: &Range<u32>) -> &[WordNumber] {
        match &self.whole_query {
            Some(query) if side == QUERY => &query[span.start as usize..span.end as usize],
            _ => self.span(side, span),
        }
    }

    /// The weight of a span, in words of mean weight.
    pub(super) fn weight_of(&self, side: usize, span: &Range<u32>) -> f64 {
        self.span(side, span).iter().map(|&word| self.weight(word)).sum::<f64>() / self.mean
    }
}

/// Cuts a text into pieces at the places where sentences begin.
fn pieces(sentences: &[u32], length: u32) -> Vec<Range<u32>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for &end in sentences.iter().filter(|&&place| place > 0).chain([&length]) {
        let words = end - start;
        if words == 0 || (words < SHORT && end < length) {
            continue;
        }
        let parts = words.div_ceil(LONG);
        let cut = |part: u32| start + (u64::from(words) * u64::from(part) / u64::from(parts)) as u32;
        pieces.extend((0..parts).map(|part| cut(part)..cut(part + 1)));
        start = end;
    }
    pieces
}

/// The distinct words of each piece of a text, ascending, with their number of occurrences in it.
pub(super) struct Bags {
    words: Vec<(WordNumber, u32)>,
    /// By piece, the index of its first word; the last element is the end.
    first: Vec<usize>,
}

impl Bags {
    pub(super) fn new(words: &WordTexts, side: usize) -> Self {
        let mut bags = Self { words: Vec::new(), first: vec![0] };
        let mut sorted = Vec::new();
        for piece in &words.pieces[side] {
            sorted.clear();
            sorted.extend(words.span(side, piece).iter().filter(|&&word| word != NO_WORD));
            sorted.sort_unstable();
            bags.words.extend(sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)));
            bags.first.push(bags.words.len());
        }
        bags
    }

    pub(super) fn len(&self) -> usize {
        self.first.len() - 1
    }

    pub(super) fn of(&self, piece: usize) -> &[(WordNumber, u32)] {
        &self.words[self.first[piece]..self.first[piece + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_become_pieces_of_five_to_forty_words() {
        assert!(pieces(&[], 0).is_empty());
        assert_eq!(pieces(&[0, 2, 4, 20], 23), [0..20, 20..23]);
        assert_eq!(pieces(&[0, 10, 15], 96), [0..10, 10..15, 15..42, 42..69, 69..96]);
    }

    #[test]
    fn a_word_of_every_piece_weighs_least_and_what_does_not_count_nothing() {
        // Two pieces of five words in either text; word 1 is in all of them.
        let text = [1, 2, 3, 4, 5, 1, 6, 7, 8, 9];
        let words = WordTexts::new([&text, &text], [&[0, 5], &[0, 5]], |place| place != 1);
        assert_eq!(words.pieces[QUERY], [0..5, 5..10]);
        let weights: Vec<f64> = words.texts[DOCUMENT].iter().map(|&word| words.weight(word)).collect();
        assert!(weights.iter().all(|&weight| weight > 0.0) && weights[0] < weights[2] && weights[2] < weights[1]);
        assert_eq!((words.texts[QUERY][1], words.weight(NO_WORD)), (NO_WORD, 0.0));
        assert_eq!(words.whole_span(QUERY, &(0..3)), words.span(DOCUMENT, &(0..3)));
        assert_eq!(Bags::new(&words, QUERY).of(0).len(), 4);
    }
}
