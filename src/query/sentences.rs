//! Sentences: finds where sentences begin in a text of words.
//!
//! Symbols do not include the text between words, so that text is read from the original. A sentence ends at
//! an empty line, or at a full stop or similar mark, of any script, before white space. A wrong border only
//! shifts the ends of the pieces that are compared.

use fpdb_kernel::normalize::Symbols;

/// Marks that end a sentence if white space follows.
const MARKS: [char; 9] = ['.', '!', '?', '…', '؟', '۔', '।', '॥', '።'];

/// Marks that end a sentence regardless of the next character.
const FULL_MARKS: [char; 4] = ['。', '！', '？', '．'];

/// Characters that may stand between a mark and the white space.
const CLOSING: [char; 9] = ['"', '\'', ')', ']', '}', '”', '’', '»', '…'];

/// The words of `text` with which sentences begin, including the first word.
pub(super) fn sentence_starts(text: &[u8], symbols: &Symbols) -> Vec<u32> {
    let mut starts = Vec::new();
    let mut end = 0;
    for (index, origin) in (0..).zip(symbols.origins(0)) {
        let between = text.get(end as usize..origin.start as usize);
        if index == 0 || between.is_some_and(ends_sentence) {
            starts.push(index);
        }
        end = origin.end;
    }
    starts
}

/// True if the text between two words ends a sentence.
fn ends_sentence(between: &[u8]) -> bool {
    if matches!(between, b" " | b"\n" | b", ") {
        return false;
    }
    let between = String::from_utf8_lossy(between);
    let (mut newlines, mut after_mark) = (0, false);
    for character in between.chars() {
        match character {
            '\n' => newlines += 1,
            other if !other.is_whitespace() => newlines = 0,
            _ => {}
        }
        if newlines == 2 || (after_mark && character.is_whitespace()) || FULL_MARKS.contains(&character) {
            return true;
        }
        after_mark = MARKS.contains(&character) || (after_mark && CLOSING.contains(&character));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_kernel::normalize::FrontEnd;
    use fpdb_kernel::profile::Profile;

    fn starts(text: &str) -> Vec<u32> {
        let mut front_end = FrontEnd::of(&Profile::named("words").unwrap());
        let mut symbols = Symbols::new();
        front_end.begin_utf8();
        front_end.feed(text.as_bytes(), &mut symbols);
        front_end.finish(&mut symbols);
        sentence_starts(text.as_bytes(), &symbols)
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
