//! Accents of TeX: the characters that commands such as `\'e`, `\"{o}`, `\c c` or `\ss` write.

use icu_normalizer::ComposingNormalizerBorrowed;

/// Accents and their combining characters. If the command of the accent is a letter, the next character must
/// not be a letter.
const ACCENTS: [(u8, char); 15] = [
    (b'`', '\u{300}'),
    (b'\'', '\u{301}'),
    (b'^', '\u{302}'),
    (b'~', '\u{303}'),
    (b'"', '\u{308}'),
    (b'=', '\u{304}'),
    (b'.', '\u{307}'),
    (b'u', '\u{306}'),
    (b'v', '\u{30c}'),
    (b'H', '\u{30b}'),
    (b'c', '\u{327}'),
    (b'k', '\u{328}'),
    (b'r', '\u{30a}'),
    (b'd', '\u{323}'),
    (b'b', '\u{331}'),
];

/// Commands that write a character.
const CHARACTERS: [(&[u8], &str); 22] = [
    (b"ss", "ß"),
    (b"SS", "SS"),
    (b"o", "ø"),
    (b"O", "Ø"),
    (b"ae", "æ"),
    (b"AE", "Æ"),
    (b"oe", "œ"),
    (b"OE", "Œ"),
    (b"aa", "å"),
    (b"AA", "Å"),
    (b"l", "ł"),
    (b"L", "Ł"),
    (b"dh", "ð"),
    (b"DH", "Ð"),
    (b"dj", "đ"),
    (b"DJ", "Đ"),
    (b"th", "þ"),
    (b"TH", "Þ"),
    (b"ng", "ŋ"),
    (b"NG", "Ŋ"),
    (b"i", "ı"),
    (b"j", "ȷ"),
];

/// Maximum number of accents on one letter. No language has more.
const DEPTH: u32 = 2;

/// The character written by the command at `at`, and the offset after the command.
pub(crate) fn character(tex: &[u8], at: usize) -> Option<(String, usize)> {
    accented(tex, at, DEPTH).or_else(|| named(tex, at))
}

fn named(tex: &[u8], at: usize) -> Option<(String, usize)> {
    let name = tex.get(at + 1..)?;
    let name = &name[..name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()];
    let (_, character) = CHARACTERS.iter().find(|(known, _)| *known == name)?;
    let end = at + 1 + name.len();
    // The braces or blanks that end a command name are not text: `\ss{}` and `\ss `.
    let end = if tex[end..].starts_with(b"{}") { end + 2 } else { blanks_end(tex, end) };
    Some(((*character).to_owned(), end))
}

fn accented(tex: &[u8], at: usize, depth: u32) -> Option<(String, usize)> {
    let name = *tex.get(at + 1).filter(|_| tex[at] == b'\\' && depth > 0)?;
    let (_, combining) = *ACCENTS.iter().find(|(accent, _)| *accent == name)?;
    if name.is_ascii_alphabetic() && tex.get(at + 2)?.is_ascii_alphabetic() {
        return None;
    }
    let begin = blanks_end(tex, at + 2);
    let in_group = tex.get(begin) == Some(&b'{');
    let (base, mut end) = base(tex, if in_group { blanks_end(tex, begin + 1) } else { begin }, depth)?;
    if in_group {
        end = blanks_end(tex, end);
        if tex.get(end) != Some(&b'}') {
            return None;
        }
        end += 1;
    }
    let decomposed: String = base.chars().chain([combining]).collect();
    Some((ComposingNormalizerBorrowed::new_nfc().normalize(&decomposed).into_owned(), end))
}

/// The letter below an accent.
fn base(tex: &[u8], at: usize, depth: u32) -> Option<(String, usize)> {
    if tex.get(at) == Some(&b'\\') {
        let (base, end) = accented(tex, at, depth - 1).or_else(|| named(tex, at))?;
        // TeX writers use dotless letters below accents. Unicode composes accents with the usual letters.
        let base = base.replace('ı', "i").replace('ȷ', "j");
        return Some((base, end));
    }
    let length = match tex.get(at)? {
        0x00..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    let letter = str::from_utf8(tex.get(at..at + length)?).ok()?;
    letter.chars().all(char::is_alphabetic).then(|| (letter.to_owned(), at + length))
}

/// The offset after the blanks at `at`, with at most one line end. Before an empty line, which ends a
/// paragraph, returns `at` itself.
fn blanks_end(tex: &[u8], at: usize) -> usize {
    let blanks = tex[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let lines = tex[at..at + blanks].iter().filter(|&&byte| byte == b'\n').count();
    if lines > 1 { at } else { at + blanks }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accents_are_composed() {
        for (tex, character) in [
            (r"\'e", "é"),
            (r"\'{e}", "é"),
            (r"\' e", "é"),
            (r#"\"{o}"#, "ö"),
            (r"\`A", "À"),
            (r"\^{\i}", "î"),
            (r"\^\i", "î"),
            (r"\c{c}", "ç"),
            (r"\c c", "ç"),
            (r"\v{S}", "Š"),
            (r"\H{o}", "ő"),
            (r"\k{a}", "ą"),
            (r"\.{z}", "ż"),
            (r"\=a", "ā"),
            (r"\'{\^{e}}", "ế"),
            (r"\'\ae", "ǽ"),
            (r"\r{u}", "ů"),
            (r"\u{g}", "ğ"),
            (r"\'и", "и\u{301}"),
            (r"\ss", "ß"),
            (r"\ss{}", "ß"),
            (r"\L", "Ł"),
            (r"\i", "ı"),
        ] {
            assert_eq!(super::character(tex.as_bytes(), 0), Some((character.to_owned(), tex.len())), "{tex}");
        }
    }

    #[test]
    fn what_is_no_accent_is_none() {
        for tex in [
            r"\",
            r"\'",
            r"\'{",
            r"\'{e",
            r"\'{ee}",
            r"\'1",
            r"\~{}",
            r"\cite",
            r"\c",
            r"\c{",
            r"\oo",
            r"\-e",
            "\\'\n\ne",
            r"\'\'\'\'e",
        ] {
            assert_eq!(super::character(tex.as_bytes(), 0), None, "{tex}");
        }
        assert_eq!(super::character(b"\\'\xc3", 0), None);
        // A blank ends a name and is not text. An empty line ends a paragraph.
        assert_eq!(super::character(b"\\o re", 0), Some(("ø".to_owned(), 3)));
        assert_eq!(super::character(b"\\o\n\nre", 0), Some(("ø".to_owned(), 2)));
    }
}
