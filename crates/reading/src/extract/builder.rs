//! Builder: text and where each part of it comes from, side by side as an extractor finds them.

use super::Segment;
use fpdb_kernel::document::Span;
use fpdb_kernel::normalize::Scribe;

/// Text in the making, with its segments. Origins are to be given in ascending order.
#[derive(Debug, Default)]
pub(super) struct TextBuilder {
    text: Vec<u8>,
    segments: Vec<Segment>,
    /// True if the last segment is verbatim, and so may grow.
    growing: bool,
    /// A number to add to every origin.
    shift: u64,
}

impl TextBuilder {
    /// Room for `bytes` bytes of text, whose origins will be told without the `shift` bytes before them.
    pub(super) fn new(bytes: usize, shift: usize) -> Self {
        Self { text: Vec::with_capacity(bytes), shift: shift as u64, ..Self::default() }
    }

    /// Adds text that stands in the original just so, from its byte `at` on.
    #[inline]
    pub(super) fn verbatim(&mut self, text: &[u8], at: u64) {
        if text.is_empty() {
            return;
        }
        if at + self.shift < self.floor() {
            return self.replaced(text, Span { start: at, end: at });
        }
        let at = at + self.shift;
        let end = at + text.len() as u64;
        match self.segments.last_mut() {
            Some(last) if self.growing && last.origin.end == at => last.origin.end = end,
            _ => self.segments.push(Segment { text: self.text.len() as u64, origin: Span { start: at, end } }),
        }
        self.growing = true;
        self.text.extend_from_slice(text);
    }

    /// Adds text that the bytes `origin` stand for as a whole.
    pub(super) fn replaced(&mut self, text: &[u8], origin: Span) {
        if text.is_empty() {
            return;
        }
        let begin = self.text.len() as u64;
        // A parser can tell places out of order, where blocks lie in each other.
        let start = self.floor().max(origin.start + self.shift);
        let origin = Span { start, end: start.max(origin.end + self.shift) };
        self.segments.push(Segment { text: begin, origin });
        // One of the same length would pass for verbatim: it is made two.
        if text.len() as u64 == origin.end - origin.start && text.len() > 1 {
            self.segments.push(Segment { text: begin + 1, origin });
        }
        self.growing = false;
        self.text.extend_from_slice(text);
    }

    /// No origin begins before this.
    #[inline]
    fn floor(&self) -> u64 {
        self.segments.last().map_or(0, |last| last.origin.start)
    }

    /// Ends a block at byte `at` of the original: what follows begins a line of its own.
    #[inline]
    pub(super) fn separate(&mut self, at: u64) {
        if self.text.last().is_some_and(|&last| last != b'\n') {
            // Where a block is said to end may lie within what was read of it.
            let at = self.segments.last().map_or(at, |last| at.max(last.origin.end - self.shift));
            self.replaced(b"\n", Span { start: at, end: at });
        }
    }

    /// The text and its segments.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<Segment>) {
        (self.text, self.segments)
    }
}

impl Scribe for TextBuilder {
    fn verbatim(&mut self, text: &str, at: u64) {
        self.verbatim(text.as_bytes(), at);
    }

    fn decoded(&mut self, text: &str, origin: Span) {
        self.replaced(text.as_bytes(), origin);
    }
}

/// Text and its segments.
type SegmentedText<'a> = (&'a [u8], &'a [Segment]);

/// `outer` has origins in the text of `inner`, which has origins itself: adds the text of `outer`, with those.
pub(super) fn compose(outer: SegmentedText<'_>, inner: SegmentedText<'_>, builder: &mut TextBuilder) {
    let mut map = super::Map::new(inner.1, inner.0.len() as u64);
    for PlainSegment { text, origin, is_verbatim } in stretches(outer) {
        let bytes = &outer.0[text.start as usize..text.end as usize];
        if !is_verbatim {
            builder.replaced(bytes, map.origin(origin));
            continue;
        }
        let first = inner.1.partition_point(|segment| segment.text <= origin.start).saturating_sub(1);
        for part in stretches((inner.0, &inner.1[first..])).take_while(|part| part.text.start < origin.end) {
            let (start, end) = (part.text.start.max(origin.start), part.text.end.min(origin.end));
            let piece = &bytes[(start - origin.start) as usize..(end - origin.start) as usize];
            match part.is_verbatim {
                true => builder.verbatim(piece, part.origin.start + (start - part.text.start)),
                false => builder.replaced(piece, part.origin),
            }
        }
    }
}

/// A segment, spelt out.
struct PlainSegment {
    text: Span,
    origin: Span,
    is_verbatim: bool,
}

fn stretches<'a>((text, segments): SegmentedText<'a>) -> impl Iterator<Item = PlainSegment> + 'a {
    let ends = segments.iter().skip(1).map(|next| next.text).chain([text.len() as u64]);
    segments.iter().zip(ends).map(|(&Segment { text: start, origin }, end)| PlainSegment {
        text: Span { start, end },
        origin,
        is_verbatim: end - start == origin.end - origin.start,
    })
}
