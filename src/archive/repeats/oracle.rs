//! Oracle: the rule by brute force, compared with the search.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use super::anchor::WindowShape;
use super::window_hash::WindowHash;
use super::{RepeatOptions, RepeatRow, RepeatSearch};
use crate::ingest::{IngestOptions, ingest_documents};
use fpdb_host::progress::Task;
use fpdb_kernel::profile::{Profile, Selection, Unit, WordRule};
use fpdb_reading::input::Document;
use fpdb_store::{Store, StoreOptions};

/// Returns the source of each removable symbol, by document and place, straight from the definition.
fn by_brute_force(documents: &[Vec<u8>], window: usize) -> BTreeMap<(u32, u64), (u32, u64)> {
    let mut first: HashMap<&[u8], (u32, u64)> = HashMap::new();
    let mut removable = BTreeMap::new();
    for (id, document) in (0..).zip(documents) {
        let mut last: HashMap<&[u8], u64> = HashMap::new();
        for (start, symbols) in (0..).zip(document.windows(window)) {
            let (mut source, mut source_start) = *first.entry(symbols).or_insert((id, start));
            // A window that occurs again before it ends has that occurrence as its source.
            if let Some(near) = last.insert(symbols, start).filter(|near| near + window as u64 > start) {
                (source, source_start) = (id, near);
            }
            if (source, source_start) == (id, start) {
                continue;
            }
            for place in 0..window as u64 {
                // A symbol belongs to the first repeated window that holds it.
                removable.entry((id, start + place)).or_insert((source, source_start + place));
            }
        }
    }
    removable
}

