//! Merge: adds the documents of other databases without reading their texts again. Documents get new ids in
//! ascending order, and their positions and postings are copied.

use std::time::Instant;

use super::intake::{Intake, with_intake};
use super::kept_out::KeptOutContents;
use super::options::IngestOptions;
use super::summary::IngestSummary;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::stop::StopToken;
use fpdb_store::Store;

/// Adds the documents of `other` to the store. The memory limits the number of documents in a commit (about 1
/// KiB each). Each commit reads the postings of `other` once.
pub(crate) fn merge(store: &Store, other: &Store, options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary> {
    let started = Instant::now();
    options.check()?;
    if store.profile() != other.profile() {
        let (path, other, stored) = (other.root().to_owned(), *other.profile(), *store.profile());
        return Err(Error::OtherProfile { path, other: Box::new(other), stored: Box::new(stored) });
    }
    let summary = with_intake(store, (options, &KeptOutContents::of(store)?), task, |intake| {
        let summary = merge_into(intake, other, task)?;
        intake.with_lists_of(other, summary)
    })?;
    Ok(summary.ended(started))
}

fn merge_into(intake: &mut Intake<'_>, other: &Store, task: &Task<'_>) -> Result<IngestSummary> {
    // The ids of each added document, in `other` and here. Ids ascend in both databases, so postings stay in
    // order.
    let mut moved = Vec::new();
    let replaces = intake.replaces();
    let (mut left, mut last_source) = (false, None);
    let mut committed = intake.summary.counts();
    let (mut looked_at, documents) = (0, other.view().state().documents);
    other.for_each_document(|id, record| {
        if task.token().is_stopped() {
            left = true;
            return Ok(false);
        }
        looked_at += 1;
        task.reports().step("documents looked at", looked_at, documents);
        // The result equals that of an ingest of one document after the other: the last version of a name
        // stays.
        let superseded = replaces && other.newest_named(&record.name, |_| true)? != Some(id);
        let source = record.source.clone();
        if !superseded && let Some(new) = intake.resolve(record)? {
            moved.push((id, new));
            if last_source != source {
                intake.take_over_mark(other, source.as_deref())?;
                last_source = source;
            }
        }
        if intake.is_full() {
            intake.adopt(other, &moved)?;
            moved.clear();
            committed = intake.summary.counts();
        }
        Ok(true)
    })?;
    if left {
        // Committed documents stay; later decisions are dropped.
        intake.await_commit()?;
        return Ok(IngestSummary { interrupted: true, ..committed });
    }
    intake.adopt(other, &moved)?;
    // The work is done: a stop has no effect any more.
    intake.finish(&StopToken::new())
}
