//! Salvaged rows: the rows of a family of a damaged store, in order of key.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::care::salvage::{ACTION, Part, Salvage, Selection};
use crate::engine::Row;
use fpdb_host::error::{Error, Result};

/// Maximum number of rows, and maximum bytes of rows, that a cursor reads at once.
const ROWS_AT_ONCE: usize = 256;
const BYTES_AT_ONCE: usize = 256 << 10;

/// The readable rows of a family, from intact and damaged tables. The latest readable version of a row
/// counts.
pub(crate) struct SalvagedRows<'a> {
    salvage: &'a Salvage,
    name: &'static str,
    /// The damaged tables, which `merged` omits.
    left_out: BTreeSet<u64>,
    merged: Cursor,
    /// One cursor for each omitted table.
    alone: Vec<Cursor>,
    current: Option<Row>,
    /// Number of unreadable stretches.
    pub(crate) gaps: u64,
}

impl<'a> SalvagedRows<'a> {
    /// The rows of a family with keys of `width` bytes, from the key `from` on.
    pub(crate) fn new(salvage: &'a Salvage, name: &'static str, width: usize, from: &[u8]) -> Result<Self> {
        let merged = Cursor::new(Arc::clone(salvage.whole()), name, width, Some(number(from)));
        let (left_out, alone) = (BTreeSet::new(), Vec::new());
        let mut rows = Self { salvage, name, left_out, merged, alone, current: None, gaps: 0 };
        rows.advance()?;
        Ok(rows)
    }

    /// The current row.
    pub(crate) fn current(&self) -> Option<(&[u8], &[u8])> {
        self.current.as_ref().map(|(key, value)| (&key[..], &value[..]))
    }

    /// Moves to the first readable row at or after `target`.
    pub(crate) fn go_to(&mut self, target: u128) -> Result<()> {
        self.merged.go_to(target);
        self.alone.iter_mut().for_each(|cursor| cursor.go_to(target));
        self.advance()
    }

    /// Moves to the next readable row.
    pub(crate) fn advance(&mut self) -> Result<()> {
        loop {
            self.current = None;
            while let Some(error) = self.merged.fill()? {
                self.leave_out(&error)?;
            }
            for cursor in &mut self.alone {
                while cursor.fill()?.is_some() {
                    self.gaps += 1;
                    cursor.cross()?;
                }
            }
            let alone = self.alone.iter().filter_map(Cursor::key);
            let Some(key) = self.merged.key().into_iter().chain(alone).min().map(Box::<[u8]>::from) else {
                return Ok(());
            };
            let row = self.merged.take(&key);
            for cursor in &mut self.alone {
                cursor.take(&key);
            }
            if self.left_out.is_empty() {
                self.current = row;
                return Ok(());
            }
            // One of the omitted tables may have a later version or have deleted the row.
            if let Some(value) = self.salvage.get(self.name, &key)? {
                self.current = Some((key, value.into()));
                return Ok(());
            }
        }
    }

    /// Continues without the table that caused an error, and reads that table separately.
    fn leave_out(&mut self, error: &Error) -> Result<()> {
        let (width, at) = (self.merged.width, self.merged.next);
        let before = self.left_out.clone();
        let key = self.merged.seek_key(at.unwrap_or_default());
        let Some(part) = self.salvage.leave_out(self.name, &mut self.left_out, &key, error)? else {
            self.gaps += 1;
            return self.merged.cross();
        };
        self.merged = Cursor::new(part, self.name, width, at);
        for &table in self.left_out.difference(&before) {
            match self.salvage.part(self.name, Selection::Only(table))? {
                Some(part) => self.alone.push(Cursor::new(part, self.name, width, at)),
                None => self.gaps += 1,
            }
        }
        Ok(())
    }
}

/// Reads the rows of a part of a store in batches. After an error an iterator of the engine returns nothing,
/// even for intact blocks. So each batch has a new iterator.
struct Cursor {
    part: Arc<Part>,
    name: &'static str,
    width: usize,
    rows: VecDeque<Row>,
    /// Lower bound of the keys of the next rows. `None` at the end.
    next: Option<u128>,
}

impl Cursor {
    fn new(part: Arc<Part>, name: &'static str, width: usize, next: Option<u128>) -> Self {
        Self { part, name, width, rows: VecDeque::new(), next }
    }

    /// The key of the current row.
    fn key(&self) -> Option<&[u8]> {
        self.rows.front().map(|(key, _)| &key[..])
    }

    /// Takes the current row if it has this key.
    fn take(&mut self, key: &[u8]) -> Option<Row> {
        self.key().is_some_and(|first| first == key).then(|| self.rows.pop_front()).flatten()
    }

    fn go_to(&mut self, target: u128) {
        self.rows.clear();
        self.next = Some(target);
    }

    /// Reads the next batch if the current one is used up. Returns the damage before the next row, if any.
    fn fill(&mut self) -> Result<Option<Error>> {
        let Some(next) = self.next.filter(|_| self.rows.is_empty()) else { return Ok(None) };
        let mut rows = self.part.engine.rows(self.name, ACTION)?;
        rows.seek(self.seek_key(next));
        let mut bytes = 0;
        while let Some((key, value)) = rows.item() {
            bytes += key.len() + value.len();
            self.next = number_of(key, self.width).checked_add(1).filter(|&next| next <= greatest(self.width));
            self.rows.push_back((key.into(), value.into()));
            if self.next.is_none() || self.rows.len() == ROWS_AT_ONCE || bytes >= BYTES_AT_ONCE {
                return Ok(None);
            }
            rows.next();
        }
        match rows.check() {
            Ok(()) => self.next = None,
            // If rows were read before the damage, the next batch meets the damage again.
            Err(error) if error.is_damage() => return Ok(self.rows.is_empty().then_some(error)),
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// Skips the gap before the next row: in growing steps to a readable row, then back by bisection to the
    /// first one.
    fn cross(&mut self) -> Result<()> {
        let Some(mut low) = self.next else { return Ok(()) };
        let greatest = greatest(self.width);
        let mut step = 1u128;
        let mut high = loop {
            if low == greatest {
                self.next = None;
                return Ok(());
            }
            let high = low.saturating_add(step).min(greatest);
            if self.can_read(high)? {
                break high;
            }
            low = high;
            step = step.saturating_mul(2);
        };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.can_read(middle)? { high = middle } else { low = middle }
        }
        self.next = Some(high);
        Ok(())
    }

    /// True if the first row at or after `target` is readable, or there is none.
    fn can_read(&self, target: u128) -> Result<bool> {
        let mut rows = self.part.engine.rows(self.name, ACTION)?;
        rows.seek(self.seek_key(target));
        match rows.check() {
            Ok(()) => Ok(true),
            Err(error) if error.is_damage() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn seek_key(&self, target: u128) -> Vec<u8> {
        target.to_be_bytes()[16 - self.width..].to_vec()
    }
}

fn greatest(width: usize) -> u128 {
    u128::MAX >> (128 - 8 * width)
}

/// The first `width` bytes of a key as a big-endian number. Zeros fill a shorter key.
fn number_of(key: &[u8], width: usize) -> u128 {
    (0..width).fold(0, |number, at| number << 8 | u128::from(key.get(at).copied().unwrap_or(0)))
}

/// A key of at most 16 bytes as a number. Keys of one length have the order of their numbers.
pub(crate) fn number(key: &[u8]) -> u128 {
    key.iter().take(16).fold(0, |number, &byte| number << 8 | u128::from(byte))
}
