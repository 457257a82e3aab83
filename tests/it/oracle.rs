//! The fast path, end to end through `Fingerprinter`, against a literal implementation of the definitions.

mod definitions;

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use fpdb::kgram::hash_kgram;
use fpdb::normalize::{FrontEnd, Symbols};
use fpdb::{Fingerprint, Fingerprinter, Fingerprints, Profile, Selection, Unit, WordRule};
use xxhash_rust::xxh3::xxh3_64;

pub(crate) use definitions::{Random, Standard, ascii_chars, hashes, select};
use definitions::{mix, naive};

fn front_end(mut front_end: FrontEnd, text: &[u8]) -> Standard {
    let mut symbols = Symbols::new();
    front_end.feed(text, &mut symbols);
    front_end.finish(&mut symbols);
    let origins = (0..symbols.len()).map(|i| (symbols.start(i) as usize, symbols.end(i) as usize)).collect();
    Standard { values: symbols.values().to_vec(), origins }
}

/// The symbols of a text: of ASCII text by the definition, of other text by the front-end in one piece.
fn chars(text: &str) -> Standard {
    if text.is_ascii() { ascii_chars(text) } else { front_end(FrontEnd::chars(), text.as_bytes()) }
}

/// The fingerprints that the library makes of a document in pieces, and the number of its symbols.
fn fast(fingerprinter: &mut Fingerprinter, bytes: &[u8], piece: usize) -> (Vec<Fingerprint>, u64) {
    let mut out = Fingerprints::new();
    for piece in bytes.chunks(piece) {
        fingerprinter.feed(piece, &mut out);
    }
    let facts = fingerprinter.finish(&mut out).unwrap();
    assert_eq!(facts.text.bytes, bytes.len() as u64);
    assert_eq!(facts.text.lines, bytes.split_inclusive(|&byte| byte == b'\n').count() as u64);
    (out.iter().collect(), facts.symbols)
}

fn profile(unit: Unit, rule: WordRule, k: usize, w: usize, selection: Selection) -> Profile {
    Profile::new(unit, rule, k as u32, w as u32, selection).unwrap()
}

fn char_profile(k: usize, w: usize, selection: Selection) -> Profile {
    profile(Unit::Char, WordRule::Letters, k, w, selection)
}

fn selections(w: usize) -> Vec<Selection> {
    let all = [
        Selection::Robust,
        Selection::Plain,
        Selection::Mod(1),
        Selection::Mod(4),
        Selection::SafeMod(4),
        Selection::SafeMod(1000),
    ];
    all.into_iter().chain((w == 1).then_some(Selection::All)).collect()
}

/// Text of exactly `n` symbols, made of pieces with a known number of symbols.
fn text_of(n: usize, random: &mut Random, pieces: &[(&str, usize)]) -> String {
    let mut text = String::new();
    let mut left = n;
    loop {
        let (piece, symbols) = random.one_of(pieces);
        if symbols <= left {
            text.push_str(piece);
            left -= symbols;
            if left == 0 && symbols > 0 || n == 0 {
                return text;
            }
        }
    }
}

/// Pieces of one symbol each, and some of none.
const SINGLE: [(&str, usize); 14] = [
    ("e\u{301}", 1),
    ("A\u{30a}", 1),
    ("q", 1),
    ("Ä", 1),
    ("漢", 1),
    ("字", 1),
    ("か\u{3099}", 1),
    ("ж", 1),
    ("Σ", 1),
    ("７", 1),
    ("𝔘", 1),
    (" ", 0),
    ("\n", 0),
    ("… \u{ad}", 0),
];

/// Pieces of several symbols that have one origin, among others.
const EXPANDING: [(&str, usize); 9] =
    [("ﬁ", 2), ("ß", 2), ("Ⅷ", 4), ("x\u{301}", 2), ("q\u{323}\u{301}", 3), ("½", 2), ("漢", 1), ("k", 1), ("—\n", 0)];

