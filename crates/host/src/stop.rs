//! Stop: how the caller of long work ends it early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Ends long work early, from any thread. All clones of a token are one: stopping any of them stops all, for good.
///
/// An ingest or a merge that is stopped commits the documents it has whole, and says so in its summary. Documents that it was given and
/// had not worked on yet are dropped. Any other work ends with [`Error::Stopped`] and has changed nothing.
///
/// ```
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
    /// How many more looks at it find it not stopped: tests end work at each look in turn.
    looks: Option<AtomicU64>,
}

impl StopToken {
    /// A token that is not stopped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work that looks at this token to end.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// True once [`Self::stop`] has been called.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        if let Some(looks) = &self.0.looks
            && looks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |looks| looks.checked_sub(1)).is_err()
        {
            return true;
        }
        self.0.stopped.load(Ordering::Relaxed) || self.0.parent.as_ref().is_some_and(Self::is_stopped)
    }

    /// A token that is stopped with this one, and can be stopped alone: work that fails ends its own threads so, and leaves
    /// its caller's token as it was.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Flag { parent: Some(self.clone()), ..Flag::default() }))
    }

    /// A token that is stopped once it has been looked at `looks` times, for tests.
    #[doc(hidden)]
    pub fn after(looks: u64) -> Self {
        Self(Arc::new(Flag { looks: Some(looks.into()), ..Flag::default() }))
    }

    /// How many looks are left of [`Self::after`].
    #[doc(hidden)]
    pub fn looks_left(&self) -> u64 {
        self.0.looks.as_ref().map_or(0, |looks| looks.load(Ordering::Relaxed))
    }

    /// # Errors
    /// [`Error::Stopped`] once the work is to end.
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
