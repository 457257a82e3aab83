//! Tests of the tokens of every language, on samples in `tests/samples/code/`. In the samples, every name
//! that may be renamed begins with q, and every comment contains the word REMARK. The expected tokens are in
//! a file beside each sample.

use std::fmt::Write;

use proptest::prelude::*;

use super::class;
use crate::document::Language;
use crate::normalize::{FrontEnd, Symbols};

/// A language, a sample of it, and its expected tokens.
macro_rules! sample {
    ($language:ident, $file:literal) => {
        (
            Language::$language,
            include_str!(concat!("../../../../../tests/samples/code/", $file)),
            include_str!(concat!("../../../../../tests/samples/code/", $file, ".tokens")),
        )
    };
}

pub(super) const SAMPLES: [(Language, &str, &str); 17] = [
    sample!(Bash, "sample.sh"),
    sample!(C, "sample.c"),
    sample!(Cpp, "sample.cpp"),
    sample!(CSharp, "Sample.cs"),
    sample!(Go, "sample.go"),
    sample!(Java, "Sample.java"),
    sample!(JavaScript, "sample.js"),
    sample!(Kotlin, "sample.kt"),
    sample!(Php, "sample.php"),
    sample!(Python, "sample.py"),
    sample!(Ruby, "sample.rb"),
    sample!(Rust, "sample.rs"),
    sample!(Scala, "sample.scala"),
    sample!(Sql, "sample.sql"),
    sample!(Swift, "sample.swift"),
    sample!(Tsx, "sample.tsx"),
    sample!(TypeScript, "sample.ts"),
];

pub(super) fn read(language: Option<Language>, document: &[u8]) -> Symbols {
    read_pieces(language, document, usize::MAX)
}

pub(super) fn read_pieces(language: Option<Language>, document: &[u8], size: usize) -> Symbols {
    let mut front = FrontEnd::tokens();
    front.begin(language);
    let mut symbols = Symbols::new();
    for piece in document.chunks(size.min(document.len()).max(1)) {
        front.feed(piece, &mut symbols);
    }
    front.finish(&mut symbols);
    symbols
}

pub(super) fn values(language: Language, text: &str) -> Vec<u64> {
    read(Some(language), text.as_bytes()).values().to_vec()
}

fn origins(symbols: &Symbols) -> Vec<(u64, u64)> {
    (0..symbols.len()).map(|i| (symbols.start(i), symbols.end(i))).collect()
}

/// The tokens in readable form, line by line, with names in angle quotes.
fn written(symbols: &Symbols, text: &str) -> String {
    let (mut out, mut line) = (String::new(), 0);
    for (i, (start, end)) in origins(symbols).into_iter().enumerate() {
        if symbols.line_at(start) != line {
            line = symbols.line_at(start);
            out += if out.is_empty() { "" } else { "\n" };
            write!(out, "{line}:").expect("a string");
        }
        let token = text[start as usize..end as usize].escape_debug();
        let name = symbols.values()[i] == class::NAME;
        write!(out, " {}{token}{}", if name { "‹" } else { "" }, if name { "›" } else { "" }).expect("a string");
    }
    out + "\n"
}

/// Renames every name that begins with q, and moves code to other columns.
fn renamed(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        out += &line[..indent];
        let mut before = ' ';
        for c in line.chars() {
            if !is_word(before) {
                out += match c {
                    'q' => "zed_",
                    'Q' => "Zed",
                    _ => "",
                };
            }
            out.push(c);
            before = c;
        }
    }
    out
}

fn without_remarks(text: &str) -> String {
    let is_remark = |line: &str| {
        let begins = |mark: &&str| line.trim_start().starts_with(mark);
        line.contains("REMARK") && ["//", "/*", "#", "--", "\"\"\""].iter().any(begins)
    };
    text.split_inclusive('\n').filter(|line| !is_remark(line)).collect()
}

#[test]
fn tokens_are_what_a_person_would_name() {
    for (language, text, tokens) in SAMPLES {
        let symbols = read(Some(language), text.as_bytes());
        assert_eq!(written(&symbols, text), tokens, "{}", language.name());
    }
}

#[test]
fn the_values_are_those_of_the_hash_version() {
    let all = SAMPLES.map(|(language, text, _)| values(language, text)).concat();
    let bytes: Vec<u8> = all.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(xxhash_rust::xxh3::xxh3_64(&bytes), 15_781_976_890_082_515_818);
}

#[test]
fn names_comments_and_indentation_do_not_matter() {
    for (language, text, _) in SAMPLES {
        let expected = values(language, text);
        let variants =
            [renamed(text), text.replace("REMARK", "said otherwise, at greater length"), without_remarks(text)];
        for variant in variants {
            assert_ne!(variant, text);
            let symbols = read(Some(language), variant.as_bytes());
            assert!(symbols.values() == expected, "{}\n{}", language.name(), written(&symbols, &variant));
        }
    }
}

