//! Merge: the documents of other databases become part of this one, as if they had been ingested, without
//! their texts being read again.

use std::sync::atomic::{AtomicBool, Ordering};

use super::intake::{Intake, with_intake};
use super::{IngestObserver, IngestOptions, IngestSummary};
use crate::error::{Error, Result};
use crate::store::Store;

/// Adds the documents of `other` to the store. As many go into one commit as the memory allowed has room for their
/// records, some 1 KiB each; each commit reads the other's postings once.
pub(crate) fn merge(
    store: &Store,
    other: &Store,
    options: &IngestOptions,
    stop: &AtomicBool,
    observer: &dyn IngestObserver,
) -> Result<IngestSummary> {
    options.check()?;
    if store.profile() != other.profile() {
        let (path, other, stored) = (other.root().to_owned(), *other.profile(), *store.profile());
        return Err(Error::OtherProfile { path, other: Box::new(other), stored: Box::new(stored) });
    }
    with_intake(store, options, observer, |intake| merge_into(intake, other, stop, observer))
}

fn merge_into(
    intake: &mut Intake<'_>,
    other: &Store,
    stop: &AtomicBool,
    observer: &dyn IngestObserver,
) -> Result<IngestSummary> {
    // Where each document of the other goes; ids ascend in both, so that postings stay in order.
    let mut moved = Vec::new();
    let replaces = intake.replaces();
    let mut left = false;
    let mut committed = IngestSummary::default();
    other.for_each_document(|id, record| {
        if stop.load(Ordering::Relaxed) {
            left = true;
            return Ok(false);
        }
        observer.read(record.bytes);
        // Ingested one after the other, the last version of a name is the one that stays.
        let superseded = replaces && other.newest_named(&record.name, |_| true)? != Some(id);
        if !superseded && let Some(new) = intake.settle(record)? {
            moved.push((id, new));
        }
        if intake.is_full() {
            intake.adopt(other, &moved)?;
            moved.clear();
            committed = intake.summary.counts();
        }
        Ok(true)
    })?;
    if left {
        // What is committed stays; what was settled since is not written.
        intake.await_commit()?;
        return Ok(IngestSummary { interrupted: true, ..committed });
    }
    intake.adopt(other, &moved)?;
    // Nothing is left to be stopped.
    intake.finish(&AtomicBool::new(false))
}
