//! Tests of every front-end. The pieces of a document do not affect the result, origins are exact, and memory
//! is bounded. Unit char and unit word are compared with references that read the whole text at once.
//!
//! The file is long because it holds the samples of all encodings and scripts together with the properties.

mod encodings;

use std::collections::HashSet;
use std::ops::Range;

use proptest::prelude::*;

use super::fold::{FoldResult, Folding, NOT_SIMPLE};
use super::reference::{Symbol, reference_chars, reference_words, standard_form};
use super::value::{
    LETTERS, code_beyond_ascii, code_of_char, mix64, value_of_byte, value_of_char, value_of_word, width_of_code,
};
use super::{FrontEnd, Symbols, TextFacts};
use crate::document::Language;
use crate::lanes::{CODES, NO_CODE, Processor};
use crate::profile::WordRule;

const UNITS: [fn() -> FrontEnd; 4] =
    [FrontEnd::chars, || FrontEnd::words(WordRule::Letters), || FrontEnd::words(WordRule::Unicode), FrontEnd::bytes];

fn all(out: &Symbols) -> Vec<Symbol> {
    out.values().iter().enumerate().map(|(i, &value)| (value, out.start(i)..out.end(i))).collect()
}

/// The symbols and the facts of a document that is fed whole.
fn read(front: &mut FrontEnd, document: &[u8]) -> (Vec<Symbol>, TextFacts) {
    read_pieces(front, [document])
}

fn read_pieces<'a>(front: &mut FrontEnd, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Symbol>, TextFacts) {
    let mut out = Symbols::new();
    for piece in pieces {
        front.feed(piece, &mut out);
    }
    let facts = front.finish(&mut out);
    (all(&out), facts)
}

fn chars(document: impl AsRef<[u8]>) -> (Vec<Symbol>, TextFacts) {
    read(&mut FrontEnd::chars(), document.as_ref())
}

/// The values of the characters of this text.
fn chars_in(text: &str) -> Vec<u64> {
    text.chars().map(value_of_char).collect()
}

fn values(symbols: &[Symbol]) -> Vec<u64> {
    symbols.iter().map(|(value, _)| *value).collect()
}

/// The pieces of a document. Their sizes cycle through `sizes`.
fn pieces<'a>(document: &'a [u8], sizes: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut sizes = sizes.iter().cycle();
    let mut rest = document;
    std::iter::from_fn(move || {
        let size = rest.len().min(*sizes.next()?);
        let piece;
        (piece, rest) = rest.split_at(size);
        (!piece.is_empty()).then_some(piece)
    })
}

/// Front-ends of unit token: one without a language, and one with a language, which holds back text.
const TOKENS: [fn() -> FrontEnd; 2] = [FrontEnd::tokens, || {
    let mut front = FrontEnd::tokens();
    front.begin(Some(Language::Python));
    front
}];

/// Reads a document in pieces, keeps only some symbols of each, and checks the line of every symbol.
fn check_lines(front: &mut FrontEnd, document: &[u8], sizes: &[usize], keep: usize) {
    let newlines: Vec<u64> = memchr::memchr_iter(b'\n', document).map(|at| at as u64).collect();
    let line = |offset: u64| 1 + newlines.partition_point(|&newline| newline < offset) as u64;
    let unit = format!("{front:?}");
    let check = |out: &Symbols| {
        for (i, (_, origin)) in all(out).into_iter().enumerate() {
            assert_eq!(out.line_at(out.start(i)), line(origin.start), "symbol at {origin:?}, {unit}");
            assert_eq!(out.line_at(out.end(i) - 1), line(origin.end - 1), "symbol at {origin:?}, {unit}");
        }
    };
    let (expected, _) = read(front, document);
    let (mut out, mut found) = (Symbols::new(), Vec::new());
    for piece in pieces(document, sizes) {
        front.feed(piece, &mut out);
        check(&out);
        let trimmed = out.len().saturating_sub(keep);
        found.extend(all(&out).drain(..trimmed));
        out.discard_front(trimmed);
    }
    front.finish(&mut out);
    check(&out);
    found.extend(all(&out));
    assert_eq!(found, expected);
}

