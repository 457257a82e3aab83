//! Walk: locates k-grams in the document in ascending order. A walk only moves forward, so it needs no
//! search.
//!
//! A walk locates k-grams in blocks and writes column by column. Each column is a short loop without
//! branches, which the compiler vectorises. If all k-grams of a text are selected, most of the time is spent
//! here.

use std::ops::Range;

use super::symbols::{Base, LineEnd, SymbolExtent, Symbols};
use super::value::{WIDE, width_of_code};
use crate::columns::{Columns, Fingerprint, FingerprintRow, Fingerprints};
use crate::document::Span;

/// Number of k-grams located together. With so large a block, the fixed work per block is negligible, and the
/// data still stays in the first-level cache.
pub const LOCATED_AT_ONCE: usize = 512;

/// Lines with at least this number of k-grams on average are handled line by line. If lines have fewer
/// k-grams, finding the line of each k-gram is faster.
const MANY: usize = 16;

/// A k-gram to locate: its hash, and the index of its first symbol.
pub(crate) type Kgram = (u64, usize);

/// Walks along the k-grams of symbols.
#[derive(Debug)]
pub struct Walk<'a> {
    symbols: &'a Symbols,
    /// Distance from a k-gram's first symbol to its last.
    after: usize,
    /// Index in the document of the first symbol.
    first: u64,
    first_bases: Bases<'a>,
    last_bases: Bases<'a>,
    first_lines: OpenLines<'a>,
    last_lines: OpenLines<'a>,
    /// Number of the last line.
    most_lines: u64,
}

/// The base of the last symbol located, and all later bases.
#[derive(Debug, Clone, Copy)]
struct Bases<'a>(&'a [Base]);

/// The line of the last byte located and all later lines. `line` is the number of the first of them.
#[derive(Debug, Clone, Copy)]
struct OpenLines<'a> {
    ends: &'a [LineEnd],
    line: u64,
}

/// The last symbols of consecutive k-grams.
#[derive(Debug, Clone, Copy)]
enum Lasts<'a> {
    /// Starts and codes of symbols.
    Narrow(&'a [u32], &'a [u8]),
    /// Ends of symbols.
    Wide(&'a [u32]),
}

impl Symbols {
    /// Starts a walk that locates k-grams in ascending order. `first` is the index in the document of the
    /// first symbol.
    pub fn walk(&self, k: usize, first: u64) -> Walk<'_> {
        Walk::new(self, k, first)
    }
}

impl<'a> Walk<'a> {
    /// A walk along the k-grams of these symbols. `first` is the index in the document of the first symbol; k
    /// is at least 1.
    pub(super) fn new(symbols: &'a Symbols, k: usize, first: u64) -> Self {
        let (bases, lines) = (Bases(symbols.bases()), OpenLines { ends: symbols.line_ends(), line: 1 });
        Self {
            symbols,
            after: k - 1,
            first,
            first_bases: bases,
            last_bases: bases,
            first_lines: lines,
            last_lines: lines,
            most_lines: 1 + symbols.newlines_seen(),
        }
    }

    /// Appends the next k-grams with their byte ranges and the 1-based lines of their first and last bytes. A
    /// newline belongs to the line that it ends. The symbols must not change during the walk.
    #[inline(always)]
    pub(crate) fn locate<I>(&mut self, kgrams: I, out: &mut Fingerprints)
    where
        I: ExactSizeIterator<Item = Kgram> + DoubleEndedIterator + Clone,
    {
        let Some(((_, from), (_, to))) = kgrams.clone().next().zip(kgrams.clone().next_back()) else { return };
        let (first_bases, last_bases) =
            (self.first_bases.of_all(from, to), self.last_bases.of_all(from + self.after, to + self.after));
        let (Some(first_base), Some(last_base)) = (first_bases, last_bases) else {
            return self.locate_each(kgrams, out);
        };
        let Self { symbols, after, first, .. } = *self;
        // Both slices get the same length, so that one bounds check serves both.
        let range = from..to + 1;
        let starts = &symbols.starts()[range.clone()];
        let lasts = Lasts::of(symbols, after, range);
        let start = |i: usize| first_base + u64::from(starts[i]);
        let end = |i: usize| last_base + u64::from(lasts.end(i));
        // Starts, ends and lines never descend, so the first and last k-gram bound all others.
        let lines = [self.first_lines.of(start(0)), self.last_lines.of(end(0) - 1)];
        let least = [first + from as u64, start(0), end(0), lines[0], lines[1]];
        let most = [first + to as u64, start(to - from), end(to - from), self.most_lines, self.most_lines];
        let Some((columns, bases)) = out.block_for(least, most) else {
            return self.locate_each(kgrams, out);
        };
        // Intermediate results may wrap in 32 bits. The final result is correct.
        let [to_position, to_start, to_end] =
            [first.wrapping_sub(bases[0]), first_base.wrapping_sub(bases[1]), last_base.wrapping_sub(bases[2])]
                .map(|more| more as u32);
        let written = columns.hashes.len();
        columns.hashes.extend(kgrams.clone().map(|(hash, _)| hash));
        let from_position = (from as u32).wrapping_add(to_position);
        if kgrams.len() == starts.len() {
            columns.positions.extend((0..starts.len() as u32).map(|i| from_position + i));
            columns.starts.extend(starts.iter().map(|start| start.wrapping_add(to_start)));
            lasts.append_all(to_end, &mut columns.ends);
        } else {
            columns.positions.extend(kgrams.map(|(_, first)| (first as u32).wrapping_add(to_position)));
            let positions = (&columns.positions[written..], from_position);
            gather(starts, positions, to_start, &mut columns.starts);
            match lasts {
                Lasts::Narrow(lasts, codes) => {
                    gather(lasts, positions, to_end.wrapping_add(1), &mut columns.ends);
                    // Testing all codes is faster than testing the code of each k-gram, unless there are many
                    // more codes than k-grams.
                    if codes.len() > 16 * positions.0.len() || has_wide(codes) {
                        gather_widths(codes, positions, &mut columns.ends[written..]);
                    }
                }
                Lasts::Wide(ends) => gather(ends, positions, to_end, &mut columns.ends),
            }
        }
        self.write_lines(columns, written, bases);
    }

