//! Reread: adds the documents of another database by reading their texts again. So the other database may
//! have another profile or another version of the hash.
//!
//! A text is read from the other database if stored there, otherwise from the document's file. The text must
//! be the one that was ingested.

use std::ops::ControlFlow;
use std::time::Instant;

use super::intake::with_intake;
use super::kept_out::KeptOutContents;
use super::messages::{DocumentAgain, IntakeStep, JobEntry, ReadDocument};
use super::options::{IngestOptions, OnChange};
use super::record::{metadata_after, record_of};
use super::summary::IngestSummary;
use super::walker::Walker;
use super::{pipeline, within_memory};
use crate::query::{TextUnavailable, stored_place};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::progress::Task;
use fpdb_kernel::document::Format;
use fpdb_kernel::profile::Unit;
use fpdb_reading::input::{About, Candidate, ContainerBatch, Content, Pieces, ReadAs};
use fpdb_store::{DocumentRecord, Store, TEXT_CHUNK_BYTES};

/// Maximum number of documents that are looked up in their containers together: their records are in memory.
const TOGETHER: usize = 4096;

/// Chunks of a large stored text that may wait for the worker.
const CHUNKS_WAITING: usize = 4;

/// Adds the documents of `other` to the store, read again.
pub(crate) fn reread(store: &Store, other: &Store, options: &IngestOptions, task: &Task<'_>) -> Result<IngestSummary> {
    let started = Instant::now();
    let options = &within_memory(store, options)?;
    let kept_out = &KeptOutContents::of(store)?;
    let summary = with_intake(store, (options, kept_out), task, |intake| {
        pipeline::run(store, options, task, intake, |walker| Rereading::of(other, walker).run())?;
        let summary = intake.finish(task.token())?;
        intake.with_lists_of(other, summary)
    })?;
    Ok(summary.ended(started))
}

/// The format in which to read a document again: the stored format, since the user may have chosen it. The
/// format is recognised anew if only one of the databases holds source code, or if `from` is bytes.
pub(super) fn format_again(stored: &DocumentRecord, (from, to): (Unit, Unit)) -> ReadAs {
    let same_kind = (from == Unit::Token) == (to == Unit::Token) && from != Unit::Byte;
    match Format::named(&stored.format).filter(|_| same_kind) {
        Some(format) => ReadAs::Format(format),
        None => ReadAs::Auto,
    }
}

/// The walk over the documents of another database.
struct Rereading<'a, 'w> {
    other: &'a Store,
    walker: &'a mut Walker<'w>,
    batch: ContainerBatch,
    documents: Vec<(u32, DocumentRecord)>,
}

impl<'a, 'w> Rereading<'a, 'w> {
    fn of(other: &'a Store, walker: &'a mut Walker<'w>) -> Self {
        Self { other, walker, batch: ContainerBatch::default(), documents: Vec::new() }
    }

    fn run(mut self) -> Result<()> {
        let (mut looked_at, all) = (0, self.other.view().state().documents);
        self.other.for_each_document(|id, record| {
            if self.walker.stop.is_stopped() {
                return Ok(false);
            }
            looked_at += 1;
            self.walker.progress.step("documents looked at", looked_at, all);
            let place = stored_place(&record).filter(|_| !record.stored_text);
            let has_room = self.documents.len() < TOGETHER && place.is_none_or(|place| self.batch.expect(place));
            if !has_room {
                if self.hand_over()?.is_break() {
                    return Ok(false);
                }
                // A document that is larger than a batch is alone in its batch.
                place.map(|place| self.batch.expect(place));
            }
            self.documents.push((id, record));
            Ok(true)
        })?;
        // After a stop the intake ignores all further documents.
        let _ = self.hand_over()?;
        let _ = self.walker.hand_over();
        Ok(())
    }

