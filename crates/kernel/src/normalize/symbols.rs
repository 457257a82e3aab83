//! The symbols of one document, as they come: a buffer that grows at the back and is trimmed at the front.
//!
//! It holds what the engine needs of each symbol (its value) and what a report needs (its origin, and the line of
//! that origin), in 5 or 16 bytes a symbol, so that a document of any length can be read through a window of it.

use super::value::{LETTERS, code_of_char, value_of_char, width_of_code};
use crate::document::Span;
use crate::lanes::TEXT;

/// A growing, front-trimmed buffer of the symbols of one document, with their origins and the line ends.
///
/// Symbols are numbered from the first one retained. Origins are byte ranges of the original document and stay
/// absolute whatever has been discarded; neither their starts nor their ends decrease.
///
/// It begins *narrow*: as long as all symbols are letters and digits that have codes (`value.rs`) and come from UTF-8, a
/// code of one byte stands for the value and the start for the whole origin. The first other symbol makes it *wide*, with values and ends,
/// until it is cleared or `narrow` finds that none such is left.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    length: usize,
    wide: bool,
    // Each of the next four that is used has `length` elements, and then room for more.
    /// Codes, while it is narrow (see `value::LETTERS`).
    codes: Vec<u8>,
    /// Values and ends, once it is wide.
    values: Vec<u64>,
    ends: Vec<u32>,
    starts: Vec<u32>,
    bases: Vec<Base>,
    line_ends: Vec<LineEnd>,
}

/// The symbols in the form that the k-gram hash needs.
#[derive(Debug, Clone, Copy)]
pub enum SymbolContent<'a> {
    Codes(&'a [u8]),
    Values(&'a [u64]),
}

/// The ends of symbols: their codes tell how long they are, or a list has the ends, counted from their bases as starts are.
#[derive(Debug, Clone, Copy)]
pub(super) enum SymbolExtent<'a> {
    Codes(&'a [u8]),
    Ends(&'a [u32]),
}

/// Room for the symbols of text.
pub(super) struct Room<'a> {
    /// The value in `starts` for the first byte of the text.
    pub(super) at: u32,
    /// Fill it where the text is narrow; otherwise only [`Symbols::added_codes`] does.
    pub(super) codes: &'a mut [u8],
    pub(super) starts: &'a mut [u32],
    /// Fill it where the text is wide.
    pub(super) values: &'a mut [u64],
    pub(super) ends: &'a mut [u32],
    line_ends: &'a mut Vec<LineEnd>,
}

/// From symbol `first` on, until the next base, origins are stored relative to `offset`. Almost always there is one; a
/// new one is begun whenever 32 bits would not do, however far apart two symbols lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) first: usize,
    pub(super) offset: u64,
}

/// A newline character and the number of newlines of the document up to and including it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineEnd {
    pub(super) offset: u64,
    pub(super) count: u64,
}

/// How far a start may lie from its base. Half of what fits, so that the end of the symbol fits as well: a front-end
/// bounds the origin of one symbol far below the other half.
const REACH: u64 = 1 << 31;

impl Symbols {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything, and keeps the memory for the next document.
    pub fn clear(&mut self) {
        self.length = 0;
        self.wide = false;
        self.bases.clear();
        self.line_ends.clear();
    }

    /// Gives back the memory that is beyond what is retained.
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

    /// Bytes of memory it takes.
    #[doc(hidden)]
    pub fn memory(&self) -> usize {
        self.codes.capacity()
            + self.values.capacity() * size_of::<u64>()
            + (self.starts.capacity() + self.ends.capacity()) * size_of::<u32>()
            + self.bases.capacity() * size_of::<Base>()
            + self.line_ends.capacity() * size_of::<LineEnd>()
    }

    /// The number of symbols retained.
    pub fn len(&self) -> usize {
        self.length
    }

    /// True if no symbol is retained.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// One well-mixed 64-bit value for each symbol. Equal for equal symbols, and for characters and bytes only for
    /// those.
    pub fn values(&self) -> &[u64] {
        debug_assert!(self.wide || self.length == 0, "`FrontEnd::feed` leaves it wide");
        &self.values[..if self.wide { self.length } else { 0 }]
    }

