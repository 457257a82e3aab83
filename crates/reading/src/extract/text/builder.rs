//! Builder: collects text and its origins while an extractor finds them.

use crate::extract::Segment;
use fpdb_kernel::document::Span;
use fpdb_kernel::normalize::Scribe;

/// Text with its segments, under construction. Origins must be added in ascending order.
#[derive(Debug, Default)]
pub(crate) struct TextBuilder {
    text: Vec<u8>,
    segments: Vec<Segment>,
    /// True if the last segment is verbatim and may be extended.
    growing: bool,
    /// Added to every origin.
    shift: u64,
}

impl TextBuilder {
    /// A builder with room for `bytes` bytes of text. It adds `shift` to the origins that callers give.
    pub(crate) fn new(bytes: usize, shift: usize) -> Self {
        Self { text: Vec::with_capacity(bytes), shift: shift as u64, ..Self::default() }
    }

    /// Adds text that is the same in the original, from its byte `at` on.
    #[inline]
    pub(crate) fn verbatim(&mut self, text: &[u8], at: u64) {
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

    /// Adds text that comes as a whole from the bytes `origin`.
    pub(crate) fn replaced(&mut self, text: &[u8], origin: Span) {
        if text.is_empty() {
            return;
        }
        let begin = self.text.len() as u64;
        // A parser may report places out of order if blocks are nested.
        let start = self.floor().max(origin.start + self.shift);
        let origin = Span { start, end: start.max(origin.end + self.shift) };
        self.segments.push(Segment { text: begin, origin });
        // A segment with text and origin of the same length would count as verbatim. So it is split in two.
        if text.len() as u64 == origin.end - origin.start && text.len() > 1 {
            self.segments.push(Segment { text: begin + 1, origin });
        }
        self.growing = false;
        self.text.extend_from_slice(text);
    }

    /// Start of the last origin. No later origin may begin before it.
    #[inline]
    fn floor(&self) -> u64 {
        self.segments.last().map_or(0, |last| last.origin.start)
    }

    /// Ends a block at byte `at` of the original. The next text begins on a new line.
    #[inline]
    pub(crate) fn separate(&mut self, at: u64) {
        if self.text.last().is_some_and(|&last| last != b'\n') {
            // The reported end of a block may lie before the end of the text read from it.
            let at = self.segments.last().map_or(at, |last| at.max(last.origin.end - self.shift));
            self.replaced(b"\n", Span { start: at, end: at });
        }
    }

    /// Removes all text.
    pub(crate) fn clear(&mut self) {
        *self = Self { text: std::mem::take(&mut self.text), shift: self.shift, ..Self::default() };
        self.text.clear();
    }

    /// The text and its segments.
    pub(crate) fn finish(self) -> (Vec<u8>, Vec<Segment>) {
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

/// Adds the text of `outer`. The origins of `outer` are offsets in the text of `inner`, and are mapped to the
/// origins of `inner`.
pub(crate) fn compose(outer: SegmentedText<'_>, inner: SegmentedText<'_>, builder: &mut TextBuilder) {
    let mut map = crate::extract::Map::new(inner.1, inner.0.len() as u64);
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

/// A segment with explicit ends.
pub(super) struct PlainSegment {
    pub(super) text: Span,
    pub(super) origin: Span,
    pub(super) is_verbatim: bool,
}

pub(super) fn stretches<'a>((text, segments): SegmentedText<'a>) -> impl Iterator<Item = PlainSegment> + 'a {
    let ends = segments.iter().skip(1).map(|next| next.text).chain([text.len() as u64]);
    segments.iter().zip(ends).map(|(&Segment { text: start, origin }, end)| PlainSegment {
        text: Span { start, end },
        origin,
        is_verbatim: end - start == origin.end - origin.start,
    })
}
