//! The values of tokens. Two tokens with the same value are the same symbol, in any language.
//!
//! These values are part of the pinned hash version, like everything in [`value`](super::super::value). All
//! names have one value. A literal keeps its own text, which distinguishes independent solutions of one task
//! better than any other token (`docs/code.md`).

use xxhash_rust::xxh3::xxh3_64;

fn value_of_word(word: &str) -> u64 {
    xxh3_64(word.as_bytes())
}

const fn mix64(x: u64) -> u64 {
    let z = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A name of any kind.
pub(super) const NAME: u64 = mix64(0x11_0001);

/// The value of a number, a character or a string. Only its text counts, without the quotes, because
/// languages use different quotes.
pub(super) fn value_of_literal(text: &str) -> u64 {
    mix64(value_of_word(text.trim_matches(['"', '\'', '`'])))
}

/// The value of a keyword, an operator or a mark, or of a word in an unknown language: the value of the word.
pub(super) fn value_of_text(text: &str) -> u64 {
    value_of_word(text)
}

/// True if a mark is layout. Braces around a single statement, and the semicolon at the end of a line, are a
/// matter of taste in most languages. Other languages use indentation instead.
pub(super) fn is_layout(mark: &str) -> bool {
    matches!(mark, "{" | "}" | ";")
}
