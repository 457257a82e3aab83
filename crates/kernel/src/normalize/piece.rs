//! Decoded text with its origin. The origin is known for each byte in UTF-8, and for each character in other
//! encodings.

use std::ops::Range;

/// A section of decoded text.
#[derive(Default)]
pub(super) struct TextPiece {
    pub(super) text: String,
    pub(super) runs: Vec<OriginRun>,
}

/// A run of text, from byte `at` of the piece to the next run. Its origin is `start..end`. If the run and its
/// origin have the same length, the text is verbatim; otherwise the run is a single character.
#[derive(Clone, Copy)]
pub(super) struct OriginRun {
    pub(super) at: usize,
    pub(super) start: u64,
    pub(super) end: u64,
}

impl TextPiece {
    /// Appends text with origin `start..end`. Adjacent verbatim runs are merged, so that the runs do not
    /// depend on how the text was cut.
    pub(super) fn push(&mut self, text: &str, start: u64, end: u64) {
        if text.is_empty() {
            return;
        }
        let verbatim = |length: usize, start: u64, end: u64| start + length as u64 == end;
        match self.runs.last_mut() {
            Some(last)
                if last.end == start
                    && verbatim(self.text.len() - last.at, last.start, last.end)
                    && verbatim(text.len(), start, end) =>
            {
                last.end = end;
            }
            _ => self.runs.push(OriginRun { at: self.text.len(), start, end }),
        }
        self.text.push_str(text);
    }

    /// Offset in the document of the first character.
    pub(super) fn start(&self) -> Option<u64> {
        self.runs.first().map(|run| run.start)
    }

    /// Removes the first `length` bytes of the text. These bytes must end on a character boundary.
    pub(super) fn discard_front(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let gone = self.runs.partition_point(|run| run.at < length);
        if let Some(cut) = gone.checked_sub(1)
            && length < self.runs.get(gone).map_or(self.text.len(), |next| next.at)
        {
            let run = &mut self.runs[cut];
            run.start += (length - run.at) as u64;
            run.at = length;
            self.runs.drain(..cut);
        } else {
            self.runs.drain(..gone);
        }
        self.text.drain(..length);
        for run in &mut self.runs {
            run.at -= length;
        }
    }

    /// Removes all text, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.runs.clear();
    }

    /// The origin of a range of the text, which must begin and end on character boundaries.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<u64> {
        origin(&self.runs, self.text.len(), range)
    }
}

/// The origin of a range in a piece of `length` bytes. The range must begin and end on character boundaries,
/// so it can cut only verbatim runs.
#[inline]
pub(super) fn origin(runs: &[OriginRun], length: usize, range: Range<usize>) -> Range<u64> {
    // Nearly always the piece is one verbatim run.
    if let &[OriginRun { at: 0, start, end }] = runs
        && end - start == length as u64
    {
        return start + range.start as u64..start + range.end as u64;
    }
    let first = runs.partition_point(|run| run.at <= range.start).saturating_sub(1);
    let last = runs.partition_point(|run| run.at < range.end).saturating_sub(1);
    let within = |run: &OriginRun, at: usize| run.start + (at - run.at) as u64;
    let start = within(&runs[first], range.start);
    let end = if range.end == runs.get(last + 1).map_or(length, |next| next.at) {
        runs[last].end
    } else {
        within(&runs[last], range.end)
    };
    start..end
}
