//! The values of tokens: what makes two of them the same symbol, whatever the language.
//!
//! Part of the pinned hash version, as everything in [`value`](super::super::value). A name is a name; a literal keeps its
//! own text, which tells independent solutions of one task apart better than anything else (`docs/measurements.md`).

use super::super::value::{mix64, value_of_word};

/// A name of any kind.
pub(super) const NAME: u64 = mix64(0x11_0001);

/// The value of a number, a character or a string, for all of which only their text counts, without the quotes:
/// languages write these differently.
pub(super) fn value_of_literal(text: &str) -> u64 {
    mix64(value_of_word(text.trim_matches(['"', '\'', '`'])))
}

/// The value of a keyword, an operator or a mark, and of a word whose language is not known: that of the word.
pub(super) fn value_of_text(text: &str) -> u64 {
    value_of_word(text)
}
