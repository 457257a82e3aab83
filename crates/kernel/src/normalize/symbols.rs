//! The symbols of one document, in a buffer that grows at the back and is trimmed at the front.
//!
//! For each symbol, the buffer holds the value for the k-gram hash. For reports, it holds the origin of the
//! symbol and the line of the origin. A symbol takes 5 or 16 bytes. Trimming lets a caller read a document of
//! any length.

use super::value::{LETTERS, code_of_char, value_of_char, width_of_code};
use crate::document::Span;
use crate::lanes::TEXT;

/// A buffer of the symbols of one document, with their origins and the ends of lines.
///
/// Symbols are numbered from the first retained one. Origins are byte ranges of the original document, even
/// after symbols were discarded. Neither the starts nor the ends of origins decrease.
///
/// The buffer begins *narrow*. It is narrow as long as all symbols have codes (`value.rs`) and come from
/// UTF-8. A one-byte code then stands for the value, and the start alone for the origin. The first other
/// symbol makes it *wide*, with values and ends. The buffer becomes narrow again if it is cleared, or if
/// `narrow` finds that all retained symbols have codes.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    length: usize,
    wide: bool,
    // Each of the next four buffers has at least `length` elements while it is in use. Later elements are
    // spare room.
    /// Codes, while narrow (see `value::LETTERS`).
    codes: Vec<u8>,
    /// Values and ends, while wide.
    values: Vec<u64>,
    ends: Vec<u32>,
    starts: Vec<u32>,
    bases: Vec<Base>,
    line_ends: Vec<LineEnd>,
    /// Offset in the document of the text that the front-end holds back. `None` if there is none.
    held_from: Option<u64>,
}

/// The contents of symbols, as the k-gram hash reads them.
#[derive(Debug, Clone, Copy)]
pub enum SymbolContent<'a> {
    /// One-byte codes, while all symbols have one.
    Codes(&'a [u8]),
    /// 64-bit values.
    Values(&'a [u64]),
}

/// The ends of symbols: codes that give their lengths, or a list of ends relative to their bases.
#[derive(Debug, Clone, Copy)]
pub(super) enum SymbolExtent<'a> {
    Codes(&'a [u8]),
    Ends(&'a [u32]),
}

/// Room for the symbols of a text that is about to be read.
pub(super) struct Room<'a> {
    /// The entry in `starts` for a symbol at the first byte of the text.
    pub(super) at: u32,
    /// Filled if the buffer is narrow. If the buffer is wide, only [`Symbols::added_codes`] uses these codes.
    pub(super) codes: &'a mut [u8],
    pub(super) starts: &'a mut [u32],
    /// Filled if the buffer is wide.
    pub(super) values: &'a mut [u64],
    pub(super) ends: &'a mut [u32],
    line_ends: &'a mut Vec<LineEnd>,
}

/// From symbol `first` on, up to the next base, origins are stored relative to `offset`. A new base begins if
/// 32 bits are too few. Nearly always there is only one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) first: usize,
    pub(super) offset: u64,
}

/// A newline character, and the number of newlines in the document up to and including it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineEnd {
    pub(super) offset: u64,
    pub(super) count: u64,
}

/// Maximum distance of a start from its base. This is half of the range of 32 bits, so that the end of the
/// symbol fits too. The origin of one symbol is always much shorter than the other half.
const REACH: u64 = 1 << 31;

impl Symbols {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes everything, and keeps the memory for the next document.
    pub fn clear(&mut self) {
        self.length = 0;
        self.wide = false;
        self.bases.clear();
        self.line_ends.clear();
        self.held_from = None;
    }

    /// Sets the offset from which on the front-end holds back text. The newlines of this text are recorded
    /// already.
    pub(super) fn set_held_from(&mut self, held_from: Option<u64>) {
        self.held_from = held_from;
    }

