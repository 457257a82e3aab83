//! Summaries: finds short stretches of one text that repeat what the other text says at places far apart.
//!
//! Each sentence of a summary has its own place in the other text, so these places form no fragment. Seeds
//! that are near each other in one text are grouped, whatever their distance in the other text. The stretch
//! of such a group is a summary on two conditions. Its places in the other text spread over several times its
//! length, and no single copy has most of its content. The stretch then summarises everything between the
//! first and the last place. Places beyond a long gap count only if they have much in common with the
//! stretch. Otherwise a page of one code of law would summarise half of another code, by chance.

use std::ops::Range;

use super::fragments::{Fragment, heaviest, hull};
use super::seeds::Seed;
use super::words::{NO_WORD, WordNumber, WordTexts};

/// Maximum number of words between two seeds of a summary.
const GAP: u32 = 120;

/// Seeds further apart than this number of words in the summarised text are at different places.
const GAP_OF_PLACES: u32 = 40;

/// Minimum number of sentences in a summary.
const SENTENCES: usize = 3;

/// A place is summarised if it has at least this many times the words that the summary has about it.
/// Otherwise it is a copy.
const RATIO_OF_PLACE: f64 = 1.5;

/// The largest share of a summary's common weight that may come from a single copy.
const MOST_OF_ONE: f64 = 0.5;

/// A copy longer than this, in words of mean weight, may be a passage itself. Then `MOST_OF_LONG` applies.
const LONG: f64 = 80.0;
const MOST_OF_LONG: f64 = 0.34;

/// The summarised text must be at least this many times as long as the summary.
const RATIO: f64 = 3.0;

/// The minimum weight that a summary has in common with the text: in words of mean weight, and as a share of
/// the weight of the summary.
const LEAST: f64 = 25.0;
const SHARE: f64 = 0.35;

/// A seed counts if the weight of the words that its sides share is at least this many times the mean weight.
const LEAST_OF_SEED: f64 = 4.0;

/// In the summarised text, two places of a summary can lie `NEAR` words apart. Each further word between them
/// counts against the summary with this share of a word of mean weight. So a place far from the others must
/// have much in common.
const NEAR: u32 = 512;
const AGAINST_FAR: f64 = 1.0 / 16.0;

/// Each word counts against the summary with this factor, times the share of common words, but at least with
/// `LEAST_AGAINST`.
const AGAINST: f64 = 0.5;
const LEAST_AGAINST: f64 = 0.15;

/// The stretches of the text `side` that summarise the other text.
pub(super) fn summaries(words: &WordTexts<'_>, seeds: &[Seed], side: usize) -> Vec<Fragment> {
    let mut seeds: Vec<Seed> = seeds.iter().filter(|seed| seed.of_summary).copied().collect();
    seeds.sort_by_key(|seed| (seed.starts[side], seed.ends[side], seed.starts[1 - side], seed.ends[1 - side]));
    let mut marking = Marking { words, side, counts: vec![0; words.numbers()] };
    let groups = Groups { seeds: &seeds, side, gap: GAP };
    groups.filter_map(|group| marking.summary(group)).collect()
}

/// Seeds, in order of one text, divided at its gaps.
struct Groups<'a> {
    seeds: &'a [Seed],
    side: usize,
    gap: u32,
}

impl<'a> Iterator for Groups<'a> {
    type Item = &'a [Seed];

    fn next(&mut self) -> Option<&'a [Seed]> {
        let mut end = self.seeds.first()?.ends[self.side];
        let continues = |seed: &&Seed| {
            let continues = seed.starts[self.side] <= end.saturating_add(self.gap);
            end = end.max(seed.ends[self.side]);
            continues
        };
        let length = self.seeds.iter().take_while(continues).count();
        let (group, rest) = self.seeds.split_at(length);
        self.seeds = rest;
        Some(group)
    }
}

/// Marks the words of a stretch that the other text has too.
struct Marking<'a> {
    words: &'a WordTexts<'a>,
    side: usize,
    /// By word, the number of occurrences in the other span of a seed; 0 between calls.
    counts: Vec<u32>,
}

/// A piece of the summary with its best seed, the weight of the words that the sides of this seed share, and
/// the places of these words.
struct Said {
    common: f64,
    places: Vec<u32>,
    seed: Seed,
}

