//! Words: numbers the words of two texts, weighs them, and cuts the texts into pieces.
//!
//! A *piece* is a sentence; short sentences are merged with the next, and long ones are cut. A word weighs
//! more the fewer pieces of both texts hold it (the inverse sentence frequency of Sanchez-Perez et al. 2014).
//! So no list of stop words is needed, in any language.

use std::ops::Range;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ranges::Uncounted;

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

/// The words of a query, numbered once for all documents that it is compared with.
pub struct QueryWords {
    numbers: FxHashMap<u64, WordNumber>,
    /// The words in order of the text. A word that does not count is `NO_WORD`.
    words: Vec<WordNumber>,
    /// The words in order, whether they count or not. `None` if all count.
    whole: Option<Vec<WordNumber>>,
    pieces: Vec<Range<u32>>,
    bags: Bags,
    /// By word, the number of pieces that hold it.
    holding: Vec<u32>,
}

impl QueryWords {
    /// Numbers the words of a query. `values` are its symbols and `sentences` the places where sentences
    /// begin; `uncounted` are the symbols that do not count.
    pub fn new(values: &[u64], sentences: &[u32], uncounted: &Uncounted) -> Self {
        let mut numbers = FxHashMap::default();
        let number = |&value: &u64| {
            let next = numbers.len() as WordNumber + 1;
            *numbers.entry(value).or_insert(next)
        };
        let whole: Vec<WordNumber> = values.iter().map(number).collect();
        let counts = |place: u32| uncounted.counted(&(place.into()..u64::from(place) + 1)) > 0;
        let word = |(place, &word)| if counts(place) { word } else { NO_WORD };
        let words: Vec<WordNumber> = (0..).zip(&whole).map(word).collect();
        let pieces = pieces(sentences, values.len() as u32);
        let bags = Bags::new(&words, &pieces, numbers.len() + 1);
        let holding = bags.holding(numbers.len() + 1);
        let whole = (words != whole).then_some(whole);
        Self { numbers, words, whole, pieces, bags, holding }
    }
}

/// Two texts in words.
pub(super) struct WordTexts<'a> {
    query: &'a QueryWords,
    /// All words of the document.
    document: Vec<WordNumber>,
    of_document: Vec<Range<u32>>,
    document_bags: Bags,
    /// By word, the number of pieces of the document that hold it.
    document_holding: Vec<u32>,
    /// By word.
    weights: Vec<f64>,
    /// The mean weight of the words of both texts.
    pub(super) mean: f64,
}

impl<'a> WordTexts<'a> {
    /// Numbers the words of a document. Words of the query keep their numbers, and others get higher ones.
    /// `values` are its symbols and `sentences` the places where sentences begin.
    pub(super) fn new(query: &'a QueryWords, values: &[u64], sentences: &[u32]) -> Self {
        let of_query = query.numbers.len();
        let mut others: FxHashMap<u64, WordNumber> =
            FxHashMap::with_capacity_and_hasher(values.len() / 2, FxBuildHasher);
        let number = |value: &u64| match query.numbers.get(value) {
            Some(&number) => number,
            None => {
                let next = (of_query + others.len()) as WordNumber + 1;
                *others.entry(*value).or_insert(next)
            }
        };
        let document: Vec<WordNumber> = values.iter().map(number).collect();
        let of_document = pieces(sentences, values.len() as u32);
        let numbers = of_query + others.len() + 1;
        let document_bags = Bags::new(&document, &of_document, numbers);
        let document_holding = document_bags.holding(numbers);
        let mut words =
            Self { query, document, of_document, document_bags, document_holding, weights: Vec::new(), mean: 0.0 };
        words.weigh();
        words
    }

