//! Escape: makes text from documents, such as their names, safe for a terminal. Such text may hold line ends,
//! invisible characters and sequences that control the terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Puts the text on one line and makes every character visible: control characters become their pictures
/// (`␊`), other invisible characters their name (`⟪RLO⟫`) or number.
pub(crate) fn escape_terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            _ if !is_invisible(c) => escaped.push(c),
            '\u{0}'..='\u{1f}' => escaped.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => escaped.push('\u{2421}'),
            _ => {
                let _ = match name(c) {
                    Some(name) => write!(escaped, "⟪{name}⟫"),
                    None => write!(escaped, "⟪{:04X}⟫", u32::from(c)),
                };
            }
        }
    }
    Cow::Owned(escaped)
}

/// Words of a command, as they can be typed in a shell.
pub(crate) fn as_words(words: &[String]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./,:@%+".contains(c);
    let word = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => quoted(word),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A word in quotes for a shell. Invisible characters become escape sequences of the shell.
fn quoted(word: &str) -> String {
    if !word.contains(is_invisible) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            _ if is_invisible(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// Returns the same JSON, with escape sequences for characters that are invisible or control a terminal.
pub(crate) fn escape_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_invisible) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_invisible(c) {
            // In compact JSON, such characters occur only inside strings.
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// True for characters that show nothing or that turn the text around them. False for U+200C and U+200D,
/// which are part of words of some languages and of emoji. The page of a report has the same list.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn name(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{ad}' => "SHY",
        '\u{61c}' => "ALM",
        '\u{180e}' => "MVS",
        '\u{200b}' => "ZWSP",
        '\u{200e}' => "LRM",
        '\u{200f}' => "RLM",
        '\u{2028}' => "LS",
        '\u{2029}' => "PS",
        '\u{202a}' => "LRE",
        '\u{202b}' => "RLE",
        '\u{202c}' => "PDF",
        '\u{202d}' => "LRO",
        '\u{202e}' => "RLO",
        '\u{2060}' => "WJ",
        '\u{2066}' => "LRI",
        '\u{2067}' => "RLI",
        '\u{2068}' => "FSI",
        '\u{2069}' => "PDI",
        '\u{feff}' => "BOM",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn no_character_is_invisible_or_commands_the_terminal() {
        assert!(matches!(escape_terminal("a b/ü-語.txt"), Cow::Borrowed("a b/ü-語.txt")));
        assert_eq!(escape_terminal("a\nb\t\u{1b}[31m\u{7f}"), "a␊b␉␛[31m␡");
        assert_eq!(escape_terminal("\u{202e}txt.exe\u{85}\u{feff}"), "⟪RLO⟫txt.exe⟪0085⟫⟪BOM⟫");
        assert_eq!(escape_terminal("a\u{ad}b\u{200b}c\u{2064}"), "a⟪SHY⟫b⟪ZWSP⟫c⟪2064⟫");
        assert!(matches!(escape_terminal("می\u{200c}خواهم 👩\u{200d}💻"), Cow::Borrowed(_)));
    }

    /// The page keeps tabs and line ends, which it replaces only in names.
    #[test]
    fn the_page_of_a_report_shows_the_same_characters() {
        let page = include_str!("../../../src/report/html/assets/dom.js");
        let (_, rest) = page.split_once("const UNSEEN = /").unwrap();
        let unseen = regex::Regex::new(rest.split_once("/gu;").unwrap().0).unwrap();
        let (_, rest) = page.split_once("const NAMES = {").unwrap();
        let names: BTreeMap<u32, &str> = (rest.split_once("};").unwrap().0.split(','))
            .map(|entry| entry.split_once(':').unwrap())
            .map(|(code, name)| (code.trim().trim_start_matches("0x"), name.trim().trim_matches('"')))
            .map(|(code, name)| (u32::from_str_radix(code, 16).unwrap(), name))
            .collect();
        for c in '\0'..=char::MAX {
            let is_unseen = unseen.is_match(c.encode_utf8(&mut [0; 4])) || matches!(c, '\t' | '\n' | '\r');
            assert_eq!(is_unseen, is_invisible(c), "U+{:04X}", u32::from(c));
            assert_eq!(names.get(&u32::from(c)).copied(), name(c), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn a_shell_reads_words_as_they_are() {
        let words = ["plain/ü", "", "a b", "it's", "a\nb\\c'd\u{202e}0\t1", "$x"].map(str::to_owned);
        let typed = as_words(&words);
        assert_eq!(typed, r"plain/ü '' 'a b' 'it'\''s' $'a\012b\\c\'d\342\200\2560\0111' '$x'");
        let Ok(run) = std::process::Command::new("bash").args(["-c", &format!("printf '%s|' {typed}")]).output() else {
            return;
        };
        assert_eq!(String::from_utf8(run.stdout).unwrap(), words.map(|word| word + "|").concat());
    }
}
