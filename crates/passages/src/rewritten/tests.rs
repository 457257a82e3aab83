//! Passages of rewritten text: properties of any passage, and examples of passages that a reader would mark.

use proptest::prelude::*;

use super::super::maximal::maximal_matches;
use super::super::occurrences::{KgramHashes, Occurrences};
use super::super::runs::{IndexedText, Settings};
use super::*;
use crate::ranges::Uncounted;
use crate::tests::common_subsequence;
use fpdb_kernel::profile::Profile;
use rustc_hash::FxHashMap;

const K: usize = 3;

/// Two texts made of sentences.
struct Case {
    texts: [Vec<u64>; 2],
    sentences: [Vec<u32>; 2],
    uncounted: Uncounted,
}

impl Case {
    fn new(query: Vec<Vec<u64>>, document: Vec<Vec<u64>>) -> Self {
        let starts = |sentences: &[Vec<u64>]| {
            let ends = sentences.iter().scan(0, |end, sentence| {
                let start = *end;
                *end += sentence.len() as u32;
                Some(start)
            });
            ends.collect::<Vec<u32>>()
        };
        let sentences = [starts(&query), starts(&document)];
        Self { texts: [query.concat(), document.concat()], sentences, uncounted: Uncounted::default() }
    }

    fn matches(&self) -> Vec<MaximalMatch> {
        let mut wanted: FxHashMap<u64, u32> = FxHashMap::default();
        KgramHashes::new(K).for_each(&self.texts[QUERY], |_, hash| {
            let next = wanted.len() as u32;
            wanted.entry(hash).or_insert(next);
        });
        let [query, document] =
            self.texts.each_ref().map(|text| Occurrences::find(text, K, Profile::WORDS.marks(), &wanted));
        let text = |values, occurrences| IndexedText { values, occurrences };
        let (query, document) = (text(&self.texts[QUERY], &query), text(&self.texts[DOCUMENT], &document));
        maximal_matches(query, document, &Vec::from_iter(0..wanted.len()), &Settings::new(K, 1)).0
    }

    fn passages(&self, least: u64) -> Vec<Joined> {
        passages(&Rewriting {
            query: &QueryWords::new(&self.texts[QUERY], &self.sentences[QUERY], &self.uncounted),
            values: &self.texts[DOCUMENT],
            sentences: &self.sentences[DOCUMENT],
            matches: &self.matches(),
            k: K as u32,
            guarantee: K as u64,
            least,
            stop: &StopToken::new(),
        })
        .unwrap()
    }

    fn spans(&self) -> Vec<Spans> {
        self.passages(0).into_iter().map(|passage| [passage.query, passage.document]).collect()
    }
}

/// A generator of words: sentences of 12 words, a third of them from ten common words.
struct Writer(u64);

impl Writer {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn word(&mut self) -> u64 {
        if self.next(3) == 0 { self.next(10) } else { 10 + self.next(3000) }
    }

    fn sentences(&mut self, count: usize) -> Vec<Vec<u64>> {
        (0..count).map(|_| (0..12).map(|_| self.word()).collect()).collect()
    }

    /// Shuffles the words of each sentence and replaces one in four.
    fn rewrite(&mut self, sentences: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let mut sentences = sentences.to_vec();
        for sentence in &mut sentences {
            for place in 0..sentence.len() {
                let other = self.next(sentence.len() as u64) as usize;
                sentence.swap(place, other);
                if self.next(4) == 0 {
                    sentence[place] = self.word();
                }
            }
        }
        sentences
    }
}

/// Puts these sentences between others, in the query and in the document.
fn planted(seed: u64, query: &[Vec<u64>], document: &[Vec<u64>]) -> Case {
    let mut writer = Writer(seed);
    let mut around = |some: &[Vec<u64>]| [writer.sentences(30), some.to_vec(), writer.sentences(30)].concat();
    Case::new(around(query), around(document))
}

fn uncounted(places: Range<u32>) -> Uncounted {
    Uncounted::new(std::iter::once(&places))
}

