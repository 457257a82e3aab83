//! Monitor: how a job reports what it is at, and how much of it is done.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::progress::{STEP, Task};

/// What a job is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Counting,
    Collecting,
    Preparing,
    Deciding,
    Comparing,
    Reconsidering,
}

impl Activity {
    fn step(self) -> &'static str {
        match self {
            Self::Counting => "postings counted",
            Self::Collecting => "postings collected by document",
            Self::Preparing => "documents prepared",
            Self::Deciding => "documents decided",
            Self::Comparing => "documents compared with a block of survivors",
            Self::Reconsidering => "survivors reconsidered",
        }
    }
}

/// Where a job reports to, and how much there is to do.
pub(super) struct Monitor<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) postings: u64,
    pub(super) documents: u64,
}

impl Monitor<'_> {
    /// # Errors
    /// [`crate::Error::Stopped`] once the job is to end.
    pub(super) fn check(&self) -> Result<()> {
        self.task.token().check()
    }

    /// Reports `done` of `total`.
    pub(super) fn at(&self, activity: Activity, done: u64, total: u64) -> Result<()> {
        self.task.step(activity.step(), done, total)
    }

    /// Adds `more` to `done` and reports now and then.
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
