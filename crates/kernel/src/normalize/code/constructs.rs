//! Tests that constructs such as strings end where the language ends them, so that no construct hides the
//! code after it. Also tests all spellings of names and ends of lines, and the work for long lines.

use super::tests::{SAMPLES, read, read_pieces, values};
use super::{PROGRAM_END, class};
use crate::document::Language::{self, *};
use crate::normalize::{FrontEnd, Symbols, UnitReader};

/// Code that most languages read, without a word that is a keyword in only some languages.
const CODE: &str = "\nf(a, 'b', 71, c[2]); g = h(a + 3, c, 'd')\n";

/// The code after each construct gives the same tokens as without the construct.
#[test]
fn no_construct_hides_the_code_after_it() {
    let check = |language: Language, before: &str, after: &str| {
        let (all, expected) = (values(language, &format!("{before}{after}")), values(language, after));
        assert!(expected.len() > 3 && all.ends_with(&expected), "{} {before:?}", language.name());
    };
    for (language, before) in [
        (C, "// a \\\n/* it's"),
        (C, "// a \\\r\n/* \" \\ \t\n it's"),
        (Cpp, "#include <a> \\\n/*"),
        (C, "s = \"it's \\\r\n /* more\";"),
        (JavaScript, "if (a) /`/.test(b)"),
        (TypeScript, "while ((a + b)) /[/*]`/.exec(b)"),
        (JavaScript, "for (const x of y) /'/\n.test(x)"),
        (Tsx, "type F = <T>(x: T) => T;"),
        (Tsx, "type F = <T>(f: (x: T) => void) => void; x = <a>b</a>;"),
        (Tsx, "interface A { <T>(a: T): T }"),
        (JavaScript, "const f = <T>(x: T): T => x;"),
        (Tsx, "x = (<Select<string> value={x} />);"),
        (Tsx, "x = <Select<Map<string, () => void>> value={x}>it's</Select>;"),
        (Tsx, "x = <p>(a): it's</p>;"),
        (CSharp, "s = \"\"\"\" it's \"\"\" \"x \"\"\"\";"),
        (CSharp, "s = $\"\"\"\"\" {a} \"\"\"\" \"x \"\"\"\"\";"),
        (CSharp, "s = \"\"\" C:\\\"\"\";"),
        (Php, "<?php class A { use B, C { B::x insteadof C; } public function f() { $a = 1; } }"),
        (Php, "<?php use A\\{B, C};"),
        (Rust, "fn f(&self) -> impl Iterator<Item = u8> + use<'_> { g(self) }"),
        (Rust, "use a::{b::{c}, d};"),
        (Python, "a = TR'{x}'; b = rT\"{x}\\\""),
    ] {
        check(language, before, CODE);
    }
    let code = "\nfor a in b c; do\n  echo \"$a\" > it's'; x=\"$(f \"$a\")\"\n  g $((x + 1))\ndone\n";
    for before in [
        "x=$((1 << n))",
        "(( x = 1<<n ))",
        "for (( i = 1; i < (1<<n) + 2; i++ )); do :; done",
        "x=\"${2:-don't}\"",
        "cat <<'END-OF-TEXT'\nit's\nEND-OF-TEXT",
        "cat <<END.OF+TEXT\nit's\nEND.OF+TEXT",
        "cat <<-\"end of text\"\nit's\n\tend of text",
        "cat <<!\nit's\n!",
        "((cat <<A) | x)\nit's\nA",
    ] {
        check(Bash, before, code);
    }
    let program = |text: &str| values(Bash, text);
    assert_eq!(program("x=\"${y:-'a b'}\""), program("x=\"${y:-\"a b\"}\""), "a string within braces");
}

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

/// A name is one token, however its letters are encoded.
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

/// The time for the text view, and for documents in no known language, is linear in their length in every
/// encoding.
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

/// A page of PHP may end within a comment, in any script.
#[test]
fn a_comment_in_a_page_may_have_any_letters() {
    for end in ["é", "éa", "éab", "пр\n", "€", "€a", "𝔣a", "𝔣ab"] {
        let symbols = read(Some(Php), format!("<?php f($a); ?><!--{end}").as_bytes());
        assert!(symbols.values().contains(&class::NAME), "{end}");
    }
    // A step of the lexer ends within the comment.
    for length in (64 << 10)..(64 << 10) + 4 {
        let text = format!("<?php f($a); ?><!--{}{}--><?php g($b); ?>", "x".repeat(length), "п".repeat(40_000));
        assert!(read(Some(Php), text.as_bytes()).values().contains(&class::NAME), "{length}");
    }
}
