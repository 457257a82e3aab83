//! File options: the options for writing sorted files without an open store.

use std::path::Path;

use super::options::{BlockCache, Tuning};
use super::sorted_file::SortedFiles;
use fpdb_host::error::Result;

/// The options of the files of all column families.
pub(crate) struct FileOptions(Tuning);

impl FileOptions {
    pub(crate) fn new() -> Result<Self> {
        let options = Tuning::new(&BlockCache::new(0));
        options.map(Self).map_err(|error| error.during("prepare for writing sorted files"))
    }

    /// A writer of sorted files for a family.
    pub(crate) fn sorted_files(&self, folder: &Path, family: &'static str, part: usize) -> Result<SortedFiles<'_>> {
        Ok(SortedFiles::new(folder, family, part, self.0.of(family)?))
    }
}