impl Marking<'_> {
    fn summary(&mut self, group: &[Seed]) -> Option<Fragment> {
        if group.len() < SENTENCES {
            return None;
        }
        let (words, side) = (self.words, self.side);
        let mut said = self.said(group);
        said.sort_by_key(|said| (said.seed.starts[1 - side], said.seed.ends[1 - side], said.seed.starts[side]));
        let said = densest(&said, 1 - side, words.mean);
        let start = said.iter().map(|said| said.seed.starts[side]).min()?;
        let end = group.iter().map(|seed| seed.ends[side]).max()?;
        let mut is_marked = vec![false; (end - start) as usize];
        for &place in said.iter().flat_map(|said| &said.places) {
            is_marked[(place - start) as usize] = true;
        }
        let text = words.span(side, &(start..end));
        let weights = |span: Range<usize>| text[span].iter().map(|&word| words.weight(word));
        let marked = |span: Range<usize>| -> f64 {
            weights(span.clone()).zip(&is_marked[span]).map(|(weight, &marked)| if marked { weight } else { 0.0 }).sum()
        };
        let share = |span: Range<usize>| marked(span.clone()) / weights(span).sum::<f64>().max(f64::MIN_POSITIVE);
        let against = (AGAINST * share(0..text.len())).max(LEAST_AGAINST);
        let gains =
            weights(0..text.len()).zip(&is_marked).map(|(weight, &marked)| (f64::from(marked) - against) * weight);
        let stretch = heaviest(gains)?;
        let span = stretch.start as usize..stretch.end as usize;
        let summary = start + stretch.start..start + stretch.end;
        let inside = |said: &&Said| said.seed.starts[side] < summary.end && said.seed.ends[side] > summary.start;
        let said: Vec<&Said> = said.iter().filter(inside).collect();
        let of_text = said.first()?.seed.starts[1 - side]..said.iter().map(|said| said.seed.ends[1 - side]).max()?;
        let common = marked(span.clone()) / words.mean;
        let largest = largest_copy(&said, side);
        let most = if largest * common > LONG { MOST_OF_LONG } else { MOST_OF_ONE };
        let is_summary = common >= LEAST
            && share(span) >= SHARE
            && said.len() >= SENTENCES
            && largest <= most
            && of_text.len() as f64 >= RATIO * summary.len() as f64;
        let spans = if side == 0 { [summary, of_text] } else { [of_text, summary] };
        is_summary.then_some(Fragment { spans, common })
    }

    /// For each span of the group, the seed with the most in common.
    fn said(&mut self, group: &[Seed]) -> Vec<Said> {
        let side = self.side;
        let mut said = Vec::new();
        for same in group.chunk_by(|a, b| a.span(side) == b.span(side)) {
            let mut best: Option<Said> = None;
            for seed in same {
                let (common, places) = self.common(seed);
                if common >= LEAST_OF_SEED * self.words.mean && best.as_ref().is_none_or(|best| common > best.common) {
                    best = Some(Said { common, places, seed: *seed });
                }
            }
            said.extend(best);
        }
        said
    }

    /// The weight of the common words of the sides of a seed, and their places.
    fn common(&mut self, seed: &Seed) -> (f64, Vec<u32>) {
        let here = seed.span(self.side);
        let there = self.words.span(1 - self.side, &seed.span(1 - self.side));
        let counting = |word: &&WordNumber| **word != NO_WORD;
        there.iter().filter(counting).for_each(|&word| self.counts[word as usize] += 1);
        let mut places = Vec::new();
        let mut common = 0.0;
        for (place, &word) in (here.start..).zip(self.words.span(self.side, &here)) {
            let left = &mut self.counts[word as usize];
            if *left > 0 {
                *left -= 1;
                common += self.words.weight(word);
                places.push(place);
            }
        }
        there.iter().for_each(|&word| self.counts[word as usize] = 0);
        (common, places)
    }
}

/// Returns the places of the text `side`, in order, that have most in common after the long gaps between them
/// are subtracted.
fn densest(said: &[Said], side: usize, mean: f64) -> &[Said] {
    let (mut best, mut most) = (0..0, 0.0);
    let (mut first, mut sum, mut end) = (0, 0.0, 0);
    for (index, Said { common, seed, .. }) in said.iter().enumerate() {
        let far = seed.starts[side].saturating_sub(end).saturating_sub(NEAR);
        sum -= f64::from(far) * mean * AGAINST_FAR;
        if sum <= 0.0 {
            (first, sum) = (index, 0.0);
        }
        sum += common;
        end = end.max(seed.ends[side]);
        if sum > most {
            (best, most) = (first..index + 1, sum);
        }
    }
    &said[best]
}

/// The share of the common weight that the largest copy has. The text of a copy lies at one place of the
/// summarised text. `said` is in order of that text.
fn largest_copy(said: &[&Said], side: usize) -> f64 {
    let seeds: Vec<Seed> = said.iter().map(|said| said.seed).collect();
    let mut rest = said;
    let mut largest = 0.0f64;
    for place in (Groups { seeds: &seeds, side: 1 - side, gap: GAP_OF_PLACES }) {
        let (here, others) = rest.split_at(place.len());
        let spans = hull(place);
        let words: usize = place.iter().map(|seed| seed.span(side).len()).sum();
        if (spans[1 - side].len() as f64) < RATIO_OF_PLACE * words as f64 {
            largest = largest.max(here.iter().map(|said| said.common).sum());
        }
        rest = others;
    }
    let all: f64 = said.iter().map(|said| said.common).sum();
    largest / all
}

/// True if a part of a summary is a copy, and makes up too much of the summary.
pub(super) fn is_mostly(summary: &Fragment, part: &Fragment) -> bool {
    let [short, long] = {
        let [here, there] = part.spans.each_ref().map(|span| span.len() as f64);
        [here.min(there), here.max(there)]
    };
    long < RATIO_OF_PLACE * short && part.common >= MOST_OF_ONE * summary.common
}
