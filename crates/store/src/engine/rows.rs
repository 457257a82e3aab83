//! Rows: a cursor over the rows of a family, in order of key.

use rocksdb::DBRawIterator;

use super::failure::failed;
use fpdb_host::error::Result;

/// A cursor. It is on a row, past the end, or at a row that could not be read. [`Self::check`] distinguishes
/// the last two.
pub(crate) struct Rows<'a> {
    rows: DBRawIterator<'a>,
    /// The purpose of the read, for errors.
    action: &'static str,
}

impl<'a> Rows<'a> {
    pub(super) fn new(rows: DBRawIterator<'a>, action: &'static str) -> Self {
        Self { rows, action }
    }

    pub(crate) fn seek_to_first(&mut self) {
        self.rows.seek_to_first();
    }

    pub(crate) fn seek_to_last(&mut self) {
        self.rows.seek_to_last();
    }

    /// Moves to the first row whose key is at or above `key`.
    pub(crate) fn seek(&mut self, key: impl AsRef<[u8]>) {
        self.rows.seek(key);
    }

    pub(crate) fn next(&mut self) {
        self.rows.next();
    }

    pub(crate) fn prev(&mut self) {
        self.rows.prev();
    }

    /// True if the cursor is on a row.
    pub(crate) fn valid(&self) -> bool {
        self.rows.valid()
    }

    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.rows.key()
    }

    pub(crate) fn value(&self) -> Option<&[u8]> {
        self.rows.value()
    }

    /// The key and the value of the current row.
    pub(crate) fn item(&self) -> Option<(&[u8], &[u8])> {
        self.rows.item()
    }

    /// Returns the error that stopped the cursor. Returns `Ok` if it is on a row or past the end.
    pub(crate) fn check(&self) -> Result<()> {
        self.rows.status().map_err(failed(self.action))
    }
}
