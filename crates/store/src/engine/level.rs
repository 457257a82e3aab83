//! Level: RocksDB keeps its tables in levels. Level 0 has the newest tables.

use serde::{Deserialize, Serialize};

/// One level of the engine's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Level {
    /// The number of the level.
    pub level: u32,
    /// The number of its tables.
    pub files: u64,
    /// The total size of its tables in bytes.
    pub bytes: u64,
}

/// One table of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) family: String,
    pub(crate) number: u64,
    pub(crate) level: u32,
}