    /// Writes the line number of each k-gram from index `written` on. Their starts and ends are already
    /// written.
    #[inline(always)]
    fn write_lines(&mut self, columns: &mut Columns, written: usize, bases: FingerprintRow) {
        let Columns { starts, ends, first_lines, last_lines, .. } = columns;
        let (starts, ends) = (&starts[written..], &ends[written..]);
        let [_, start_base, end_base, first_base, last_base] = bases;
        let few = starts.len() / MANY;
        let passed =
            self.first_lines.passed(starts, [start_base, 0], few).zip(self.last_lines.passed(ends, [end_base, 1], few));
        if let Some((first_passed, last_passed)) = passed {
            self.first_lines.write(starts, [start_base, 0], first_passed, first_base, first_lines);
            self.last_lines.write(ends, [end_base, 1], last_passed, last_base, last_lines);
            return;
        }
        first_lines.resize(written + starts.len(), 0);
        last_lines.resize(written + ends.len(), 0);
        let (mut first, mut last) = (self.first_lines, self.last_lines);
        let lines = first_lines[written..].iter_mut().zip(&mut last_lines[written..]);
        for ((first_line, last_line), (&start, &end)) in lines.zip(starts.iter().zip(ends)) {
            *first_line = first.of(start_base + u64::from(start)).wrapping_sub(first_base) as u32;
            *last_line = last.of(end_base + u64::from(end) - 1).wrapping_sub(last_base) as u32;
        }
        (self.first_lines, self.last_lines) = (first, last);
    }

    /// Like [`locate`](Self::locate), for k-grams at any distance from each other.
    #[cold]
    fn locate_each(&mut self, kgrams: impl Iterator<Item = Kgram>, out: &mut Fingerprints) {
        for (hash, first) in kgrams {
            let span = Span { start: self.symbols.start(first), end: self.symbols.end(first + self.after) };
            let (first_line, last_line) = (self.first_lines.of(span.start), self.last_lines.of(span.end - 1));
            out.push(Fingerprint { hash, position: self.first + first as u64, span, first_line, last_line });
        }
    }
}

impl<'a> Lasts<'a> {
    /// The last symbols of the k-grams that begin at the symbols in `range`.
    #[inline(always)]
    fn of(symbols: &'a Symbols, after: usize, range: Range<usize>) -> Self {
        match symbols.extent() {
            SymbolExtent::Codes(codes) => {
                Self::Narrow(&symbols.starts()[after..][range.clone()], &codes[after..][range])
            }
            SymbolExtent::Ends(ends) => Self::Wide(&ends[after..][range]),
        }
    }

    /// End of the symbol at index `i`.
    #[inline(always)]
    fn end(&self, i: usize) -> u32 {
        match self {
            Self::Narrow(starts, codes) => starts[i] + width_of_code(codes[i]),
            Self::Wide(ends) => ends[i],
        }
    }

    /// Appends all ends, adding `more` to each.
    #[inline(always)]
    fn append_all(&self, more: u32, out: &mut Vec<u32>) {
        match self {
            Self::Narrow(starts, codes) => {
                let written = out.len();
                out.extend(starts.iter().map(|start| start.wrapping_add(more).wrapping_add(1)));
                if has_wide(codes) {
                    for (end, &code) in out[written..].iter_mut().zip(*codes) {
                        *end = end.wrapping_add(u32::from(code >= WIDE));
                    }
                }
            }
            Self::Wide(ends) => out.extend(ends.iter().map(|end| end.wrapping_add(more))),
        }
    }
}

