//! Job lock: lets one run at a time continue a job.

use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::{DocumentError, Error, Result};

/// Opens the file of a job, and locks it until it is closed. The file is created if it is missing. Other
/// users may know the name of the file, so a symbolic link is not followed.
///
/// # Errors
/// [`DocumentError::NotAFile`]; [`Error::JobInUse`] if another run holds the lock; [`Error::Io`].
pub fn open_job(path: &Path) -> Result<File> {
    let not_a_file = || Error::Document(DocumentError::NotAFile { path: path.to_owned() });
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let opened = File::options().read(true).write(true).create(true).truncate(false).custom_flags(flags).open(path);
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP | Errno::ISDIR) => not_a_file(),
        _ => Error::io("create", path)(error),
    })?;
    if !file.metadata().map_err(Error::io("read", path))?.is_file() {
        return Err(not_a_file());
    }
    lock_job(&file, path)?;
    Ok(file)
}

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
