//! Level: the engine keeps its tables in levels, the newest at level 0.

use serde::{Deserialize, Serialize};

/// One level of the engine's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Level {
    /// Its number.
    pub level: u32,
    /// Its tables.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// One table of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) family: String,
    pub(crate) number: u64,
    pub(crate) level: u32,
}