fn inputs(n: usize, random: &mut Random) -> Vec<(&'static str, String)> {
    const LETTERS: [(&str, usize); 8] =
        [("ab", 2), ("C", 1), ("d", 1), ("7", 1), ("Xyz", 3), (" ", 0), (".\n", 0), ("k", 1)];
    let periodic = |period: usize| {
        let mut text = String::new();
        for i in 0..n {
            text.push(char::from(b'a' + (i % period) as u8));
            if i % 9 == 0 {
                text.push_str(", \n");
            }
        }
        text
    };
    let mut inputs = vec![
        ("random", text_of(n, random, &LETTERS)),
        ("constant", "z".repeat(n)),
        ("periodic 2", periodic(2)),
        ("periodic 3", periodic(3)),
        ("periodic 7", periodic(7)),
        ("low entropy", text_of(n, random, &[("a", 1), ("A", 1), ("aa", 2), ("b", 1), ("\n", 0)])),
        ("unicode", text_of(n, random, &SINGLE)),
    ];
    if n > 0 {
        inputs.push(("expanding", text_of(n, random, &EXPANDING)));
        let (before, after) = (text_of(n / 2, random, &LETTERS), text_of(n - n / 2 - 1, random, &LETTERS));
        inputs.push(("hardly beyond ASCII", format!("{before}é{after}")));
    }
    inputs
}

