//! Stream: rows that a separate thread finds and passes on in batches. The thread is at most a few batches
//! ahead, so memory does not grow with the answer.

use std::panic::resume_unwind;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use arrow_schema::SchemaRef;
use fpdb::{Error, Task};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow_output as arrow;
use crate::errors::{exception, poisoned, raise};
use crate::rows::Answers;
use crate::waiting::{StopToken, TICK};

/// Maximum number of batches that wait to be read. The thread fills one more.
const AHEAD: usize = 2;

/// The name of a document that could not be read, and the reason.
pub(crate) type Failed = (String, String);

/// Rows as they are found. Each is read once.
#[pyclass(frozen, module = "fpdb._native")]
pub(crate) struct RowStream(Arc<Stream>);

struct Stream {
    schema: SchemaRef,
    reading: Mutex<Reading>,
    /// Number of Arrow streams that were made from this stream.
    arrow_readers: AtomicUsize,
    stop: fpdb::StopToken,
    /// Number of rows that are found but not read yet.
    held: Arc<AtomicUsize>,
    failed: Arc<Mutex<Vec<Failed>>>,
}

/// Receives the rows that the thread finds.
pub(crate) struct FoundRows<'a, T> {
    rows: Vec<T>,
    /// Number of rows in a batch.
    batch: usize,
    send: &'a dyn Fn(Vec<T>) -> fpdb::Result<()>,
    held: &'a AtomicUsize,
    failed: &'a Mutex<Vec<Failed>>,
}

impl<T> FoundRows<'_, T> {
    /// Hands over a row. Waits if the reader is behind.
    pub(crate) fn row(&mut self, row: T) -> fpdb::Result<()> {
        self.rows.push(row);
        self.held.fetch_add(1, Ordering::Relaxed);
        if self.rows.len() < self.batch { Ok(()) } else { (self.send)(std::mem::take(&mut self.rows)) }
    }

    /// Records a document that has no row, because it could not be read.
    pub(crate) fn failed(&mut self, failed: Failed) -> fpdb::Result<()> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).push(failed);
        Ok(())
    }
}

/// The state of reading. Each row is read once, so there is a single reader.
struct Reading {
    /// `None` once the thread has ended.
    work: Option<Work>,
    end: End,
    /// [`ROW_BY_ROW`], or the number of the Arrow stream that reads the remaining rows.
    reader: usize,
    /// The batch that is read row by row, and the number of its rows already read.
    batch: Option<(Answers, usize)>,
}

/// The reader of single rows.
const ROW_BY_ROW: usize = 0;

#[derive(PartialEq)]
enum End {
    No,
    /// The last row was read.
    Whole,
    /// The stream was closed or stopped, or has failed, before its last row.
    Cut,
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
        // Without a receiver, a thread that waits to send a batch gets an error and ends.
        self.batches = sync_channel(0).1;
        // A forked process does not have this thread. The outcome of the thread is not needed.
        if process::id() == self.process
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

impl RowStream {
    /// Starts `work` on a thread. Its rows are passed on in batches of `batch` rows.
    pub(crate) fn begin<T: Send + 'static>(
        answers: fn(Vec<T>) -> Answers,
        batch: usize,
        stop: Option<&Py<StopToken>>,
        work: impl FnOnce(&Task<'_>, &mut FoundRows<'_, T>) -> fpdb::Result<()> + Send + 'static,
    ) -> PyResult<Self> {
        let stop = stop.map_or_else(fpdb::StopToken::new, |token| token.get().child());
        let (sender, batches) = sync_channel(AHEAD);
        let (token, held, failed) = (stop.clone(), Arc::new(AtomicUsize::new(0)), Arc::default());
        let (counter, failures) = (Arc::clone(&held), Arc::clone(&failed));
        let run = move || {
            let send = |rows: Vec<T>| sender.send(answers(rows)).map_err(|_| Error::Stopped);
            let mut found = FoundRows { rows: Vec::new(), batch, send: &send, held: &counter, failed: &failures };
            work(&Task::new().stop(&token), &mut found)?;
            if found.rows.is_empty() { Ok(()) } else { send(found.rows) }
        };
        let thread = thread::Builder::new().name("fpdb rows".into()).spawn(run)?;
        let work = Work { batches, thread: Some(thread), stop: stop.clone(), process: process::id() };
        let reading = Reading { work: Some(work), end: End::No, reader: ROW_BY_ROW, batch: None };
        let (schema, arrow_readers) = (answers(Vec::new()).schema(), AtomicUsize::new(ROW_BY_ROW));
        Ok(Self(Arc::new(Stream { schema, reading: Mutex::new(reading), arrow_readers, stop, held, failed })))
    }
}

