//! Sides: the places of a pair's passages in one document, in columns of differences. Values that a browser
//! can derive from the text (lines, offsets in ASCII text) are left out: 13 bytes a passage instead of 200.

use super::data::{PlaceColumns, SideData, UnlikeData};
use crate::query::{Location, Match};
use fpdb_kernel::normalize::Readable;
use fpdb_reading::extract::Unlike;

impl PlaceColumns {
    /// Columns of ranges, each a start and an end.
    pub(super) fn new(ranges: impl Iterator<Item = [u64; 2]>) -> Self {
        let mut places = Self::default();
        let mut before = 0;
        for [from, to] in ranges {
            places.start.push(from.cast_signed().wrapping_sub(before));
            places.length.push(to - from);
            before = from.cast_signed();
        }
        places
    }
}

impl SideData {
    /// The places in a document whose text is not in the report.
    pub(super) fn without_text(found: &Match, is_a: bool) -> Self {
        let bytes = PlaceColumns::new(locations(found, is_a).map(|span| [span.start, span.end]));
        let lines = Some(PlaceColumns::new(locations(found, is_a).map(|span| span.lines)));
        // If one passage of a document has pages, all have.
        let pages: Option<Vec<[u64; 2]>> = locations(found, is_a).map(|span| span.pages).collect();
        let pages = pages.filter(|pages| !pages.is_empty()).map(|pages| PlaceColumns::new(pages.into_iter()));
        Self { text: false, bytes, lines, pages, marks: None }
    }

    /// The places in a document whose text is in the report.
    pub(super) fn with_text(found: &Match, is_a: bool, text: &ShownText) -> Self {
        let side = Self::without_text(found, is_a);
        let marks: Vec<[u64; 2]> = locations(found, is_a).map(|span| text.mark(span)).collect();
        let lines = PlaceColumns::new(marks.iter().map(|mark| text.lines(mark)));
        let marks = PlaceColumns::new(marks.into_iter());
        Self {
            text: true,
            lines: side.lines.filter(|told| *told != lines),
            pages: side.pages,
            marks: (marks != side.bytes).then_some(marks),
            bytes: side.bytes,
        }
    }
}

fn locations(found: &Match, is_a: bool) -> impl Iterator<Item = &Location> {
    found.passages.iter().map(move |passage| if is_a { &passage.query } else { &passage.document })
}

/// A text as the page shows it.
pub(super) struct ShownText {
    readable: Readable,
    /// The offsets of newlines, in UTF-16 units.
    newlines: Vec<u64>,
}

impl ShownText {
    pub(super) fn new(readable: Readable) -> Self {
        let mut units = 0;
        let mut newlines = Vec::new();
        for c in readable.text.chars() {
            if c == '\n' {
                newlines.push(units);
            }
            units += c.len_utf16() as u64;
        }
        Self { readable, newlines }
    }

    /// The place of a document's span in the text, in UTF-16 units.
    pub(super) fn mark(&self, span: &Location) -> [u64; 2] {
        [self.readable.units_at(span.start), self.readable.units_at(span.end)]
    }

    /// A range that is not read as it stands in the text; `None` if it differs in its encoding only.
    pub(super) fn unlike(&self, Unlike { origin, text }: &Unlike) -> Option<UnlikeData> {
        let [from, to] = [self.readable.units_at(origin.start), self.readable.units_at(origin.end)];
        match text.is_empty() {
            true => Some(UnlikeData::Markup([from, to])),
            false if self.readable.text_of(*origin) == text => None,
            false => Some(UnlikeData::Rewritten(from, to, text.clone())),
        }
    }

    /// The first and the last line of a mark, as the page counts lines.
    fn lines(&self, &[from, to]: &[u64; 2]) -> [u64; 2] {
        let line = |at: u64| 1 + self.newlines.partition_point(|&newline| newline < at) as u64;
        let first = line(from);
        [first, line(to.saturating_sub(1)).max(first)]
    }

    pub(super) fn into_text(self) -> String {
        self.readable.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_by_their_differences() {
        let places = PlaceColumns::new([[7, 9], [3, 10], [20, 20]].into_iter());
        assert_eq!((places.start, places.length), (vec![7, -4, 17], vec![2, 7, 0]));
    }

    #[test]
    fn lines_are_counted_in_units_of_the_text() {
        let text = ShownText::new(Readable::decode("a\n𝔄b\n\nc".as_bytes()));
        let lines = |from, to| text.lines(&[from, to]);
        assert_eq!(
            [lines(0, 1), lines(0, 2), lines(2, 5), lines(1, 8), lines(7, 8)],
            [[1, 1], [1, 1], [2, 2], [1, 4], [4, 4]]
        );
        assert_eq!(lines(0, 0), [1, 1]);
    }
}
