//! Intake: takes documents in the order of the walk, decides what each of them is, and commits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use super::pipeline::{Piece, Read, Step};
use super::{IngestObserver, IngestOptions, IngestSummary, OnChange, Outcome};
use crate::clock;
use crate::document::{Digest, Modified, Offsets};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::input::Candidate;
use crate::store::{Batch, Committer, DocumentRecord, PUSHED_AT_ONCE, Store};

/// A file written to this shortly before it was read could be written to again without its time changing:
/// file systems count time in steps of up to two seconds.
const UNTRUSTED_SECONDS: i64 = 3;

/// The batch takes this share of the memory allowed; what is on its way to it and what the store needs to
/// take it over take the rest.
const BATCH_SHARE: (u64, u64) = (3, 4);

/// Gathers documents into batches and commits them.
pub(super) struct Intake<'a> {
    store: &'a Store,
    observer: &'a dyn IngestObserver,
    on_change: OnChange,
    batch: Batch,
    committer: Committer,
    summary: IngestSummary,
}

impl<'a> Intake<'a> {
    pub(super) fn new(store: &'a Store, options: &IngestOptions, observer: &'a dyn IngestObserver) -> Self {
        let (part, whole) = BATCH_SHARE;
        let batch_memory = usize::try_from(options.memory / whole * part).unwrap_or(usize::MAX);
        Self {
            store,
            observer,
            on_change: options.on_change,
            batch: Batch::new(store.view().state().next_document, batch_memory),
            committer: Committer::new(store),
            summary: IngestSummary::default(),
        }
    }

