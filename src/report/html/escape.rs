//! Escape: JSON that is safe inside a page. It cannot end its script element, nor contain characters that
//! change its look in an editor.

use std::fmt::Write;

use serde::Serialize;

/// JSON for a script element. All characters with a meaning in HTML, in JavaScript or for the direction of
/// text are escaped. They occur only inside strings, so the value stays the same.
pub(super) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let plain = serde_json::to_string(value)?;
    let mut escaped = String::with_capacity(plain.len() + plain.len() / 16);
    for c in plain.chars() {
        if is_risky(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Ok(escaped)
}

fn is_risky(c: char) -> bool {
    matches!(c, '<' | '>' | '&' | '\'' | '\u{7f}'..='\u{9f}')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_ends_the_script() {
        let hostile = "</script><!--<img src=x onerror=alert(1)>]]>\u{2028}\u{202e}&amp;'\u{0}\u{85}";
        insta::assert_snapshot!(json(&hostile).unwrap(), @r#""\u003c/script\u003e\u003c!--\u003cimg src=x onerror=alert(1)\u003e]]\u003e\u2028\u202e\u0026amp;\u0027\u0000\u0085""#);
    }

    #[test]
    fn all_is_escaped_that_the_page_shows_by_name() {
        let page = include_str!("assets/dom.js");
        let (_, rest) = page.split_once("const UNSEEN = /").unwrap();
        let unseen = regex::Regex::new(rest.split_once("/gu;").unwrap().0).unwrap();
        for c in '\0'..=char::MAX {
            let is_risky = is_risky(c) && !"<>&'".contains(c) || c < ' ' && !matches!(c, '\t' | '\n' | '\r');
            assert_eq!(unseen.is_match(c.encode_utf8(&mut [0; 4])), is_risky, "U+{:04X}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn the_value_is_the_same(text: String) {
            let escaped = json(&text).unwrap();
            prop_assert!(!escaped.contains(is_risky));
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
