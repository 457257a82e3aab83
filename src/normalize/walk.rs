//! Walk: where k-grams stand in the document, asked for in ascending order. Nothing is searched for: what a walk has
//! passed is behind it.
//!
//! k-grams are located a block at a time, first all origins and then all lines, so that each is a short loop: where all
//! of a text is selected most of the time goes by here.

use super::symbols::{Base, Extent, LineEnd, Symbols};
use super::value::width_of_code;
use crate::document::Span;

/// k-grams located together.
pub(crate) const TOGETHER: usize = 32;

/// Goes along the k-grams of symbols.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    symbols: &'a Symbols,
    /// How far the last symbol of a k-gram is from its first.
    after: usize,
    first_bases: Bases<'a>,
    last_bases: Bases<'a>,
    first_lines: Lines<'a>,
    last_lines: Lines<'a>,
    /// Of each k-gram of the block the first byte and the one after the last, side by side, as they are handed over.
    spans: [[u64; 2]; TOGETHER],
    /// The lines of the first byte and of the last.
    lines: [[u64; 2]; TOGETHER],
    /// Those that all of `lines` are, if they are.
    even: Option<[u64; 2]>,
}

/// The base of the last symbol asked for, and those after it.
#[derive(Debug, Clone, Copy)]
struct Bases<'a>(&'a [Base]);

/// The lines that have not ended before the last byte asked for, and the number of the first of them.
#[derive(Debug, Clone, Copy)]
struct Lines<'a> {
    ends: &'a [LineEnd],
    line: u64,
}

/// Which bytes a k-gram comes from, and the 1-based lines its first and its last byte stand in. A newline belongs to the
/// line it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) span: Span,
    pub(crate) first_line: u64,
    pub(crate) last_line: u64,
}

impl<'a> Walk<'a> {
    /// Along the k-grams of these symbols; k is at least 1.
    pub(super) fn new(symbols: &'a Symbols, k: usize) -> Self {
        let (bases, lines) = (Bases(symbols.bases()), Lines { ends: symbols.line_ends(), line: 1 });
        Self {
            symbols,
            after: k - 1,
            first_bases: bases,
            last_bases: bases,
            first_lines: lines,
            last_lines: lines,
            spans: [[0; 2]; TOGETHER],
            lines: [[0; 2]; TOGETHER],
            even: None,
        }
    }

    /// The places of the next k-grams, at least one and at most `TOGETHER`, by the symbols they begin at. Neither feeding
    /// nor discarding may come between.
    #[inline(always)]
    pub(crate) fn places<I>(&mut self, firsts: I) -> impl Iterator<Item = Place>
    where
        I: ExactSizeIterator<Item = usize> + DoubleEndedIterator + Clone,
    {
        let count = firsts.len();
        self.find_spans(firsts);
        self.find_lines(count);
        let (spans, lines) = (&self.spans[..count], &self.lines[..count]);
        spans.iter().zip(lines).map(|(&[start, end], &[first_line, last_line])| Place {
            span: Span { start, end },
            first_line,
            last_line,
        })
    }

    #[inline(always)]
    fn find_spans<I>(&mut self, firsts: I)
    where
        I: ExactSizeIterator<Item = usize> + DoubleEndedIterator + Clone,
    {
        let Self { symbols, after, first_bases, last_bases, .. } = self;
        let (symbols, after) = (*symbols, *after);
        let spans = &mut self.spans[..firsts.len()];
        let Some((from, to)) = firsts.clone().next().zip(firsts.clone().next_back()) else { return };
        let bases = first_bases.of_all(from, to).zip(last_bases.of_all(from + after, to + after));
        let Some((first_base, last_base)) = bases else {
            for (span, first) in spans.iter_mut().zip(firsts) {
                *span = [symbols.start(first), symbols.end(first + after)];
            }
            return;
        };
        // All as long as there are k-grams in these, so that one check of the index does for all.
        let kgrams = from..to + 1;
        let starts = &symbols.starts()[kgrams.clone()];
        let lasts = &symbols.starts()[after..][kgrams.clone()];
        let follow_one_another = kgrams.len() == spans.len();
        match symbols.extent() {
            Extent::Codes(codes) => {
                let codes = &codes[after..][kgrams];
                let span = |start: u32, last: u32, code: u8| {
                    [first_base + u64::from(start), last_base + u64::from(last + width_of_code(code))]
                };
                if follow_one_another {
                    for ((to, &start), (&last, &code)) in spans.iter_mut().zip(starts).zip(lasts.iter().zip(codes)) {
                        *to = span(start, last, code);
                    }
                } else {
                    for (to, first) in spans.iter_mut().zip(firsts) {
                        *to = span(starts[first - from], lasts[first - from], codes[first - from]);
                    }
                }
            }
            Extent::Ends(ends) => {
                let ends = &ends[after..][kgrams];
                for (span, first) in spans.iter_mut().zip(firsts) {
                    let (start, end) = (starts[first - from], ends[first - from]);
                    *span = [first_base + u64::from(start), last_base + u64::from(end)];
                }
            }
        }
    }

