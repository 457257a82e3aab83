//! Sizes: the bytes that a database takes, on disk and in memory.

use super::codec::format::{self, FAMILIES};
use super::engine::Level;
use super::handle::Store;
use fpdb_host::error::{Error, Result};
use fpdb_host::free_space::free_bytes;

/// The name of the part of [`Store::bytes_by_part`] that counts all files except tables.
pub const LOGS: &str = "logs and manifest";

impl Store {
    /// The engine's tables, by level.
    pub fn levels(&self) -> Result<Vec<Level>> {
        self.engine.levels()
    }

    /// Bytes of data cached in memory now, and their maximum.
    pub fn cached_bytes(&self) -> (u64, u64) {
        (self.filter_use.cached_bytes() as u64, self.engine.cache().bytes() as u64)
    }

    /// Free bytes on the disk of the database. `None` if the system does not report them.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        free_bytes(&self.root)
    }

    /// Bytes on disk by part: one part for the tables of each column family, and [`LOGS`] for the other
    /// files.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be read, or an error of the engine.
    pub fn bytes_by_part(&self) -> Result<Vec<(&'static str, u64)>> {
        let mut parts = Vec::with_capacity(FAMILIES.len() + 1);
        for name in FAMILIES {
            parts.push((name, self.engine.table_bytes(name)?));
        }
        let path = self.root.join(format::STORE);
        let mut total = 0;
        for entry in std::fs::read_dir(&path).map_err(Error::io("measure", &path))? {
            // A file that a writer removes meanwhile counts as 0 bytes.
            total += entry.and_then(|entry| entry.metadata()).map_or(0, |metadata| metadata.len());
        }
        let tables: u64 = parts.iter().map(|&(_, bytes)| bytes).sum();
        parts.push((LOGS, total.saturating_sub(tables)));
        Ok(parts)
    }
}
