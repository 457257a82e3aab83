//! The values of tokens. Tokens with the same value are the same symbol, in any language.
//!
//! These values belong to the hash version, like everything in [`value`](super::super::value). All names have
//! the same value. The value of a literal is that of its text, because literals distinguish independent
//! solutions of one task better than any other feature (`docs/code.md`).

use super::super::value::{mix64, value_of_word};

/// The value of every name.
pub(super) const NAME: u64 = mix64(0x11_0001);

/// The value of a number, a character or a string. Only its text without quotes counts, because languages use
/// different quotes.
pub(super) fn value_of_literal(text: &str) -> u64 {
    mix64(value_of_word(text.trim_matches(['"', '\'', '`'])))
}

/// The value of a keyword, an operator or a mark, or of a word in an unknown language: the value of its text.
pub(super) fn value_of_text(text: &str) -> u64 {
    value_of_word(text)
}
