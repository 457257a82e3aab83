//! Job lock: lets one run at a time continue a job.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::error::{Error, Result};

/// Locks the file of a job until it is closed. `path` is its path, for errors.
///
/// # Errors
/// [`Error::JobInUse`] if another run holds the lock; [`Error::Io`].
pub fn lock_job(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::JobInUse { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(Error::io("lock", path)(source)),
    }
}