fn lengths(k: usize, w: usize) -> Vec<usize> {
    let t = w + k - 1;
    let mut lengths = vec![0, 1, k - 1, k, k + 1, w - 1, w, w + 1, t - 1, t, t + 1, 2 * t, 5 * t + 3];
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

#[test]
fn equals_the_definitions_on_a_grid() {
    let mut random = Random(1);
    for k in [1, 2, 3, 5, 50] {
        for w in [1, 2, 3, 17, 100] {
            let profiles: Vec<Profile> = selections(w).into_iter().map(|s| char_profile(k, w, s)).collect();
            let mut fingerprinters: Vec<Fingerprinter> = profiles.iter().map(Fingerprinter::new).collect();
            for n in lengths(k, w) {
                for (name, text) in inputs(n, &mut random) {
                    let standard = chars(&text);
                    assert_eq!(standard.values.len(), n, "{name}: {text:?}");
                    for (profile, fingerprinter) in profiles.iter().zip(&mut fingerprinters) {
                        let expected = naive(profile, text.as_bytes(), &standard);
                        for piece in [1, 7, 4096] {
                            let (got, symbols) = fast(fingerprinter, text.as_bytes(), piece);
                            assert_eq!(symbols, n as u64, "{profile}, {name}, pieces of {piece}: {text:?}");
                            assert_eq!(got, expected, "{profile}, {name}, pieces of {piece}: {text:?}");
                        }
                    }
                }
            }
        }
    }
}

/// The documents are longer than the part that the library holds back until it knows the encoding. So symbols
/// pass through the window while a document is fed.
#[test]
fn long_documents_equal_the_definitions_however_they_are_fed() {
    let mut random = Random(2);
    for (name, text) in inputs(150_000, &mut random) {
        let standard = chars(&text);
        for (k, w, selection) in [
            (1, 1, Selection::All),
            (3, 2, Selection::Robust),
            (5, 17, Selection::Plain),
            (50, 100, Selection::Robust),
            (5, 30, Selection::SafeMod(50)),
        ] {
            let profile = char_profile(k, w, selection);
            let expected = naive(&profile, text.as_bytes(), &standard);
            for piece in [1, 7, 4096, 100_000] {
                let (got, _) = fast(&mut Fingerprinter::new(&profile), text.as_bytes(), piece);
                assert!(got == expected, "{profile}, {name}, pieces of {piece}");
            }
        }
        let values = text.bytes().map(|byte| mix(u64::from(byte) + 1)).collect();
        let standard = Standard { values, origins: (0..text.len()).map(|at| (at, at + 1)).collect() };
        let profile = profile(Unit::Byte, WordRule::Letters, 8, 20, Selection::Robust);
        let expected = naive(&profile, text.as_bytes(), &standard);
        for piece in [7, 4096] {
            let (got, _) = fast(&mut Fingerprinter::new(&profile), text.as_bytes(), piece);
            assert!(got == expected, "{profile}, {name}, pieces of {piece}");
        }
    }
}

#[test]
fn words_equal_the_definitions() {
    // The text as written, its words by the rule `letters`, and its words by the rule `unicode`.
    const VOCABULARY: [(&str, &[&str], &[&str]); 12] = [
        ("The", &["The"], &["The"]),
        ("rain,", &["rain"], &["rain"]),
        ("RAIN", &["RAIN"], &["RAIN"]),
        ("don't", &["don", "t"], &["don't"]),
        ("3.14", &[], &["3.14"]),
        ("x86", &["x"], &["x86"]),
        ("--", &[], &[]),
        ("(naïve)", &["naïve"], &["naïve"]),
        ("ÉCOLE", &["ÉCOLE"], &["ÉCOLE"]),
        ("漢字", &["漢", "字"], &["漢", "字"]),
        ("snake_case", &["snake", "case"], &["snake_case"]),
        ("state-of-the-art", &["state", "of", "the", "art"], &["state", "of", "the", "art"]),
    ];
    let mut random = Random(3);
    for rule in [WordRule::Letters, WordRule::Unicode] {
        for (k, w) in [(1, 1), (1, 3), (2, 2), (3, 1), (3, 5), (5, 17)] {
            let mut known = lengths(k, w);
            known.push(12_000);
            for least in known {
                for kinds in [1, 2, VOCABULARY.len()] {
                    if least == 12_000 && kinds == 2 {
                        continue;
                    }
                    let (mut text, mut standard) = (String::new(), Standard::default());
                    while standard.values.len() < least {
                        let (token, letters, unicode) = VOCABULARY[random.below(kinds)];
                        let mut at = text.len();
                        text.push_str(token);
                        for word in if rule == WordRule::Letters { letters } else { unicode } {
                            at += text[at..].find(word).unwrap();
                            standard.values.push(xxh3_64(word.to_lowercase().as_bytes()));
                            standard.origins.push((at, at + word.len()));
                            at += word.len();
                        }
                        text.push_str(random.one_of(&[" ", "\n", "  \r\n", "\u{a0}"]));
                    }
                    for selection in selections(w) {
                        let profile = profile(Unit::Word, rule, k, w, selection);
                        let expected = naive(&profile, text.as_bytes(), &standard);
                        let mut fingerprinter = Fingerprinter::new(&profile);
                        for piece in [1, 7, 4096] {
                            let (got, symbols) = fast(&mut fingerprinter, text.as_bytes(), piece);
                            assert_eq!(symbols, standard.values.len() as u64, "{profile}: {text:.200}");
                            assert!(got == expected, "{profile}, pieces of {piece}: {text:.200}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn coarser_windows_give_subsets_and_no_window_is_empty() {
    let mut random = Random(4);
    for n in [1, 60, 400] {
        for (name, text) in inputs(n, &mut random) {
            for k in [1, 2, 5, 50] {
                for w in [1, 2, 3, 17, 100] {
                    for selection in selections(w) {
                        let profile = char_profile(k, w, selection);
                        let (finer, symbols) = fast(&mut Fingerprinter::new(&profile), text.as_bytes(), 4096);
                        let values: HashSet<u64> = finer.iter().map(|f| f.hash).collect();
                        let pairs: HashSet<(u64, u64)> = finer.iter().map(|f| (f.hash, f.position)).collect();
                        for coarser in [w, w + 1, 2 * w, 3 * w + 1, 100, 699 - k.min(50), 700, 5000] {
                            let Ok(profile) = profile.with_window(coarser as u32) else { continue };
                            for f in fast(&mut Fingerprinter::new(&profile), text.as_bytes(), 4096).0 {
                                assert!(values.contains(&f.hash), "{profile} within w {w}, {name}");
                                let pair = pairs.contains(&(f.hash, f.position));
                                assert!(pair || selection != Selection::Plain, "{profile} within w {w}, {name}");
                            }
                        }
                        if !matches!(selection, Selection::Mod(_)) {
                            every_window_holds_one(&finer, (symbols + 1).saturating_sub(k as u64), w as u64, name);
                        }
                    }
                }
            }
        }
    }
}

fn every_window_holds_one(fingerprints: &[Fingerprint], hashes: u64, w: u64, name: &str) {
    assert_eq!(fingerprints.is_empty(), hashes == 0, "{name}");
    // The position after the last fingerprint so far.
    let mut next = 0;
    for fingerprint in fingerprints {
        assert!(fingerprint.position < next + w, "{name}, w {w}: a window from {next} on is empty");
        next = fingerprint.position + 1;
    }
    assert!(hashes < next + w, "{name}, w {w}: the last window is empty");
}

#[test]
fn a_shared_run_of_t_symbols_is_found_and_nothing_else_is_shared() {
    let mut random = Random(5);
    for round in 0..2000 {
        let (k, w) = (random.one_of(&[2, 3, 5, 25, 50]), random.one_of(&[1, 2, 3, 17, 100]));
        let alphabet = random.one_of(&[2, 4, 26]);
        let t = k + w - 1;
        let letters = |n: usize, random: &mut Random| -> Vec<u8> {
            (0..n).map(|_| b'a' + random.below(alphabet) as u8).collect()
        };
        let run = letters(t, &mut random);
        let mut documents = Vec::new();
        // A different letter on each side in each document, so the shared run has exactly t symbols.
        for edge in [b'0', b'1'] {
            let at = random.below(300);
            let mut text = letters(at, &mut random);
            text.push(edge);
            for &letter in &run {
                text.push(if edge == b'1' { letter.to_ascii_uppercase() } else { letter });
                if edge == b'1' && random.below(5) == 0 {
                    text.extend(b",\n");
                }
            }
            text.push(edge);
            let tail = random.below(300);
            text.extend(letters(tail, &mut random));
            documents.push((String::from_utf8(text).unwrap(), at as u64 + 1));
        }
        for selection in [Selection::Robust, Selection::Plain, Selection::SafeMod(7), Selection::All] {
            if selection == Selection::All && w != 1 {
                continue;
            }
            let mut fingerprinter = Fingerprinter::new(&char_profile(k, w, selection));
            let mut of = |i: usize| fast(&mut fingerprinter, documents[i].0.as_bytes(), 4096).0;
            let (a, b) = (of(0), of(1));
            let inside = |f: &Fingerprint, i: usize| {
                let first: u64 = documents[i].1;
                f.position >= first && f.position + k as u64 <= first + t as u64
            };
            let in_b: HashSet<u64> = b.iter().filter(|f| inside(f, 1)).map(|f| f.hash).collect();
            let found = a.iter().any(|f| inside(f, 0) && in_b.contains(&f.hash));
            assert!(found, "round {round}: k {k}, w {w}, {selection}: {documents:?}");

            let values = [0, 1].map(|i: usize| ascii_chars(&documents[i].0).values);
            let k_gram = |i: usize, f: &Fingerprint| &values[i][f.position as usize..][..k];
            let k_grams: HashMap<u64, &[u64]> = b.iter().map(|f| (f.hash, k_gram(1, f))).collect();
            for f in &a {
                let other = k_grams.get(&f.hash);
                assert!(other.is_none_or(|other| *other == k_gram(0, f)), "round {round}: a hash without its k-gram");
            }
        }
    }
}

#[test]
fn a_span_holds_its_k_gram_and_lines_count_newlines() {
    let mut random = Random(6);
    for (name, text) in inputs(3000, &mut random) {
        let standard = chars(&text);
        for (k, w) in [(1, 1), (3, 2), (5, 17), (50, 10)] {
            let (fingerprints, _) =
                fast(&mut Fingerprinter::new(&char_profile(k, w, Selection::Robust)), text.as_bytes(), 7);
            for f in fingerprints {
                let (start, end) = (f.span.start as usize, f.span.end as usize);
                // Indexing a string also checks that the span ends on characters.
                let slice = &text[start..end];
                let slice = front_end(FrontEnd::chars(), slice.as_bytes()).values;
                let k_gram = &standard.values[f.position as usize..][..k];
                assert_eq!(f.hash, hash_kgram(k_gram), "{name}");
                if name == "expanding" {
                    // The first and the last character may also have symbols outside the k-gram.
                    assert!(slice.windows(k).any(|window| window == k_gram), "{name}, k {k}: {:?}", &text[start..end]);
                } else {
                    assert_eq!(slice, k_gram, "{name}, k {k}: {:?}", &text[start..end]);
                }
                assert_eq!(f.first_line as usize, 1 + text[..start].matches('\n').count(), "{name}");
                assert_eq!(
                    f.last_line as usize,
                    1 + text[..end].trim_end_matches('\n').matches('\n').count(),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn density_on_random_text_is_that_of_the_paper() {
    let mut random = Random(7);
    let mut text = String::new();
    while text.len() < 8 << 20 {
        write!(text, "{:016x}", random.next()).unwrap();
    }
    for (k, w) in [(50, 100), (25, 20)] {
        for selection in [Selection::Robust, Selection::Plain] {
            let mut fingerprinter = Fingerprinter::new(&char_profile(k, w, selection));
            let (fingerprints, symbols) = fast(&mut fingerprinter, text.as_bytes(), 1 << 20);
            let density = fingerprints.len() as f64 / (symbols - k as u64 + 1) as f64;
            let expected = 2.0 / (w as f64 + 1.0);
            assert!((density / expected - 1.0).abs() < 0.01, "k {k}, w {w}, {selection}: {density}, not {expected}");
        }
    }
}
