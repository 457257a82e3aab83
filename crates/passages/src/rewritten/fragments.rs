//! Fragments: grows seeds that are near each other in both texts into spans that say the same.
//!
//! Seeds with small gaps between them in both texts form one fragment. The cosine of its two sides must be
//! high enough. If the cosine is too low, the gap is halved, which divides the fragment (Sanchez-Perez et al.
//! 2014). Then each side is trimmed at its ends to its heaviest stretch (Kadane's algorithm; Bentley 1984). A
//! word that the other side has adds weight, and every word subtracts some.

use std::ops::Range;

use super::super::connected::connected;
use super::seeds::Seed;
use super::words::{DOCUMENT, NO_WORD, QUERY, WordNumber, WordTexts};
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;

/// Maximum number of words between two seeds of a fragment, on either side; and the narrowest gap tried.
const GAP: u32 = 60;
const NARROWEST: u32 = 10;

/// The smallest cosine of a fragment's sides.
const COSINE: f64 = 0.34;

/// Each word counts against a fragment with this factor, times the fragment's share of common words.
const AGAINST: f64 = 0.5;

/// Number of times that both sides are trimmed: trimming one can shorten the other.
const ROUNDS: usize = 2;

/// The smallest weight of common words in a passage, in words of mean weight.
pub(super) const LEAST: f64 = 20.0;

/// The smallest excess of common words over chance, in words of mean weight. Two texts on one subject share
/// `CHANCE` of their words.
const EXCESS: f64 = 8.0;
const CHANCE: f64 = 0.3;

/// Minimum number of words on either side of a passage.
const SHORTEST: usize = 8;

/// Maximum number of words to examine in fragments: this multiple of the words of the two texts, but at least
/// a minimum. The maximum bounds the time, because fragments can overlap. Nothing is found beyond it.
const LOOKS: usize = 64;
const LOOKS_AT_LEAST: usize = 1 << 22;

/// A span of the query and one of the document.
pub(super) type Spans = [Range<u32>; 2];

/// Two spans that say the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fragment {
    pub(super) spans: Spans,
    /// The weight of the words that both have, in words of mean weight.
    pub(super) common: f64,
}

/// The smallest spans that contain all seeds; there must be at least one.
pub(super) fn hull(seeds: &[Seed]) -> Spans {
    [QUERY, DOCUMENT].map(|side| {
        let start = seeds.iter().map(|seed| seed.starts[side]).min().unwrap_or(0);
        let end = seeds.iter().map(|seed| seed.ends[side]).max().unwrap_or(0);
        start..end
    })
}