/// Appends the values at some indices, adding `more` to each. The indices are relative to `from`. Not
/// inlined: within its caller there would be too few registers.
#[inline(never)]
fn gather(values: &[u32], (indices, from): (&[u32], u32), more: u32, out: &mut Vec<u32>) {
    out.extend(indices.iter().map(|&index| values[(index - from) as usize].wrapping_add(more)));
}

/// True if any symbol takes two bytes. In most texts none does.
#[inline(always)]
fn has_wide(codes: &[u8]) -> bool {
    codes.iter().fold(0, |most, &code| code.max(most)) >= WIDE
}

/// Adds 1 to the ends of two-byte symbols. The indices are as in [`gather`].
#[inline(never)]
fn gather_widths(codes: &[u8], (indices, from): (&[u32], u32), ends: &mut [u32]) {
    for (end, &index) in ends.iter_mut().zip(indices) {
        *end = end.wrapping_add(u32::from(codes[(index - from) as usize] >= WIDE));
    }
}

/// The number of elements of `numbers` that are below `bound`. The numbers must not descend.
#[inline(always)]
fn count_below(numbers: &[u32], bound: u32) -> usize {
    let Some(&first) = numbers.first() else { return 0 };
    // If each byte is a symbol, this guess is right, and no search is needed.
    let guess = (numbers.len() - 1).min(bound.saturating_sub(first).saturating_sub(1) as usize);
    let right = guess + usize::from(numbers[guess] < bound);
    if (right == 0 || numbers[right - 1] < bound) && numbers.get(right).is_none_or(|&next| next >= bound) {
        return right;
    }
    numbers.partition_point(|&number| number < bound)
}

impl OpenLines<'_> {
    /// Number of lines that end before the last of these bytes; `None` if more than `few`. The offset of a
    /// byte is `base` plus its entry in `bytes`, minus `before`.
    #[inline(always)]
    fn passed(&self, bytes: &[u32], [base, before]: [u64; 2], few: usize) -> Option<usize> {
        let last = base + u64::from(*bytes.last()?) - before;
        let passed = self.ends.iter().take(few + 1).take_while(|end| end.offset < last).count();
        (passed <= few).then_some(passed)
    }

    /// Writes the line numbers of these bytes, line by line. `passed` lines end before the last byte.
    #[inline(always)]
    fn write(&mut self, bytes: &[u32], [base, before]: [u64; 2], passed: usize, line_base: u64, out: &mut Vec<u32>) {
        let (passed, ends) = self.ends.split_at(passed);
        self.ends = ends;
        let (mut rest, mut written) = (bytes, out.len());
        for end in passed {
            // First byte of the next line.
            let beginning = (end.offset + 1 + before).saturating_sub(base) as u32;
            let in_line = count_below(rest, beginning);
            rest = &rest[in_line..];
            written += in_line;
            out.resize(written, self.line.wrapping_sub(line_base) as u32);
            self.line = 1 + end.count;
        }
        out.resize(written + rest.len(), self.line.wrapping_sub(line_base) as u32);
    }

    /// The line of the byte at `offset`.
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
    /// The base of the origins of symbols `from` to `to`, if it is the same for all.
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

    use super::LOCATED_AT_ONCE;
    use crate::columns::{Fingerprint, Fingerprints};
    use crate::document::Span;
    use crate::normalize::{FrontEnd, Symbols};

    /// Checks consecutive k-grams, and k-grams with gaps.
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
        // The first symbol is the first of the document or far from it. The chunks are large or small.
        for (number, chunk_size) in
            [(0, LOCATED_AT_ONCE), (u64::from(u32::MAX) - 70, LOCATED_AT_ONCE), (0, 7), (1 << 40, 32)]
        {
            let (mut walk, mut out) = (symbols.walk(k, number), Fingerprints::new());
            for some in firsts.chunks(chunk_size) {
                walk.locate(some.iter().map(|&first| (hash(first), first)), &mut out);
            }
            assert_eq!(out.len(), firsts.len());
            for (fingerprint, &first) in out.iter().zip(&firsts) {
                let span = Span { start: symbols.start(first), end: symbols.end(first + k - 1) };
                let (first_line, last_line) = (symbols.line_at(span.start), symbols.line_at(span.end - 1));
                let position = number + first as u64;
                let expected = Fingerprint { hash: hash(first), position, span, first_line, last_line };
                assert_eq!(fingerprint, expected, "k {k}, symbol {first}");
            }
        }
    }

    fn hash(first: usize) -> u64 {
        (first as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
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
            // The buffer stays narrow as long as possible.
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
