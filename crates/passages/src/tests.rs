//! Exact passages against brute force: every pair of places, every run.

use std::ops::Range;

use proptest::prelude::*;

use super::*;
use fpdb_host::stop::StopToken;
use fpdb_kernel::profile::{Profile, Selection};
use fpdb_kernel::winnow::Winnower;
use rustc_hash::FxHashMap;

/// Two texts to compare, one value per symbol.
struct Case {
    query: Vec<u64>,
    document: Vec<u64>,
    k: usize,
    w: usize,
}

impl Case {
    fn t(&self) -> usize {
        self.w + self.k - 1
    }

    /// The hashes that winnowing selects in the query, each with an index.
    fn wanted(&self) -> FxHashMap<u64, u32> {
        let mut hashes = Vec::new();
        KgramHashes::new(self.k).for_each(&self.query, |_, hash| hashes.push(hash));
        let mut selected = Vec::new();
        let mut winnower = Winnower::new(Selection::Robust, self.w as u32);
        winnower.feed(&hashes, &mut selected);
        winnower.finish(&mut selected);
        let mut hashes: Vec<u64> = selected.iter().map(|selected| selected.hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.into_iter().zip(0..).collect()
    }

    fn matches(&self, settings: &Settings) -> (Vec<MaximalMatch>, u64) {
        let wanted = self.wanted();
        let [in_query, in_document] = [&self.query, &self.document]
            .map(|values| Occurrences::find(values, self.k, Profile::PROSE.marks(), &wanted));
        let text = |values, occurrences| IndexedText { values, occurrences };
        maximal_matches(
            text(&self.query, &in_query),
            text(&self.document, &in_document),
            &Vec::from_iter(0..wanted.len()),
            settings,
        )
    }

    fn joined(&self, matches: &[MaximalMatch], gap: u32) -> Vec<Joined> {
        let (guarantee, uncounted) = (self.t() as u64, &Uncounted::default());
        let joining = Joining { gap, guarantee, least: 0, uncounted, stop: &StopToken::new() };
        join(&self.query, &self.document, matches, &joining, &mut Gaps::new(2)).unwrap()
    }

    /// All maximal matches of at least `least` symbols, by comparing each symbol with each.
    fn naive(&self, least: usize) -> Vec<MaximalMatch> {
        let (a, b) = (&self.query, &self.document);
        let mut found = Vec::new();
        for i in 0..a.len() {
            for j in 0..b.len() {
                if i > 0 && j > 0 && a[i - 1] == b[j - 1] {
                    continue;
                }
                let length = a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
                if length >= least {
                    found.push(found_at(i, j, length));
                }
            }
        }
        found
    }

    /// Checks properties of any passages: their ends, and their agreement.
    fn check_ends(&self, passages: &[Joined]) {
        let (a, b) = (&self.query, &self.document);
        for passage in passages {
            let ((i, j), (m, n)) = (
                (passage.query.start as usize, passage.document.start as usize),
                (passage.query.end as usize, passage.document.end as usize),
            );
            assert!(a[i] == b[j] && a[m - 1] == b[n - 1], "{passage:?}");
            assert!(i == 0 || j == 0 || a[i - 1] != b[j - 1], "{passage:?} begins late");
            assert!(m == a.len() || n == b.len() || a[m] != b[n], "{passage:?} ends early");
            assert!(passage.agreed <= common_subsequence(&a[i..m], &b[j..n]), "{passage:?} claims too much");
            assert!(passage.agreed >= self.k as u64);
        }
        assert!(passages.is_sorted_by_key(|passage| passage.query.start));
    }
}

fn found_at(query: usize, document: usize, length: usize) -> MaximalMatch {
    MaximalMatch { query: query as u32, document: document as u32, length: length as u32, rarest: 0 }
}

/// The matches without the counts of their hashes.
fn places(matches: &[MaximalMatch]) -> Vec<MaximalMatch> {
    matches.iter().map(|found| MaximalMatch { rarest: 0, ..*found }).collect()
}

/// The length of the longest common subsequence.
pub(crate) fn common_subsequence(a: &[u64], b: &[u64]) -> u64 {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut before = 0;
        for (j, y) in b.iter().enumerate() {
            let here = if x == y { before + 1 } else { row[j + 1].max(row[j]) };
            before = std::mem::replace(&mut row[j + 1], here);
        }
    }
    row[b.len()]
}

