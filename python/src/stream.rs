//! Stream: rows that a thread of its own finds, handed over batch by batch. The thread is a few batches ahead at most, so that
//! memory does not grow with the answer.

use std::panic::resume_unwind;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use arrow_schema::SchemaRef;
use fpdb::{Error, Task};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow_output as arrow;
use crate::errors::{exception, poisoned, raise};
use crate::rows::{Answers, BATCH, Rows};
use crate::waiting::{StopToken, TICK};

/// Batches that wait to be read. The thread fills one more.
const AHEAD: usize = 2;

/// Rows as they are found. Each is read once.
#[pyclass(frozen, module = "fpdb._native")]
pub(crate) struct RowStream(Arc<Stream>);

struct Stream {
    schema: SchemaRef,
    /// None once all is read, or it is closed.
    work: Mutex<Option<Work>>,
    stop: fpdb::StopToken,
    /// Rows that were found and not read yet.
    held: Arc<AtomicUsize>,
}

/// The thread, and the batches that come from it.
struct Work {
    batches: Receiver<Answers>,
    thread: Option<JoinHandle<fpdb::Result<()>>>,
    stop: fpdb::StopToken,
    process: u32,
}

/// Ends the thread.
impl Drop for Work {
    fn drop(&mut self) {
        self.stop.stop();
        // A thread that waits to hand over a batch is told that nobody takes it.
        self.batches = sync_channel(0).1;
        // In a process that was forked off there is no such thread. Its outcome is of no use to anybody.
        if process::id() == self.process
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

impl RowStream {
    /// Begins `work`, which calls its argument with each row.
    pub(crate) fn begin<T: Send + 'static>(
        answers: fn(Vec<T>) -> Answers,
        stop: Option<&Py<StopToken>>,
        work: impl FnOnce(&Task<'_>, &mut dyn FnMut(T) -> fpdb::Result<()>) -> fpdb::Result<()> + Send + 'static,
    ) -> PyResult<Self> {
        let stop = stop.map_or_else(fpdb::StopToken::new, |token| token.get().child());
        let (sender, batches) = sync_channel(AHEAD);
        let (token, held) = (stop.clone(), Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&held);
        let run = move || {
            let mut rows = Vec::new();
            let send = |rows: Vec<T>| sender.send(answers(rows)).map_err(|_| Error::Stopped);
            work(&Task::new().stop(&token), &mut |row| {
                rows.push(row);
                counter.fetch_add(1, Ordering::Relaxed);
                if rows.len() < BATCH { Ok(()) } else { send(std::mem::take(&mut rows)) }
            })?;
            if rows.is_empty() { Ok(()) } else { send(rows) }
        };
        let thread = thread::Builder::new().name("fpdb rows".into()).spawn(run)?;
        let work = Work { batches, thread: Some(thread), stop: stop.clone(), process: process::id() };
        let (schema, work) = (answers(Vec::new()).schema(), Mutex::new(Some(work)));
        Ok(Self(Arc::new(Stream { schema, work, stop, held })))
    }
}

impl Stream {
    /// The next batch; `None` after the last one. `look` is called while it waits.
    fn next(&self, look: impl Fn() -> PyResult<()>) -> PyResult<Option<Answers>> {
        let mut guard = self.work.lock().map_err(|_| poisoned())?;
        let Some(work) = guard.as_mut() else { return Ok(None) };
        if process::id() != work.process {
            let hint = "ask again in this process";
            return Err(exception("ForkedError", "the rows come from a thread of another process", Some(hint)));
        }
        loop {
            match work.batches.recv_timeout(TICK) {
                Ok(answers) => {
                    self.held.fetch_sub(answers.len(), Ordering::Relaxed);
                    return Ok(Some(answers));
                }
                Err(RecvTimeoutError::Timeout) => look()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let outcome = work.thread.take().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        *guard = None;
        outcome.unwrap_or(Ok(())).map(|()| None).map_err(raise)
    }
}

#[pymethods]
impl RowStream {
    /// The next rows; `None` after the last ones.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Rows>> {
        let answers = py.detach(|| self.0.next(|| Python::attach(|py| py.check_signals())))?;
        Ok(answers.map(Rows::new))
    }

    /// Ends the search. There are no more rows then.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        // A thread that waits for rows lets go of the lock then.
        self.0.stop.stop();
        py.detach(|| self.0.work.lock().map(|mut work| *work = None).map_err(|_| poisoned()))
    }

    /// Rows that were found and not read yet.
    #[getter]
    fn held(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // By the protocol a producer may answer with its own schema.
        drop(requested_schema);
        let (stream, schema) = (Arc::clone(&self.0), self.0.schema.clone());
        // Signals are looked for on this thread only: another one might be waited for by a thread that has the interpreter.
        let home = thread::current().id();
        let look =
            move || if thread::current().id() == home { Python::attach(|py| py.check_signals()) } else { Ok(()) };
        arrow::stream(py, schema.clone(), move || match stream.next(look) {
            Ok(None) => None,
            Ok(Some(answers)) => Some(answers.batch(&schema, 0)),
            Err(error) => Some(Err(arrow::refused(&error))),
        })
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &self.0.schema)
    }
}
