//! Reopening: opens the database again, after a commit of another process or after a failed write.
//!
//! A service that only reads shows each commit of other processes. A service that writes opens the database
//! again after a failed write, such as on a full disk. Until then, the store takes no changes. Opening the
//! store again replays its log, as a restart of the service does, so committed documents are safe.
//!
//! Requests can read at any time. Until the database is open for writing again, they read with a handle that
//! is open for reading only.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fpdb::{Database, DatabaseBuilder, DatabaseWriter, Error};

use crate::log;

/// Pause between two attempts.
pub(crate) const PAUSE: Duration = Duration::from_secs(5);

/// Time for which an attempt waits until requests give back the handles that they read with.
const PATIENCE: Duration = Duration::from_secs(2);

/// Number of free bytes that the disk must have before the store is closed to open it again.
const ROOM: usize = 16 << 20;

/// The handle that all requests read with; `None` once the service has ended.
#[derive(Clone)]
pub(crate) struct Reader(Arc<Mutex<Option<Database>>>);

impl Reader {
    pub(crate) fn new(database: Database) -> Self {
        Self(Arc::new(Mutex::new(Some(database))))
    }

    fn handle(&self) -> std::sync::MutexGuard<'_, Option<Database>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self) -> Option<Database> {
        self.handle().clone()
    }

    pub(crate) fn close(&self) {
        drop(self.handle().take());
    }

    /// Shows the last commit of another process. Returns false if that commit is already shown.
    pub(crate) fn follow(&self) -> fpdb::Result<bool> {
        let Some(database) = self.get() else { return Ok(false) };
        let newer = database.refreshed()?;
        let is_new = newer.is_some();
        newer.into_iter().for_each(|newer| self.replace(newer));
        Ok(is_new)
    }

    /// Replaces the handle. Does nothing after the end of the service.
    fn replace(&self, database: Database) {
        if let Some(handle) = self.handle().as_mut() {
            *handle = database;
        }
    }
}

/// Opens a database again.
pub(crate) struct Reopening {
    path: PathBuf,
    builder: DatabaseBuilder,
    reader: Reader,
    tried: Option<Instant>,
}

impl Reopening {
    pub(crate) fn new(path: PathBuf, builder: DatabaseBuilder, reader: Reader) -> Self {
        Self { path, builder, reader, tried: None }
    }

    /// Opens the database again, unless the last attempt was less than [`PAUSE`] ago. `writer` is the stopped
    /// writer, or `None` if an earlier attempt has closed it. Returns true if the database was opened.
    pub(crate) fn attempt(&mut self, writer: &mut Option<DatabaseWriter>) -> bool {
        if self.tried.is_some_and(|tried| tried.elapsed() < PAUSE) {
            return false;
        }
        let opened = self.open_again(writer);
        self.tried = Some(Instant::now());
        match &opened {
            Ok(()) => log::event("the database is open for changes again", ""),
            Err(error) => log::event("the database takes no changes", &error.chain()),
        }
        opened.is_ok()
    }

    fn open_again(&self, writer: &mut Option<DatabaseWriter>) -> fpdb::Result<()> {
        self.check_room()?;
        if writer.is_some() {
            self.reader.replace(self.builder.open(&self.path)?);
            drop(writer.take());
        }
        let began = Instant::now();
        let opened = loop {
            match self.builder.open_writer(&self.path) {
                // Requests still read with the old handle.
                Err(Error::Locked { .. }) if began.elapsed() < PATIENCE => {}
                opened => break opened?,
            }
        };
        self.reader.replace(opened.reader());
        *writer = Some(opened);
        Ok(())
    }

    /// Checks that the disk has [`ROOM`]: writes a file without a name beside the store.
    fn check_room(&self) -> fpdb::Result<()> {
        let failed = |source| Error::Io { action: "write a file of 16 MiB in", path: self.path.clone(), source };
        let mut file = tempfile::tempfile_in(&self.path).map_err(failed)?;
        let part = vec![0; 1 << 20];
        (0..ROOM).step_by(part.len()).try_for_each(|_| file.write_all(&part)).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use fpdb::{Document, Profile};

    use super::*;

    #[test]
    fn without_room_the_stopped_writer_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let mut writer = Some(Database::create(&path, Profile::PROSE).unwrap());
        let reader = Reader::new(writer.as_ref().unwrap().reader());
        let nowhere = folder.path().join("none");
        let mut reopening = Reopening::new(nowhere, Database::builder(), reader);
        assert!(!reopening.attempt(&mut writer) && writer.is_some());
    }

    #[test]
    fn a_request_that_reads_with_the_old_handle_delays_the_opening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let builder = Database::builder().cache(1 << 20);
        let first = builder.create(&path, Profile::PROSE).unwrap();
        first.ingest([Document::new("a", "text")]).unwrap();
        let reader = Reader::new(first.reader());
        let mut writer = Some(first);
        let mut reopening = Reopening::new(path, builder, reader.clone());
        let of_request = reader.get().unwrap();
        assert!(!reopening.attempt(&mut writer));
        // New requests read with another handle, which has the same settings.
        assert_eq!(reader.get().unwrap().document_count(), 1);
        assert_eq!(reader.get().unwrap().stats().unwrap().cache.capacity, 1 << 20);
        drop(of_request);
        // The next attempt comes too soon.
        assert!(!reopening.attempt(&mut writer));
        reopening.tried = None;
        assert!(reopening.attempt(&mut writer));
        writer.as_ref().unwrap().ingest([Document::new("b", "text")]).unwrap();
        assert_eq!(reader.get().unwrap().document_count(), 2);
        // After the end of the service, no attempt opens the database for reading.
        reader.close();
        reopening.tried = None;
        assert!(reopening.attempt(&mut writer) && reader.get().is_none());
    }
}
