//! Job place: which folder holds the temporary files of a job, and which file its state.

use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::options::DedupOptions;
use crate::error::{Error, Result};
use crate::spill::TempSpace;

/// Where temporary files go: the folder asked for, else that of the database; where nothing can be written there, the
/// system's folder for temporary files.
pub(super) fn temp_space(root: &Path, asked: Option<&Path>) -> Result<TempSpace> {
    if let Some(folder) = asked {
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        return Ok(TempSpace::new(folder));
    }
    let root = root.canonicalize().map_err(Error::io("find", root))?;
    let beside = root.parent().unwrap_or(&root);
    let writable = tempfile::tempfile_in(beside).is_ok();
    Ok(TempSpace::new(if writable { beside.to_owned() } else { std::env::temp_dir() }.as_path()))
}

/// The file that the decisions of such a job are kept in. It does not depend on threads or memory.
pub(super) fn job_path(root: &Path, temp: &TempSpace, options: &DedupOptions) -> Result<PathBuf> {
    let root = root.canonicalize().map_err(Error::io("find", root))?;
    let name = root.file_name().map_or_else(|| "fpdb".into(), |name| name.to_string_lossy());
    let digest = xxh3_64(format!("{}, {:?}, {}", root.display(), options.mode, options.rule()).as_bytes());
    Ok(temp.folder().join(format!("{name}.dedup-{digest:016x}.job")))
}