    pub(super) fn take(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Unchanged(candidate) => {
                self.observer.read(candidate.file.map_or(0, |file| file.bytes));
                self.count(&candidate.name, Outcome::Unchanged);
            }
            Step::Skipped { name, reason } => self.summary.skipped.push((name, reason)),
            Step::Failed { name, error } => self.fail(name, error),
            Step::Read(candidate, pieces) => self.take_document(candidate, &pieces)?,
        }
        Ok(())
    }

    /// Commits what is left and returns what was done.
    pub(super) fn finish(mut self, stop: &AtomicBool) -> Result<IngestSummary> {
        self.commit()?;
        self.summary.interrupted = stop.load(Ordering::Relaxed);
        Ok(self.summary)
    }

    fn take_document(&mut self, candidate: Candidate, pieces: &Receiver<Piece>) -> Result<()> {
        let read = loop {
            // A worker that ends without a word was interrupted.
            match pieces.recv().unwrap_or(Piece::End(Err(Error::Interrupted))) {
                Piece::Fingerprints(piece) => self.take_fingerprints(&piece)?,
                Piece::Stored(digest) => return self.touch(&candidate, digest),
                Piece::End(read) => break read,
            }
        };
        match read {
            Ok(read) => {
                self.take_fingerprints(&read.rest)?;
                self.settle(record_of(&candidate, &read, self.batch.fingerprints()))?;
            }
            Err(error) => {
                self.batch.abandon()?;
                if !matches!(error, Error::Interrupted) {
                    self.fail(candidate.name, error);
                }
            }
        }
        if self.batch.is_full() || self.batch.has_runs() { self.commit() } else { Ok(()) }
    }

    fn take_fingerprints(&mut self, fingerprints: &[Fingerprint]) -> Result<()> {
        for some in fingerprints.chunks(PUSHED_AT_ONCE) {
            if self.batch.is_full() {
                self.committer.spill(self.store, &mut self.batch)?;
            }
            self.batch.push(some)?;
        }
        Ok(())
    }

    /// Decides what a document is, against the stored ones of its name; its fingerprints have been taken.
    /// Returns its id where it is added.
    pub(super) fn settle(&mut self, record: DocumentRecord) -> Result<Option<u32>> {
        let stored = self.documents_named(&record.name)?;
        let Some((newest, newest_record)) = stored.last() else {
            return self.add(record, Outcome::Added);
        };
        if newest_record.digest == record.digest {
            self.refresh(*newest, newest_record, record.source, record.modified);
            return self.leave_out(&record.name, Outcome::Unchanged);
        }
        match self.on_change {
            OnChange::Keep => self.leave_out(&record.name, Outcome::Kept),
            OnChange::Both => self.add(record, Outcome::Added),
            OnChange::Replace => {
                for (id, record) in stored {
                    self.batch.delete(id, record);
                }
                self.add(record, Outcome::Replaced)
            }
        }
    }

    /// A document that has the content stored under its name.
    fn touch(&mut self, candidate: &Candidate, digest: Digest) -> Result<()> {
        // The stored one can have been replaced since it was looked at, by a document of the same name in this run.
        let stored = self.documents_named(&candidate.name)?;
        match stored.last() {
            Some((newest, record)) if record.digest == digest => {
                let (source, modified) = origin_of(candidate);
                self.refresh(*newest, record, source, modified);
                self.count(&candidate.name, Outcome::Unchanged);
            }
            _ => self.fail(candidate.name.clone(), Error::GivenTwice { name: candidate.name.clone() }),
        }
        Ok(())
    }

    /// Rewrites where and when a stored document was read, if that has changed.
    fn refresh(&mut self, id: u32, record: &DocumentRecord, source: Option<String>, modified: Option<(i64, u32)>) {
        let update = DocumentRecord { source, modified, ..record.clone() };
        if update != *record && self.batch.record(id).is_none() {
            self.batch.update(id, update);
        }
    }

    /// Takes the fingerprints of documents settled before from the database they come from; `moved` pairs
    /// their ids there with those here.
    pub(super) fn adopt(&mut self, other: &Store, moved: &[(u32, u32)]) -> Result<()> {
        self.committer.adopt(self.store, &mut self.batch, other, moved)
    }

    fn leave_out(&mut self, name: &str, outcome: Outcome) -> Result<Option<u32>> {
        self.batch.abandon()?;
        self.count(name, outcome);
        Ok(None)
    }

    /// The documents of a name, those of the batch after the stored ones.
    fn documents_named(&self, name: &str) -> Result<Vec<(u32, DocumentRecord)>> {
        let mut documents = Vec::new();
        for id in self.store.documents_named(name)? {
            if !self.batch.deletes(id) {
                documents.push((id, self.store.document(id)?));
            }
        }
        let pending = self.batch.documents_named(name).iter();
        documents.extend(pending.filter_map(|&id| Some((id, self.batch.record(id)?.clone()))));
        Ok(documents)
    }

    fn add(&mut self, record: DocumentRecord, outcome: Outcome) -> Result<Option<u32>> {
        let identical = !self.batch.documents_with(&record.digest).is_empty()
            || self.store.documents_with(&record.digest)?.iter().any(|&id| !self.batch.deletes(id));
        self.summary.identical += u64::from(identical);
        self.summary.bytes += record.bytes;
        self.summary.symbols += record.symbols;
        self.summary.fingerprints += record.fingerprints;
        self.summary.undecodable += record.undecodable;
        self.summary.undecodable_documents += u64::from(record.undecodable > 0);
        self.count(&record.name, outcome);
        self.batch.finish(record).map(Some)
    }

    fn commit(&mut self) -> Result<()> {
        if !self.batch.is_empty() {
            self.committer.commit(self.store, &mut self.batch)?;
            self.store.fold_excess()?;
            let done = &self.summary;
            self.observer.committed(done.added + done.replaced + done.unchanged + done.kept);
        }
        Ok(())
    }

    fn count(&mut self, name: &str, outcome: Outcome) {
        let counter = match outcome {
            Outcome::Added => &mut self.summary.added,
            Outcome::Replaced => &mut self.summary.replaced,
            Outcome::Unchanged => &mut self.summary.unchanged,
            Outcome::Kept => &mut self.summary.kept,
        };
        *counter += 1;
        self.observer.done(name, outcome);
    }

    fn fail(&mut self, name: String, error: Error) {
        self.observer.failed(&name, &error);
        self.summary.failed.push((name, error));
    }
}

/// Where a document was read from, and when that was written, where it can vouch for the content.
fn origin_of(candidate: &Candidate) -> (Option<String>, Option<(i64, u32)>) {
    let Some(file) = &candidate.file else { return (None, None) };
    let now = clock::now();
    let settled = |modified: &Modified| modified.seconds < now - UNTRUSTED_SECONDS;
    let modified = file.modified.filter(settled).map(|modified| (modified.seconds, modified.nanoseconds));
    (Some(file.source.clone()), modified)
}

fn record_of(candidate: &Candidate, read: &Read, fingerprints: u64) -> DocumentRecord {
    let (source, modified) = origin_of(candidate);
    let facts = &read.facts;
    DocumentRecord {
        name: candidate.name.clone(),
        source,
        bytes: facts.text.bytes,
        modified,
        digest: read.digest,
        encoding: facts.text.encoding.to_owned(),
        undecodable: facts.text.undecodable,
        lines: facts.text.lines,
        symbols: facts.symbols,
        kgrams: facts.kgrams,
        fingerprints,
        // What repeats is taken off once the postings are sorted.
        distinct: fingerprints,
        ingested_at: clock::now(),
        member: None,
        format: read.format.name().to_owned(),
        extracted: facts.offsets == Offsets::Extracted,
        metadata: Vec::new(),
        boilerplate: false,
    }
}
