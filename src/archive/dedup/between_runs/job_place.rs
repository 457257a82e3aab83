//! Job place: finds the file that holds the state of a job.

use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::archive::dedup::options::DedupOptions;
use fpdb_host::error::{Error, Result};
use fpdb_host::spill::TempSpace;

/// The file for the decisions of a job with these options. Its name depends neither on threads nor on memory.
pub(in crate::archive::dedup) fn job_path(root: &Path, temp: &TempSpace, options: &DedupOptions) -> Result<PathBuf> {
    let root = root.canonicalize().map_err(Error::io("find", root))?;
    let name = root.file_name().map_or_else(|| "fpdb".into(), |name| name.to_string_lossy());
    let digest = xxh3_64(format!("{}, {}, {}", root.display(), options.mode.word(), options.rule()).as_bytes());
    Ok(temp.folder().join(format!("{name}.dedup-{digest:016x}.job")))
}
