//! Turns: a lock between the threads that share an open store. One thread at a time changes the store; a full scan excludes
//! changes. The lock of the folder keeps other processes out.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The lock that threads wait for.
#[derive(Debug, Default)]
pub(super) struct Turns(RwLock<()>);

/// The right to change the store, for as long as this lives.
#[must_use]
pub(crate) struct Changing<'a>(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'a, ()>);

/// Excludes changes of the store for as long as this lives.
#[must_use]
pub(crate) struct Unchanged<'a>(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'a, ()>);

impl Turns {
    /// Waits for its turn to change the store. Deadlocks if the caller already holds a turn.
    pub(super) fn change_alone(&self) -> Changing<'_> {
        Changing(self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Excludes changes; waits for one that is under way. Deadlocks if the caller already holds a turn.
    pub(super) fn keep_unchanged(&self) -> Unchanged<'_> {
        Unchanged(self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}
