//! Moment: the rows of a store as they were at one moment, whatever is written afterwards.

use std::sync::Arc;

use rocksdb::{DB, Snapshot};
use self_cell::self_cell;

self_cell!(
    /// The engine's snapshot of all families, and the store that it is of.
    pub(super) struct Moment {
        owner: Arc<DB>,
        #[covariant]
        dependent: Snapshot,
    }
);

impl Moment {
    /// All rows that have been written by now.
    pub(super) fn now(db: &Arc<DB>) -> Self {
        Self::new(Arc::clone(db), |db| db.snapshot())
    }

    pub(super) fn rows(&self) -> &Snapshot<'_> {
        self.borrow_dependent()
    }
}