/// Returns the source of each removable symbol, by document and place, from the rows of a search. All symbols
/// of the texts are one byte long.
fn by_search(search: &RepeatSearch<'_>) -> BTreeMap<(u32, u64), (u32, u64)> {
    let found = search.find(&Task::new()).unwrap();
    let mut removable = BTreeMap::new();
    let mut rows = 0;
    let mut last = (0, 0);
    let summary = search
        .for_each(found, &Task::new(), &mut |row| {
            let RepeatRow::Repeat(row) = row else { panic!("{row:?}") };
            assert!(last <= (row.id.0, row.start), "rows are in order");
            last = (row.id.0, row.end);
            assert_eq!((row.end - row.start, row.of.end - row.of.start), (row.symbols, row.symbols));
            for place in 0..row.symbols {
                let before = removable.insert((row.id.0, row.start + place), (row.of.id.0, row.of.start + place));
                assert_eq!(before, None, "no symbol is in two rows");
            }
            rows += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!((summary.repeats, summary.repeated_symbols), (rows, removable.len() as u64));
    assert_eq!((summary.repeated_bytes, summary.uncompared), (removable.len() as u64, 0));
    removable
}

fn with_search(documents: &[Vec<u8>], profile: &Profile, window: u32, check: impl FnOnce(&mut RepeatSearch<'_>)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = Store::create(&path, profile, &StoreOptions::default()).unwrap();
    let named: Vec<Document> =
        documents.iter().zip(0..).map(|(text, number)| Document::new(format!("{number}"), text.clone())).collect();
    ingest_documents(&store, named.into_iter(), &IngestOptions::default().store_text(true), &Task::new()).unwrap();
    let options = RepeatOptions::new(window);
    check(&mut RepeatSearch::new(&store, &options).unwrap());
}

fn compare(documents: &[Vec<u8>], profile: &Profile, window: u32) {
    with_search(documents, profile, window, |search| {
        let expected = by_brute_force(documents, window as usize);
        assert_eq!(by_search(search), expected, "{documents:?} {window}");
        // The minimum memory for the largest document: sorters spill, and most texts are in a file.
        search.memory = 8 * documents.iter().map(Vec::len).max().unwrap_or(0) as u64;
        assert_eq!(by_search(search), expected, "on disk: {documents:?} {window}");
        // Windows of the same last symbol have the same hash.
        search.window_hash = WindowHash::new(window, [0, 0]);
        assert_eq!(by_search(search), expected, "weak hash: {documents:?} {window}");
    });
}

fn profile(k: u32, w: u32, selection: Selection) -> Profile {
    Profile::new(Unit::Char, WordRule::Letters, k, w, selection).unwrap()
}

/// Documents over few letters; some are made of parts of others.
fn documents() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let letters = prop_oneof![Just(b"ab".to_vec()), Just(b"a".to_vec()), Just(b"abcdefghij".to_vec())];
    let piece = letters.prop_flat_map(|letters| prop::collection::vec(prop::sample::select(letters), 0..40));
    let copies = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4);
    prop::collection::vec((piece, copies), 1..8).prop_map(|parts| {
        let mut documents: Vec<Vec<u8>> = Vec::new();
        for (own, copies) in parts {
            let mut document = own.clone();
            for (which, from) in copies {
                let of: &[u8] = if documents.is_empty() { &own } else { &documents[which.index(documents.len())] };
                if !of.is_empty() {
                    document.extend_from_slice(&of[from.index(of.len())..]);
                }
                document.extend(own.iter().take(3));
            }
            documents.push(document);
        }
        documents
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_search_finds_what_brute_force_finds(
        documents in documents(),
        k in 1u32..6,
        w in 1u32..6,
        more in 0u32..12,
        plain in any::<bool>(),
    ) {
        let selection = if plain { Selection::Plain } else { Selection::Robust };
        compare(&documents, &profile(k, w, selection), k + w - 1 + more);
    }
}

/// Many documents of one template, each with its own text at the ends. So a hash has more anchors than
/// the number of holders that the search keeps.
#[test]
fn windows_at_no_holder_are_compared_too() {
    let own = |seed: u32, length: usize| -> Vec<u8> {
        let mut state = u64::from(seed) + 1;
        let step = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            b'a' + (state >> 60) as u8
        };
        (0..length).map(step).collect()
    };
    let template = own(0, 60);
    // Each own text occurs in two documents, so windows across the edge of the template repeat too.
    let documents: Vec<Vec<u8>> = (0..120)
        .map(|number| [own(1 + number / 2, 25), template.clone(), own(100 + number / 3, 25)].concat())
        .collect();
    for window in [10, 16, 30, 61, 90] {
        compare(&documents, &profile(5, 4, Selection::Robust), window);
    }
}

#[test]
fn what_repeats_within_a_document_goes_but_for_its_first_occurrence() {
    let documents = [b"aaaaaaaaaaaaaaaaaaaa".to_vec(), b"abcdefghijxyzabcdefghijabcdefghij".to_vec()];
    for window in 4..12 {
        compare(&documents, &profile(2, 2, Selection::Robust), window);
    }
}

/// A text of one character, or of a period shorter than a window, is one span. There is one more span if the
/// text begins like an earlier document.
#[test]
fn a_run_of_a_short_period_has_few_rows() {
    let run = |period: &[u8], length: usize| period.iter().copied().cycle().take(length).collect::<Vec<u8>>();
    for period in [&b"a"[..], b"ab", b"abcabcd"] {
        let documents =
            [run(period, 12), run(period, 3000), run(period, 2000), [b"xyz".to_vec(), run(period, 500)].concat()];
        compare(&documents, &profile(3, 2, Selection::Robust), 10);
        with_search(&documents, &profile(3, 2, Selection::Robust), 10, |search| {
            let found = search.find(&Task::new()).unwrap();
            let summary = search.for_each(found, &Task::new(), &mut |_| Ok(())).unwrap();
            assert!(summary.repeats <= 2 * documents.len() as u64, "{}", summary.repeats);
        });
    }
}

#[test]
fn windows_are_no_shorter_than_the_guarantee() {
    let profile = profile(5, 4, Selection::Robust);
    assert!(WindowShape::of(7, &profile).is_err());
    assert_eq!(WindowShape::of(8, &profile).unwrap(), WindowShape { window: 8, kgram: 4 });
    assert!(WindowShape::of(1 << 16, &profile).is_ok() && WindowShape::of((1 << 16) + 1, &profile).is_err());
}

/// The letters and digits of an ASCII text, in lower case.
fn letters(text: &[u8]) -> Vec<u8> {
    text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
}

#[test]
fn repeats_of_real_text_are_those_of_brute_force() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data-samples");
    let mut documents = Vec::new();
    for folder in ["planted", "federalist"] {
        let mut paths: Vec<_> =
            std::fs::read_dir(samples.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort_unstable();
        documents.extend(paths.iter().map(|path| letters(&std::fs::read(path).unwrap())));
    }
    // A document made of parts of others, then a document that contains it.
    let parts = documents.iter().flat_map(|document| document.iter().copied().skip(500).take(701)).collect::<Vec<u8>>();
    documents.push(parts.clone());
    documents.push([&parts[3..], b"andmore", &parts[..900]].concat());
    for window in [44, 45, 100, 331] {
        compare(&documents, &Profile::default(), window);
    }
}
