//! Tests of legacy encodings, of UTF-16 without a mark, and of bytes that are invalid in any encoding.

use encoding_rs::Encoding;

use super::*;

/// Encodes each character separately, so that its origin is known, and compares.
fn check_legacy(name: &str, expected_name: &str, text: &str) {
    let encoding = Encoding::for_label(name.as_bytes()).unwrap();
    let (mut document, mut expected) = (Vec::new(), Vec::new());
    for c in text.chars() {
        let c = c.to_string();
        let (bytes, _, unmappable) = encoding.encode(&c);
        assert!(!unmappable, "{name} has no {c}");
        let start = document.len() as u64;
        document.extend_from_slice(&bytes);
        let symbols = reference_chars(&c);
        expected.extend(symbols.into_iter().map(|value| (value, start..document.len() as u64)));
    }
    let (symbols, facts) = chars(&document);
    assert_eq!((facts.encoding, facts.undecodable), (expected_name, 0));
    assert_eq!(symbols, expected, "{name}");
    // The words must be the same as in UTF-8, and their origins must decode to them.
    let (words, _) = read(&mut FrontEnd::words(WordRule::Letters), &document);
    let utf8 = reference_words(text, WordRule::Letters);
    assert_eq!(values(&words), values(&utf8), "{name}");
    for ((_, legacy), (_, utf8)) in words.iter().zip(&utf8) {
        let bytes = &document[legacy.start as usize..legacy.end as usize];
        let decoded = encoding.decode_without_bom_handling(bytes).0;
        assert_eq!(decoded, text[utf8.start as usize..utf8.end as usize], "{name}");
    }
}

#[test]
fn legacy_encodings_have_exact_origins() {
    let japanese = "吾輩は猫である。名前はまだ無い。\nどこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。";
    let russian = "Все счастливые семьи похожи друг на друга,\nкаждая несчастливая семья несчастлива по-своему. Всё смешалось в доме Облонских.";
    check_legacy(
        "windows-1252",
        "windows-1252",
        "Les élèves français ont été très étonnés:\n“naïveté”, dit le garçon à sa mère – où ça?",
    );
    check_legacy("koi8-r", "KOI8-U", russian);
    check_legacy("windows-1251", "windows-1251", russian);
    check_legacy("shift_jis", "Shift_JIS", japanese);
    check_legacy("euc-jp", "EUC-JP", japanese);
    check_legacy(
        "gbk",
        "GBK",
        "道可道，非常道。名可名，非常名。\n无名天地之始；有名万物之母。故常无欲，以观其妙；常有欲，以观其徼。此两者，同出而异名，同谓之玄。",
    );
    check_legacy(
        "big5",
        "Big5",
        "道可道，非常道。名可名，非常名。\n無名天地之始；有名萬物之母。故常無欲，以觀其妙；常有欲，以觀其徼。此兩者，同出而異名，同謂之玄。",
    );
    check_legacy(
        "euc-kr",
        "EUC-KR",
        "모든 인간은 태어날 때부터 자유로우며\n그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며",
    );
}

#[test]
fn iso_2022_jp_escapes_belong_to_no_character() {
    let document = b"ab \x1B$B$\"$$\x1B(B\nc\x1B$BF|K\\\x1B(B.";
    let (symbols, facts) = chars(document);
    assert_eq!((facts.encoding, facts.undecodable, facts.lines), ("ISO-2022-JP", 0, 2));
    let expected =
        [('a', 0..1), ('b', 1..2), ('あ', 6..8), ('い', 8..10), ('c', 14..15), ('日', 18..20), ('本', 20..22)];
    assert_eq!(symbols, expected.map(|(c, origin)| (value_of_char(c), origin)));
    // An escape alone proves nothing: terminal colours leave the encoding undecided.
    let (symbols, facts) = chars(b"\x1B[31mred\x1B[0m caf\xE9 cr\xE8me\n");
    assert_eq!(facts.encoding, "windows-1252");
    assert_eq!(values(&symbols), chars_in("31mred0mcafécrème"));
    assert_eq!(chars(b"\x1B[31mred\x1B[0m").1.encoding, "ASCII");
}

#[test]
fn utf16_without_a_mark() {
    for text in [
        "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
        "道可道，非常道。名可名，非常名。无名天地之始；有名万物之母。故常无欲，以观其妙。",
        "「吾輩は猫である。名前はまだ無い。」\nと書いた（１９０５年）。どこで生れたか　とんと見当がつかぬ。",
        "모든 인간은 태어날 때부터 자유로우며\n그 존엄과 권리에 있어 동등하다.",
    ] {
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (document, name) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
            let (symbols, facts) = chars(&document);
            assert_eq!((facts.encoding, facts.undecodable), (name, 0), "{text}");
            assert_eq!(values(&symbols), reference_chars(text));
        }
    }
    // ASCII, whose pairs of bytes are Chinese characters of UTF-16.
    for text in ["YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=\0", "someidentifierswithoutspaces\x01\x02andmoreofthem"] {
        assert_eq!(chars(text.repeat(20).as_bytes()).1.encoding, "ASCII");
    }
    let text = "Call me Ishmael.\nSome years ago — never mind how long";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (document, name) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
        let (symbols, facts) = chars(&document);
        assert_eq!((facts.encoding, facts.undecodable, facts.lines), (name, 0, 2));
        assert_eq!(values(&symbols), reference_chars(text));
        assert_eq!((symbols[0].1.clone(), symbols[4].1.clone()), (0..2, 10..12));
    }
}

#[test]
fn undecodable_sequences_are_counted_and_separate() {
    let count = |document: &[u8]| {
        let (symbols, facts) = chars(document);
        (facts.encoding, facts.undecodable, values(&symbols))
    };
    // One maximal subpart (E2 82), one byte, and one sequence cut by the end.
    assert_eq!(count(b"\xEF\xBB\xBFa\xE2\x82b\xFFc\xF0\x9F"), ("UTF-8", 3, chars_in("abc")));
    // Mostly UTF-8. The invalid byte separates the accent from the letter.
    assert_eq!(count("éèe\u{FFFF}".as_bytes()), ("UTF-8", 0, chars_in("éèe")));
    assert_eq!(count(b"\xC3\xA9\xC3\xA8 e\xFF\xCC\x81"), ("UTF-8", 1, chars_in("éèe\u{301}")));
    // The end of the document does not count as a cut sequence if there was no sequence of UTF-8.
    assert_eq!(count(b"caf\xE9"), ("windows-1252", 0, chars_in("café")));
    // A high surrogate, a low surrogate, and half a code unit.
    assert_eq!(count(b"\xFF\xFEa\0\x3D\xD8b\0\x69\xDCc\0d"), ("UTF-16LE", 3, chars_in("abc")));
    assert_eq!(count(b"\xFF\xFE\0\0a\0\0\0\0\0\x11\0b\0\0"), ("UTF-32LE", 2, chars_in("a")));
    let (words, _) = read(&mut FrontEnd::words(WordRule::Letters), b"\xEF\xBB\xBFab\xFFcd");
    assert_eq!(words, [(value_of_word("ab"), 3..5), (value_of_word("cd"), 6..8)]);
}
