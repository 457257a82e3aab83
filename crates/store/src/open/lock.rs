//! Writer lock: only one process writes a database at a time. Other processes get an error that names the
//! writing process.
//!
//! The lock is a file lock of the operating system, so it ends with its process. The file holds the process
//! id, for error messages, and the time of locking. If that time changes while a reader opens the database, a
//! writer was active meanwhile. Nothing else is written, because the arguments of a process can hold secrets.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::codec::format::{ACTING, LOCK};
use crate::open::files::{SHORT, check_regular};
use fpdb_host::clock;
use fpdb_host::error::{Error, Result};
use fpdb_host::job_lock::open_job;

/// Number of tries and the pause between them: a writer waits a fifth of a second in all.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// A lock that is released on drop.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
    /// The id of the process that took the lock.
    process: u32,
}

/// Forked processes share the open file and its lock, so dropping must release the lock explicitly. A forked
/// process must not release it.
impl Drop for WriterLock {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // If this fails, the lock ends with the last process that has the file open.
            let _ = self.file.unlock();
        }
    }
}

impl WriterLock {
    /// Takes the lock of the database at `root`.
    ///
    /// # Errors
    /// [`Error::Locked`] names the process that holds it.
    pub(crate) fn take(root: &Path) -> Result<Self> {
        let path = root.join(LOCK);
        check_regular(&path).map_err(Error::io("open the lock file", &path))?;
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(Error::io("open the lock file", &path))?;
        let mut tries = 0;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                // A reader holds the lock for an instant while it opens the database.
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let mut text = String::new();
                    // Without a readable process id the error names none.
                    let _ = file.take(SHORT).read_to_string(&mut text);
                    let holder = text.lines().next().filter(|holder| !holder.is_empty()).unwrap_or("another process");
                    return Err(Error::Locked { path: root.to_owned(), holder: holder.to_owned() });
                }
                Err(TryLockError::Error(source)) => return Err(Error::Io { action: "lock", path, source }),
            }
        }
        let (seconds, nanoseconds) = clock::seconds_and_nanoseconds(SystemTime::now());
        let id = std::process::id();
        let mut lock = Self { file, process: id };
        let holder = format!("process {id}\nsince {seconds}.{nanoseconds:09}\n");
        let file = &mut lock.file;
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()))
            .map_err(Error::io("write the lock file", &path))?;
        Ok(lock)
    }
}

/// The lock for removing, moving, linking or marking files of documents. Two such operations at once, with
/// different reports, could each remove the survivors of the other.
#[derive(Debug)]
pub struct DocumentsLock {
    _file: File,
}

impl DocumentsLock {
    /// Takes the lock of the database at `root`. Readers and the writer do not wait for it.
    ///
    /// # Errors
    /// [`Error::DocumentsInUse`] if another process or thread holds it.
    pub(crate) fn take(root: &Path) -> Result<Self> {
        match open_job(&root.join(ACTING)) {
            Ok(file) => Ok(Self { _file: file }),
            Err(Error::JobInUse { .. }) => Err(Error::DocumentsInUse { path: root.to_owned() }),
            Err(error) => Err(error),
        }
    }
}

/// The text of the lock file, which identifies the last writer. `None` while a writer holds the lock.
///
/// Equal answers before and after a read mean that no writer was active in between.
pub(crate) fn last_writer(root: &Path) -> Result<Option<Vec<u8>>> {
    let path = root.join(LOCK);
    let mut file = match check_regular(&path).and_then(|()| File::open(&path)) {
        Ok(file) => file,
        // There is no lock file in a copied database: no process has written here.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Some(Vec::new())),
        Err(source) => return Err(Error::Io { action: "open", path, source }),
    };
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(source)) => return Err(Error::Io { action: "look at the lock of", path, source }),
    }
    let mut text = Vec::new();
    let read = (&mut file).take(SHORT).read_to_end(&mut text);
    // A process that is forked now would keep the lock.
    let _ = file.unlock();
    read.map_err(Error::io("read", &path))?;
    Ok(Some(text))
}
