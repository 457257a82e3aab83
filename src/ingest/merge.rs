//! Merge: the documents of other databases become part of this one, as if they had been ingested, without
//! their texts being read again.

use std::time::Instant;

use super::intake::{Intake, with_intake};
use super::options::IngestOptions;
use super::summary::IngestSummary;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::stop::StopToken;
use fpdb_store::Store;

/// Adds the documents of `other` to the store. As many go into one commit as the memory allowed has room for their
/// records, some 1 KiB each; each commit reads the other's postings once.
pub(crate) fn merge(store: &Store, other: &Store, options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary> {
    let started = Instant::now();
    options.check()?;
    if store.profile() != other.profile() {
        let (path, other, stored) = (other.root().to_owned(), *other.profile(), *store.profile());
        return Err(Error::OtherProfile { path, other: Box::new(other), stored: Box::new(stored) });
    }
    let summary = with_intake(store, options, task, |intake| merge_into(intake, other, task))?;
    if !summary.interrupted {
        store.adopt_sources(other)?;
    }
    Ok(summary.ended(started))
}

fn merge_into(intake: &mut Intake<'_>, other: &Store, task: &Task<'_>) -> Result<IngestSummary> {
    // Where each document of the other goes; ids ascend in both, so that postings stay in order.
    let mut moved = Vec::new();
    let replaces = intake.replaces();
    let mut left = false;
    let mut committed = IngestSummary::default();
    let (mut looked_at, documents) = (0, other.view().state().documents);
    other.for_each_document(|id, record| {
        if task.token().is_stopped() {
            left = true;
            return Ok(false);
        }
        looked_at += 1;
        task.reports().step("documents looked at", looked_at, documents);
        // Ingested one after the other, the last version of a name is the one that stays.
        let superseded = replaces && other.newest_named(&record.name, |_| true)? != Some(id);
        if !superseded && let Some(new) = intake.resolve(record)? {
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
        // Committed documents stay; decisions since then are not written.
        intake.await_commit()?;
        return Ok(IngestSummary { interrupted: true, ..committed });
    }
    intake.adopt(other, &moved)?;
    // Nothing is left to be stopped.
    intake.finish(&StopToken::new())
}
