//! Level: RocksDB keeps its tables in levels. Level 0 has the newest tables.

use rocksdb::LiveFile;
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

/// True if a compaction of these tables of one family would free nothing: no row is deleted or stored twice,
/// and few tables are small. A compaction closes a table when it has `file_bytes`.
pub(super) fn are_merged(tables: &[LiveFile], file_bytes: u64) -> bool {
    let [first, others @ ..] = tables else { return true };
    // In a level above 0, no two tables have the same keys.
    let of_one_level = others.is_empty() || first.level > 0 && others.iter().all(|table| table.level == first.level);
    let bytes: u64 = tables.iter().map(|table| table.size as u64).sum();
    let is_deleted = tables.iter().any(|table| table.num_deletions > 0);
    of_one_level && !is_deleted && tables.len() as u64 <= 2 * bytes.div_ceil(file_bytes)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;
    use crate::codec::format::DOCUMENTS;
    use crate::engine::{Access, Engine};

    #[test]
    fn tables_are_merged_by_one_compaction_until_rows_are_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path(), Access::New, 1 << 20).unwrap();
        // Tables of a few kilobytes instead of hundreds of megabytes.
        let bytes = 8 << 10;
        engine.set_table_bytes(DOCUMENTS, bytes);
        let tables = || {
            let tables = engine.db.live_files().unwrap().into_iter();
            tables.filter(|table| table.column_family_name == DOCUMENTS).collect::<Vec<_>>()
        };
        let state = || (tables().len() > 4, are_merged(&tables(), bytes));
        assert!(are_merged(&tables(), bytes));
        // The values do not compress.
        let row = |key: u32| {
            let value: Vec<u8> =
                (0..6u32).flat_map(|at| xxh3_128(&[key, at].map(u32::to_be_bytes).concat()).to_be_bytes()).collect();
            engine.put_row(DOCUMENTS, &key.to_be_bytes(), &value);
        };
        (0..1000).for_each(row);
        engine.move_rows(DOCUMENTS);
        assert_eq!(state(), (true, true), "{:?}", tables());
        let names = |tables: Vec<LiveFile>| tables.into_iter().map(|table| table.name).collect::<Vec<_>>();
        let before = names(tables());
        // Later rows are in a table of level 0, even if no row is written twice.
        row(1000);
        engine.flush(DOCUMENTS);
        assert_eq!(state(), (true, false));
        engine.move_rows(DOCUMENTS);
        assert_eq!(state(), (true, true), "{:?}", tables());
        assert_ne!(names(tables()), before);
        engine.delete_row(DOCUMENTS, &[0; 4]);
        engine.flush(DOCUMENTS);
        assert_eq!(state(), (true, false));
        // A compaction makes few tables of many small ones.
        let of_last_level: Vec<_> = tables().into_iter().filter(|table| table.level > 0).collect();
        assert!(are_merged(&of_last_level, bytes) && !are_merged(&of_last_level, 64 * bytes));
    }
}