#[test]
fn braces_around_one_statement_and_imports_do_not_matter() {
    let plain = values(Language::Java, "class A { void f() { if (a) b(); } }");
    assert_eq!(values(Language::Java, "import a.b.C; class A { void f() { if (a) { b(); } } }"), plain);
    let plain = values(Language::JavaScript, "const a = 1\nf(a)\n");
    assert_eq!(values(Language::JavaScript, "import x from 'y';\nconst a = 1;\nf(a);\n"), plain);
}

#[test]
fn languages_that_look_alike_give_the_same_symbols() {
    let method = "class Pile { int top(int[] of) { int best = 0; for (int i = 0; i < 9; i++) if (of[i] > best) best = of[i]; return best; } }";
    assert_eq!(values(Language::Java, method), values(Language::CSharp, method));
    assert!(values(Language::Java, method).len() > 40);
}

#[test]
fn literals_count_by_their_text_whatever_the_quotes() {
    assert_eq!(values(Language::Python, "f('a', 1)"), values(Language::Python, "f(\"a\", 1)"));
    assert_ne!(values(Language::Python, "f('a', 1)"), values(Language::Python, "f('b', 1)"));
    assert_ne!(values(Language::Python, "f('a', 1)"), values(Language::Python, "f('a', 2)"));
    // A string with the text of a keyword is not that keyword.
    assert_ne!(values(Language::Python, "'if'"), values(Language::Python, "x if y"));
}

#[test]
fn broken_code_has_its_tokens() {
    for (language, text, _) in SAMPLES {
        let whole = values(language, text).len();
        // Text after an error is still tokenised.
        let many = values(language, &text.repeat(5)).len();
        assert!(many > whole * 4, "{}: {many} of {}", language.name(), whole * 5);
        let cut = (0..=text.len() * 2 / 3).rfind(|&at| text.is_char_boundary(at)).expect("a boundary");
        let half = values(language, &text[..cut]).len();
        assert!(half > whole / 2, "{}: {half} of {whole}", language.name());
        let garbled = text.replace(')', " \u{1} @@ ) ( \\ ");
        let garbled = values(language, &garbled).len();
        assert!(garbled > whole / 2, "{}: {garbled} of {whole}", language.name());
    }
    // A variable of Ruby at the end, and before a mark that is not ASCII.
    for (text, tokens) in [("x = $@", "1: ‹x› = ‹$@›\n"), ("x = $@€", "1: ‹x› = $ @ €\n")] {
        assert_eq!(written(&read(Some(Language::Ruby), text.as_bytes()), text), tokens);
    }
    // Unknown characters still give words and marks.
    let text = "§ if € then ¤ 12";
    let symbols = read(Some(Language::Java), text.as_bytes());
    assert_eq!(written(&symbols, text), "1: § if € ‹then› ¤ 12\n");
}

#[test]
fn text_of_no_language_is_words_and_marks() {
    let text = "Don't stop: naïve ÉTUDE, 3.14 snake_case({x})!\n漢字";
    let symbols = read(None, text.as_bytes());
    assert_eq!(written(&symbols, text), "1: Don \\' t stop : naïve ÉTUDE , 3 . 14 snake_case ( { x } ) !\n2: 漢 字\n");
    assert_eq!(read(None, "Étude".as_bytes()).values(), read(None, "e\u{301}tude".as_bytes()).values());
}