/// Text that the front-ends hold back, with newlines in it and after it, across the ends of pieces.
#[test]
fn lines_of_text_held_back_are_exact() {
    let code: String = (0..24_000).map(|i| format!("value_{i} = compute_{}(a, b)\n", i * 7)).collect();
    let documents = [
        code,
        "x = '''".to_owned() + &"line\n".repeat(40_000) + "''' + y\n",
        "\n".repeat(4096) + "\u{301}a\n\u{301}\u{301}\n\n",
        "word \n\n\n".repeat(30_000),
    ];
    for document in &documents {
        for unit in UNITS.into_iter().chain(TOKENS) {
            for (size, keep) in [(4096, 0), (4096, 30), (100_000, 3)] {
                check_lines(&mut unit(), document.as_bytes(), &[size], keep);
            }
        }
    }
}

// Inputs.

/// Characters that combine, expand, vanish, fold in unusual ways, or separate.
const ODD: &str = "eEoQxX\u{301}\u{302}\u{308}\u{323}\u{327}\u{345}αΑᾳᾼΐΣσςßẞıİŉǰﬁﬃſẛªº²½⅓⑩Ⓐ⑴㎏™ǅＡｂ１ｶﾞﾊﾟかガ\u{3099}\u{309A}\
    가각ᄀ\u{1161}\u{11A8}\u{1100}\u{1175}한ﾡﾷ\u{3164}\u{FFA0}\u{115F}क\u{93C}\u{94D}ষ\u{9BE}ি\u{9C7}\u{9D7}ก\u{E48}\u{E33}\
    אבּשׁ\u{5B0}لا\u{64B}ﷺ\u{AD}\u{200B}\u{200C}\u{200D}\u{2060}\u{FE0F}\u{34F}\u{FEFF}\u{20DD}\u{20E3}👩🏽🇫🇷汉漢\u{2F00}\u{F900}\u{FFFD}\
    \u{10A0}Ꭰꭰ𝐀𝔅\u{1D165}\u{1D15E}\u{16D63}\u{16D67}\u{113C2}\u{1611E}\u{A0}\u{2003}\u{3000}\u{85}\n\n\r\t     .,;:'’-_3.14!\u{0F73}\u{0344}\u{0340}";

fn odd_text() -> impl Strategy<Value = String> {
    let odd: Vec<char> = ODD.chars().collect();
    let c = prop_oneof![4 => prop::sample::select(odd), 2 => prop::char::range('a', 'z'), 1 => any::<char>()];
    prop::collection::vec(c, 0..60).prop_map(|chars| chars.into_iter().collect())
}

/// Odd text of many lines.
fn line_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![2 => odd_text(), 3 => "\n{1,9}", 1 => Just("\n\n\u{301}".into())];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

