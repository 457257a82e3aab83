//! Moment: a snapshot of the rows of a store at one moment.

use std::sync::Arc;

use rocksdb::{DB, Snapshot};
use self_cell::self_cell;

self_cell!(
    /// A snapshot by the engine of all column families, and the store it belongs to.
    pub(super) struct Moment {
        owner: Arc<DB>,
        #[covariant]
        dependent: Snapshot,
    }
);

impl Moment {
    /// A snapshot of all rows that have been written.
    pub(super) fn now(db: &Arc<DB>) -> Self {
        Self::new(Arc::clone(db), |db| db.snapshot())
    }

    pub(super) fn rows(&self) -> &Snapshot<'_> {
        self.borrow_dependent()
    }
}
