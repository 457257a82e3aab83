//! A document's text for display, and a map from byte offsets of the original to offsets in that text. A
//! browser shows this text. Undecodable sequences are U+FFFD. Byte order marks are left out.

use unicode_segmentation::UnicodeSegmentation;

use super::transcribe::{Scribe, transcribe};
use crate::document::Span;

/// Maximum number of characters between recorded places. The maximum bounds the time to find an offset.
const STRIDE: usize = 512;

/// Number of characters on each side of a place that are searched for the edges of words. Longer runs of
/// letters and digits, such as encoded data, are not treated as words.
const LONGEST_WORD: usize = 128;

/// A decoded document.
#[derive(Clone, Debug, Default)]
pub struct Readable {
    /// The decoded text.
    pub text: String,
    /// Recorded places, in order of the document.
    places: Vec<CharRun>,
    /// Offset in the original after the last character.
    end: u64,
    /// Length of the text in UTF-16 units.
    pub(crate) units: u64,
}

/// A run of characters with one `width`, and its place.
#[derive(Clone, Copy, Debug)]
struct CharRun {
    /// The place in the original, in the text, and in the text counted in UTF-16 units.
    origin: u64,
    text: usize,
    units: u64,
    /// Bytes of the original per character. `None` if each character takes the bytes of its UTF-8 form.
    width: Option<u64>,
}