    fn weigh(&mut self) {
        let number = (self.query.pieces.len() + self.of_document.len()) as u32;
        // Many words have the same number of pieces, so each logarithm is computed once.
        let mut known: Vec<Option<f64>> = Vec::new();
        let weight = |held: u32| {
            let held = held.max(1) as usize;
            if known.len() <= held {
                known.resize(held + 1, None);
            }
            *known[held].get_or_insert_with(|| (f64::from(number) / held as f64).ln_1p() - OFFSET)
        };
        let of_query = self.query.holding.iter().copied().chain(std::iter::repeat(0));
        let holding = of_query.zip(&self.document_holding).map(|(query, document)| query + document);
        self.weights = holding.map(weight).collect();
        self.weights[NO_WORD as usize] = 0.0;
        let all = || self.text(QUERY).iter().chain(self.text(DOCUMENT));
        let counting = all().filter(|&&word| word != NO_WORD).count();
        let total: f64 = all().map(|&word| self.weight(word)).sum();
        self.mean = if counting == 0 { 1.0 } else { total / counting as f64 };
    }

    /// The words of the query that count, or all words of the document.
    pub(super) fn text(&self, side: usize) -> &[WordNumber] {
        if side == QUERY { &self.query.words } else { &self.document }
    }

    /// The pieces of a text, in order.
    pub(super) fn pieces(&self, side: usize) -> &[Range<u32>] {
        if side == QUERY { &self.query.pieces } else { &self.of_document }
    }

    /// The words of each piece of a text.
    pub(super) fn bags(&self, side: usize) -> &Bags {
        if side == QUERY { &self.query.bags } else { &self.document_bags }
    }

    /// By word, the number of pieces of a text that hold it. The list of the query ends after its own words.
    pub(super) fn holding(&self, side: usize) -> &[u32] {
        if side == QUERY { &self.query.holding } else { &self.document_holding }
    }

    /// Number of words of both texts.
    pub(super) fn length(&self) -> usize {
        self.query.words.len() + self.document.len()
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
        &self.text(side)[span.start as usize..span.end as usize]
    }

    /// All words of a span, including those that do not count.
    pub(super) fn whole_span(&self, side: usize, span: &Range<u32>) -> &[WordNumber] {
        match &self.query.whole {
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

/// The distinct words of each piece of a text, with their number of occurrences in it.
pub(super) struct Bags {
    words: Vec<(WordNumber, u32)>,
    /// By piece, the index of its first word; the last element is the end.
    first: Vec<usize>,
}

impl Bags {
    /// The word numbers are below `numbers`.
    fn new(words: &[WordNumber], pieces: &[Range<u32>], numbers: usize) -> Self {
        let mut bags = Self { words: Vec::with_capacity(words.len()), first: Vec::with_capacity(pieces.len() + 1) };
        bags.first.push(0);
        // By word, one more than the index of its last entry in `bags`.
        let mut last: Vec<usize> = vec![0; numbers];
        for piece in pieces {
            let first = bags.words.len();
            for &word in words[piece.start as usize..piece.end as usize].iter().filter(|&&word| word != NO_WORD) {
                let last = &mut last[word as usize];
                if *last > first {
                    bags.words[*last - 1].1 += 1;
                } else {
                    bags.words.push((word, 1));
                    *last = bags.words.len();
                }
            }
            bags.first.push(bags.words.len());
        }
        bags
    }

    /// For each word below `numbers`, the number of pieces that hold it.
    fn holding(&self, numbers: usize) -> Vec<u32> {
        let mut holding = vec![0; numbers];
        self.words.iter().for_each(|&(word, _)| holding[word as usize] += 1);
        holding
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
        let query = QueryWords::new(&text, &[0, 5], &Uncounted::new(std::iter::once(&(1..2))));
        let words = WordTexts::new(&query, &text, &[0, 5]);
        assert_eq!(words.pieces(QUERY), [0..5, 5..10]);
        let weights: Vec<f64> = words.text(DOCUMENT).iter().map(|&word| words.weight(word)).collect();
        assert!(weights.iter().all(|&weight| weight > 0.0) && weights[0] < weights[2] && weights[2] < weights[1]);
        assert_eq!((words.text(QUERY)[1], words.weight(NO_WORD)), (NO_WORD, 0.0));
        assert_eq!(words.whole_span(QUERY, &(0..3)), words.span(DOCUMENT, &(0..3)));
        assert_eq!(words.bags(QUERY).of(0).len(), 4);
    }
}