impl Reading {
    /// Makes `reader` the reader of the remaining rows. Fails if another Arrow stream reads these rows, or if
    /// all rows were read.
    fn claim(&mut self, reader: usize) -> PyResult<()> {
        if self.reader != reader && (self.reader != ROW_BY_ROW || self.end == End::Whole) {
            let message = "these rows have been read, or another reader has begun to: each row is read once";
            return Err(exception("ParameterError", message, Some("ask again, for a new stream")));
        }
        self.reader = reader;
        Ok(())
    }

    /// Ends the thread.
    fn cut(&mut self) {
        if self.work.take().is_some() {
            self.end = End::Cut;
        }
    }
}

impl Stream {
    fn reading(&self) -> PyResult<MutexGuard<'_, Reading>> {
        self.reading.lock().map_err(|_| poisoned())
    }

    /// The JSON of the next row; `None` after the last one. Calls `look` repeatedly while it waits.
    fn next_row(&self, look: impl Fn() -> PyResult<()>) -> PyResult<Option<String>> {
        let mut reading = self.reading()?;
        reading.claim(ROW_BY_ROW)?;
        loop {
            if let Some((answers, read)) = &mut reading.batch
                && *read < answers.len()
            {
                *read += 1;
                return answers.json(*read - 1).map(Some);
            }
            reading.batch = self.next_batch(&mut reading, &look)?.map(|answers| (answers, 0));
            if reading.batch.is_none() {
                return Ok(None);
            }
        }
    }

    /// The next batch of an Arrow stream, and the index of its first unread row. `None` after the last batch.
    fn next_of(&self, reader: usize, look: impl Fn() -> PyResult<()>) -> PyResult<Option<(Answers, usize)>> {
        let mut reading = self.reading()?;
        reading.claim(reader)?;
        // First comes the rest of the batch that was read row by row.
        if let Some((answers, read)) = reading.batch.take()
            && read < answers.len()
        {
            return Ok(Some((answers, read)));
        }
        if let Some(answers) = self.next_batch(&mut reading, &look)? {
            return Ok(Some((answers, 0)));
        }
        if reading.end == End::Cut {
            let message = "the stream ended before its last row: it was closed, stopped or has failed";
            return Err(exception("ClosedError", message, Some("ask again, for a new stream")));
        }
        Ok(None)
    }

    fn next_batch(&self, reading: &mut Reading, look: &impl Fn() -> PyResult<()>) -> PyResult<Option<Answers>> {
        let Some(work) = reading.work.as_mut() else { return Ok(None) };
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
        reading.work = None;
        let outcome = outcome.unwrap_or(Ok(()));
        reading.end = if outcome.is_ok() { End::Whole } else { End::Cut };
        outcome.map(|()| None).map_err(raise)
    }
}

#[pymethods]
impl RowStream {
    /// The JSON of the next row; `None` after the last one.
    fn next_row(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| self.0.next_row(|| Python::attach(|py| py.check_signals())))
    }

    /// Ends the search. Only the rest of the batch that is read row by row can still be read.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        // The stop wakes a thread that waits for rows, and that thread then releases the lock.
        self.0.stop.stop();
        py.detach(|| self.0.reading().map(|mut reading| reading.cut()))
    }

    /// Number of rows that are found but not read yet.
    #[getter]
    fn held(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    /// The documents that the thread could not read so far.
    #[getter]
    fn failed(&self) -> Vec<Failed> {
        self.0.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // By the protocol, a producer may ignore the requested schema.
        drop(requested_schema);
        let (stream, schema) = (Arc::clone(&self.0), self.0.schema.clone());
        // A stream claims the rows only when it is read, because libraries also make streams just to see the
        // schema.
        let reader = stream.arrow_readers.fetch_add(1, Ordering::Relaxed) + 1;
        // Only this thread checks for signals. On another thread, the check could deadlock: it needs the
        // interpreter's lock, whose holder may wait for that thread.
        let home = thread::current().id();
        let look =
            move || if thread::current().id() == home { Python::attach(|py| py.check_signals()) } else { Ok(()) };
        arrow::stream(py, schema.clone(), move || match stream.next_of(reader, look) {
            Ok(None) => None,
            Ok(Some((answers, from))) => Some(answers.batch(&schema, from)),
            Err(error) => Some(Err(arrow::refused(&error))),
        })
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &self.0.schema)
    }
}
