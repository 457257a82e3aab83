//! Turns: a lock between the threads that share an open store. One thread at a time changes the store; a full scan excludes
//! changes. The lock of the folder keeps other processes out.
//!
//! Reading a few rows takes no lock: a view shows the state of one commit. A row that is missing belongs to a document that
//! was deleted since, or is damaged; the current view tells which.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Store, View};
use crate::error::{Error, Result};

/// The lock that threads wait for.
#[derive(Debug, Default)]
pub(super) struct Turns(RwLock<()>);

/// The right to change the store, for as long as this lives.
#[must_use]
pub(crate) struct Changing<'a>(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'a, ()>);

/// Excludes changes of the store for as long as this lives.
#[must_use]
pub(crate) struct Unchanged<'a>(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'a, ()>);

/// How often an answer is computed again because of commits.
const TRIES: usize = 100;

impl Store {
    /// Waits for its turn to change the store, which must have been opened for writing. Deadlocks if the caller already
    /// holds a turn.
    pub(crate) fn change_alone(&self) -> Changing<'_> {
        Changing(self.turns.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Excludes changes; waits for one that is under way. Deadlocks if the caller already holds a turn.
    pub(crate) fn keep_unchanged(&self) -> Unchanged<'_> {
        Unchanged(self.turns.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the answer of `ask`. Calls it again where a commit deleted a document while the answer was computed.
    pub(crate) fn retry_on_delete<T>(&self, mut ask: impl FnMut() -> Result<T>) -> Result<T> {
        for _ in 1..TRIES {
            let view = self.view();
            match ask() {
                Err(Error::NoSuchNumber { .. }) if !self.shows(&view) => {}
                outcome => return outcome,
            }
        }
        ask()
    }

    /// Makes something of the runs of a commit with `made`, and returns it with the view of that commit. Tries again where runs
    /// were folded in between; a cursor that exists keeps its run readable.
    pub(super) fn of_one_commit<T>(&self, mut made: impl FnMut(&View) -> Result<T>) -> Result<(Arc<View>, T)> {
        loop {
            let view = self.view();
            let made = made(&view)?;
            if self.shows(&view) {
                return Ok((view, made));
            }
        }
    }

    /// True where this is the last commit the store has seen.
    fn shows(&self, view: &View) -> bool {
        std::ptr::eq(view, &*self.view())
    }

    /// The error for a missing row of a document: damage, unless the document has been deleted.
    pub(super) fn missing_row(&self, document: u32, damage: impl FnOnce() -> Error) -> Error {
        match self.view().is_live(document) {
            true => damage(),
            false => Error::NoSuchNumber { number: document },
        }
    }
}