/// Bytes that sometimes look like one of many encodings.
fn odd_bytes() -> impl Strategy<Value = Vec<u8>> {
    let chunk = prop_oneof![
        3 => odd_text().prop_map(String::into_bytes),
        2 => prop::collection::vec(any::<u8>(), 0..20),
        2 => "[a-zA-Z \n]{0,30}".prop_map(String::into_bytes),
        1 => prop::sample::select(vec![
            &b"\xEF\xBB\xBF"[..], b"\xFF\xFE", b"\xFE\xFF", b"\xFF\xFE\0\0", b"\0\0\xFE\xFF", b"\x1B$B", b"\x1B(B",
            b"\x1B[0m", b"caf\xE9 ", b"a\0b\0c\0", b"\x81\x30\x81", b"\x81\x30\x81\x30", b"\x88\x62", b"\xE2\x82",
            b"\x8F\xA1", b"\xD8\x3D\xDC\x69", b"\r\n",
        ]).prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(chunk, 0..6).prop_map(|chunks| chunks.concat())
}

proptest! {
    #[test]
    fn pieces_do_not_matter(document in odd_bytes(), sizes in prop::collection::vec(1usize..12, 1..6)) {
        for unit in UNITS {
            let mut front = unit();
            let whole = read(&mut front, &document);
            // The same front-end again: no state of the previous document remains.
            prop_assert_eq!(&read_pieces(&mut front, pieces(&document, &sizes)), &whole);
            prop_assert!(whole.0.is_sorted_by_key(|(_, origin)| origin.start));
            prop_assert!(whole.0.iter().all(|(_, origin)| origin.start < origin.end && origin.end <= whole.1.bytes));
        }
    }

    #[test]
    fn chars_are_those_of_the_whole_text(text in odd_text(), sizes in prop::collection::vec(1usize..9, 1..4)) {
        let marked = format!("\u{FEFF}{text}");
        let (symbols, facts) = read_pieces(&mut FrontEnd::chars(), pieces(marked.as_bytes(), &sizes));
        prop_assert_eq!(values(&symbols), reference_chars(&text));
        prop_assert_eq!((facts.encoding, facts.undecodable), ("UTF-8", 0));
        prop_assert_eq!(facts.lines as usize, marked.split_inclusive('\n').count());
    }

    #[test]
    fn every_instruction_set_reads_mixed_text_alike(
        parts in prop::collection::vec(prop_oneof![odd_text(), "[ -~\n]{0,200}", "[а-яёА-Я ,.]{0,100}", "[a-zéèàœ ’]{0,150}"], 0..8),
        sizes in prop::collection::vec(prop_oneof![1usize..9, 50usize..300], 1..4),
    ) {
        let text = parts.concat();
        let marked = format!("\u{FEFF}{text}");
        for processor in Processor::all() {
            let mut front = FrontEnd::chars();
            front.set_processor(processor);
            let (whole, _) = read(&mut front, marked.as_bytes());
            prop_assert_eq!(values(&whole), reference_chars(&text), "{:?}", processor);
            // In pieces, with symbols as narrow as possible.
            let (mut out, mut found) = (Symbols::new(), Vec::new());
            for piece in pieces(marked.as_bytes(), &sizes) {
                front.read(piece, &mut out);
                let mut wide = out.clone();
                wide.widen();
                let trimmed = out.len().saturating_sub(2);
                found.extend(all(&wide).drain(..trimmed));
                out.discard_front(trimmed);
                out.narrow();
            }
            front.finish(&mut out);
            found.extend(all(&out));
            prop_assert_eq!(found, whole, "{:?}", processor);
        }
    }

    #[test]
    fn an_origin_alone_gives_its_symbols(text in odd_text()) {
        let marked = format!("\u{FEFF}{text}");
        let (symbols, _) = chars(&marked);
        for same in symbols.chunk_by(|a, b| a.1 == b.1) {
            let origin = same[0].1.start as usize..same[0].1.end as usize;
            prop_assert_eq!(reference_chars(&marked[origin]), values(same));
        }
        prop_assert!(symbols.windows(2).all(|pair| pair[0].1 == pair[1].1 || pair[0].1.end <= pair[1].1.start));
    }

    #[test]
    fn words_are_those_of_the_whole_text(text in odd_text(), sizes in prop::collection::vec(1usize..9, 1..4)) {
        for rule in [WordRule::Letters, WordRule::Unicode] {
            let marked = format!("\u{FEFF}{text}");
            let mut expected = reference_words(&text, rule);
            for (_, origin) in &mut expected {
                *origin = origin.start + 3..origin.end + 3;
            }
            let (symbols, _) = read_pieces(&mut FrontEnd::words(rule), pieces(marked.as_bytes(), &sizes));
            prop_assert_eq!(symbols, expected);
        }
    }

    #[test]
    fn utf16_and_utf32_are_read_like_utf8(text in odd_text(), big_endian: bool, wide: bool) {
        let mut document = Vec::new();
        let mut ends = vec![];
        for c in std::iter::once('\u{FEFF}').chain(text.chars()) {
            if wide {
                let unit = u32::from(c);
                document.extend(if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() });
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    document.extend(if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() });
                }
            }
            ends.push(document.len() as u64);
        }
        // A mark of UTF-16LE and a NUL together are a mark of UTF-32LE.
        prop_assume!(wide || big_endian || !text.starts_with('\0'));
        let marked = format!("\u{FEFF}{text}");
        let translate = |offset: u64| marked[..offset as usize].chars().count().checked_sub(1).map_or(0, |n| ends[n]);
        for unit in &UNITS[..3] {
            let (mut expected, facts) = read(&mut unit(), marked.as_bytes());
            for (_, origin) in &mut expected {
                *origin = translate(origin.start)..translate(origin.end);
            }
            let found = read(&mut unit(), &document);
            let name = ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"][2 * usize::from(wide) + usize::from(big_endian)];
            prop_assert_eq!(found.0, expected);
            prop_assert_eq!(found.1, TextFacts { encoding: name, bytes: document.len() as u64, ..facts });
        }
    }

    #[test]
    fn lines_survive_trimming(text in line_text(), sizes in prop::collection::vec(1usize..9, 1..4), keep in 0usize..5) {
        let marked = format!("\u{FEFF}{}", text.repeat(3));
        for unit in UNITS.into_iter().chain(TOKENS) {
            check_lines(&mut unit(), marked.as_bytes(), &sizes, keep);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pieces_do_not_matter_to_decisions(start in odd_bytes(), ascii in 0usize..3000, end in odd_bytes(), size in 1usize..90_000) {
        let plain: Vec<u8> = b"plain text\n".iter().copied().cycle().take(ascii).collect();
        let unit = [start, plain, end].concat();
        let document = unit.repeat(150_000 / unit.len().max(1_000) + 1);
        for unit in UNITS {
            prop_assert_eq!(read(&mut unit(), &document), read_pieces(&mut unit(), pieces(&document, &[size])));
        }
    }
}

/// No character has the value 0 or the value that marks a character as not simple.
#[test]
fn what_is_not_simple_has_no_value() {
    assert!(('\0'..=char::MAX).all(|c| ![0, NOT_SIMPLE].contains(&value_of_char(c))));
}

/// A code belongs to exactly the characters that fold to its letter.
#[test]
fn codes_stand_for_what_characters_become() {
    let mut folding = Folding::new();
    for c in '\0'..=char::MAX {
        let code = if c.is_ascii() { CODES[c as usize] } else { code_beyond_ascii(c.into()) };
        if code != NO_CODE {
            let value = LETTERS[usize::from(code)];
            assert_eq!(folding.value(c.into()), value, "{c}");
            assert_eq!(c.len_utf8(), width_of_code(code) as usize, "{c}");
            // Only characters of the standard form are looked up, and none of these characters is a capital.
            if value == value_of_char(c) {
                assert_eq!(code_of_char(c), Some(code), "{c}");
            }
        } else {
            assert!(!c.is_ascii_alphanumeric());
        }
    }
    assert_eq!(LETTERS.iter().collect::<HashSet<_>>().len(), LETTERS.len());
}

#[test]
fn values_are_pinned() {
    // The published first outputs of SplitMix64 with seed 0.
    assert_eq!([1, 2, 3].map(mix64), [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
    assert_eq!((value_of_char('a'), value_of_byte(b'a')), (mix64(98), mix64(98)));
    // The published XXH3 hash of empty input.
    assert_eq!(value_of_word(""), 0x2D06_8005_38D3_94C2);
}

/// The standard form can be cut before any character that begins a segment.
#[test]
fn no_context_crosses_the_start_of_a_segment() {
    let mut folding = Folding::new();
    let before = ["a", "s\u{323}", "α\u{345}", "\u{345}", "ᄀ", "가", "か", "ｶ", "ক", "\u{9C7}", "𑄱", "\u{16D63}", "ı"];
    let alone = before.map(standard_form);
    for c in ('\0'..='\u{323AF}').chain('\u{E0000}'..='\u{E01EF}') {
        let ideograph_or_hangul =
            matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{AC20}'..='\u{D7A3}' | '\u{20000}'..='\u{2F7FF}');
        if !ideograph_or_hangul && folding.fate(c) != FoldResult::Join {
            let form = standard_form(c.encode_utf8(&mut [0; 4]));
            for (before, alone) in before.iter().zip(&alone) {
                assert_eq!(standard_form(&format!("{before}{c}")), format!("{alone}{form}"), "{before} {c:?}");
            }
        }
    }
}

#[test]
fn chars_drop_what_is_not_text_and_fold_the_rest() {
    for (text, expected) in [
        ("A run, a RUN; a-run!\r\n", "arunarunarun"),
        ("e\u{301}E\u{301}é", "ééé"),
        ("x\u{302}", "x\u{302}"),
        ("ﬁ Straße ½ ＡＢ１ Σς", "fistrasse12ab1σσ"),
        ("co\u{AD}op \u{200D}a\u{FE0F}\u{3164}", "coopa"),
        ("ｶﾞ", "ガ"),
        ("\u{1112}\u{1161}\u{11AB}글", "한글"),
        ("⑴ ℀", "1ac"),
    ] {
        assert_eq!(values(&chars(text).0), chars_in(expected), "{text}");
    }
    let (symbols, _) = chars("-ﬁe\u{301}.");
    let origins: Vec<_> = symbols.into_iter().map(|(_, origin)| origin).collect();
    assert_eq!(origins, [1..4, 1..4, 4..7]);
}

#[test]
fn words_by_either_rule() {
    let words = |text: &str, rule| read(&mut FrontEnd::words(rule), text.as_bytes()).0;
    let expect = |text: &str, words: &[(&str, Range<u64>)]| -> Vec<Symbol> {
        assert!(words.iter().all(|(_, origin)| text.get(origin.start as usize..origin.end as usize).is_some()));
        words.iter().map(|(word, origin)| (value_of_word(word), origin.clone())).collect()
    };
    let text = "Don't pay 1,700 (or 3.14).";
    assert_eq!(
        words(text, WordRule::Letters),
        expect(text, &[("don", 0..3), ("t", 4..5), ("pay", 6..9), ("or", 17..19)])
    );
    assert_eq!(
        words(text, WordRule::Unicode),
        expect(text, &[("don't", 0..5), ("pay", 6..9), ("1,700", 10..15), ("or", 17..19), ("3.14", 20..24)])
    );
    let text = "«Naïve»\u{A0}co\u{AD}op STRASSE2Straße";
    assert_eq!(
        words(text, WordRule::Letters),
        expect(text, &[("naïve", 2..8), ("coop", 12..18), ("strasse", 19..26), ("strasse", 27..34)])
    );
}

#[test]
fn federalist_words_and_trigrams() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/federalist");
    let Ok(expected) = std::fs::read(format!("{folder}/expected.json")) else {
        eprintln!("skipped: {folder} is absent");
        return;
    };
    let expected: serde_json::Value = serde_json::from_slice(&expected).unwrap();
    let expected = &expected["A85_body"];
    let mut front = FrontEnd::words(WordRule::Letters);
    let (mut words, mut trigrams) = (0, HashSet::new());
    for paper in 1..=85 {
        let text = std::fs::read(format!("{folder}/fed{paper:02}.txt")).unwrap();
        let symbols = values(&read(&mut front, &text).0);
        let distinct: HashSet<_> = symbols.windows(3).map(<[u64]>::to_vec).collect();
        let counts = &expected["per_paper"][paper.to_string()];
        assert_eq!(serde_json::json!([symbols.len(), distinct.len()]), *counts, "paper {paper}");
        words += symbols.len();
        trigrams.extend(distinct);
    }
    assert_eq!(
        serde_json::json!([words, trigrams.len()]),
        serde_json::json!([expected["words"], expected["distinct_trigrams"]])
    );
}

#[test]
fn bytes_are_symbols() {
    let (symbols, facts) = read(&mut FrontEnd::bytes(), b"\xFF\0\n");
    let expected = [(0xFF, 0), (0, 1), (b'\n', 2)].map(|(byte, at)| (value_of_byte(byte), at..at + 1));
    assert_eq!(symbols, expected);
    assert_eq!(facts, TextFacts { encoding: "bytes", undecodable: 0, bytes: 3, lines: 1 });
}

#[test]
fn empty_documents() {
    for unit in UNITS {
        let (symbols, facts) = read(&mut unit(), b"");
        assert_eq!((symbols.len(), facts.bytes, facts.lines, facts.undecodable), (0, 0, 0, 0));
    }
}

/// The cuts in text without white space depend only on its length, not on the pieces or the encoding.
#[test]
fn long_pieces_are_cut_in_the_same_places() {
    let text = format!("plain {0} {0} {0}é{1} {1} end", "abcd-".repeat(40_000), "bé€😀".repeat(9_000));
    let wide: Vec<u8> = format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for unit in &UNITS[1..3] {
        let whole = read(&mut unit(), text.as_bytes());
        for size in [1, 7, 4_099, 65_536] {
            assert_eq!(read_pieces(&mut unit(), pieces(text.as_bytes(), &[size])), whole);
        }
        assert_eq!(values(&read(&mut unit(), &wide).0), values(&whole.0));
    }
}

/// The text held back is bounded, even in an endless run. All earlier text has been emitted.
#[test]
fn what_is_held_back_is_bounded() {
    let marks = "\u{301}".repeat(1 << 20);
    let letters = "é".repeat(1 << 19);
    for (unit, start, run, held) in [
        (UNITS[0], "", &marks, 128),
        (UNITS[1], "", &letters, 64 << 10),
        (UNITS[2], "", &letters, 64 << 10),
        (UNITS[2], "é", &marks, usize::MAX),
    ] {
        let (mut front, mut out) = (unit(), Symbols::new());
        front.feed(&[b"plain ".repeat(200), start.into(), "é".repeat(1 << 15).into()].concat(), &mut out);
        let mut fed = 1200 + start.len() + (1 << 16);
        for _ in 0..5 {
            front.feed(run.as_bytes(), &mut out);
            fed += run.len();
            assert!(out.end(out.len() - 1) as usize >= fed.saturating_sub(held));
            out.discard_front(out.len() - 1);
        }
        front.finish(&mut out);
    }
}

#[test]
fn symbols_may_lie_any_distance_apart() {
    let mut out = Symbols::new();
    let starts =
        [0, 500, 3 << 30, (3 << 30) + 900, 1 << 40, (1 << 40) + 100, (1 << 40) + (1 << 31), (1 << 40) + (1 << 32)];
    for start in starts {
        out.push(start, start, start + 64);
        out.newline(start + 70);
    }
    for discarded in 0..starts.len() {
        for (i, &start) in starts[discarded..].iter().enumerate() {
            assert_eq!((out.start(i), out.end(i)), (start, start + 64));
            assert_eq!(out.line_at(start), 1 + starts.iter().filter(|&&line| line + 70 < start).count() as u64);
        }
        out.discard_front(1);
    }
    // Ends of lines without symbols are removed, but still counted.
    for offset in 0..1000 {
        out.newline((1 << 41) + offset);
        out.discard_front(0);
    }
    out.push(0, 1 << 42, (1 << 42) + 1);
    assert_eq!(out.line_at(1 << 42), 1009);
}