/// True if a span is the expected one, up to some words at its ends.
fn near(span: &Range<u32>, expected: &Range<u32>) -> bool {
    span.start.abs_diff(expected.start) <= 15 && span.end.abs_diff(expected.end) <= 15
}

#[test]
fn nothing_is_found_in_texts_that_have_nothing_but_words_in_common() {
    for seed in 0..50 {
        let case = planted(seed, &[], &[]);
        assert_eq!(case.spans(), [[0..0, 0..0]; 0], "{seed}");
    }
    assert!(Case::new(Vec::new(), Vec::new()).spans().is_empty());
}

#[test]
fn a_paragraph_whose_words_are_shuffled_is_one_passage() {
    for seed in 0..20 {
        let mut writer = Writer(1000 + seed);
        let original = writer.sentences(8);
        let case = planted(seed, &writer.rewrite(&original), &original);
        let found = case.spans();
        assert_eq!(found.len(), 1, "{seed}: {found:?}");
        assert!(found[0].iter().all(|span| near(span, &(360..456))), "{seed}: {found:?}");
    }
}

#[test]
fn a_summary_is_a_passage_with_all_that_it_summarises() {
    for seed in 0..20 {
        let mut writer = Writer(2000 + seed);
        let original = writer.sentences(60);
        let every: Vec<Vec<u64>> = original.iter().step_by(9).cloned().collect();
        let found = planted(seed, &writer.rewrite(&every), &original).spans();
        assert_eq!(found.len(), 1, "{seed}: {found:?}");
        assert!(near(&found[0][QUERY], &(360..444)), "{seed}: {found:?}");
        // The span in the document reaches from the first to the last sentence that shares words with the
        // summary.
        assert!(found[0][DOCUMENT].len() > 400 && found[0][DOCUMENT].start >= 345 && found[0][DOCUMENT].end <= 1095);
        // The same with the texts exchanged.
        let found = planted(seed, &original, &writer.rewrite(&every)).spans();
        assert_eq!(found.len(), 1, "{seed}: {found:?}");
        assert!(near(&found[0][DOCUMENT], &(360..444)), "{seed}: {found:?}");
    }
}

#[test]
fn sentences_far_apart_in_a_long_text_are_no_summary() {
    for seed in 0..5 {
        let mut writer = Writer(3000 + seed);
        let said = writer.sentences(7);
        // Each sentence has some 3,600 words of its own after it.
        let long: Vec<Vec<u64>> =
            said.iter().flat_map(|one| [vec![one.clone()], writer.sentences(300)].concat()).collect();
        let rewritten = writer.rewrite(&said);
        assert_eq!(planted(seed, &rewritten, &long).spans(), [[0..0, 0..0]; 0], "{seed}");
        // A summary of one part stays, and sentences of other parts do not lengthen it.
        let part = writer.sentences(60);
        let every: Vec<Vec<u64>> = part.iter().step_by(9).cloned().collect();
        let query = [writer.rewrite(&every), rewritten].concat();
        let found = planted(seed, &query, &[long, part].concat()).spans();
        assert_eq!(found.len(), 1, "{seed}: {found:?}");
        assert!(near(&found[0][QUERY], &(360..444)) && found[0][DOCUMENT].len() <= 720, "{seed}: {found:?}");
    }
}

#[test]
fn what_does_not_count_makes_no_passage() {
    let mut writer = Writer(7);
    let original = writer.sentences(8);
    let mut case = planted(3, &writer.rewrite(&original), &original);
    assert_eq!(case.spans().len(), 1);
    case.uncounted = uncounted(360..456);
    assert!(case.spans().is_empty());
    // If half of a passage does not count, the other half is a passage. Uncounted text in its middle does not
    // lengthen it.
    case.uncounted = uncounted(360..408);
    assert!(near(&case.spans()[0][QUERY], &(408..456)), "{:?}", case.spans());
    case.uncounted = uncounted(400..412);
    let found = case.passages(0);
    assert!(found.len() == 1 && near(&found[0].query, &(360..456)), "{found:?}");
    assert!(found[0].counted < found[0].agreed && case.passages(found[0].counted + 1).is_empty());
}