    /// Frees the memory that the retained symbols do not need.
    #[doc(hidden)]
    pub fn shrink(&mut self) {
        let (codes, values) = if self.wide { (0, self.length) } else { (self.length, 0) };
        self.codes.truncate(codes);
        self.values.truncate(values);
        self.ends.truncate(values);
        self.starts.truncate(self.length);
        self.codes.shrink_to_fit();
        self.values.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.bases.shrink_to_fit();
        self.line_ends.shrink_to_fit();
    }

    /// Allocated memory in bytes.
    #[doc(hidden)]
    pub fn memory(&self) -> usize {
        self.codes.capacity()
            + self.values.capacity() * size_of::<u64>()
            + (self.starts.capacity() + self.ends.capacity()) * size_of::<u32>()
            + self.bases.capacity() * size_of::<Base>()
            + self.line_ends.capacity() * size_of::<LineEnd>()
    }

    /// Number of retained symbols.
    pub fn len(&self) -> usize {
        self.length
    }

    /// True if no symbol is retained.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The 64-bit value of each symbol. Equal symbols have equal values. Different characters or bytes have
    /// different values.
    pub fn values(&self) -> &[u64] {
        debug_assert!(self.wide || self.length == 0, "`FrontEnd::feed` leaves it wide");
        &self.values[..if self.wide { self.length } else { 0 }]
    }

