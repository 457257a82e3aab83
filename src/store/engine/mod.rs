//! Engine: the options of RocksDB, and the sorted files that it takes over.

pub(super) mod options;
pub(super) mod sorted_file;
