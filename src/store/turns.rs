//! Turns: one at a time changes an open store, and none while somebody needs all of it to stay as it is. The lock of the
//! folder keeps other processes out; this keeps the threads of one apart that share a store.
//!
//! Whoever reads a few rows needs no turn: a view shows the state of one commit, and what has gone since is told from what
//! is damaged by asking the view of now.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Store, View};
use crate::error::{Error, Result};

/// What threads wait for.
#[derive(Debug, Default)]
pub(super) struct Turns(RwLock<()>);

/// Nobody else changes the store as long as it lasts.
#[must_use]
pub(crate) struct Changing<'a>(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'a, ()>);

/// Nobody changes the store as long as it lasts.
#[must_use]
pub(crate) struct Unchanged<'a>(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'a, ()>);

/// How often an answer is begun anew because of commits.
const TRIES: usize = 100;

impl Store {
    /// Waits for its turn to change the store, which must have been opened for writing. Deadlocks if the caller already
    /// holds a turn.
    pub(crate) fn change_alone(&self) -> Changing<'_> {
        Changing(self.turns.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until nobody changes the store. Not to be asked for by who has a turn.
    pub(crate) fn keep_unchanged(&self) -> Unchanged<'_> {
        Unchanged(self.turns.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What `ask` finds, asked again where a document was deleted while it was looked at.
    pub(crate) fn settled<T>(&self, mut ask: impl FnMut() -> Result<T>) -> Result<T> {
        for _ in 1..TRIES {
            let view = self.view();
            match ask() {
                Err(Error::NoSuchNumber { .. }) if !self.shows(&view) => {}
                outcome => return outcome,
            }
        }
        ask()
    }

    /// What is `made` of the runs of a commit, with its view. Runs can be folded away in between; a cursor that was there
    /// before keeps its run.
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

    /// The error of something missing of a document: none of it is there any more once it is deleted.
    pub(super) fn gone(&self, document: u32, damage: impl FnOnce() -> Error) -> Error {
        match self.view().is_live(document) {
            true => damage(),
            false => Error::NoSuchNumber { number: document },
        }
    }
}