    /// True if symbols are stored as values, not as codes.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    /// The codes if the buffer is narrow, otherwise the values.
    #[doc(hidden)]
    pub fn content(&self) -> SymbolContent<'_> {
        if self.wide { SymbolContent::Values(self.values()) } else { SymbolContent::Codes(&self.codes[..self.length]) }
    }

    /// Makes the buffer wide: every symbol gets its value and its end.
    pub(super) fn widen(&mut self) {
        if !self.wide {
            self.wide = true;
            self.make_room(0);
            for (value, code) in self.values.iter_mut().zip(&self.codes[..self.length]) {
                *value = value_of_code(*code);
            }
            for ((end, start), &code) in self.ends.iter_mut().zip(&self.starts[..self.length]).zip(&self.codes) {
                *end = start + width_of_code(code);
            }
        }
    }

    /// Makes the buffer narrow if every retained symbol has a code. In a long text, the few symbols without a
    /// code may be discarded already.
    #[doc(hidden)]
    pub fn narrow(&mut self) {
        // Tests the last symbols first, because in text of other scripts the last symbols have no codes. A
        // test of more than `MOST` symbols is not worth it.
        const MOST: usize = 4 << 10;
        if !self.wide || self.length > MOST {
            return;
        }
        grow(&mut self.codes, self.length);
        for i in (0..self.length).rev() {
            let code = LETTERS.iter().position(|&letter| letter == self.values[i]);
            match code {
                Some(code) if self.ends[i] - self.starts[i] == width_of_code(code as u8) => self.codes[i] = code as u8,
                _ => return,
            }
        }
        self.wide = false;
    }

    /// Offset in the original document of the first byte of symbol `i`.
    ///
    /// # Panics
    /// If `i >= len()`.
    pub fn start(&self, i: usize) -> u64 {
        self.base(i) + u64::from(self.starts[..self.length][i])
    }

    /// Offset in the original document just after the last byte of symbol `i`.
    ///
    /// # Panics
    /// If `i >= len()`.
    pub fn end(&self, i: usize) -> u64 {
        if self.wide {
            self.base(i) + u64::from(self.ends[..self.length][i])
        } else {
            self.start(i) + u64::from(width_of_code(self.codes[i]))
        }
    }

    /// The 1-based line of the byte at `offset`. A newline belongs to the line that it ends. `offset` must
    /// lie in the origin of a retained symbol; before the first [`discard_front`](Self::discard_front) it may
    /// lie anywhere.
    pub fn line_at(&self, offset: u64) -> u64 {
        let before = self.line_ends.partition_point(|line| line.offset < offset);
        1 + self.line_ends[..before].last().map_or(0, |line| line.count)
    }

    /// The origins of the symbols from index `from` on.
    #[doc(hidden)]
    pub fn origins(&self, from: usize) -> impl Iterator<Item = Span> + '_ {
        let mut bases = self.bases.iter().copied().peekable();
        let mut offset = 0;
        (from..self.length).map(move |i| {
            while let Some(base) = bases.next_if(|base| base.first <= i) {
                offset = base.offset;
            }
            let start = offset + u64::from(self.starts[i]);
            let end = match self.extent() {
                SymbolExtent::Codes(codes) => start + u64::from(width_of_code(codes[i])),
                SymbolExtent::Ends(ends) => offset + u64::from(ends[i]),
            };
            Span { start, end }
        })
    }

    /// The starts of symbols, relative to their bases.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts[..self.length]
    }

    /// The ends of symbols.
    pub(super) fn extent(&self) -> SymbolExtent<'_> {
        if self.wide {
            SymbolExtent::Ends(&self.ends[..self.length])
        } else {
            SymbolExtent::Codes(&self.codes[..self.length])
        }
    }

    pub(super) fn bases(&self) -> &[Base] {
        &self.bases
    }

    pub(super) fn line_ends(&self) -> &[LineEnd] {
        &self.line_ends
    }

    /// Removes the first `n` symbols, or all if there are fewer. Also removes the ends of lines that no
    /// retained or later symbol needs. Call this between two feeds of a front-end.
    pub fn discard_front(&mut self, n: usize) {
        let n = n.min(self.len());
        self.starts.copy_within(n..self.length, 0);
        if self.wide {
            self.values.copy_within(n..self.length, 0);
            self.ends.copy_within(n..self.length, 0);
        } else {
            self.codes.copy_within(n..self.length, 0);
        }
        self.length -= n;
        for base in &mut self.bases {
            base.first = base.first.saturating_sub(n);
        }
        let unused = self.bases.partition_point(|base| base.first == 0);
        self.bases.drain(..unused.saturating_sub(1));
        self.discard_line_ends();
    }

    /// Removes the ends of lines that no line number needs. Before the first symbol, only the last end of a
    /// line is kept; the same holds between the last symbol and the text held back. So memory is bounded even
    /// in text without symbols.
    fn discard_line_ends(&mut self) {
        let held = self.held_from.unwrap_or(u64::MAX);
        let (start, end) = self.len().checked_sub(1).map_or((held, held), |last| (self.start(0), self.end(last)));
        for range in [0..start.min(held), end..held] {
            let first = self.line_ends.partition_point(|line| line.offset < range.start);
            let nearest = self.line_ends.partition_point(|line| line.offset < range.end).saturating_sub(1);
            self.line_ends.drain(first..nearest.max(first));
        }
    }

    /// Appends a symbol with origin `start..end`. Neither start nor end may be below the start or end of an
    /// earlier symbol.
    #[inline]
    pub(crate) fn push(&mut self, value: u64, start: u64, end: u64) {
        let base = self.base_for(start);
        if !self.wide || self.length >= self.starts.len().min(self.values.len()) {
            self.widen();
            self.make_room(1);
        }
        self.starts[self.length] = (start - base) as u32;
        self.values[self.length] = value;
        self.ends[self.length] = (end - base) as u32;
        self.length += 1;
    }

    /// Appends a character of the standard form, like [`push`](Self::push).
    pub(super) fn push_char(&mut self, c: char, start: u64, end: u64) {
        match code_of_char(c) {
            Some(code) if !self.wide && end - start == u64::from(width_of_code(code)) => {
                let base = self.base_for(start);
                self.make_room(1);
                self.starts[self.length] = (start - base) as u32;
                self.codes[self.length] = code;
                self.length += 1;
            }
            _ => self.push(value_of_char(c), start, end),
        }
    }

    pub(super) fn pop(&mut self) {
        self.length = self.length.saturating_sub(1);
    }

    /// Appends symbols of one byte each: `values[i]` comes from the byte at `at + offsets[i]`.
    pub(crate) fn push_bytes(&mut self, at: u64, offsets: &[u8], values: &[u64]) {
        self.widen();
        let room = self.room(at, values.len());
        room.values[..values.len()].copy_from_slice(values);
        for ((start, end), &offset) in room.starts.iter_mut().zip(room.ends).zip(offsets) {
            *start = room.at + u32::from(offset);
            *end = *start + 1;
        }
        self.added(values.len());
    }

    /// Room for the symbols of `length` bytes of text that begin at `at`, plus one block. `length` must be
    /// below 1 GiB. Afterwards [`added`](Self::added) or [`added_codes`](Self::added_codes) records how many
    /// symbols were written.
    pub(super) fn room(&mut self, at: u64, length: usize) -> Room<'_> {
        let at = (at - self.base_for(at)) as u32;
        self.make_room(length + TEXT);
        let [codes, values] = if self.wide { [0, self.length] } else { [self.length, 0] };
        Room {
            at,
            codes: &mut self.codes[codes..],
            starts: &mut self.starts[self.length..],
            values: &mut self.values[values..],
            ends: &mut self.ends[values..],
            line_ends: &mut self.line_ends,
        }
    }

    pub(super) fn added(&mut self, count: usize) {
        self.length += count;
    }

    /// Like [`added`](Self::added), for symbols of one byte each. Their codes were written even if the buffer
    /// is wide.
    pub(super) fn added_codes(&mut self, count: usize) {
        let end = self.length + count;
        if self.wide {
            for (value, code) in self.values[self.length..end].iter_mut().zip(&self.codes) {
                *value = value_of_code(*code);
            }
            for (end, start) in self.ends[self.length..end].iter_mut().zip(&self.starts[self.length..]) {
                *end = start + 1;
            }
        }
        self.length = end;
    }

    /// Makes room for `count` more symbols. The buffers at least double when they grow, so they seldom grow.
    fn make_room(&mut self, count: usize) {
        let end = self.length + count;
        grow(&mut self.starts, end);
        if self.wide {
            grow(&mut self.codes, count);
            grow(&mut self.values, end);
            grow(&mut self.ends, end);
        } else {
            grow(&mut self.codes, end);
        }
    }

    /// Records a newline character at `offset`. Offsets must ascend. Call it before appending any symbol of
    /// the text after it.
    pub(crate) fn newline(&mut self, offset: u64) {
        let count = 1 + self.line_ends.last().map_or(0, |line| line.count);
        self.line_ends.push(LineEnd { offset, count });
    }

    /// Number of newlines in the document so far.
    pub(super) fn newlines_seen(&self) -> u64 {
        self.line_ends.last().map_or(0, |line| line.count)
    }

    fn base(&self, i: usize) -> u64 {
        self.bases.iter().rev().find(|base| base.first <= i).map_or(0, |base| base.offset)
    }

    fn base_for(&mut self, start: u64) -> u64 {
        match self.bases.last() {
            Some(base) if start - base.offset <= REACH => base.offset,
            _ => {
                self.bases.push(Base { first: self.len(), offset: start });
                start
            }
        }
    }
}

impl Room<'_> {
    /// Records newlines, like [`Symbols::newline`]. Bit `i` of the mask is a newline at `at + i`.
    #[inline(always)]
    pub(super) fn newlines(&mut self, mut mask: u64, at: u64) {
        while mask != 0 {
            let count = 1 + self.line_ends.last().map_or(0, |line| line.count);
            self.line_ends.push(LineEnd { offset: at + u64::from(mask.trailing_zeros()), count });
            mask &= mask - 1;
        }
    }
}

fn grow<T: Copy + Default>(buffer: &mut Vec<T>, length: usize) {
    if buffer.len() < length {
        buffer.resize(2 * length, T::default());
    }
}

#[inline(always)]
fn value_of_code(code: u8) -> u64 {
    LETTERS[usize::from(code) % LETTERS.len()]
}
