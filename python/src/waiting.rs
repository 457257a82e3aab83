//! Waiting: long work runs on a separate thread without the interpreter's lock. The calling thread feeds it,
//! checks for signals and reports progress. An exception, such as one from Ctrl-C, stops the work at its next
//! commit, and is raised when the work has ended.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fpdb::{Outcome, Progress, Task};
use pyo3::prelude::*;

use crate::workers;

/// Interval of checks for signals and of progress reports.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Stops work from another thread: an ingest at its next commit, anything else at once.
#[pyclass(frozen, module = "fpdb")]
pub(crate) struct StopToken(fpdb::StopToken);

impl StopToken {
    /// A token that is stopped when this token is stopped. Stopping the returned token does not stop this
    /// one.
    pub(crate) fn child(&self) -> fpdb::StopToken {
        self.0.child()
    }
}

#[pymethods]
impl StopToken {
    #[new]
    fn new() -> Self {
        Self(fpdb::StopToken::new())
    }

    /// Asks all work that was given this token to end.
    fn stop(&self) {
        self.0.stop();
    }

    /// True if `stop` has been called.
    #[getter]
    fn stopped(&self) -> bool {
        self.0.is_stopped()
    }

    fn __repr__(&self) -> String {
        format!("StopToken(stopped={})", if self.0.is_stopped() { "True" } else { "False" })
    }
}

/// A tuple of a callback, which reports progress to the caller, and a token, by which the caller stops the
/// work.
#[derive(FromPyObject)]
pub(crate) struct Caller {
    /// Called with the name of the step, the number of its units that are done, their total number (0 if
    /// unknown) and the bytes read.
    #[pyo3(item(0))]
    progress: Option<Py<PyAny>>,
    #[pyo3(item(1))]
    stop: Option<Py<StopToken>>,
}

/// A message of the work to the thread that waits for it.
pub(crate) enum Event {
    /// The work requests more documents.
    Want,
    /// The work has ended.
    Done,
}

/// Hands documents to the work, on the thread that waits for it.
pub(crate) trait Feed: Send {
    /// Hands over the next portion, which the work has requested. If this fails, the work ends with the
    /// documents that it has received.
    fn feed(&mut self) -> PyResult<()>;
    /// Ends the documents.
    fn close(&mut self);
}

/// The feed of work that needs no documents.
impl Feed for () {
    fn feed(&mut self) -> PyResult<()> {
        Ok(())
    }

    fn close(&mut self) {}
}

/// The outcome of work, and the exception that ended it early.
pub(crate) struct Waited<T> {
    pub(crate) outcome: fpdb::Result<T>,
    pub(crate) raised: Option<PyErr>,
}

impl<T> Waited<T> {
    /// Returns the exception that ended the work early, or else the outcome. Use it for work whose partial
    /// answer is useless.
    pub(crate) fn whole(self) -> PyResult<T> {
        match self.raised {
            Some(raised) => Err(raised),
            None => self.outcome.map_err(crate::errors::raise),
        }
    }
}

/// Runs `work` to its end.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    caller: &Caller,
    feed: &mut dyn Feed,
    work: impl FnOnce(&Task<'_>, Sender<Event>) -> fpdb::Result<T> + Send,
) -> Waited<T> {
    let seen = Seen::default();
    py.detach(|| {
        // An exception stops this work, but not other work that uses the caller's token.
        let stop = caller.stop.as_ref().map_or_else(fpdb::StopToken::new, |token| token.get().child());
        let (sender, events) = channel();
        let task = Task::new().progress(&seen).stop(&stop);
        let work = move || {
            let done = sender.clone();
            let outcome = work(&task, sender);
            // This cannot fail, because the receiver exists until this thread has ended.
            let _ = done.send(Event::Done);
            outcome
        };
        let waited = workers::run(work, |running| {
            let (mut raised, mut looked) = (None, Instant::now());
            loop {
                let event = events.recv_timeout(TICK);
                if matches!(event, Ok(Event::Done) | Err(RecvTimeoutError::Disconnected)) {
                    break;
                }
                // Documents that were handed over before their source failed are still processed.
                if raised.is_none()
                    && matches!(event, Ok(Event::Want))
                    && let Err(error) = feed.feed()
                {
                    feed.close();
                    raised = Some(error);
                }
                if looked.elapsed() >= TICK && !stop.is_stopped() {
                    looked = Instant::now();
                    if let Err(error) = look(caller, &seen) {
                        stop.stop();
                        feed.close();
                        raised = Some(error);
                    }
                }
            }
            let outcome = running.join().unwrap_or_else(|panic| resume_unwind(panic));
            if raised.is_none() {
                raised = look(caller, &seen).err();
            }
            Waited { outcome, raised }
        });
        waited.unwrap_or_else(|source| Waited {
            outcome: Err(fpdb::Error::System { action: "start a thread", source }),
            raised: None,
        })
    })
}

/// Raises the exception of a signal, and reports progress.
fn look(caller: &Caller, seen: &Seen) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(progress) = &caller.progress else { return Ok(()) };
        let (step, done, total) = *seen.step.lock().unwrap_or_else(PoisonError::into_inner);
        let documents = seen.documents.load(Ordering::Relaxed);
        let bytes = seen.bytes.load(Ordering::Relaxed);
        let told = if documents > 0 { ("documents", documents, 0) } else { (step, done, total) };
        progress.call1(py, (told.0, told.1, told.2, bytes)).map(|_| ())
    })
}

/// The progress of work.
#[derive(Default)]
struct Seen {
    step: Mutex<(&'static str, u64, u64)>,
    documents: AtomicU64,
    bytes: AtomicU64,
}

impl Progress for Seen {
    fn step(&self, step: &'static str, done: u64, total: u64) {
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = (step, done, total);
    }

    fn read(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn document(&self, _: &str, _: Outcome, _: &str) {
        self.documents.fetch_add(1, Ordering::Relaxed);
    }

    fn unchanged(&self, _: &str, documents: u64) {
        self.documents.fetch_add(documents, Ordering::Relaxed);
    }
}
