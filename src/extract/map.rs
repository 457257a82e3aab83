//! Map: from the offsets of an extracted text back to bytes and lines of the document.

use super::Segment;
use crate::document::Span;

/// Where the text of one document comes from.
#[derive(Debug)]
pub(crate) struct Map {
    segments: Vec<Segment>,
    text_length: u64,
    /// The offsets of the document's newlines.
    newlines: Vec<u64>,
}

impl Map {
    /// The map of a text of `text_length` bytes that was extracted from `document`.
    pub(crate) fn new(segments: Vec<Segment>, text_length: u64, document: &[u8]) -> Self {
        let newlines = memchr::memchr_iter(b'\n', document).map(|at| at as u64).collect();
        Self { segments, text_length, newlines }
    }

    /// Newlines of the document.
    pub(crate) fn lines(&self) -> u64 {
        self.newlines.len() as u64
    }

    /// The bytes of the document that a range of the text, not empty, comes from: from the first byte of its first
    /// to the last byte of its last.
    pub(crate) fn origin(&self, text: Span) -> Span {
        let (start, end) = (self.origin_of_byte(text.start).start, self.origin_of_byte(text.end - 1).end);
        Span { start: start.min(end), end: start.max(end) }
    }

    /// The 1-based line of a byte of the document. A newline belongs to the line it ends.
    pub(crate) fn line(&self, offset: u64) -> u64 {
        1 + self.newlines.partition_point(|&newline| newline < offset) as u64
    }

    fn origin_of_byte(&self, at: u64) -> Span {
        let after = self.segments.partition_point(|segment| segment.text <= at);
        let Some(segment) = after.checked_sub(1).map(|index| self.segments[index]) else {
            return Span { start: 0, end: 0 };
        };
        let end = self.segments.get(after).map_or(self.text_length, |next| next.text);
        let Segment { text, origin } = segment;
        if end - text == origin.end - origin.start {
            Span { start: origin.start + (at - text), end: origin.start + (at - text) + 1 }
        } else {
            origin
        }
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
        // "ab" verbatim, "&" from an entity, a separator from nowhere, "c" verbatim.
        let document = b"<b>ab</b>&amp;\n<p>c";
        let segments = vec![
            Segment { text: 0, origin: span(3, 5) },
            Segment { text: 2, origin: span(9, 14) },
            Segment { text: 3, origin: span(15, 15) },
            Segment { text: 4, origin: span(18, 19) },
        ];
        let map = Map::new(segments, 5, document);
        assert_eq!(map.origin(span(0, 1)), span(3, 4));
        assert_eq!(map.origin(span(1, 3)), span(4, 14));
        assert_eq!(map.origin(span(2, 5)), span(9, 19));
        assert_eq!(map.lines(), 1);
        assert_eq!((map.line(13), map.line(14), map.line(15)), (1, 1, 2));
    }
}
