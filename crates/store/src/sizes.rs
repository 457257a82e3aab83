//! Sizes: how many bytes a database takes, on disk and in memory.

use super::codec::format::{self, FAMILIES};
use super::engine::Level;
use super::handle::Store;
use fpdb_host::error::{Error, Result};

/// The part of a database's bytes that no table holds.
pub const LOGS: &str = "logs and manifest";

impl Store {
    /// The engine's tables, by level.
    pub fn levels(&self) -> Result<Vec<Level>> {
        self.engine.levels()
    }

    /// Bytes kept in memory of what was read, and the most that are.
    pub fn cached_bytes(&self) -> (u64, u64) {
        (self.filter_use.cached_bytes() as u64, self.engine.cache().bytes() as u64)
    }

    /// Bytes that are free on the disk of the database; `None` where the system does not tell.
    pub fn free_bytes(&self) -> Option<u64> {
        #[cfg(unix)]
        {
            let disk = rustix::fs::statvfs(&self.root).ok()?;
            Some(disk.f_bavail.saturating_mul(disk.f_frsize))
        }
        #[cfg(not(unix))]
        None
    }

    /// Bytes on disk: the tables of each column family, and what the engine keeps beside them.
    pub fn bytes_by_part(&self) -> Result<Vec<(&'static str, u64)>> {
        let mut parts = Vec::with_capacity(FAMILIES.len() + 1);
        for name in FAMILIES {
            parts.push((name, self.engine.table_bytes(name)?));
        }
        let path = self.root.join(format::STORE);
        let mut total = 0;
        for entry in std::fs::read_dir(&path).map_err(Error::io("measure", &path))? {
            // A file that a writer removes meanwhile takes no space.
            total += entry.and_then(|entry| entry.metadata()).map_or(0, |metadata| metadata.len());
        }
        let tables: u64 = parts.iter().map(|&(_, bytes)| bytes).sum();
        parts.push((LOGS, total.saturating_sub(tables)));
        Ok(parts)
    }
}