impl Readable {
    /// Decodes a document in the encoding that is detected for text.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut readable = Self::default();
        transcribe(bytes, None, &mut readable);
        readable
    }

    /// Converts a byte offset of the original to an offset in the text, in UTF-16 units. Returns the place of
    /// the first character that begins at `offset` or later.
    pub fn units_at(&self, offset: u64) -> u64 {
        self.place_at(offset).1
    }

    /// The text of a byte range of the original.
    pub fn text_of(&self, span: Span) -> &str {
        self.text.get(self.place_at(span.start).0..self.place_at(span.end).0).unwrap_or_default()
    }

    /// The place in the text of a byte offset of the original, in bytes and in UTF-16 units, and the offset
    /// in the original where the character before it ends.
    fn place_at(&self, offset: u64) -> (usize, u64, u64) {
        let index = self.places.partition_point(|place| place.origin <= offset);
        let Some(place) = self.places[..index].last() else { return (0, 0, 0) };
        let end = self.places.get(index).map_or(self.text.len(), |next| next.text);
        let (mut origin, mut text, mut units) = (place.origin, place.text, place.units);
        for c in self.text[place.text..end].chars() {
            if origin >= offset {
                break;
            }
            origin += place.width.unwrap_or(c.len_utf8() as u64);
            text += c.len_utf8();
            units += c.len_utf16() as u64;
        }
        (text, units, origin)
    }

    /// Converts a byte offset of the text, where a character begins or the text ends, to an offset of the
    /// original.
    pub fn origin_at(&self, offset: usize) -> u64 {
        let index = self.places.partition_point(|place| place.text <= offset);
        let Some(place) = self.places[..index].last() else { return 0 };
        let before = self.text.get(place.text..offset).unwrap_or_default();
        place.origin + place.width.map_or(before.len() as u64, |width| width * before.chars().count() as u64)
    }

    /// Shrinks a byte range of the original to whole words, by Unicode's word boundaries (UAX 29). A word
    /// that is only partly in the range is left outside, with the spaces and punctuation beside it. A range
    /// that begins and ends between words stays. In scripts without spaces, such as Chinese and Thai, each
    /// character is a word.
    pub fn whole_words(&self, span: Span) -> Span {
        let (begin, _, _) = self.place_at(span.start);
        let (mut end, _, reached) = self.place_at(span.end);
        if reached > span.end {
            // The range ends inside a character.
            end = self.text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
        }
        let parts = self.parts_around(begin);
        let first_whole = usize::from(parts.first().is_some_and(|&(start, _)| start > 0));
        let starts = parts.get(first_whole..).unwrap_or_default();
        let begin = match starts.iter().any(|&(start, _)| start == begin) {
            true => begin,
            false => nearest(starts.iter().filter(|&&(start, _)| start > begin).copied()).unwrap_or(begin),
        };
        let parts = self.parts_around(end);
        let ends = parts.iter().map(|&(start, part)| (start + part.len(), part));
        let ends: Vec<_> = ends.filter(|&(place, _)| place <= end).collect();
        let end = match ends.iter().any(|&(place, _)| place == end) {
            true => end,
            false => nearest(ends.into_iter().rev()).unwrap_or(end),
        };
        let start = self.origin_at(begin).max(span.start);
        Span { start, end: self.origin_at(end).min(span.end).max(start) }
    }

    /// The parts between the word boundaries around a place of the text. The outer two can be parts of words.
    fn parts_around(&self, place: usize) -> Vec<(usize, &str)> {
        let (before, after) = self.text.split_at(place);
        let from = before.char_indices().rev().nth(LONGEST_WORD - 1).map_or(0, |(at, _)| at);
        let to = after.char_indices().nth(LONGEST_WORD).map_or(self.text.len(), |(at, _)| place + at);
        let parts = self.text[from..to].split_word_bound_indices().map(|(at, part)| (from + at, part));
        // The text begins and ends at a boundary.
        let begins = (from == 0).then_some((0, ""));
        let ends = (to == self.text.len()).then_some((to, ""));
        begins.into_iter().chain(parts).chain(ends).collect()
    }

    /// The characters, each with its byte range in the original.
    pub fn characters(&self) -> impl Iterator<Item = (char, Span)> {
        self.places.iter().enumerate().flat_map(|(index, place)| {
            let end = self.places.get(index + 1).map_or(self.text.len(), |next| next.text);
            let mut start = place.origin;
            self.text[place.text..end].chars().map(move |c| {
                let at = Span { start, end: start + place.width.unwrap_or(c.len_utf8() as u64) };
                start = at.end;
                (c, at)
            })
        })
    }

    /// A cursor at the beginning of the text.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { readable: self, runs: &self.places, text: 0, origin: self.origin_at(0) }
    }

    /// Appends text. A run of several characters is UTF-8, so `width` is then `None`.
    fn push(&mut self, text: &str, Span { start, end }: Span, width: Option<u64>) {
        let mut rest = text;
        let mut origin = start;
        // A single character can continue the last run.
        let is_short = |last: &CharRun| start - last.origin < STRIDE as u64 * width.unwrap_or(1);
        let goes_on = |last: &CharRun| last.width == width && self.end == start && is_short(last);
        if text.chars().nth(1).is_none() && self.places.last().is_some_and(goes_on) {
            self.append(text);
            rest = "";
        }
        while !rest.is_empty() {
            let cut = rest.char_indices().nth(STRIDE).map_or(rest.len(), |(at, _)| at);
            let (run, after) = rest.split_at(cut);
            self.places.push(CharRun { origin, text: self.text.len(), units: self.units, width });
            self.append(run);
            origin += run.len() as u64;
            rest = after;
        }
        self.end = end;
    }

    fn append(&mut self, text: &str) {
        self.text.push_str(text);
        self.units += text.chars().map(|c| c.len_utf16() as u64).sum::<u64>();
    }
}

/// The place of the first part that is a word, or else of the first part.
fn nearest<'t>(mut parts: impl Iterator<Item = (usize, &'t str)> + Clone) -> Option<usize> {
    let is_word = |part: &str| part.contains(char::is_alphanumeric);
    let word = parts.clone().find(|(_, part)| is_word(part));
    word.or_else(|| parts.next()).map(|(place, _)| place)
}