#[test]
fn texts_of_one_sentence_can_be_compared() {
    let sentence: Vec<u64> = (0..30).collect();
    let case = Case::new(vec![sentence.clone()], vec![sentence]);
    assert_eq!(case.spans(), [[0..30, 0..30]]);
    assert!(Case::new(vec![vec![1; 5]], vec![vec![1; 5]]).spans().is_empty(), "fewer words than a passage has");
}

#[test]
fn texts_that_repeat_themselves_take_linear_time() {
    // Pairing all sentences would make 10^9 pairs.
    let sentence: Vec<u64> = (0..12).collect();
    let case = Case::new(vec![sentence.clone(); 20_000], vec![sentence; 50_000]);
    let found = case.spans();
    assert!(!found.is_empty() && found.len() < 1000, "{}", found.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Copies of some sentences, edited, in any order.
    #[test]
    fn passages_are_sound_and_every_long_run_is_marked_on_one_side(
        seed in 0u64..1_000_000,
        alphabet in prop::sample::select(vec![3u64, 60, 3000]),
        pieces in prop::collection::vec((0usize..20, 1usize..8, 0u8..3), 0..6),
        least in prop::sample::select(vec![0u64, 25]),
    ) {
        let mut writer = Writer(seed);
        let mut source = writer.sentences(28);
        source.iter_mut().flatten().for_each(|word| *word %= alphabet);
        let mut query = writer.sentences(4);
        for (start, length, edited) in pieces {
            let piece = &source[start..start + length];
            query.extend(if edited == 0 { piece.to_vec() } else { writer.rewrite(piece) });
            query.extend(writer.sentences(usize::from(edited)));
        }
        let case = Case::new(query, source);
        let found = case.passages(least);
        prop_assert_eq!(&found, &case.passages(least), "the same each time");
        prop_assert!(found.is_sorted_by_key(|passage| passage.query.start));
        let slice = |side: usize, span: &Range<u32>| &case.texts[side][span.start as usize..span.end as usize];
        for passage in &found {
            let (here, there) = (slice(QUERY, &passage.query), slice(DOCUMENT, &passage.document));
            prop_assert!(!here.is_empty() && !there.is_empty());
            prop_assert!(passage.in_order <= common_subsequence(here, there), "{:?}", passage);
            let mut left = there.to_vec();
            let equal = here.iter().filter(|word| {
                left.iter().position(|other| other == *word).map(|place| left.swap_remove(place)).is_some()
            });
            prop_assert_eq!(passage.agreed, equal.count() as u64);
            prop_assert!(passage.counted >= least && passage.counted <= passage.agreed && passage.in_order <= passage.agreed);
        }
        for (index, inner) in found.iter().enumerate() {
            let holds = |outer: &Joined| {
                outer.query.start <= inner.query.start && outer.query.end >= inner.query.end
                    && outer.document.start <= inner.document.start && outer.document.end >= inner.document.end
            };
            prop_assert!(!found.iter().enumerate().any(|(other, outer)| other != index && holds(outer)), "{:?}", inner);
        }
        if least == 0 {
            let [query, document] = [
                union(found.iter().map(|passage| &passage.query)),
                union(found.iter().map(|passage| &passage.document)),
            ];
            let of_query = QueryWords::new(&case.texts[QUERY], &case.sentences[QUERY], &Uncounted::default());
            let words = WordTexts::new(&of_query, &case.texts[DOCUMENT], &case.sentences[DOCUMENT]);
            for run in case.matches() {
                let spans = [run.query..run.query_end(), run.document..run.document_end()];
                let long = run.length >= 20 && words.weight_of(QUERY, &spans[QUERY]) >= LEAST;
                prop_assert!(!long || lies_in(&query, &spans[QUERY]) || lies_in(&document, &spans[DOCUMENT]), "{:?}", run);
            }
        }
    }
}
