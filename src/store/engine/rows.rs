//! Rows: a cursor over the rows of a family, in order of key.

use rocksdb::DBRawIterator;

use super::failure::failed;
use crate::error::Result;

/// A cursor. It stands on a row, or past the end, or at one that could not be read: [`Self::check`] tells these apart.
pub(in crate::store) struct Rows<'a> {
    rows: DBRawIterator<'a>,
    /// The action that they are read for, for errors.
    action: &'static str,
}

impl<'a> Rows<'a> {
    pub(super) fn new(rows: DBRawIterator<'a>, action: &'static str) -> Self {
        Self { rows, action }
    }

    pub(in crate::store) fn seek_to_first(&mut self) {
        self.rows.seek_to_first();
    }

    pub(in crate::store) fn seek_to_last(&mut self) {
        self.rows.seek_to_last();
    }

    /// Goes to the first row whose key is not below `key`.
    pub(in crate::store) fn seek(&mut self, key: impl AsRef<[u8]>) {
        self.rows.seek(key);
    }

    pub(in crate::store) fn next(&mut self) {
        self.rows.next();
    }

    pub(in crate::store) fn prev(&mut self) {
        self.rows.prev();
    }

    /// True where it stands on a row.
    pub(in crate::store) fn valid(&self) -> bool {
        self.rows.valid()
    }

    pub(in crate::store) fn key(&self) -> Option<&[u8]> {
        self.rows.key()
    }

    pub(in crate::store) fn value(&self) -> Option<&[u8]> {
        self.rows.value()
    }

    /// Key and value.
    pub(in crate::store) fn item(&self) -> Option<(&[u8], &[u8])> {
        self.rows.item()
    }

    /// The error that kept it from its place; nothing where it stands on a row or past the end.
    pub(in crate::store) fn check(&self) -> Result<()> {
        self.rows.status().map_err(failed(self.action))
    }
}