    #[inline(always)]
    fn find_lines(&mut self, count: usize) {
        let Self { first_lines, last_lines, spans, lines, even, .. } = self;
        let spans = &spans[..count];
        let [last_start, last_end] = spans[count - 1];
        if !first_lines.ends_before(last_start) && !last_lines.ends_before(last_end - 1) {
            let here = [first_lines.line, last_lines.line];
            if *even != Some(here) {
                lines.fill(here);
                *even = Some(here);
            }
            return;
        }
        *even = None;
        for (lines, &[start, end]) in lines.iter_mut().zip(spans) {
            *lines = [first_lines.of(start), last_lines.of(end - 1)];
        }
    }
}

impl Lines<'_> {
    /// Whether the line ends before this byte.
    #[inline(always)]
    fn ends_before(&self, offset: u64) -> bool {
        self.ends.first().is_some_and(|end| end.offset < offset)
    }

    /// The line of a byte.
    #[inline(always)]
    fn of(&mut self, offset: u64) -> u64 {
        while let [end, rest @ ..] = self.ends
            && end.offset < offset
        {
            (self.ends, self.line) = (rest, 1 + end.count);
        }
        self.line
    }
}

impl Bases<'_> {
    /// What the origins of the symbols from one to the other are relative to, if it is the same for all.
    #[inline(always)]
    fn of_all(&mut self, from: usize, to: usize) -> Option<u64> {
        while let [_, rest @ ..] = self.0
            && rest.first().is_some_and(|next| next.first <= from)
        {
            self.0 = rest;
        }
        let is_same = self.0.get(1).is_none_or(|next| next.first > to);
        is_same.then(|| self.0.first().map_or(0, |base| base.offset))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Place, TOGETHER};
    use crate::document::Span;
    use crate::normalize::{FrontEnd, Symbols};

    /// k-grams one after the other, and with gaps.
    fn check(symbols: &Symbols, k: usize, gaps: &[usize]) {
        let mut firsts = Vec::new();
        let mut first = 0;
        for gap in gaps.iter().cycle() {
            if first + k > symbols.len() {
                break;
            }
            firsts.push(first);
            first += gap;
        }
        let mut walk = symbols.walk(k);
        for some in firsts.chunks(TOGETHER) {
            let places: Vec<Place> = walk.places(some.iter().copied()).collect();
            assert_eq!(places.len(), some.len());
            for (place, &first) in places.into_iter().zip(some) {
                let span = Span { start: symbols.start(first), end: symbols.end(first + k - 1) };
                let (first_line, last_line) = (symbols.line_at(span.start), symbols.line_at(span.end - 1));
                assert_eq!(place, Place { span, first_line, last_line }, "k {k}, symbol {first}");
            }
        }
    }

    proptest! {
        #[test]
        fn places_are_those_of_the_symbols(
            words in prop::collection::vec(
                (prop::sample::select(vec!["x", "\n", "é", "xy\n", "œ ", "Ж", "\u{FB01}", "."]), 1usize..100), 0..12),
            k in prop_oneof![1usize..4, 4usize..90],
            gaps in prop_oneof![Just(vec![1]), prop::collection::vec(1usize..3, 1..50), prop::collection::vec(1usize..60, 1..9)],
        ) {
            let text: String = words.into_iter().map(|(word, times)| word.repeat(times)).collect();
            let (mut front_end, mut symbols) = (FrontEnd::chars(), Symbols::new());
            // Narrow as long as it may be.
            front_end.read(text.as_bytes(), &mut symbols);
            front_end.end(&mut symbols);
            check(&symbols, k, &gaps);
        }

        #[test]
        fn places_may_lie_anywhere(
            steps in prop::collection::vec(prop_oneof![8 => 0u64..5, 1 => 0u64..1 << 33], 0..200),
            newlines in any::<u64>(),
            k in 1usize..60,
            gaps in prop::collection::vec(1usize..4, 1..5),
        ) {
            let (mut symbols, mut at) = (Symbols::new(), 0);
            for (i, step) in steps.into_iter().enumerate() {
                if newlines.rotate_left(i as u32) & 3 == 0 {
                    symbols.newline(at);
                    at += 1;
                }
                at += step;
                symbols.push(7, at, at + 1 + step % 2);
                at += 2;
            }
            check(&symbols, k, &[1]);
            check(&symbols, k, &gaps);
        }
    }
}
