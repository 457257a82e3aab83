//! Progress: the reports of long work. A task combines them with a [`StopToken`].

use std::fmt;

use crate::error::{Error, Result};
use crate::skip_reason::SkipReason;
use crate::stop::StopToken;

/// The outcome of ingesting one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The document was added.
    Added,
    /// The document replaced the stored document of the same name.
    Replaced,
    /// The document is already stored, with the same content.
    Unchanged,
    /// The document has changed, but the stored version was kept.
    Kept,
}

/// Receives reports of long work. Every method does nothing by default, so implement only the reports that
/// you show. `()` shows nothing.
///
/// A method must not change the database or wait for a change of it: such a call would wait for the work that
/// makes the report. The comment of each method states the thread that calls the method. On that thread, such
/// a call returns [`Error::WaitsForItself`]. In a method that is called from "any thread", such a call may
/// deadlock.
pub trait Progress: Sync {
    /// `done` of `total` items of a step are done. `total` is 0 if unknown. `step` names the items:
    /// "documents compared". Called from any thread.
    fn step(&self, _step: &'static str, _done: u64, _total: u64) {}

    /// An ingest read `bytes` more bytes of its files. Called from any thread.
    fn read(&self, _bytes: u64) {}

    /// A document was ingested, with this outcome and format. This method and all methods below are called
    /// from the thread that called the ingest.
    fn document(&self, _name: &str, _outcome: Outcome, _format: &str) {}

    /// The document that is reported next, or an unchanged container, is stored and comes from the file at
    /// this absolute path.
    fn of_file(&self, _path: &str) {}

    /// The document reported last has no text; for example, it is a scanned page.
    fn without_text(&self, _name: &str) {}

    /// The document reported last has text, but too little for a fingerprint.
    fn too_short(&self, _name: &str) {}

    /// A container was not read again: it has not changed since an earlier run ingested all of it. It holds
    /// `documents` documents.
    fn unchanged(&self, _name: &str, _documents: u64) {}

    /// A new document is named `name`, the absolute path of its file, because the typed name already belongs
    /// to the document from the file at `other`. The flag is true if that file is gone and had other bytes.
    fn named_by_path(&self, _typed: &str, _name: &str, (_other, _had_other_bytes): (&str, bool)) {}

    /// The stored document of this name, which was read from `old`, is replaced by one that was read from
    /// `new`.
    fn replaced_from(&self, _name: &str, _old: &str, _new: &str) {}

    /// Two members of one file have this name and different contents. Only one of them stays.
    fn same_name(&self, _name: &str) {}

    /// An input was skipped because it is not a document, for this reason.
    fn skipped(&self, _name: &str, _reason: &SkipReason) {}

    /// A document could not be read. The run continues.
    fn failed(&self, _name: &str, _error: &Error) {}

    /// A stored document was deleted, because its container no longer holds it.
    fn removed(&self, _name: &str) {}

    /// A stored document was deleted, because its file is gone (`IngestOptions::prune`).
    fn pruned(&self, _name: &str) {}

    /// A stored document was kept although its file `source` is gone. Its name belongs to a folder of this
    /// run, but the document was read from another place.
    fn elsewhere(&self, _name: &str, _source: &str) {}

    /// A stored document was renamed, because its file was renamed.
    fn renamed(&self, _old: &str, _new: &str) {}

    /// The document `new` was added. It has the content of the stored document `old`, whose file is gone.
    fn moved(&self, _old: &str, _new: &str) {}

    /// A commit was made: the first `documents` documents of this run are now durable.
    fn committed(&self, _documents: u64) {}
}

impl Progress for () {}

/// Lets the caller follow long work and stop it early. A task is the last argument of every call that may
/// take long. Calls without a task read only a few records, or only the document records.
///
/// ```
/// # mod fpdb {
/// #     pub use fpdb_host::progress::{Progress, Task};
/// #     pub use fpdb_host::stop::StopToken;
/// # }
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
    /// A task that reports nothing and runs to its end.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends reports to `progress`.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self { progress, ..self }
    }

    /// Ends the work once `token` is stopped.
    #[must_use]
    pub fn stop(self, token: &StopToken) -> Self {
        Self { stop: token.clone(), ..self }
    }

    /// A task with the same token and without reports.
    #[doc(hidden)]
    pub fn silent(&self) -> Task<'static> {
        Task { progress: &(), stop: self.stop.clone() }
    }

    /// The receiver of reports.
    #[doc(hidden)]
    pub fn reports(&self) -> &'a dyn Progress {
        self.progress
    }

    /// The token that stops the work.
    #[doc(hidden)]
    pub fn token(&self) -> &StopToken {
        &self.stop
    }

    /// Reports a step.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the token is stopped.
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

/// Number of items per report of a step.
pub const STEP: u64 = 1 << 16;

/// True if a step should be reported now. Reports take time, so only every [`STEP`]-th item has one.
pub fn is_due(done: u64) -> bool {
    done.is_multiple_of(STEP)
}