/// A place in a decoded text that moves forward.
#[derive(Clone, Debug)]
pub struct Cursor<'r> {
    readable: &'r Readable,
    /// The run of the place, and those after it.
    runs: &'r [CharRun],
    /// Offset of the place in the text, and in the original.
    text: usize,
    origin: u64,
}

impl<'r> Cursor<'r> {
    /// Moves to the first character that begins at byte `offset` of the original or later, and returns the
    /// text on the way. A cursor that is already beyond `offset` stays.
    pub fn text_to(&mut self, offset: u64) -> &'r str {
        let from = self.text;
        while let [_, next, ..] = self.runs
            && next.origin <= offset
        {
            (self.runs, self.text, self.origin) = (&self.runs[1..], next.text, next.origin);
        }
        let end = self.runs.get(1).map_or(self.readable.text.len(), |next| next.text);
        let width = self.runs.first().and_then(|run| run.width);
        let rest = &self.readable.text[self.text..end];
        let steps = offset.saturating_sub(self.origin).div_ceil(width.unwrap_or(1)) as usize;
        let passed = match width {
            None => (steps..rest.len()).find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len()),
            Some(_) => rest.char_indices().nth(steps).map_or(rest.len(), |(at, _)| at),
        };
        self.text += passed;
        self.origin += width.map_or(passed, |width| steps * width as usize) as u64;
        &self.readable.text[from..self.text]
    }
}

impl Scribe for Readable {
    fn verbatim(&mut self, text: &str, at: u64) {
        self.push(text, Span { start: at, end: at + text.len() as u64 }, None);
    }