/// Compares spans by their words, with tables that are reused.
pub(super) struct Comparison<'a> {
    words: &'a WordTexts<'a>,
    /// For each side, the number of occurrences by word; 0 between calls.
    counts: [Vec<u32>; 2],
    /// Number of words that may still be examined.
    budget: usize,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(words: &'a WordTexts<'a>) -> Self {
        let length = words.length();
        let counts = [(); 2].map(|()| vec![0; words.numbers()]);
        Self { words, counts, budget: (length * LOOKS).max(LOOKS_AT_LEAST) }
    }

    /// The fragments that grow from seeds.
    ///
    /// # Errors
    /// [`Error::Stopped`](fpdb_host::error::Error::Stopped).
    pub(super) fn fragments(&mut self, seeds: &[Seed], stop: &StopToken) -> Result<Vec<Fragment>> {
        let seeds: Vec<Seed> = seeds.iter().filter(|seed| seed.of_fragment).copied().collect();
        let mut fragments = Vec::new();
        let mut waiting = vec![(seeds, GAP)];
        while let Some((seeds, gap)) = waiting.pop() {
            for part in connected(&seeds, gap) {
                stop.check()?;
                let spans = hull(&part);
                // The part is too short. Dividing it would only make shorter parts.
                if spans.iter().any(|span| span.len() < SHORTEST) {
                    continue;
                }
                let Some(cosine) = self.cosine(&spans) else { return Ok(fragments) };
                if cosine >= COSINE {
                    fragments.extend(self.trimmed(spans).and_then(|spans| self.fragment(spans)));
                } else if gap > NARROWEST {
                    waiting.push((part, (gap / 2).max(NARROWEST)));
                }
            }
        }
        Ok(fragments)
    }

    /// The fragment of two spans, if they have enough in common.
    fn fragment(&mut self, spans: Spans) -> Option<Fragment> {
        let [here, there, common] = self.with_counts(&spans, |words, sides, counts| {
            let weight = |side: usize| sides[side].iter().map(|&word| words.weight(word)).sum::<f64>();
            // Counts a word of the query as often as the document has it too.
            let mut common = 0.0;
            for &word in sides[QUERY] {
                let [here, there] = [QUERY, DOCUMENT].map(|side| counts[side][word as usize]);
                if there > 0 {
                    common += words.weight(word) * f64::from(here.min(there)) / f64::from(here);
                }
            }
            [weight(QUERY), weight(DOCUMENT), common]
        })?;
        let expected = CHANCE * (here + there) / 2.0;
        let mean = self.words.mean;
        let long = spans.iter().all(|span| span.len() >= SHORTEST);
        let enough = common / mean >= LEAST && (common - expected) / mean >= EXCESS;
        (long && enough).then_some(Fragment { spans, common: common / mean })
    }

    fn cosine(&mut self, spans: &Spans) -> Option<f64> {
        self.with_counts(spans, |words, sides, counts| {
            // Each occurrence of a word adds, so the sum is the dot product of the sides.
            let sum = |side: usize, other: usize| -> f64 {
                let part = |&word: &WordNumber| words.weight(word).powi(2) * f64::from(counts[other][word as usize]);
                sides[side].iter().map(part).sum()
            };
            let norms = (sum(QUERY, QUERY) * sum(DOCUMENT, DOCUMENT)).sqrt();
            if norms > 0.0 { sum(QUERY, DOCUMENT) / norms } else { 0.0 }
        })
    }

    /// Trims both spans to the parts that have words in common. `None` if nothing stays, or if the budget is
    /// spent.
    fn trimmed(&mut self, mut spans: Spans) -> Option<Spans> {
        for _ in 0..ROUNDS {
            for side in [QUERY, DOCUMENT] {
                let stretch = self.with_counts(&spans, |words, sides, counts| {
                    let text = sides[side];
                    let same = |&word: &WordNumber| {
                        let [here, there] = [side, 1 - side].map(|side| counts[side][word as usize]);
                        words.weight(word) * f64::from(there.min(here)) / f64::from(here.max(1))
                    };
                    let total: f64 = text.iter().map(|&word| words.weight(word)).sum();
                    let share = text.iter().map(same).sum::<f64>() / total;
                    heaviest(text.iter().map(|word| same(word) - AGAINST * share * words.weight(*word)))
                })??;
                let start = spans[side].start;
                spans[side] = start + stretch.start..start + stretch.end;
            }
        }
        Some(spans)
    }

    /// Calls `look` with both sides and the counts of their words. `None` once the budget is spent.
    fn with_counts<T>(
        &mut self,
        spans: &Spans,
        look: impl FnOnce(&WordTexts<'_>, [&[WordNumber]; 2], &[Vec<u32>; 2]) -> T,
    ) -> Option<T> {
        let sides = [QUERY, DOCUMENT].map(|side| self.words.span(side, &spans[side]));
        self.budget = self.budget.checked_sub(sides[QUERY].len() + sides[DOCUMENT].len())?;
        for (side, counts) in sides.iter().zip(&mut self.counts) {
            side.iter().filter(|&&word| word != NO_WORD).for_each(|&word| counts[word as usize] += 1);
        }
        let result = look(self.words, sides, &self.counts);
        for (side, counts) in sides.iter().zip(&mut self.counts) {
            side.iter().for_each(|&word| counts[word as usize] = 0);
        }
        Some(result)
    }
}

/// The stretch with the greatest sum; of several, the first one. `None` if no sum is above 0.
pub(super) fn heaviest(values: impl Iterator<Item = f64>) -> Option<Range<u32>> {
    let (mut best, mut most) = (None, 0.0);
    let (mut start, mut sum) = (0, 0.0);
    for (place, value) in (0u32..).zip(values) {
        sum += value;
        if sum <= 0.0 {
            (start, sum) = (place + 1, 0.0);
        } else if sum > most {
            (best, most) = (Some(start..place + 1), sum);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_stretch_is_heavier(values in prop::collection::vec(-5i32..5, 0..30)) {
            let sum = |from: usize, to: usize| values[from..to].iter().sum::<i32>();
            let most = (0..=values.len()).flat_map(|from| (from..=values.len()).map(move |to| (from, to)));
            let most = most.map(|(from, to)| sum(from, to)).max().unwrap_or(0);
            let found = heaviest(values.iter().map(|&value| f64::from(value)));
            let span = found.map_or(0..0, |found| found.start as usize..found.end as usize);
            prop_assert_eq!(sum(span.start, span.end), most);
        }
    }
}
