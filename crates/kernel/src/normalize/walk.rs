//! Walk: locates k-grams in the document in ascending order. A walk only moves forward, so it needs no
//! search.
//!
//! It locates k-grams in blocks. If all k-grams of a text are selected, most of the time is spent here. It
//! then writes column by column, in short loops without branches, which the compiler vectorises. Otherwise
//! it writes row by row, and a table gives the lines.

use std::ops::Range;

use super::line_table::LineTable;
use super::symbols::{Base, LineEnd, SymbolExtent, Symbols};
use super::value::{WIDE, width_of_code};
use crate::columns::{Columns, Fingerprint, Fingerprints};
use crate::document::Span;
use crate::winnow::Selected;

/// Number of k-grams located together: enough that work per block does not count, and few enough that the
/// data stays in the first-level cache.
pub const LOCATED_AT_ONCE: usize = 512;

/// If lines have fewer k-grams than this on average, it is faster to look up the line of each k-gram.
const MANY: usize = 16;

/// Walks along the k-grams of symbols.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    symbols: &'a Symbols,
    table: &'a mut LineTable,
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
    /// first symbol; k is at least 1.
    pub(crate) fn walk<'a>(&'a self, k: usize, first: u64, table: &'a mut LineTable) -> Walk<'a> {
        let (bases, lines) = (Bases(self.bases()), OpenLines { ends: self.line_ends(), line: 1 });
        Walk {
            symbols: self,
            table,
            after: k - 1,
            first,
            first_bases: bases,
            last_bases: bases,
            first_lines: lines,
            last_lines: lines,
            most_lines: 1 + self.newlines_seen(),
        }
    }
}

impl Walk<'_> {
    /// Appends the next k-grams with their byte ranges and the 1-based lines of their first and last bytes. A
    /// newline belongs to the line that it ends. The symbols must not change during the walk.
    #[inline(always)]
    pub(crate) fn locate(&mut self, kgrams: &[Selected], out: &mut Fingerprints) {
        let Self { symbols, after, first, .. } = *self;
        let ([least, ..], [.., most]) = (kgrams, kgrams) else { return };
        let (from, to) = ((least.position - first) as usize, (most.position - first) as usize);
        let (first_bases, last_bases) =
            (self.first_bases.of_all(from, to), self.last_bases.of_all(from + after, to + after));
        let (Some(first_base), Some(last_base)) = (first_bases, last_bases) else {
            return self.locate_each(kgrams, out);
        };
        // Equal lengths, so that one bounds check serves all.
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
        let few = kgrams.len() / MANY;
        if kgrams.len() == starts.len()
            && let Some(first_passed) = self.first_lines.passed(start(to - from), few)
            && let Some(last_passed) = self.last_lines.passed(end(to - from) - 1, few)
        {
            let from_position = (from as u32).wrapping_add(to_position);
            columns.hashes.extend(kgrams.iter().map(|kgram| kgram.hash));
            columns.positions.extend((0..starts.len() as u32).map(|i| from_position + i));
            columns.starts.extend(starts.iter().map(|start| start.wrapping_add(to_start)));
            lasts.append_all(to_end, &mut columns.ends);
            let Columns { starts, ends, first_lines, last_lines, .. } = columns;
            self.first_lines.write(&starts[written..], [bases[1], 0], first_passed, bases[3], first_lines);
            self.last_lines.write(&ends[written..], [bases[2], 1], last_passed, bases[4], last_lines);
            return;
        }
        if !self.table.fill(start(0), end(to - from), self.first_lines.ends) {
            return self.locate_apart(kgrams, out);
        }
        // A symbol of a narrow text lies in one line. So its first byte stands for its last.
        let (lasts, width) = match lasts {
            Lasts::Narrow(starts, _) => (starts, 1),
            Lasts::Wide(ends) => (ends, 0),
        };
        let places = Places {
            starts,
            lasts,
            first: first + from as u64,
            base: bases[0],
            to_start,
            to_end: to_end.wrapping_add(width),
            to_last: last_base.wrapping_sub(start(0)).wrapping_add(u64::from(width)).wrapping_sub(1) as u32,
            to_lines: [lines[0].wrapping_sub(bases[3]), lines[0].wrapping_sub(bases[4])].map(|line| line as u32),
        };
        places.append(kgrams, self.table, columns);
        if let SymbolExtent::Codes(codes) = symbols.extent() {
            let codes = &codes[from + after..to + after + 1];
            // Testing all codes is faster than testing the code of each k-gram, unless there are many
            // more codes.
            if codes.len() > 16 * kgrams.len() || has_wide(codes) {
                add_widths(codes, kgrams, places.first, &mut columns.ends[written..]);
            }
        }
    }

    /// Locates k-grams whose lines do not fit into one table, half of them at a time.
    #[cold]
    fn locate_apart(&mut self, kgrams: &[Selected], out: &mut Fingerprints) {
        let (some, rest) = kgrams.split_at(kgrams.len() / 2);
        if some.is_empty() {
            return self.locate_each(rest, out);
        }
        self.locate(some, out);
        self.locate(rest, out);
    }

    /// Like [`locate`](Self::locate), for k-grams at any distance from each other.
    #[cold]
    fn locate_each(&mut self, kgrams: &[Selected], out: &mut Fingerprints) {
        for &Selected { hash, position } in kgrams {
            let first = (position - self.first) as usize;
            let span = Span { start: self.symbols.start(first), end: self.symbols.end(first + self.after) };
            let (first_line, last_line) = (self.first_lines.of(span.start), self.last_lines.of(span.end - 1));
            out.push(Fingerprint { hash, position, span, first_line, last_line });
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

/// The symbols of k-grams with gaps between them, and what to add to make the values of columns.
struct Places<'a> {
    starts: &'a [u32],
    /// For the last symbol of each k-gram: its start in a narrow text, its end in a wide one.
    lasts: &'a [u32],
    /// Index in the document of the first of these symbols, and the base of the positions.
    first: u64,
    base: u64,
    to_start: u32,
    to_end: u32,
    /// Makes of an element of `lasts` the distance from the first start to the last byte.
    to_last: u32,
    to_lines: [u32; 2],
}

impl Places<'_> {
    /// Appends the rows of k-grams in one pass.
    #[inline(always)]
    fn append(&self, kgrams: &[Selected], table: &LineTable, columns: &mut Columns) {
        let &Self { starts, lasts, first, base, to_start, to_end, to_last, to_lines } = self;
        // The same length, so that one bounds check serves both.
        let lasts = &lasts[..starts.len()];
        let Columns { hashes, positions, starts: out_starts, ends, first_lines, last_lines } = columns;
        let written = hashes.len();
        hashes.resize(written + kgrams.len(), 0);
        let [positions, out_starts, ends, first_lines, last_lines] =
            [positions, out_starts, ends, first_lines, last_lines].map(|column| {
                column.resize(written + kgrams.len(), 0);
                column[written..].iter_mut()
            });
        let rows = kgrams.iter().zip(&mut hashes[written..]).zip(positions.zip(out_starts));
        let rows = rows.zip(ends.zip(first_lines.zip(last_lines)));
        for (((kgram, hash), (position, start)), (end, (first_line, last_line))) in rows {
            let i = (kgram.position - first) as usize;
            *hash = kgram.hash;
            *position = (kgram.position - base) as u32;
            *start = starts[i].wrapping_add(to_start);
            *first_line = table.line(starts[i] - starts[0]).wrapping_add(to_lines[0]);
            *end = lasts[i].wrapping_add(to_end);
            *last_line = table.line(lasts[i].wrapping_add(to_last)).wrapping_add(to_lines[1]);
        }
    }
}

