//! Tests the fast selection against the definitions, on fixed inputs and on random hashes.

use std::collections::HashSet;

use proptest::prelude::*;

use super::properties::{definition, select};
use super::{Selected, Winnower};
use crate::lanes::Processor;
use crate::profile::Selection;

fn fast(hashes: &[u64], selection: Selection, w: usize, piece: usize) -> Vec<Selected> {
    select(Processor::detect(), hashes, selection, w, piece)
}

fn mix(i: u64) -> u64 {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const SELECTIONS: [Selection; 9] = [
    Selection::Robust,
    Selection::Plain,
    Selection::All,
    Selection::Mod(1),
    Selection::Mod(4),
    Selection::Mod(7),
    Selection::SafeMod(1),
    Selection::SafeMod(4),
    Selection::SafeMod(1000),
];

fn inputs(n: usize) -> Vec<(&'static str, Vec<u64>)> {
    let n = n as u64;
    vec![
        ("random", (0..n).map(mix).collect()),
        ("constant", vec![5; n as usize]),
        ("zero", vec![0; n as usize]),
        ("greatest", vec![u64::MAX; n as usize]),
        ("ascending", (0..n).collect()),
        ("descending", (0..n).rev().collect()),
        ("periodic 2", (0..n).map(|i| i % 2).collect()),
        ("periodic 5", (0..n).map(|i| mix(i % 5)).collect()),
        ("few values", (0..n).map(|i| mix(i) % 3).collect()),
        ("sawtooth", (0..n).map(|i| i % 11 * 3).collect()),
    ]
}

#[test]
fn equals_the_definitions_on_a_grid() {
    for w in [1usize, 2, 3, 4, 5, 8, 17, 100] {
        for n in [0, 1, 2, w - 1, w, w + 1, 2 * w - 1, 2 * w, 2 * w + 1, 5 * w + 3] {
            for (name, hashes) in inputs(n) {
                for selection in SELECTIONS {
                    let expected = definition(&hashes, selection, w);
                    for piece in [1, 2, 3, w, w + 1, n.max(1)] {
                        let got = fast(&hashes, selection, w, piece);
                        assert_eq!(got, expected, "{name}, n {n}, w {w}, {selection}, pieces of {piece}");
                    }
                }
            }
        }
    }
}

#[test]
fn coarser_windows_select_subsets() {
    for (name, hashes) in inputs(700) {
        for selection in SELECTIONS {
            for w in [1usize, 2, 3, 7, 20, 100] {
                let pairs: HashSet<(u64, u64)> =
                    oracle_free(&hashes, selection, w).iter().map(|s| (s.hash, s.position)).collect();
                let values: HashSet<u64> = pairs.iter().map(|pair| pair.0).collect();
                for coarser in [w, w + 1, 2 * w, 5 * w, 699, 700, 701, 5000] {
                    if coarser < w {
                        continue;
                    }
                    for s in oracle_free(&hashes, selection, coarser) {
                        assert!(values.contains(&s.hash), "{name}, {selection}, w {w}, w' {coarser}");
                        // With plain winnowing, the pairs (hash, position) are a subset too.
                        if selection == Selection::Plain {
                            assert!(pairs.contains(&(s.hash, s.position)), "{name}, w {w}, w' {coarser}");
                        }
                    }
                }
            }
        }
    }
}

fn oracle_free(hashes: &[u64], selection: Selection, w: usize) -> Vec<Selected> {
    fast(hashes, selection, w, hashes.len().max(1))
}

#[test]
fn every_window_holds_a_fingerprint() {
    for (name, hashes) in inputs(900) {
        for selection in [Selection::Robust, Selection::Plain, Selection::SafeMod(9)] {
            for w in [1usize, 2, 10, 100, 900] {
                let selected = oracle_free(&hashes, selection, w);
                let mut previous = -1i64;
                for s in &selected {
                    assert!(s.position as i64 - previous <= w as i64, "{name}, {selection}, w {w}");
                    previous = s.position as i64;
                }
                assert!(900 - previous <= w as i64, "{name}, {selection}, w {w}: the end");
            }
        }
    }
}

#[test]
fn robust_winnowing_keeps_one_hash_a_window_where_all_are_equal() {
    let constant = vec![7u64; 10_000];
    assert_eq!(oracle_free(&constant, Selection::Robust, 100).len(), 100);
    assert_eq!(oracle_free(&constant, Selection::Plain, 100).len(), 10_000 - 99);
}

proptest! {
    #[test]
    fn equals_the_definitions_on_low_entropy(
        hashes in proptest::collection::vec(0u64..6, 0..200),
        w in 1usize..30,
        piece in 1usize..50,
        choice in 0usize..SELECTIONS.len(),
    ) {
        let selection = SELECTIONS[choice];
        prop_assert_eq!(fast(&hashes, selection, w, piece), definition(&hashes, selection, w));
    }
}

/// Runs of few values, of ascending and descending values, of values at both ends of the range, and of any
/// values.
fn hashes() -> impl Strategy<Value = Vec<u64>> {
    let run = (0u64..4, 0usize..120, prop_oneof![0u64..8, Just(1 << 63), Just(u64::MAX - 200), any::<u64>()]);
    proptest::collection::vec(run, 0..12).prop_map(|runs| {
        let run = |(kind, length, start): (u64, usize, u64)| {
            (0..length as u64).map(move |i| match kind {
                0 => start.wrapping_add(mix(i ^ start) % 3),
                1 => start.wrapping_add(i),
                2 => start.wrapping_sub(i),
                _ => mix(i ^ start),
            })
        };
        runs.into_iter().flat_map(run).collect()
    })
}

proptest! {
    /// Few, many or all hashes tie in their highest 16 or 32 bits, and some are equal.
    #[test]
    fn windows_with_ties_here_and_there_equal_the_definitions(
        seed in any::<u64>(),
        length in 0usize..4000,
        values in prop::sample::select(vec![3u64, 30, 300, 3000, 30_000, 1 << 20, 1 << 24, 1 << 28, 1 << 32]),
        low in 1u64..4,
        tail in 0u64..5,
        w in prop_oneof![2usize..6, 6usize..50],
        sizes in proptest::collection::vec(prop_oneof![1usize..200, 1usize..3000], 1..4),
        rightmost in any::<bool>(),
    ) {
        let selection = if rightmost { Selection::Plain } else { Selection::Robust };
        let hash = |i: u64| ((mix(seed ^ i) % values) << 32) | (mix(i) % low);
        // The last hashes are all the maximum.
        let hashes: Vec<u64> = (0..length as u64).map(hash).chain((0..60 * tail).map(|_| u64::MAX)).collect();
        let expected = definition(&hashes, selection, w);
        for processor in Processor::all() {
            prop_assert_eq!(&fast_on(processor, &hashes, selection, w, &sizes), &expected, "{:?}", processor);
        }
    }

    #[test]
    fn every_instruction_set_equals_the_definitions(
        hashes in hashes(),
        w in prop_oneof![1usize..5, 5usize..40, 40usize..200],
        sizes in proptest::collection::vec(prop_oneof![1usize..20, 1usize..500], 1..4),
        rightmost in any::<bool>(),
    ) {
        let selection = if rightmost { Selection::Plain } else { Selection::Robust };
        let expected = definition(&hashes, selection, w);
        for processor in Processor::all() {
            prop_assert_eq!(&fast_on(processor, &hashes, selection, w, &sizes), &expected, "{:?}", processor);
        }
    }
}

proptest! {
    /// Some windows have no low hash. Few, many or all low hashes tie.
    #[test]
    fn windows_with_few_low_hashes_equal_the_definitions(
        seed in any::<u64>(),
        length in 0usize..6000,
        share in prop::sample::select(vec![0u64, 2, 3, 4, 5, 8, 20, 100]),
        low in prop::sample::select(vec![1u64, 30, 1000, u64::MAX]),
        high in prop::sample::select(vec![1u64, 30, 1000, u64::MAX]),
        w in prop_oneof![2usize..30, 30usize..250, 250usize..1500],
        sizes in proptest::collection::vec(prop_oneof![1usize..200, 1usize..3000], 1..4),
        rightmost in any::<bool>(),
    ) {
        let selection = if rightmost { Selection::Plain } else { Selection::Robust };
        // On average, `share` of the w random hashes in a window are below this bound.
        let bound = u64::MAX / w as u64 * share.min(w as u64);
        let hash = |i: u64| {
            let hash = mix(seed ^ i);
            if hash < bound { hash % bound.min(low) } else { bound + (hash - bound) % high.min(u64::MAX - bound).max(1) }
        };
        let hashes: Vec<u64> = (0..length as u64).map(hash).collect();
        let expected = definition(&hashes, selection, w);
        for processor in Processor::all() {
            prop_assert_eq!(&fast_on(processor, &hashes, selection, w, &sizes), &expected, "{:?}", processor);
        }
    }
}

proptest! {
    /// Hashes that rise, some of them equal, for more or less than a window, and then fall.
    #[test]
    fn rising_hashes_equal_the_definitions(
        runs in proptest::collection::vec(
            (prop_oneof![0u64..50, any::<u64>()], prop_oneof![0usize..300, 0usize..2000], 0u64..40, any::<u64>()), 0..5),
        w in prop_oneof![2usize..32, 32usize..40, 32usize..300],
        sizes in proptest::collection::vec(prop_oneof![1usize..200, 1usize..3000], 1..4),
        rightmost in any::<bool>(),
    ) {
        let selection = if rightmost { Selection::Plain } else { Selection::Robust };
        let mut hashes = Vec::new();
        for (mut hash, length, even, seed) in runs {
            for i in 0..length as u64 {
                hashes.push(hash);
                // On average, one in `even + 1` hashes is greater than the one before.
                hash = hash.saturating_add(u64::from(mix(seed ^ i).is_multiple_of(even + 1)) * (seed % 1000));
            }
        }
        let expected = definition(&hashes, selection, w);
        for processor in Processor::all() {
            prop_assert_eq!(&fast_on(processor, &hashes, selection, w, &sizes), &expected, "{:?}", processor);
        }
    }
}

/// Selects from pieces. Their sizes cycle through `sizes`.
fn fast_on(processor: Processor, hashes: &[u64], selection: Selection, w: usize, sizes: &[usize]) -> Vec<Selected> {
    let mut winnower = Winnower::new(selection, w as u32);
    winnower.set_processor(processor);
    let (mut out, mut rest) = (Vec::new(), hashes);
    for &size in sizes.iter().cycle() {
        let piece;
        (piece, rest) = rest.split_at(size.min(rest.len()));
        winnower.feed(piece, &mut out);
        if rest.is_empty() {
            break;
        }
    }
    winnower.finish(&mut out);
    out
}

/// Every window size that sliding minima serve, and some above, with few ties and with many, on every
/// instruction set.
#[test]
fn every_small_window_equals_the_definitions() {
    for w in (1usize..=50).chain([64, 65, 96, 97, 128, 129]) {
        for (n, values) in [(w + 63, 1 << 22), (w + 64, 1 << 18), (w + 129, 1 << 20), (2600, 1 << 23), (2600, u64::MAX)]
        {
            // The highest 16 bits have 64, 4, 16, 128 and all values.
            let hashes: Vec<u64> = (0..n as u64)
                .map(|i| mix(i ^ w as u64) % values)
                .map(|it| if values == u64::MAX { it } else { it << 32 | mix(it) >> 62 })
                .collect();
            for selection in [Selection::Robust, Selection::Plain] {
                let expected = definition(&hashes, selection, w);
                for processor in Processor::all() {
                    for sizes in [&[2048][..], &[1984, 100, 700]] {
                        let got = fast_on(processor, &hashes, selection, w, sizes);
                        assert_eq!(got, expected, "n {n}, values {values}, w {w}, {selection}, {processor:?}");
                    }
                }
            }
        }
    }
}