#[test]
fn origins_are_those_of_the_original_in_any_encoding() {
    let text = "class Ä { String s = \"größer\"; } // ß\nint y;";
    let expected = read(Some(Language::Java), text.as_bytes());
    let wide: Vec<u8> = [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let symbols = read(Some(Language::Java), &wide);
    assert_eq!(symbols.values(), expected.values());
    for (i, (start, end)) in origins(&symbols).into_iter().enumerate() {
        let units: Vec<u16> =
            wide[start as usize..end as usize].chunks(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
        let (from, to) = (expected.start(i) as usize, expected.end(i) as usize);
        assert_eq!(String::from_utf16(&units).expect("whole characters"), text[from..to]);
        assert_eq!(symbols.line_at(start), expected.line_at(from as u64));
    }
}

#[test]
fn depth_and_length_are_no_danger() {
    for (language, _, _) in SAMPLES {
        for unit in ["(", "[", "{", "a(", "if (a) ", "\"", "<", "/*", "`${", "R\"(", "<<A\n"] {
            let document = unit.repeat(4_000);
            let symbols = read(Some(language), document.as_bytes());
            let last = symbols.len().checked_sub(1).map_or(0, |last| symbols.end(last));
            assert!(last <= document.len() as u64);
        }
    }
    let deep = format!("int x = {}1{};", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(values(Language::Java, &deep).len(), 200_004);
}

/// A long document is tokenised in batches. This does not affect the result.
#[test]
fn a_document_of_many_batches_is_read_as_one_of_few() {
    for (language, text, _) in SAMPLES.into_iter().filter(|sample| sample.0 != Language::Php) {
        // A line that names the interpreter counts only at the start.
        let text = text.strip_prefix("#!").map_or(text, |text| text.split_once('\n').expect("lines").1);
        let text = format!("{text}\n");
        let expected = values(language, &text);
        let copies = 3 * super::BATCH / text.len() + 1;
        let symbols = read_pieces(Some(language), text.repeat(copies).as_bytes(), 5000);
        assert_eq!(symbols.len(), copies * expected.len(), "{}", language.name());
        assert!(symbols.values().chunks(expected.len()).all(|values| values == expected), "{}", language.name());
    }
}

/// Repeated syntax that opens constructs and never closes them. Most of it made a parser hang or fail.
const HOSTILE: [&str; 43] = [
    "#",
    "r#",
    "<<~E\n/*^\u{202e}",
    "\"')  ",
    "+-%",
    "}!",
    "~,!%\\",
    "-}",
    "-}`",
    "/*→",
    ":~\n  ",
    "->",
    "<!",
    "@?",
    "^~|~=>",
    "-^",
    "|}",
    "\":+>}",
    "+>",
    "/*`é${",
    "->,",
    "→)[/*",
    "%w[",
    "f(a,[",
    "*p=[",
    "[({",
    "{[%",
    "u+",
    "\"\\",
    "\"${",
    "f\"{",
    "\"#{",
    "<a b={",
    "<a>",
    "<<A\n",
    "r##\"",
    "R\"(",
    "$((",
    "\"$(`",
    "= /[x",
    "'a",
    "import (",
    "\n \t",
];

/// The bytes read, the maximum of retained modes, and the number of tokens, for `bytes` bytes of repeated
/// text.
fn exhaust(language: Language, unit: &str, bytes: usize) -> (u64, usize, u64) {
    let tables = super::Tables::new(language);
    let mut state = super::lexer::LexerState::default();
    let (mut text, mut modes, mut tokens, mut work) = (String::new(), 0, 0, 0);
    for begin in (0..bytes).step_by(super::BATCH) {
        text += &unit.repeat(super::BATCH.min(bytes - begin) / unit.len());
        let ended = begin + super::BATCH >= bytes;
        let taken = super::lexer::lex(&tables, &mut state, &text, ended, &mut |_, _| tokens += 1);
        text.drain(..taken);
        assert!(text.len() <= super::lexer::WINDOW);
        modes = modes.max(state.modes.len());
        work += state.work.take();
    }
    (work, modes, tokens)
}

#[test]
fn hostile_code_costs_what_other_code_does() {
    let check = |language: Language, unit: &str, bytes: usize| {
        let (work, modes, tokens) = exhaust(language, unit, bytes);
        let what = format!("{} {unit:?}", language.name());
        assert!(work <= 60 * bytes as u64, "{what}: {work} bytes looked at of {bytes}");
        assert!(modes <= super::lexer::DEPTH + 16, "{what}: {modes} modes");
        assert!(tokens <= bytes as u64 + 64, "{what}: {tokens} tokens");
    };
    // Quadratic behaviour would show within a window or two.
    for (language, _, _) in SAMPLES {
        HOSTILE.iter().for_each(|unit| check(language, unit, 70_000));
    }
    for (number, unit) in HOSTILE.iter().enumerate() {
        check(SAMPLES[number % SAMPLES.len()].0, unit, 1_000_000);
    }
    check(Language::TypeScript, "/*`é${", 20_000_000);
}

fn check(language: Option<Language>, document: &[u8], size: usize) -> Result<(), TestCaseError> {
    let symbols = read(language, document);
    let mut before = 0;
    for (start, end) in origins(&symbols) {
        prop_assert!(before <= start && start < end && end <= document.len() as u64);
        before = start;
    }
    let cut = read_pieces(language, document, size);
    prop_assert_eq!(cut.values(), symbols.values());
    prop_assert_eq!(origins(&cut), origins(&symbols));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_bytes_are_read(
        language in 0..18usize,
        document in prop::collection::vec(any::<u8>(), 0..600),
        size in 1usize..300,
    ) {
        check(SAMPLES.get(language).map(|sample| sample.0), &document, size)?;
    }

    #[test]
    fn damaged_code_is_read(
        language in 0..17usize,
        other in 0..17usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, any::<[u8; 3]>()), 1..6),
        size in 1usize..300,
    ) {
        let mut document = SAMPLES[language].1.as_bytes().to_vec();
        for (at, length, bytes) in damage {
            let at = at.index(document.len());
            let end = document.len().min(at + length);
            document.splice(at..end, bytes);
        }
        check(Some(SAMPLES[other].0), &document, size)?;
        check(Some(SAMPLES[language].0), &document, size)?;
    }
}
