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
            // All escaped characters are below U+10000.
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    Ok(escaped)
}

fn is_risky(c: char) -> bool {
    matches!(c, '<' | '>' | '&' | '\'' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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

    proptest! {
        #[test]
        fn the_value_is_the_same(text: String) {
            let escaped = json(&text).unwrap();
            prop_assert!(!escaped.contains(is_risky));
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