    /// Hands the documents gathered so far over to the workers, in their order.
    fn hand_over(&mut self) -> Result<ControlFlow<()>> {
        let mut batch = std::mem::take(&mut self.batch);
        for (id, record) in std::mem::take(&mut self.documents) {
            if self.document(id, record, &mut batch)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn document(&mut self, id: u32, record: DocumentRecord, batch: &mut ContainerBatch) -> Result<ControlFlow<()>> {
        let options = self.walker.options;
        // The result equals that of an ingest of one document after the other: the last version of a name
        // stays.
        let replaces = options.on_change == OnChange::Replace;
        if replaces && self.other.newest_named(&record.name, |_| true)? != Some(id) {
            return Ok(ControlFlow::Continue(()));
        }
        if self.is_done(&record)? {
            return Ok(self.walker.step(IntakeStep::Unchanged(about(&record), record.format)));
        }
        if record.stored_text {
            return Ok(self.stored_text(id, record));
        }
        let Some(place) = stored_place(&record) else {
            let error = not_read_again(TextUnavailable::NotStored.document());
            return Ok(self.walker.step(IntakeStep::Failed { name: record.name, error }));
        };
        // The size of the container has no limit here, because the document would otherwise be lost.
        Ok(match batch.document(place, &options.read, u64::MAX, self.walker.stop) {
            Ok(candidate) => self.candidate(candidate, record),
            Err(error) if matches!(*error, Error::Stopped) => ControlFlow::Break(()),
            Err(error) => self.failed(record, &error),
        })
    }

    /// True if an earlier run has added the document.
    fn is_done(&self, record: &DocumentRecord) -> Result<bool> {
        let Walker { store, options, .. } = &*self.walker;
        let needs_text = record.stored_text || options.store_text;
        let done = store.newest_version(&record.name, &record.digest, |id| {
            let found = match store.document(id) {
                // The intake has deleted the document in the meantime.
                Err(_) if !store.view().is_live(id) => return Ok(false),
                found => found?,
            };
            let place = (record.name.as_str(), record.source.as_deref(), record.member.as_deref());
            let words = metadata_after(&found.metadata, place, record.metadata.clone(), options);
            Ok(found.source == record.source
                && words == found.metadata
                && (found.stored_text || !needs_text)
                && (found.boilerplate || !record.boilerplate))
        });
        Ok(done?.is_some())
    }

    fn stored_text(&mut self, id: u32, record: DocumentRecord) -> ControlFlow<()> {
        let about = about(&record);
        if record.bytes <= TEXT_CHUNK_BYTES as u64 {
            return match self.other.text(id, &record) {
                Ok(text) => self.candidate(Candidate { about, content: Content::Whole(text) }, record),
                Err(error) => self.failed(record, &error),
            };
        }
        let (sender, pieces) = Pieces::queue(CHUNKS_WAITING);
        self.candidate(Candidate { about, content: Content::Pieces(pieces) }, record.clone())?;
        let send = |chunk: &[u8]| if sender.send(chunk.to_vec()) { Ok(()) } else { Err(Error::Stopped) };
        // If the worker has dropped the document, the worker has already reported the reason.
        match self.other.for_each_text_chunk(id, &record, send) {
            Ok(()) => drop(sender.send(Vec::new())),
            Err(error) => drop(sender.fail(error)),
        }
        ControlFlow::Continue(())
    }

    fn candidate(&mut self, candidate: Candidate, stored: DocumentRecord) -> ControlFlow<()> {
        let read_as = format_again(&stored, (self.other.profile().unit(), self.walker.store.profile().unit()));
        let whole = match &candidate.content {
            Content::Whole(bytes) => Some(bytes.len() + size_of::<DocumentRecord>()),
            _ => None,
        };
        let entry = JobEntry::Again(Box::new(DocumentAgain { candidate, stored, read_as }));
        match whole {
            Some(bytes) => self.walker.entry(bytes, entry),
            None => {
                self.walker.hand_over()?;
                self.walker.job(vec![entry], None)
            }
        }
    }

    fn failed(&mut self, record: DocumentRecord, error: &Error) -> ControlFlow<()> {
        let error = not_read_again(error.chain());
        self.walker.step(IntakeStep::Failed { name: record.name, error })
    }
}

/// The error for a text that cannot be read again.
pub(super) fn not_read_again(reason: impl Into<String>) -> Error {
    Error::Document(DocumentError::NotReadAgain { reason: reason.into() })
}

/// The record of a document after it was read again.
pub(super) fn record_again(stored: &DocumentRecord, read: &ReadDocument, counts: (u64, u64)) -> DocumentRecord {
    let DocumentRecord { modified, ingested_at, .. } = *stored;
    DocumentRecord { source: stored.source.clone(), modified, ingested_at, ..record_of(about(stored), read, counts) }
}

/// The facts about a document whose bytes do not come from its file.
fn about(record: &DocumentRecord) -> About {
    // The document may have a name with another ending than its file.
    let file = record.source.clone().filter(|_| record.member.is_none());
    About {
        name: record.name.clone(),
        hint: file.unwrap_or_else(|| record.name.clone()).into(),
        file: None,
        member: record.member.clone(),
        modified: None,
        metadata: record.metadata.clone(),
        repeated: false,
        named: false,
    }
}
