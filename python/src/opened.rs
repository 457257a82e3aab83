//! Opened: a database that Python has opened. Only this process may use it, until it is closed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard};

use fpdb::{Database, DatabaseBuilder, DatabaseWriter};
use pyo3::prelude::*;

use crate::errors::{exception, poisoned, raise};
use crate::forked::skip_exit_handlers;

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

/// Bytes of memory, bytes of the cache, and number of threads, if given.
pub(crate) type Room = (Option<u64>, Option<usize>, Option<usize>);

/// A builder that opens databases with these resources.
pub(crate) fn builder((memory, cache, threads): Room) -> DatabaseBuilder {
    let mut builder = Database::builder();
    if let Some(memory) = memory {
        builder = builder.memory(memory);
    }
    if let Some(cache) = cache {
        builder = builder.cache(cache);
    }
    if let Some(threads) = threads {
        builder = builder.threads(threads);
    }
    builder
}

/// A database that Python has opened. It belongs to the process that opened it. Closing it releases its
/// handles, even while Python objects still refer to this value.
pub(crate) struct Opened {
    handles: Mutex<Handles>,
    /// The thread that moves the handle to the last commit holds this lock, so that no other thread moves the
    /// handle back.
    moving: Mutex<()>,
    path: PathBuf,
    process: u32,
}

/// The handles of an open database.
#[derive(Default)]
pub(crate) struct Handles {
    /// `None` once the database is closed.
    last: Option<Handle>,
    /// Number of times that the handle was moved to a later commit.
    moves: u64,
    /// The handles of [`Pinned`] values, by number.
    pinned: BTreeMap<u64, Handle>,
}

/// A handle for several calls. A reader shows one commit in all of them, even if the database is moved to a
/// later commit meanwhile.
pub(crate) struct Pinned {
    opened: Arc<Opened>,
    number: u64,
}

impl Pinned {
    /// The handle, as [`Opened::handle`] gives it.
    pub(crate) fn handle(&self) -> PyResult<Handle> {
        let last = self.opened.handle()?;
        // Closing the database releases pinned handles too.
        Ok(self.opened.handles()?.pinned.get(&self.number).cloned().unwrap_or(last))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // In a forked process, the handle stays until `Opened` is dropped.
        if self.opened.is_own() {
            let handle = self.opened.handles().map(|mut handles| handles.pinned.remove(&self.number));
            drop(handle);
        }
    }
}

thread_local! {
    /// The databases whose ingests wait for documents of this thread.
    static FED: RefCell<Vec<*const Opened>> = const { RefCell::new(Vec::new()) };
}

/// While this value exists, its thread feeds an ingest. A change of that database on this thread would wait
/// for the ingest, and the ingest would wait for the thread.
pub(crate) struct Feeding;

impl Drop for Feeding {
    fn drop(&mut self) {
        FED.with_borrow_mut(Vec::pop);
    }
}

/// In a forked process, the engine's threads are missing and the engine's locks may be held for ever. So a
/// forked process does not drop the handle.
impl Drop for Opened {
    fn drop(&mut self) {
        if process::id() != self.process
            && let Ok(handles) = self.handles.get_mut()
        {
            std::mem::forget(std::mem::take(handles));
        }
    }
}

impl Opened {
    pub(crate) fn new(handle: Handle, path: PathBuf) -> Self {
        let handles = Handles { last: Some(handle), ..Handles::default() };
        skip_exit_handlers();
        Self { handles: Mutex::new(handles), moving: Mutex::new(()), path, process: process::id() }
    }

    fn handles(&self) -> PyResult<MutexGuard<'_, Handles>> {
        self.handles.lock().map_err(|_| poisoned())
    }

    /// True if this process has opened the database.
    pub(crate) fn is_own(&self) -> bool {
        process::id() == self.process
    }

    /// The handle for reading. Do not keep it longer than for one call.
    pub(crate) fn handle(&self) -> PyResult<Handle> {
        if !self.is_own() {
            let message = format!(
                "the database at {} was opened by process {}, and this one was forked off it",
                self.path.display(),
                self.process
            );
            return Err(exception("ForkedError", &message, Some("open the database again in this process")));
        }
        self.handles()?.last.clone().ok_or_else(|| {
            let message = format!("the database at {} has been closed", self.path.display());
            exception("ClosedError", &message, Some("open it again with fpdb.open"))
        })
    }

    /// The handle for a call that waits for changes. Refuses a thread that feeds an ingest of this database.
    pub(crate) fn unchanged(&self) -> PyResult<Handle> {
        if FED.with_borrow(|fed| fed.contains(&std::ptr::from_ref(self))) {
            let message =
                format!("the database at {} waits for the documents that this code gives it", self.path.display());
            let hint = "do this before or after the ingest, not within the iterable that feeds it";
            return Err(exception("ParameterError", &message, Some(hint)));
        }
        self.handle()
    }

    /// The handle for changing the database.
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

    /// The handle for several calls that must show one commit.
    pub(crate) fn pin(self: &Arc<Self>) -> PyResult<Pinned> {
        let handle = self.handle()?;
        let mut handles = self.handles()?;
        let number = handles.pinned.last_key_value().map_or(0, |(last, _)| last + 1);
        handles.pinned.insert(number, handle);
        drop(handles);
        Ok(Pinned { opened: Arc::clone(self), number })
    }

    /// Replaces a reader's handle by one of the last commit. Returns true if this call, or another call in
    /// the meantime, has found a later commit.
    pub(crate) fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let moves = self.handles()?.moves;
        py.detach(|| {
            let _moving = self.moving.lock().map_err(|_| poisoned())?;
            let newer = self.handle()?.database().refreshed().map_err(raise)?;
            let mut handles = self.handles()?;
            let mut old = None;
            // A database that was closed meanwhile stays closed. Running calls keep their handle.
            if let (Some(newer), Some(last)) = (newer, &mut handles.last) {
                old = Some(std::mem::replace(last, Handle::Reader(newer)));
                handles.moves += 1;
            }
            let is_moved = handles.moves != moves;
            drop(handles);
            // This may close files, which takes time.
            drop(old);
            Ok(is_moved)
        })
    }

    /// Notes that this thread feeds an ingest of this database.
    pub(crate) fn feeding(&self) -> Feeding {
        FED.with_borrow_mut(|fed| fed.push(self));
        Feeding
    }

    /// Takes the handles. The database then counts as closed. Dropping the handles closes its files.
    pub(crate) fn take(&self) -> PyResult<Handles> {
        Ok(std::mem::take(&mut *self.handles()?))
    }

    pub(crate) fn is_closed(&self) -> PyResult<bool> {
        Ok(self.handles()?.last.is_none())
    }
}