    /// True if symbols are kept as values, no longer as codes.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    /// Codes or values: the kind there is.
    #[doc(hidden)]
    pub fn content(&self) -> SymbolContent<'_> {
        if self.wide { SymbolContent::Values(self.values()) } else { SymbolContent::Codes(&self.codes[..self.length]) }
    }

    /// Gives every symbol its value and its end: until it is cleared there are no codes any more.
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

    /// Goes back to codes where every symbol has one: a long text may have few that have none.
    #[doc(hidden)]
    pub fn narrow(&mut self) {
        // The last symbols come first: in most text that has none of these they tell at once. More are not worth it.
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

    /// The offset in the original document of the first byte of symbol `i`. Panics like an index when `i >= len()`.
    pub fn start(&self, i: usize) -> u64 {
        self.base(i) + u64::from(self.starts[..self.length][i])
    }

    /// The offset in the original document just after the last byte of symbol `i`. Panics like an index.
    pub fn end(&self, i: usize) -> u64 {
        if self.wide {
            self.base(i) + u64::from(self.ends[..self.length][i])
        } else {
            self.start(i) + u64::from(width_of_code(self.codes[i]))
        }
    }

    /// The 1-based line of the byte at `offset`, which must lie in the origin of a retained symbol. (Until the first
    /// [`discard_front`](Self::discard_front), it may lie anywhere.) A newline belongs to the line it ends.
    pub fn line_at(&self, offset: u64) -> u64 {
        let before = self.line_ends.partition_point(|line| line.offset < offset);
        1 + self.line_ends[..before].last().map_or(0, |line| line.count)
    }

    /// The origins of the symbols from this one on.
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

    /// Where symbols begin, counted from their bases.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts[..self.length]
    }

    /// Where symbols end.
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

    /// Forgets the first `n` symbols (all of them when there are fewer), and the line ends that no symbol retained or
    /// still to come needs. To be called between two feeds of a front-end, whose pending text then lies after the
    /// last newline it has reported.
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

    /// Discards line ends that are never the nearest one before a symbol: all but the last before the first symbol, and all but the last
    /// after the last symbol. So memory is bounded in text without symbols, too.
    fn discard_line_ends(&mut self) {
        if let Some(last) = self.len().checked_sub(1) {
            let (start, end) = (self.start(0), self.end(last));
            let before = self.line_ends.partition_point(|line| line.offset < start);
            self.line_ends.drain(..before.saturating_sub(1));
            let within = self.line_ends.partition_point(|line| line.offset < end);
            let nearest = self.line_ends.len().saturating_sub(1).max(within);
            self.line_ends.drain(within..nearest);
        } else {
            self.line_ends.drain(..self.line_ends.len().saturating_sub(1));
        }
    }

    /// Adds a symbol whose origin is `start..end`; neither is below that of any symbol pushed before.
    pub(crate) fn push(&mut self, value: u64, start: u64, end: u64) {
        self.widen();
        let base = self.base_for(start);
        self.make_room(1);
        self.starts[self.length] = (start - base) as u32;
        self.values[self.length] = value;
        self.ends[self.length] = (end - base) as u32;
        self.length += 1;
    }

    /// Adds a character of the standard form, as [`push`](Self::push) does.
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

    /// Takes the last symbol back.
    pub(super) fn pop(&mut self) {
        self.length = self.length.saturating_sub(1);
    }

    /// Adds symbols of one byte each: `values[i]` comes from the byte at `at + offsets[i]`.
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

    /// Room for the symbols of `length` bytes of text, less than 1 GiB, which begin at `at`: for as many and a block.
    /// [`added`](Self::added) or [`added_codes`](Self::added_codes) says how many there were.
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

    /// As [`added`](Self::added) of symbols of one byte each; their codes were written, whether it is wide or not.
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

    /// Twice what is needed where there is not enough, so that it is seldom done.
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

    /// Reports a newline character at `offset`. Ascending, and before any symbol of the text that follows it.
    pub(crate) fn newline(&mut self, offset: u64) {
        let count = 1 + self.line_ends.last().map_or(0, |line| line.count);
        self.line_ends.push(LineEnd { offset, count });
    }

    /// The newlines of the document so far.
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
    /// Reports newlines, as [`Symbols::newline`] does: bit `i` of the mask is one at `at + i`.
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
