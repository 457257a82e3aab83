//! Tests of constructs that may hide the code after them: each ends where the language ends it. Also of names
//! and lines in all their spellings, and of the work for long lines.

use super::tests::{SAMPLES, read, read_pieces, values};
use super::PROGRAM_END;
use crate::document::Language::{self, *};
use crate::normalize::{FrontEnd, Symbols, UnitReader};

/// A carriage return by itself ends a line in every language, and a line separator in some.
#[test]
fn lines_may_end_with_a_carriage_return() {
    for (language, text, _) in SAMPLES {
        let (expected, returns) = (values(language, text), text.replace('\n', "\r"));
        assert_eq!(values(language, &returns), expected, "{}", language.name());
        let mixed = returns.replacen('\r', "\r\n", 3);
        let whole = read(Some(language), mixed.as_bytes());
        for size in [1, 2, 3, 100] {
            let pieces = read_pieces(Some(language), mixed.as_bytes(), size);
            assert_eq!(pieces.values(), whole.values(), "{} {size}", language.name());
        }
    }
    for separator in ["\n", "\r\n", "\r", "\u{2028}", "\u{2029}"] {
        for language in [JavaScript, TypeScript, CSharp] {
            assert_eq!(values(language, &format!("// it's{separator}f(a){separator}")), values(language, "f(a)"));
        }
    }
    assert!(values(Java, "// it's\u{2028}f(a)").is_empty());
}

/// A name is one token, whatever its letters are made of.
#[test]
fn a_name_may_have_accents_joiners_and_escapes() {
    let sum = |name: &str| format!("a = {name} + b({name});");
    for (language, _, _) in SAMPLES.into_iter().filter(|(language, ..)| !matches!(language, Bash | Php)) {
        for name in ["we\u{302}rte", "we\u{200D}rte", "मूल्य", "we\u{200C}", "w\u{FE0F}", "a\u{203F}b"] {
            assert_eq!(values(language, &sum(name)), values(language, &sum("x")), "{} {name}", language.name());
        }
    }
    for language in [C, Cpp, CSharp, Java, JavaScript, TypeScript, Tsx] {
        for name in ["\\u0077erte", "w\\u0065rte", "w\\u{65}rte", "w\\U00000065", "\\u{77}", "\\uuu0077"] {
            assert_eq!(values(language, &sum(name)), values(language, &sum("x")), "{} {name}", language.name());
        }
        for other in ["\\u002B", "\\u12", "\\u{}", "\\", "\\x77"] {
            assert_ne!(values(language, &sum(other)), values(language, &sum("x")), "{} {other}", language.name());
        }
    }
    assert_ne!(values(Go, &sum("\\u0077")), values(Go, &sum("x")));
    // A byte order mark is a blank, also between words.
    assert_eq!(values(Java, "int\u{FEFF}x"), values(Java, "int x"));
}

/// The end of a program gives no symbol in any view, and closes all that is open.
#[test]
fn the_end_of_a_program_closes_all() {
    for (language, text, _) in SAMPLES {
        for open in ["\"\"\"", "/*", "f(", "<<A\n", "`", "<a>", "import ("] {
            let document = format!("{open}{PROGRAM_END}{text}");
            let (all, expected) = (values(language, &document), values(language, text));
            assert!(all.ends_with(&expected), "{} {open}", language.name());
            assert!(all.len() <= expected.len() + values(language, open).len(), "{} {open}", language.name());
            assert_eq!(read_pieces(Some(language), document.as_bytes(), 1).values(), all);
        }
    }
    let read = |text: &str| read(None, text.as_bytes()).values().to_vec();
    assert_eq!(read(&format!("a = 1\n{PROGRAM_END}é = 2\n{PROGRAM_END}")), read("a = 1\né = 2\n"));
}

/// The text view and documents in no language cost what they are long, in every encoding.
#[test]
fn long_lines_in_other_encodings_cost_what_other_text_does() {
    for word in ["привет мир ", "приветмир", "п\n"] {
        let text = word.repeat(400_000 / word.len());
        let (document, _, _) = encoding_rs::WINDOWS_1251.encode(&text);
        let mut front = FrontEnd::tokens();
        let mut symbols = Symbols::new();
        document.chunks(5_000).for_each(|piece| front.feed(piece, &mut symbols));
        assert_ne!(front.finish(&mut symbols).encoding, "UTF-8");
        assert!(symbols.len() > 2);
        let UnitReader::Tokens(tokens) = &front.unit else { unreachable!() };
        assert!(tokens.work < 8 * document.len(), "{word:?}: {} of {}", tokens.work, document.len());
    }
}
