//! Changes: rows that are written or deleted together.

use rocksdb::{WriteBatch, WriteOptions};

use super::Engine;
use fpdb_host::error::Result;

/// Changes of rows that are made together.
pub(crate) struct Changes<'a> {
    pub(super) engine: &'a Engine,
    pub(super) batch: WriteBatch,
}

impl Changes<'_> {
    pub(crate) fn put(&mut self, family: &str, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.batch.put_cf(self.engine.family(family)?, key, value);
        Ok(())
    }

    pub(crate) fn delete(&mut self, family: &str, key: impl AsRef<[u8]>) -> Result<()> {
        self.batch.delete_cf(self.engine.family(family)?, key);
        Ok(())
    }

    /// Deletes the rows from the key `first` up to `after`, exclusive.
    pub(crate) fn delete_between(&mut self, family: &str, first: &[u8], after: &[u8]) -> Result<()> {
        self.batch.delete_range_cf(self.engine.family(family)?, first, after);
        Ok(())
    }

    /// Makes the changes. They are on disk when this returns.
    pub(crate) fn commit(self, action: &'static str) -> Result<()> {
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        self.engine.writing(action, || self.engine.db.write_opt(self.batch, &synced))
    }

    /// Makes the changes. They are on disk once a later [`Self::commit`] has returned.
    pub(crate) fn write(self, action: &'static str) -> Result<()> {
        self.engine.writing(action, || self.engine.db.write(self.batch))
    }
}