    fn decoded(&mut self, text: &str, origin: Span) {
        self.push(text, origin, Some(origin.end - origin.start));
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{Encoding, SHIFT_JIS, UTF_8, WINDOWS_1252};

    use super::*;

    /// Encodes every character of `text`, and returns the bytes and the range of each character.
    fn encoded(text: &str, encode: impl Fn(&str) -> Vec<u8>) -> (Vec<u8>, Vec<(u64, u64)>) {
        let (mut bytes, mut spans) = (Vec::new(), Vec::new());
        for c in text.chars() {
            let start = bytes.len() as u64;
            bytes.extend(encode(&c.to_string()));
            spans.push((start, bytes.len() as u64));
        }
        (bytes, spans)
    }

    /// The offset in the text of the first character that begins at `offset` of the original or later.
    fn text_before(text: &str, spans: &[(u64, u64)], offset: u64) -> usize {
        let character = spans.partition_point(|&(start, _)| start < offset);
        text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
    }

    fn check(text: &str, bytes: &[u8], spans: &[(u64, u64)]) {
        let readable = Readable::decode(bytes);
        assert_eq!(readable.text, text);
        let mut units = 0;
        for ((index, c), &(start, end)) in text.char_indices().zip(spans) {
            assert_eq!(readable.origin_at(index), start, "{c} at {start}");
            assert_eq!(readable.units_at(start), units, "{c} at {start}");
            units += c.len_utf16() as u64;
            assert_eq!(readable.units_at(end), units, "after {c} at {end}");
        }
        assert_eq!(readable.units, units);
        assert_eq!(readable.origin_at(text.len()), bytes.len() as u64);
        let characters = readable.characters().map(|(c, at)| (c, (at.start, at.end)));
        assert!(characters.eq(text.chars().zip(spans.iter().copied())));
        for step in [1, 2, 7, 1000] {
            let mut cursor = readable.cursor();
            let mut from = 0;
            for (offset, expected) in (0..=bytes.len() as u64).map(|o| (o, text_before(text, spans, o))).step_by(step) {
                assert_eq!(cursor.text_to(offset), &text[from..expected]);
                from = expected;
            }
        }
    }

    #[test]
    fn every_character_is_found_in_every_encoding() {
        let french = "L’été, les élèves français\nreviennent à l’école : gênés, inquiets. ".repeat(30);
        let with = |encoding: &'static Encoding| move |c: &str| encoding.encode(c).0.into_owned();
        let (bytes, spans) = encoded(&french, with(WINDOWS_1252));
        check(&french, &bytes, &spans);
        let astral = "plain 𝔣𝔯𝔞𝔨𝔱𝔲𝔯 and 🌍 ünd so weiter\n".repeat(60);
        let (bytes, spans) = encoded(&astral, with(UTF_8));
        check(&astral, &bytes, &spans);
        let wide = |c: &str| c.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (bytes, spans) = encoded(&astral, wide);
        check(&astral, &bytes, &spans);
        let japanese = "吾輩は猫である。名前はまだ無い。どこで生れたか\n".repeat(40);
        let (bytes, spans) = encoded(&japanese, with(SHIFT_JIS));
        check(&japanese, &bytes, &spans);
    }

    /// The whole words of the range of `text` between two bars, in the original of another encoding.
    fn words_between_bars(marked: &str, encoding: &'static Encoding) -> String {
        let encode = |text: &str| encoding.encode(text).0.into_owned();
        let parts: Vec<Vec<u8>> = marked.split('|').map(encode).collect();
        let (start, inside) = (parts[0].len() as u64, parts[1].len() as u64);
        let words = Readable::decode(&parts.concat()).whole_words(Span { start, end: start + inside });
        let left = &parts.concat()[words.start as usize..words.end as usize];
        encoding.decode_without_bom_handling(left).0.into_owned()
    }

    #[test]
    fn ranges_shrink_to_whole_words() {
        for (marked, words) in [
            ("stands her|e: The source, and so o|n.", "The source, and so"),
            ("|All of it|", "All of it"),
            ("one |two three| four", "two three"),
            ("one| two three |four", " two three "),
            ("don'|t stop, it i|s", "stop, it"),
            ("ab|cd|ef", ""),
            // Unicode joins these letters to one word, and divides other scripts.
            ("caf\u{e9}|e\u{301}t\u{e9} ouvert|", "ouvert"),
            ("彼は日|本語を読|む。", "本語を読"),
            ("ความรู้|ทั่วไป|นี้", "ทั่วไป"),
            // Long runs of letters are no words.
            (&format!("{0}|{0}|", "acgt".repeat(100)), &"acgt".repeat(100)),
            (&format!("an|d {}|b", "-".repeat(300)), &format!(" {}", "-".repeat(300))),
        ] {
            assert_eq!(words_between_bars(marked, UTF_8), *words, "{marked}");
        }
        let french = "Voil\u{e0} l\u{2019}\u{e9}t\u{e9} : les \u{e9}|l\u{e8}ves reviennent \u{e0} l\u{2019}\u{e9}cole, inqui|\u{e8}ts, \u{e9}mus.";
        assert_eq!(words_between_bars(french, WINDOWS_1252), "reviennent \u{e0} l\u{2019}\u{e9}cole");
        let japanese = "吾輩は猫|である。名前は|まだ無い。どこで生れたか\n";
        assert_eq!(words_between_bars(japanese, SHIFT_JIS), "である。名前は");
        // Both ends are inside a character.
        let bytes = "x \u{448}\u{448} y \u{448} z".as_bytes();
        assert_eq!(Readable::decode(bytes).whole_words(Span { start: 3, end: 10 }), Span { start: 7, end: 9 });
    }

    #[test]
    fn what_is_undecodable_is_seen_and_marks_are_not() {
        let readable = Readable::decode(b"\xEF\xBB\xBFab\xFFcd \xC3");
        assert_eq!(readable.text, "ab\u{FFFD}cd \u{FFFD}");
        assert_eq!([0, 3, 5, 6, 9, 10].map(|offset| readable.units_at(offset)), [0, 0, 2, 3, 6, 7]);
        assert_eq!(Readable::decode(b"").text, "");
        assert_eq!(Readable::decode(b"").units_at(7), 0);
    }
}
