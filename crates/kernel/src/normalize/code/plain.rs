//! Tokens of text in no known language: normalised words and punctuation marks. There are no comments.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::super::words::WordMaker;
use super::class;

/// Emits the tokens of `text` in order. `at` is the offset of its first byte.
pub(super) fn tokens(words: &mut WordMaker, text: &str, mut at: usize, emit: &mut impl FnMut(u64, Range<usize>)) {
    if text.is_ascii() {
        return ascii(words.standard_form(text), at, emit);
    }
    let mut rest = text;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(independent(rest));
        if now.is_ascii() {
            ascii(words.standard_form(now), at, emit);
        } else {
            for (from, part) in now.split_word_bound_indices() {
                segment(words, part, at + from, emit);
            }
        }
        (rest, at) = (later, at + now.len());
    }
}

/// The length of the first part of a text. The tokens of this part do not depend on the rest. The part ends
/// between a space and an ASCII character, at the last such place in the ASCII text at the beginning. If that
/// text has no such place, the part ends at the first one of the whole text. The rules of UAX 29 join a space
/// only to another space and to an extending character. Spaces are not tokens, and extending characters are
/// not ASCII.
fn independent(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_cut = |&at: &usize| bytes[at - 1] == b' ' && bytes[at].is_ascii();
    let ascii = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len());
    let cut = (1..ascii).rfind(is_cut).or_else(|| (1..bytes.len()).find(is_cut));
    cut.unwrap_or(bytes.len())
}

/// The kind of each ASCII byte.
static KINDS: [ByteKind; 128] = {
    let mut kinds = [ByteKind::Mark; 128];
    let mut byte = 0;
    while byte < kinds.len() {
        kinds[byte] = match byte as u8 {
            // White space by Unicode's definition, which has one character more than ASCII's.
            b'\t'..=b'\r' | b' ' => ByteKind::Blank,
            b'a'..=b'z' | b'0'..=b'9' | b'_' => ByteKind::Word,
            _ => ByteKind::Mark,
        };
        byte += 1;
    }
    kinds
};

#[derive(Clone, Copy, PartialEq)]
enum ByteKind {
    Blank,
    /// Part of a word.
    Word,
    /// A separate token.
    Mark,
}

/// Emits the tokens of ASCII text, given its standard form. The standard form has the same length, because
/// each character is folded by itself.
fn ascii(form: &str, at: usize, emit: &mut impl FnMut(u64, Range<usize>)) {
    let kind = |byte: &u8| KINDS[usize::from(*byte) % KINDS.len()];
    let mut from = 0;
    while let Some(first) = form.as_bytes().get(from) {
        let mut end = from + 1;
        if kind(first) == ByteKind::Word {
            end += form.as_bytes()[end..].iter().take_while(|&byte| kind(byte) == ByteKind::Word).count();
        }
        if kind(first) != ByteKind::Blank {
            emit(class::value_of_text(&form[from..end]), at + from..at + end);
        }
        from = end;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::fold::StandardForm;
    use super::*;
    use crate::profile::WordRule;

    proptest! {
        #[test]
        fn ascii_is_split_and_folded_by_character(bytes in prop::collection::vec(0u8..128, 0..60)) {
            let text: String = bytes.into_iter().map(char::from).collect();
            let in_word = |c: char| c.is_alphanumeric() || c == '_';
            let mut expected: Vec<(u64, Range<usize>)> = Vec::new();
            let (form, mut from) = (StandardForm::new(), 0);
            while let Some(first) = text[from..].chars().next() {
                let next = text[from..].find(|c| !in_word(c)).unwrap_or(text.len() - from).max(1);
                if !first.is_whitespace() {
                    let word = form.of(&text[from..from + next]);
                    expected.push((class::value_of_text(&word), 7 + from..7 + from + next));
                }
                from += next;
            }
            let mut found = Vec::new();
            let emit = &mut |value, range| found.push((value, range));
            tokens(&mut WordMaker::new(WordRule::Unicode), &text, 7, emit);
            prop_assert_eq!(found, expected);
        }

        /// Words, marks between words, joiners, accents, flags, and blanks.
        #[test]
        fn parts_of_a_text_are_read_as_the_whole(text in "[a1 _.:'\n\té漢·’\u{301}\u{AD}\u{200D}\u{1F1E6}\u{2003}👩]{0,24}") {
            let mut words = WordMaker::new(WordRule::Unicode);
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            tokens(&mut words, &text, 7, &mut |value, range| found.push((value, range)));
            for (from, part) in text.split_word_bound_indices() {
                segment(&mut words, part, 7 + from, &mut |value, range| expected.push((value, range)));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
