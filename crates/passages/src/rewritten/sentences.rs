//! Sentences: finds where sentences begin in a text of words.
//!
//! Symbols do not include the text between words, so that text is read from the original. A sentence ends at
//! an empty line, or at a full stop or similar mark, of any script, before white space. A wrong border only
//! shifts the ends of the pieces that are compared.

use std::borrow::Cow;

use fpdb_kernel::normalize::{Readable, Symbols};

/// Marks that end a sentence if white space follows.
const MARKS: [char; 9] = ['.', '!', '?', '…', '؟', '۔', '।', '॥', '።'];

/// Marks that end a sentence regardless of the next character.
const FULL_MARKS: [char; 4] = ['。', '！', '？', '．'];

/// Characters that may stand between a mark and the white space.
const CLOSING: [char; 9] = ['"', '\'', ')', ']', '}', '”', '’', '»', '…'];

/// The indexes of the words with which sentences begin in this text, including the first word. `words` are
/// the symbols of the text, with their places in its original.
pub fn sentences(text: &Readable, words: &Symbols) -> Vec<u32> {
    let mut cursor = text.cursor();
    sentence_starts(|offset| cursor.text_to(offset).into(), words)
}

/// Like [`sentences`], for UTF-8 text that is its own original.
pub fn sentences_of_utf8(text: &[u8], words: &Symbols) -> Vec<u32> {
    let mut last = 0;
    let text_to = |offset| {
        let start = std::mem::replace(&mut last, offset as usize);
        String::from_utf8_lossy(text.get(start..last).unwrap_or_default())
    };
    sentence_starts(text_to, words)
}

/// The indexes of the words with which sentences begin. `text_to` returns the text from the offset of its
/// last call, at first 0, to the given offset. Offsets are those of the origins of the symbols.
fn sentence_starts<'t>(mut text_to: impl FnMut(u64) -> Cow<'t, str>, symbols: &Symbols) -> Vec<u32> {
    let mut starts = Vec::new();
    for (index, word) in (0..).zip(symbols.origins(0)) {
        let mut between = TextBetween::default();
        text_to(word.start).chars().for_each(|character| between.read(character));
        if index == 0 || between.ends_sentence {
            starts.push(index);
        }
        text_to(word.end);
    }
    starts
}

/// The text between two words, read so far.
#[derive(Default)]
struct TextBetween {
    newlines: u32,
    /// True after a mark that ends a sentence if white space follows.
    after_mark: bool,
    ends_sentence: bool,
}

impl TextBetween {
    fn read(&mut self, character: char) {
        match character {
            '\n' => self.newlines += 1,
            other if !other.is_whitespace() => self.newlines = 0,
            _ => {}
        }
        self.ends_sentence |=
            self.newlines == 2 || (self.after_mark && character.is_whitespace()) || FULL_MARKS.contains(&character);
        self.after_mark = MARKS.contains(&character) || (self.after_mark && CLOSING.contains(&character));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_kernel::normalize::FrontEnd;
    use fpdb_kernel::profile::Profile;

    fn starts(text: &str) -> Vec<u32> {
        starts_in(text.as_bytes())
    }

    fn starts_in(bytes: &[u8]) -> Vec<u32> {
        let mut front_end = FrontEnd::of(&Profile::named("words").unwrap());
        let mut symbols = Symbols::new();
        front_end.begin(None);
        front_end.feed(bytes, &mut symbols);
        front_end.finish(&mut symbols);
        sentences(&Readable::decode(bytes), &symbols)
    }

    #[test]
    fn sentences_are_the_same_in_each_encoding() {
        let text = "Größe, two… Three «four!» five\n\nsix. (Seven) ".repeat(20);
        let expected = starts(&text);
        assert_eq!(expected.len(), 81);
        let utf16 =
            |unit: fn(u16) -> [u8; 2]| format!("\u{FEFF}{text}").encode_utf16().flat_map(unit).collect::<Vec<u8>>();
        assert_eq!(starts_in(&utf16(u16::to_le_bytes)), expected);
        assert_eq!(starts_in(&utf16(u16::to_be_bytes)), expected);
        // Windows-1252 has one byte for each of these characters.
        let latin: Vec<u8> = text.chars().map(|c| if c == '…' { 0x85 } else { c as u8 }).collect();
        assert_eq!(starts_in(&latin), expected);
        let japanese = "これは最初の文です。これは二番目の文です！そして三番目の文です。".repeat(20);
        let shift_jis = b"\x82\xb1\x82\xea\x82\xcd\x8d\xc5\x8f\x89\x82\xcc\x95\xb6\x82\xc5\x82\xb7\x81B\x82\xb1\x82\xea\x82\xcd\x93\xf1\x94\xd4\x96\xda\x82\xcc\x95\xb6\x82\xc5\x82\xb7\x81I\x82\xbb\x82\xb5\x82\xc4\x8eO\x94\xd4\x96\xda\x82\xcc\x95\xb6\x82\xc5\x82\xb7\x81B";
        assert_eq!(starts_in(&shift_jis.repeat(20)), starts(&japanese));
        assert_eq!(starts(&japanese).len(), 60);
    }

    #[test]
    fn marks_before_white_space_and_empty_lines_end_sentences() {
        assert_eq!(starts(""), [0; 0]);
        assert_eq!(starts("One, two; three: four (five) six"), [0]);
        assert_eq!(starts("One two. Three \"four?\" Five\nsix!\n(Seven)"), [0, 2, 4, 6]);
        assert_eq!(starts("www.example.org and e.g.this"), [0]);
        assert_eq!(starts("A title\n \nand a text\r\n\r\nof lines"), [0, 2, 5]);
        assert_eq!(starts("यह एक है। यह दो है। हाँ"), [0, 3, 6]);
    }
}