/// True if any symbol takes two bytes. In most texts none does.
#[inline(always)]
fn has_wide(codes: &[u8]) -> bool {
    codes.iter().fold(0, |most, &code| code.max(most)) >= WIDE
}

/// Adds 1 to the ends of k-grams whose last symbol takes two bytes. `codes` are those of the last symbols,
/// from the k-gram at position `first` on.
#[inline(never)]
fn add_widths(codes: &[u8], kgrams: &[Selected], first: u64, ends: &mut [u32]) {
    for (end, kgram) in ends.iter_mut().zip(kgrams) {
        *end = end.wrapping_add(u32::from(codes[(kgram.position - first) as usize] >= WIDE));
    }
}

/// Number of values below `bound`. The numbers must not descend.
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
    /// Number of lines that end before the byte at offset `last`; `None` if more than `few`.
    #[inline(always)]
    fn passed(&self, last: u64, few: usize) -> Option<usize> {
        let passed = self.ends.iter().take(few + 1).take_while(|end| end.offset < last).count();
        (passed <= few).then_some(passed)
    }

    /// Writes the line numbers of these bytes, line by line. `passed` lines end before the last byte. Each
    /// byte lies `before` bytes before its offset, which is relative to `base`.
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

    use super::{LOCATED_AT_ONCE, LineTable, Selected};
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
            let mut table = LineTable::default();
            let (mut walk, mut out) = (symbols.walk(k, number, &mut table), Fingerprints::new());
            for some in firsts.chunks(chunk_size) {
                let kgram = |&first: &usize| Selected { hash: hash(first), position: number + first as u64 };
                walk.locate(&some.iter().map(kgram).collect::<Vec<_>>(), &mut out);
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
        first as u64 * 0x9E37_79B9_7F4A_7C15
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
            // Narrow as long as possible.
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
