//! Monitor: reports the step that a job works on, and how much of it is done.

use std::sync::atomic::{AtomicU64, Ordering};

use fpdb_host::error::Result;
use fpdb_host::progress::{STEP, Task};

/// A step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Reading,
    Counting,
    Collecting,
    Preparing,
    Deciding,
    Comparing,
    Superseding,
    Reconsidering,
}

impl Activity {
    fn step(self) -> &'static str {
        match self {
            Self::Reading => "texts read again",
            Self::Counting => "postings counted",
            Self::Collecting => "postings collected by document",
            Self::Preparing => "documents prepared",
            Self::Deciding => "documents decided",
            Self::Comparing => "documents compared with a block of survivors",
            Self::Superseding => "documents compared with newcomers",
            Self::Reconsidering => "survivors reconsidered",
        }
    }
}

/// Receives the progress of a job, and knows the total amount of work.
pub(super) struct Monitor<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) postings: u64,
    pub(super) documents: u64,
}

impl Monitor<'_> {
    /// # Errors
    /// [`fpdb_host::error::Error::Stopped`] if the job was asked to stop.
    pub(super) fn check(&self) -> Result<()> {
        self.task.token().check()
    }

    /// Reports `done` of `total`.
    pub(super) fn at(&self, activity: Activity, done: u64, total: u64) -> Result<()> {
        self.task.step(activity.step(), done, total)
    }

    /// Returns a counter for one thread that adds to `done`.
    pub(super) fn tally<'t>(&'t self, activity: Activity, done: &'t AtomicU64) -> ThreadCounts<'t> {
        ThreadCounts { monitor: self, activity, done, counted: 0 }
    }

    /// Adds `more` to `done`, and reports at intervals.
    pub(super) fn advance(&self, activity: Activity, done: &AtomicU64, more: u64) -> Result<()> {
        let before = done.fetch_add(more, Ordering::Relaxed);
        if before / STEP == (before + more) / STEP {
            return Ok(());
        }
        let total = match activity {
            Activity::Counting | Activity::Collecting => self.postings,
            _ => self.documents,
        };
        self.at(activity, (before + more).min(total), total)
    }
}

/// The counter of one thread. It adds to the common counter in portions: a counter that all threads write to
/// would cost more than the work.
pub(super) struct ThreadCounts<'a> {
    monitor: &'a Monitor<'a>,
    activity: Activity,
    done: &'a AtomicU64,
    counted: u64,
}

/// Size of a portion.
const PORTION: u64 = 1 << 12;

impl ThreadCounts<'_> {
    /// Counts `more`.
    ///
    /// # Errors
    /// [`fpdb_host::error::Error::Stopped`] if the job was asked to stop.
    pub(super) fn add(&mut self, more: u64) -> Result<()> {
        self.counted += more;
        if self.counted < PORTION {
            return Ok(());
        }
        self.monitor.advance(self.activity, self.done, std::mem::take(&mut self.counted))
    }
}
