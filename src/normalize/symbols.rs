//! The symbols of one document, as they come: a buffer that grows at the back and is trimmed at the front.
//!
//! It holds what the engine needs of each symbol (its value) and what a report needs (its origin, and the line of
//! that origin), in 16 bytes a symbol, so that a document of any length can be read through a window of it.

/// A growing, front-trimmed buffer of the symbols of one document, with their origins and the line ends.
///
/// Symbols are numbered from the first one retained. Origins are byte ranges of the original document and stay
/// absolute whatever has been discarded; their starts never decrease.
#[derive(Debug, Default)]
pub struct Symbols {
    values: Vec<u64>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    bases: Vec<Base>,
    line_ends: Vec<LineEnd>,
}

/// Room for symbols of one byte each. As many values, starts and ends are to be added, with the end one after the start.
pub(super) struct Bytes<'a> {
    /// What stands in `starts` for the next byte.
    pub(super) at: u32,
    pub(super) values: &'a mut Vec<u64>,
    pub(super) starts: &'a mut Vec<u32>,
    pub(super) ends: &'a mut Vec<u32>,
}

/// From symbol `first` on, until the next base, origins are stored relative to `offset`. Almost always there is one; a
/// new one is begun whenever 32 bits would not do, however far apart two symbols lie.
#[derive(Debug, Clone, Copy)]
struct Base {
    first: usize,
    offset: u64,
}

/// A newline character and the number of newlines of the document up to and including it.
#[derive(Debug, Clone, Copy)]
struct LineEnd {
    offset: u64,
    count: u64,
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
        self.values.clear();
        self.starts.clear();
        self.ends.clear();
        self.bases.clear();
        self.line_ends.clear();
    }

    /// The number of symbols retained.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no symbol is retained.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// One well-mixed 64-bit value for each symbol. Equal for equal symbols, and for characters and bytes only for
    /// those.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// The offset in the original document of the first byte of symbol `i`. Panics like an index when `i >= len()`.
    pub fn start(&self, i: usize) -> u64 {
        self.base(i) + u64::from(self.starts[i])
    }

    /// The offset in the original document just after the last byte of symbol `i`. Panics like an index.
    pub fn end(&self, i: usize) -> u64 {
        self.base(i) + u64::from(self.ends[i])
    }

    /// The 1-based line of the byte at `offset`, which must lie in the origin of a retained symbol. (Until the first
    /// [`discard_front`](Self::discard_front), it may lie anywhere.) A newline belongs to the line it ends.
    pub fn line_at(&self, offset: u64) -> u64 {
        let before = self.line_ends.partition_point(|line| line.offset < offset);
        1 + self.line_ends[..before].last().map_or(0, |line| line.count)
    }

    /// As [`line_at`](Self::line_at), of ascending offsets: `hint`, 0 at first, keeps the place. Neither feeding nor
    /// discarding may come between.
    pub(crate) fn line_after(&self, hint: &mut usize, offset: u64) -> u64 {
        // A few steps without a branch to predict: whether there is a newline in between is anyone's guess.
        for _ in 0..3 {
            *hint += usize::from(self.line_ends.get(*hint).is_some_and(|line| line.offset < offset));
        }
        while self.line_ends.get(*hint).is_some_and(|line| line.offset < offset) {
            *hint += 1;
        }
        1 + self.line_ends[..*hint].last().map_or(0, |line| line.count)
    }

    /// Forgets the first `n` symbols (all of them when there are fewer), and the line ends that no symbol retained or
    /// still to come needs. To be called between two feeds of a front-end, whose pending text then lies after the
    /// last newline it has reported.
    pub fn discard_front(&mut self, n: usize) {
        let n = n.min(self.len());
        self.values.drain(..n);
        self.starts.drain(..n);
        self.ends.drain(..n);
        for base in &mut self.bases {
            base.first = base.first.saturating_sub(n);
        }
        let unused = self.bases.partition_point(|base| base.first == 0);
        self.bases.drain(..unused.saturating_sub(1));
        self.discard_line_ends();
    }

    /// Of the line ends before the first symbol, and of those after the last one, only the last can be the nearest
    /// one before a symbol. Dropping the others keeps the memory bounded in text without symbols, too.
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

    /// Adds a symbol whose origin is `start..end`; `start` is not below that of any symbol pushed before.
    pub(crate) fn push(&mut self, value: u64, start: u64, end: u64) {
        let base = self.base_for(start);
        self.values.push(value);
        self.starts.push((start - base) as u32);
        self.ends.push((end - base) as u32);
    }

    /// Adds symbols of one byte each: `values[i]` comes from the byte at `at + offsets[i]`.
    pub(crate) fn push_bytes(&mut self, at: u64, offsets: &[u8], values: &[u64]) {
        let relative = (at - self.base_for(at)) as u32;
        self.values.extend_from_slice(values);
        self.starts.extend(offsets.iter().map(|&o| relative + u32::from(o)));
        self.ends.extend(offsets.iter().map(|&o| relative + u32::from(o) + 1));
    }

    /// Where to add symbols of one byte each, which come from the bytes at `at` and after it, less than 1 GiB of them.
    pub(super) fn bytes(&mut self, at: u64) -> Bytes<'_> {
        let at = (at - self.base_for(at)) as u32;
        Bytes { at, values: &mut self.values, starts: &mut self.starts, ends: &mut self.ends }
    }

    /// Reports a newline character at `offset`. Ascending, and before any symbol of the text that follows it.
    pub(crate) fn newline(&mut self, offset: u64) {
        let count = 1 + self.line_ends.last().map_or(0, |line| line.count);
        self.line_ends.push(LineEnd { offset, count });
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
