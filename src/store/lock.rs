//! Writer lock: one process writes a database at a time, and the others are told which.
//!
//! The lock is the operating system's lock on an open file, so it ends with its holder however that
//! ends; the file's text names the holder for the error message only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use super::format::LOCK;
use crate::error::{Error, Result};

/// Held as long as it lives.
#[derive(Debug)]
pub(super) struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Takes the lock of the database at `root`.
    ///
    /// # Errors
    /// [`Error::Locked`] names the process that holds it.
    pub(super) fn take(root: &Path) -> Result<Self> {
        let path = root.join(LOCK);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(Error::io("open the lock file", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // The holder's name is a courtesy: unreadable, it is left out.
                let _ = file.read_to_string(&mut holder);
                let holder = match holder.trim() {
                    "" => "another process".to_owned(),
                    named => named.to_owned(),
                };
                return Err(Error::Locked { path: root.to_owned(), holder });
            }
            Err(TryLockError::Error(source)) => {
                return Err(Error::Io { action: "lock", path, source });
            }
        }
        let program = std::env::args_os().next().unwrap_or_default();
        let program = Path::new(&program).file_name().unwrap_or_default().display().to_string();
        let command = std::env::args_os().nth(1).unwrap_or_default().display().to_string();
        let holder = format!("process {} ({program} {command})", std::process::id());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()))
            .map_err(Error::io("write the lock file", &path))?;
        Ok(Self { _file: file })
    }
}
