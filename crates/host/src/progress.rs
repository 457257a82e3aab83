//! Progress: what long work reports while it runs, and the task that carries it together with a [`StopToken`].

use std::fmt;

use crate::error::{Error, Result};
use crate::stop::StopToken;

/// The result of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is new.
    Added,
    /// It replaced the stored document of its name.
    Replaced,
    /// It is stored already, and the same.
    Unchanged,
    /// It has changed, and the stored one was kept.
    Kept,
}

/// Receives what long work reports. Every method does nothing unless it is implemented, so an implementation names only
/// what it shows. `()` shows nothing.
///
/// A method must not call anything of the database that changes it or waits for changes: the call would wait for the work that reports. It is
/// [`Error::WaitsForItself`] on the threads that a method is said to be called from below, but for "any thread", where the call may never
/// return.
pub trait Progress: Sync {
    /// `done` of `total` things are done; 0 where the total is not known. `step` names them: "documents compared". Called
    /// from any thread.
    fn step(&self, _step: &'static str, _done: u64, _total: u64) {}

    /// An ingest has read `bytes` more bytes of its files. Called from any thread.
    fn read(&self, _bytes: u64) {}

    /// A document has been added in this format, or was stored already. This and all below are called from the thread that
    /// called the ingest.
    fn document(&self, _name: &str, _outcome: Outcome, _format: &str) {}

    /// The document that was added last has no text: an image of a page, say.
    fn without_text(&self, _name: &str) {}

    /// A container that an earlier run ingested whole has not changed; it holds so many documents.
    fn unchanged(&self, _name: &str, _documents: u64) {}

    /// Something is not a document, for this reason.
    fn skipped(&self, _name: &str, _reason: &'static str) {}

    /// A document could not be read. The run goes on.
    fn failed(&self, _name: &str, _error: &Error) {}

    /// A stored document has been deleted, because the container it came from no longer holds it.
    fn removed(&self, _name: &str) {}

    /// A stored document has been deleted, because its file is gone (`IngestOptions::prune`).
    fn pruned(&self, _name: &str) {}

    /// A stored document stays though its file `source` is gone: it has a name of a folder of this run, and was read from another place.
    fn elsewhere(&self, _name: &str, _source: &str) {}

    /// A stored document has got a new name, because its file has.
    fn renamed(&self, _old: &str, _new: &str) {}

    /// A commit has been made: this run's first `documents` documents are safe.
    fn committed(&self, _documents: u64) {}
}

impl Progress for () {}

/// How the caller follows long work and ends it early: the last argument of every call that may be long. Calls without one read a few
/// records, or the records alone.
///
/// ```
/// use fpdb::{Progress, StopToken, Task};
///
/// struct Shown;
/// impl Progress for Shown {
///     fn step(&self, step: &'static str, done: u64, total: u64) {
///         eprintln!("{step}: {done} of {total}");
///     }
/// }
///
/// let token = StopToken::new();
/// let task = Task::new().progress(&Shown).stop(&token);
/// # let _ = task;
/// ```
#[derive(Clone)]
pub struct Task<'a> {
    progress: &'a dyn Progress,
    stop: StopToken,
}

impl<'a> Task<'a> {
    /// A task that shows nothing and runs to its end.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports to `progress`.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self { progress, ..self }
    }

    /// Ends once `token` is stopped.
    #[must_use]
    pub fn stop(self, token: &StopToken) -> Self {
        Self { stop: token.clone(), ..self }
    }

    /// The same, which reports nothing.
    #[doc(hidden)]
    pub fn silent(&self) -> Task<'static> {
        Task { progress: &(), stop: self.stop.clone() }
    }

    /// Where to report.
    #[doc(hidden)]
    pub fn reports(&self) -> &'a dyn Progress {
        self.progress
    }

    /// The token that ends it.
    #[doc(hidden)]
    pub fn token(&self) -> &StopToken {
        &self.stop
    }

    /// Reports a step.
    ///
    /// # Errors
    /// [`Error::Stopped`] once the task is to end.
    #[doc(hidden)]
    pub fn step(&self, step: &'static str, done: u64, total: u64) -> Result<()> {
        self.progress.step(step, done, total);
        self.stop.check()
    }
}

impl Default for Task<'_> {
    fn default() -> Self {
        Self { progress: &(), stop: StopToken::new() }
    }
}

impl fmt::Debug for Task<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("stop", &self.stop).finish_non_exhaustive()
    }
}

/// A step is reported once for so many things.
pub const STEP: u64 = 1 << 16;

/// True if a step is to be reported: now and then, for a report takes time too.
pub fn is_due(done: u64) -> bool {
    done.is_multiple_of(STEP)
}
