//! Stop: lets the caller of long work stop it early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Stops long work early, from any thread. All clones of a token share one state: stopping any of them stops
/// all, permanently.
///
/// A stopped ingest or merge commits the documents that are complete, and reports this in its summary. It
/// drops documents that it has not started. Any other work ends with [`Error::Stopped`] and changes nothing.
///
/// ```
/// # use fpdb_host::stop as fpdb;
/// let token = fpdb::StopToken::new();
/// let theirs = token.clone();
/// std::thread::spawn(move || theirs.stop()).join().unwrap();
/// assert!(token.is_stopped());
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopToken(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    stopped: AtomicBool,
    parent: Option<StopToken>,
    /// Number of checks after which the token counts as stopped. Tests use this to stop work at each check in
    /// turn.
    looks: Option<AtomicU64>,
}

impl StopToken {
    /// A token that is not stopped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work with this token to end.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// True after a call of [`Self::stop`].
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        if let Some(looks) = &self.0.looks
            && looks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |looks| looks.checked_sub(1)).is_err()
        {
            return true;
        }
        self.0.stopped.load(Ordering::Relaxed) || self.0.parent.as_ref().is_some_and(Self::is_stopped)
    }

    /// A token that is stopped with this one, but can also be stopped alone. Work that fails stops its own
    /// threads with such a token, and does not stop the caller's token.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Flag { parent: Some(self.clone()), ..Flag::default() }))
    }

    /// A token that is stopped after `looks` checks, for tests.
    #[doc(hidden)]
    pub fn after(looks: u64) -> Self {
        Self(Arc::new(Flag { looks: Some(looks.into()), ..Flag::default() }))
    }

    /// Number of checks left before a token made by [`Self::after`] stops.
    #[doc(hidden)]
    pub fn looks_left(&self) -> u64 {
        self.0.looks.as_ref().map_or(0, |looks| looks.load(Ordering::Relaxed))
    }

    /// Returns an error if the work should end.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the token is stopped.
    #[doc(hidden)]
    pub fn check(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_stopped_with_its_parent_and_alone() {
        let token = StopToken::new();
        let (one, other) = (token.child(), token.child());
        one.stop();
        assert!(one.is_stopped() && !other.is_stopped() && !token.is_stopped());
        assert!(token.check().is_ok());
        token.clone().stop();
        assert!(other.is_stopped() && matches!(token.check(), Err(Error::Stopped)));
    }
}