fn covers(passages: &[Joined], run: &MaximalMatch) -> bool {
    let (query, document) = (run.query..run.query_end(), run.document..run.document_end());
    let within = |inner: &Range<u32>, outer: &Range<u32>| inner.start >= outer.start && inner.end <= outer.end;
    passages.iter().any(|passage| within(&query, &passage.query) && within(&document, &passage.document))
}

/// Symbols of an alphabet, drawn uniformly.
fn drawn(seed: &mut u64, alphabet: u64, length: usize) -> Vec<u64> {
    let mut next = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % alphabet
    };
    (0..length).map(|_| next()).collect()
}

/// Texts that share runs: pieces of one in the other, in any order, some repeated.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut seed = 41;
    for alphabet in [1, 2, 3, 8, 200] {
        for (k, w) in [(1, 1), (2, 3), (3, 1), (4, 4), (5, 9)] {
            for length in [0, 3, 12, 60, 150] {
                let query = drawn(&mut seed, alphabet, length);
                let mut document = drawn(&mut seed, alphabet, length / 3);
                for piece in 0..4 {
                    let from = (piece * 37) % (length + 1);
                    let end = (from + 7 + 5 * piece).min(length);
                    document.extend_from_slice(&query[from..end]);
                    document.extend(drawn(&mut seed, alphabet, piece));
                }
                cases.push(Case { query, document, k, w });
            }
        }
    }
    cases
}

#[test]
fn every_shared_run_lies_in_a_passage() {
    for case in cases() {
        let settings = Settings { pairs_of_hash: u64::MAX, pairs: u64::MAX, ..Settings::new(case.k, case.w) };
        let (matches, left_out) = case.matches(&settings);
        assert_eq!(left_out, 0);
        let naive = case.naive(case.k);
        let found = places(&matches);
        assert!(found.iter().all(|found| naive.contains(found)), "only maximal matches");
        for run in naive.iter().filter(|run| run.length as usize >= case.t()) {
            assert!(found.contains(run), "{run:?} was not found");
        }
        for gap in [0, 3, 20] {
            let passages = case.joined(&matches, gap);
            case.check_ends(&passages);
            for run in naive.iter().filter(|run| run.length as usize >= case.t()) {
                assert!(covers(&passages, run), "{run:?} is not in {passages:?}");
            }
        }
    }
}

/// If pairs are left out, each place in a shared run of either text still lies in a match.
#[test]
fn repeats_cover_every_place_of_a_shared_run() {
    for case in cases() {
        for pairs_of_hash in [0, 1, 4, 30] {
            let settings = Settings { pairs_of_hash, ..Settings::new(case.k, case.w) };
            let (matches, _) = case.matches(&settings);
            let naive = case.naive(case.k);
            assert!(places(&matches).iter().all(|found| naive.contains(found)), "only maximal matches");
            let long = || naive.iter().filter(|run| run.length as usize >= case.t());
            for (of, end) in [
                ((|run: &MaximalMatch| run.query) as fn(&MaximalMatch) -> u32, case.query.len()),
                (|run: &MaximalMatch| run.document, case.document.len()),
            ] {
                for place in 0..end as u32 {
                    let holds = |run: &MaximalMatch| (of(run)..of(run) + run.length).contains(&place);
                    assert!(!long().any(holds) || matches.iter().any(holds), "place {place} of {matches:?}");
                }
            }
            let wanted = case.wanted();
            let in_document = Occurrences::find(&case.document, case.k, Profile::PROSE.marks(), &wanted);
            for index in 0..wanted.len() {
                for place in in_document.of(index) {
                    let end = place + case.k as u32;
                    let holds = |run: &MaximalMatch| run.document <= *place && end <= run.document_end();
                    let shared = naive.iter().any(holds);
                    assert!(!shared || matches.iter().any(holds), "k-gram {place} of {matches:?}");
                }
            }
            case.check_ends(&case.joined(&matches, 5));
        }
    }
}

