//! Room: the memory for the bodies of requests. A request takes memory step by step, as its body arrives, so
//! a slow client holds little memory. All requests of one key together have a limited share.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::{Answer, Problem};

/// The memory that a body has taken, in permits of 1 KiB.
#[derive(Default)]
pub(crate) struct Room {
    kilobytes: usize,
    permits: Vec<OwnedSemaphorePermit>,
}

impl Room {
    /// Takes further permits, from each of these stores, until there is room for `bytes`.
    pub(crate) fn grow(&mut self, bytes: usize, stores: &[Arc<Semaphore>]) -> Answer<()> {
        let kilobytes = bytes.div_ceil(1 << 10);
        let more = u32::try_from(kilobytes.saturating_sub(self.kilobytes)).unwrap_or(u32::MAX);
        for store in stores {
            let taken = Arc::clone(store).try_acquire_many_owned(more).map_err(|_| Problem::busy())?;
            self.permits.push(taken);
        }
        self.kilobytes = self.kilobytes.max(kilobytes);
        Ok(())
    }
}
