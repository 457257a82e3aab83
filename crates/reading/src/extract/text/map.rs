//! Map: converts offsets in an extracted text to byte ranges of the document. Lines: converts byte offsets to
//! line numbers.
//!
//! Both continue from the last place, so they are fast for ascending places, such as those of fingerprints.
//! Other orders give the same results, but take longer.

use crate::extract::Segment;
use fpdb_kernel::document::Span;
use fpdb_kernel::normalize::newline_of;

/// Maps the text of one document to its origin.
#[derive(Debug)]
pub struct Map<'a> {
    segments: &'a [Segment],
    text_length: u64,
    /// Indices of the segments with the start and the end of the last range.
    start: usize,
    end: usize,
}

impl<'a> Map<'a> {
    /// The map of a text of `text_length` bytes.
    pub fn new(segments: &'a [Segment], text_length: u64) -> Self {
        Self { segments, text_length, start: 0, end: 0 }
    }

    /// The byte range of the document from which a range of the text comes. It reaches from the first byte of
    /// the first character to the last byte of the last one. An empty range maps to an empty range.
    pub fn origin(&mut self, text: Span) -> Span {
        let first;
        (first, self.start) = self.origin_of_byte(text.start, self.start);
        if text.end <= text.start {
            return Span { start: first.start, end: first.start };
        }
        let last;
        (last, self.end) = self.origin_of_byte(text.end - 1, self.end);
        Span { start: first.start.min(last.end), end: first.start.max(last.end) }
    }

    /// The origin of one byte of the text, and the index of its segment. `near` is the segment to try first.
    fn origin_of_byte(&self, at: u64, near: usize) -> (Span, usize) {
        const STEPS: usize = 16;
        let is_before = |segment: &Segment| segment.text <= at;
        let from = if self.segments.get(near).is_some_and(is_before) { near } else { 0 };
        let ahead = &self.segments[from..];
        let mut steps = ahead.iter().take(STEPS).take_while(|segment| is_before(segment)).count();
        if steps == STEPS {
            steps += ahead[STEPS..].partition_point(is_before);
        }
        let after = from + steps;
        let Some(index) = after.checked_sub(1) else { return (Span { start: 0, end: 0 }, 0) };
        let Segment { text, origin } = self.segments[index];
        let end = self.segments.get(after).map_or(self.text_length, |next| next.text);
        let start = origin.start + (at - text);
        let is_verbatim = end - text == origin.end - origin.start;
        (if is_verbatim { Span { start, end: start + 1 } } else { origin }, index)
    }
}

/// The lines of a document.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    document: &'a [u8],
    /// The bytes of a newline character, and the index of the byte that is not 0.
    newline: &'static [u8],
    place: usize,
    /// The first `counted` bytes have `newlines` newlines.
    counted: usize,
    newlines: u64,
}

impl<'a> Lines<'a> {
    /// The lines of a document in this encoding.
    pub fn new(document: &'a [u8], encoding: &str) -> Self {
        let newline = newline_of(encoding);
        let place = newline.iter().position(|&byte| byte == b'\n').unwrap_or(0);
        Self { document, newline, place, counted: 0, newlines: 0 }
    }

    /// The 1-based line of a byte of the document. A newline belongs to the line that it ends.
    pub(crate) fn line(&mut self, offset: u64) -> u64 {
        let offset = (offset as usize).min(self.document.len());
        let width = self.newline.len();
        let offset = offset - offset % width;
        if offset < self.counted {
            (self.counted, self.newlines) = (0, 0);
        }
        let between = &self.document[self.counted..offset];
        self.counted = offset;
        self.newlines += match width {
            1 => memchr::memchr_iter(b'\n', between).count() as u64,
            _ => between.chunks_exact(width).filter(|&unit| unit == self.newline).count() as u64,
        };
        1 + self.newlines
    }

    /// The offsets of all newlines of the document, ascending.
    pub fn newlines(self) -> Vec<u64> {
        let starts = memchr::memchr_iter(b'\n', self.document).filter_map(|at| at.checked_sub(self.place));
        let is_newline = |&start: &usize| {
            start.is_multiple_of(self.newline.len()) && self.document[start..].starts_with(self.newline)
        };
        starts.filter(is_newline).map(|start| start as u64).collect()
    }

    /// Number of lines in the document: newlines, plus 1 if text follows the last of them.
    pub(crate) fn count(&mut self) -> u64 {
        let lines = self.line(self.document.len() as u64);
        if self.document.is_empty() || self.document.ends_with(self.newline) { lines - 1 } else { lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    #[test]
    fn text_goes_back_to_where_it_came_from() {
        // "ab" is verbatim, "&" comes from an entity, a separator has no origin, "c" is verbatim.
        let segments = [
            Segment { text: 0, origin: span(3, 5) },
            Segment { text: 2, origin: span(9, 14) },
            Segment { text: 3, origin: span(15, 15) },
            Segment { text: 4, origin: span(18, 19) },
        ];
        let mut map = Map::new(&segments, 5);
        assert_eq!(map.origin(span(0, 1)), span(3, 4));
        assert_eq!(map.origin(span(1, 3)), span(4, 14));
        assert_eq!(map.origin(span(2, 5)), span(9, 19));
        assert_eq!(map.origin(span(0, 1)), span(3, 4));
        assert_eq!(map.origin(span(2, 2)), span(9, 9));
    }

    #[test]
    fn the_place_asked_last_makes_no_difference() {
        let segments: Vec<Segment> =
            (0..100).map(|i| Segment { text: 3 * i, origin: span(10 * i, 10 * i + 3) }).collect();
        for from in (0..300).step_by(7) {
            let mut map = Map::new(&segments, 300);
            map.origin(span(from, from + 1));
            for at in 0..300 {
                let start = 10 * (at / 3) + at % 3;
                assert_eq!(map.origin(span(at, at + 1)), span(start, start + 1));
            }
        }
    }

    #[test]
    fn lines_are_counted_in_the_documents_encoding() {
        let text = "<b>ab</b>&amp;\n<p>c\n\nਊ\u{a0a}\n";
        let places: Vec<(usize, u64)> = text
            .char_indices()
            .map(|(at, _)| (text[..at].chars().count(), 1 + text[..at].matches('\n').count() as u64))
            .collect();
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let mut lines = Lines::new(&wide, "UTF-16BE");
        for &(char, line) in places.iter().chain(places.iter().rev()) {
            assert_eq!(lines.line(2 * char as u64), line);
            assert_eq!(lines.line(2 * char as u64 + 1), line);
        }
        assert_eq!(lines.count(), 4);
        let mut lines = Lines::new(text.as_bytes(), "UTF-8");
        assert_eq!((lines.line(13), lines.line(14), lines.line(15), lines.count()), (1, 1, 2, 4));
    }
}