#[test]
fn low_entropy_takes_linear_time() {
    // Pairing all places would make 4 * 10^10 pairs.
    for period in [1, 3, 1000] {
        let text: Vec<u64> = (0..200_000).map(|symbol| symbol % period).collect();
        let case = Case { query: text.clone(), document: text[period as usize..].to_vec(), k: 50, w: 100 };
        let settings = Settings::new(case.k, case.w);
        let (matches, left_out) = case.matches(&settings);
        assert!(left_out > 0 && matches.len() < 1000, "{period}: {} matches", matches.len());
        let whole = found_at(0, 0, text.len() - period as usize);
        assert!(places(&matches).contains(&whole), "{period}: {:?}", &matches[..3]);
    }
}

/// Each repeat is like each other, but the text goes on after an edit in the same repeat.
#[test]
fn a_text_that_repeats_itself_is_paired_place_by_place() {
    let mut seed = 11;
    let once = drawn(&mut seed, 500, 190);
    for repeats in [2, 3, 5, 8, 20, 40, 64, 65, 100, 300] {
        let text = once.repeat(repeats);
        for edits in [1, 2, 3] {
            let mut edited = text.clone();
            for edit in (1..=edits).rev() {
                let place = text.len() * edit / (edits + 1) + 7;
                edited.splice(place..place, 600..605);
            }
            for (query, document) in [(&text, &edited), (&edited, &text)] {
                let case = Case { query: query.clone(), document: document.clone(), k: 25, w: 20 };
                let (matches, _) = case.matches(&Settings::new(case.k, case.w));
                assert!(matches.len() <= 8 * (edits + 1) * repeats, "{}", matches.len());
                let passages = case.joined(&matches, 44);
                let spans: Vec<_> = passages.iter().map(|p| (p.query.len(), p.document.len(), p.agreed)).collect();
                assert_eq!(
                    spans,
                    [(query.len(), document.len(), text.len() as u64)],
                    "{repeats} repeats, {edits} edits"
                );
            }
        }
    }
}

/// A part that stands twice in one text and once in the other is marked whole, in one passage.
#[test]
fn a_repeat_that_is_left_out_divides_no_passage() {
    let mut seed = 3;
    let [one, two, three] = [300, 200, 300].map(|length| drawn(&mut seed, 500, length));
    let (once, twice) = ([&one[..], &two, &three].concat(), [&one[..], &two, &two, &three].concat());
    for (query, document) in [(&once, &twice), (&twice, &once)] {
        let case = Case { query: query.clone(), document: document.clone(), k: 25, w: 20 };
        let (matches, _) = case.matches(&Settings::new(case.k, case.w));
        let passages = case.joined(&matches, 44);
        let spans: Vec<_> = passages.iter().map(|p| (p.query.clone(), p.document.clone(), p.agreed)).collect();
        assert_eq!(spans, [(0..query.len() as u32, 0..document.len() as u32, 800)]);
    }
}

#[test]
fn a_moved_block_is_a_passage_of_its_own() {
    let mut seed = 5;
    let [one, two, three] = [200, 180, 220].map(|length| drawn(&mut seed, 500, length));
    let case =
        Case { query: [&one[..], &two, &three].concat(), document: [&two[..], &one, &three].concat(), k: 5, w: 9 };
    let (matches, _) = case.matches(&Settings::new(case.k, case.w));
    let passages = case.joined(&matches, 13);
    let spans: Vec<_> = passages.iter().map(|p| (p.query.clone(), p.document.clone(), p.agreed)).collect();
    assert_eq!(spans, [(0..200, 180..380, 200), (200..380, 0..180, 180), (380..600, 380..600, 220)]);
}

proptest! {
    /// A copy with edits is found as far as possible, and no agreement is invented.
    #[test]
    fn mutated_copies_are_found(
        original in proptest::collection::vec(0u64..30, 60..200),
        edits in proptest::collection::vec((0usize..200, 0u8..3, 30u64..40), 0..6),
        before in proptest::collection::vec(40u64..70, 0..30),
        gap in 0u32..30,
    ) {
        let mut copy = original.clone();
        for (place, kind, symbol) in edits {
            let place = place % copy.len();
            match kind {
                0 => copy[place] = symbol,
                1 => copy.insert(place, symbol),
                _ => drop(copy.remove(place)),
            }
        }
        let case = Case { query: original, document: [before, copy].concat(), k: 4, w: 5 };
        let (matches, _) = case.matches(&Settings::new(case.k, case.w));
        let passages = case.joined(&matches, gap);
        case.check_ends(&passages);
        for run in case.naive(case.t()) {
            prop_assert!(covers(&passages, &run));
        }
    }
}
