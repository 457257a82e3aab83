//! Names for people: a document's name may hold anything, and what is seen by nobody, ends a line or talks to the terminal is
//! shown as what it is.

use std::borrow::Cow;
use std::fmt::Write;

/// The text on one line, with all of it to be seen: control characters as their pictures (`␊`), others by name (`⟪RLO⟫`) or
/// number.
#[must_use]
pub fn seen(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            _ if !is_unseen(c) => shown.push(c),
            '\u{0}'..='\u{1f}' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => shown.push('\u{2421}'),
            _ => {
                let _ = match name(c) {
                    Some(name) => write!(shown, "⟪{name}⟫"),
                    None => write!(shown, "⟪{:04X}⟫", u32::from(c)),
                };
            }
        }
    }
    Cow::Owned(shown)
}

fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

fn name(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2028}' => "LS",
        '\u{2029}' => "PS",
        '\u{202a}' => "LRE",
        '\u{202b}' => "RLE",
        '\u{202c}' => "PDF",
        '\u{202d}' => "LRO",
        '\u{202e}' => "RLO",
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
    use super::*;

    #[test]
    fn nothing_is_hidden_and_nothing_talks_to_the_terminal() {
        assert!(matches!(seen("a b/ü-語.txt"), Cow::Borrowed("a b/ü-語.txt")));
        assert_eq!(seen("a\nb\t\u{1b}[31m\u{7f}"), "a␊b␉␛[31m␡");
        assert_eq!(seen("\u{202e}txt.exe\u{85}\u{feff}"), "⟪RLO⟫txt.exe⟪0085⟫⟪BOM⟫");
    }
}
