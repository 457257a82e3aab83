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
    if store.profile() != other.profile() {
        return Err(Error::ProfileMismatch { stored: Box::new(*store.profile()), asked: Box::new(*other.profile()) });
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
    other.for_each_document(|id, record| {
        observer.read(record.bytes);
        // Ingested one after the other, the last version of a name is the one that stays.
        let superseded = replaces && other.documents_named(&record.name)?.last() != Some(&id);
        if !superseded && let Some(new) = intake.settle(record)? {
            moved.push((id, new));
        }
        if intake.is_full() {
            intake.adopt(other, &moved)?;
            moved.clear();
        }
        Ok(!stop.load(Ordering::Relaxed))
    })?;
    if stop.load(Ordering::Relaxed) {
        // What is committed stays; what was settled since is not written.
        intake.await_commit()?;
        return Err(Error::Interrupted);
    }
    intake.adopt(other, &moved)?;
    intake.finish(stop)
}
