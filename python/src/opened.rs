//! Opened: a database that Python has opened, for this process only, until it is closed.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex};

use fpdb::{Database, DatabaseWriter};
use pyo3::prelude::*;

use crate::errors::{exception, poisoned, raise};

/// An open database: for reading, or for writing too.
#[derive(Clone)]
pub(crate) enum Handle {
    Reader(Database),
    Writer(Arc<DatabaseWriter>),
}

impl Handle {
    pub(crate) fn database(&self) -> &Database {
        match self {
            Self::Reader(database) => database,
            Self::Writer(writer) => writer,
        }
    }
}

/// A database that Python has opened. It belongs to the process that opened it. Closing it lets the handle
/// go, even while Python objects still refer to this.
pub(crate) struct Opened {
    handle: Mutex<Option<Handle>>,
    path: PathBuf,
    process: u32,
}

thread_local! {
    /// The databases whose ingests wait for documents of this thread.
    static FED: RefCell<Vec<*const Opened>> = const { RefCell::new(Vec::new()) };
}

/// While this lives its thread feeds an ingest: a change of that database would wait for the ingest, and the
/// ingest for it.
pub(crate) struct Feeding;

impl Drop for Feeding {
    fn drop(&mut self) {
        FED.with_borrow_mut(Vec::pop);
    }
}

/// In a process that was forked off, the engine's threads are not there, and its locks are as they were: the
/// handle is left alone.
impl Drop for Opened {
    fn drop(&mut self) {
        if process::id() != self.process
            && let Ok(handle) = self.handle.get_mut()
        {
            std::mem::forget(handle.take());
        }
    }
}

impl Opened {
    pub(crate) fn new(handle: Handle, path: PathBuf) -> Self {
        Self { handle: Mutex::new(Some(handle)), path, process: process::id() }
    }

    /// True if this is the process that has opened it.
    pub(crate) fn is_own(&self) -> bool {
        process::id() == self.process
    }

    /// The handle, to read with. It is not to be kept longer than for one call.
    pub(crate) fn handle(&self) -> PyResult<Handle> {
        if !self.is_own() {
            let message = format!(
                "the database at {} was opened by process {}, and this one was forked off it",
                self.path.display(),
                self.process
            );
            return Err(exception("ForkedError", &message, Some("open the database again in this process")));
        }
        self.handle.lock().map_err(|_| poisoned())?.clone().ok_or_else(|| {
            let message = format!("the database at {} has been closed", self.path.display());
            exception("ClosedError", &message, Some("open it again with fpdb.open"))
        })
    }

    /// The handle, to read with while no change is made.
    pub(crate) fn unchanged(&self) -> PyResult<Handle> {
        if FED.with_borrow(|fed| fed.contains(&std::ptr::from_ref(self))) {
            let message =
                format!("the database at {} waits for the documents that this code gives it", self.path.display());
            let hint = "do this before or after the ingest, not within the iterable that feeds it";
            return Err(exception("ParameterError", &message, Some(hint)));
        }
        self.handle()
    }

    /// The handle, to change the database with.
    pub(crate) fn writer(&self) -> PyResult<Arc<DatabaseWriter>> {
        match self.unchanged()? {
            Handle::Writer(writer) => Ok(writer),
            Handle::Reader(_) => {
                let message = format!("the database at {} is open for reading only", self.path.display());
                let hint = "open it with fpdb.open(path, write=True)";
                Err(exception("ParameterError", &message, Some(hint)))
            }
        }
    }

    /// Puts a handle on the last commit in the place of a reader's, and returns whether there was another
    /// commit.
    pub(crate) fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let handle = self.handle()?;
        let Some(newer) = py.detach(|| handle.database().refreshed()).map_err(raise)? else { return Ok(false) };
        // Closed meanwhile it stays closed. Calls at work keep the handle they have.
        if let Some(handle) = &mut *self.handle.lock().map_err(|_| poisoned())? {
            *handle = Handle::Reader(newer);
        }
        Ok(true)
    }

    /// Notes that this thread feeds an ingest of this database.
    pub(crate) fn feeding(&self) -> Feeding {
        FED.with_borrow_mut(|fed| fed.push(self));
        Feeding
    }

    /// Lets the handle go.
    pub(crate) fn take(&self) -> PyResult<Option<Handle>> {
        Ok(self.handle.lock().map_err(|_| poisoned())?.take())
    }

    pub(crate) fn is_closed(&self) -> PyResult<bool> {
        Ok(self.handle.lock().map_err(|_| poisoned())?.is_none())
    }
}
