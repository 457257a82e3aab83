//! Tokens of text in no known language: normalised words and punctuation marks. There are no comments.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::super::words::WordMaker;
use super::class;

/// Emits the tokens of `text` in order. `at` is the offset of its first byte.
pub(super) fn tokens(words: &mut WordMaker, text: &str, at: usize, emit: &mut impl FnMut(u64, Range<usize>)) {
    if text.is_ascii() {
        return segment(words, text, at, emit);
    }
    for (from, part) in text.split_word_bound_indices() {
        segment(words, part, at + from, emit);
    }
}

/// Splits the text between two word boundaries further, at ASCII punctuation. Such punctuation separates
/// names in most languages.
fn segment(words: &mut WordMaker, text: &str, at: usize, emit: &mut impl FnMut(u64, Range<usize>)) {
    let parts = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_';
    let mut from = 0;
    while let Some(first) = text[from..].chars().next() {
        let length = if parts(first) { 1 } else { text[from..].find(parts).unwrap_or(text.len() - from) };
        let word = &text[from..from + length];
        if !word.trim().is_empty() {
            let form = words.standard_form(word);
            if !form.is_empty() {
                emit(class::value_of_text(form), at + from..at + from + length);
            }
        }
        from += length;
    }
}
