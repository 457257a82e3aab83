//! Intake: takes documents in the order of the walk, decides whether each is new, changed or known, and
//! commits.
//!
//! Another thread sorts and writes a full batch while the next one fills. The documents of a full batch count
//! as stored at once, even before its commit, so decisions do not depend on the speed of commits.

mod absent_fields;
mod commits;
mod forget;
mod left;
mod unchanged;

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::first_names::name_place;
use super::kept_out::KeptOutContents;
use super::known::{KnownContainer, KnownDocuments, is_same};
use super::messages::{IntakeStep, Parcel, ParcelEntry, ReadDocument};
use super::options::{IngestOptions, OnChange};
use super::prune::LastFile;
use super::record::{is_empty_file, metadata_after, record_of};
use super::reread::{not_read_again, record_again};
use super::summary::IngestSummary;
use super::sweep::Sweep;
use crate::query::TextUnavailable;
use absent_fields::AbsentFields;
use commits::LastBatch;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::progress::{Outcome, Progress, Task};
use fpdb_host::skip_reason::SkipReason;
use fpdb_host::stop::StopToken;
use fpdb_host::threads;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::document::Digest;
use fpdb_reading::input::{About, CLOSED};
use fpdb_store::{Batch, Committer, DocumentRecord, PUSHED_AT_ONCE, Store};
use left::NotedMembers;

/// A batch takes this share of the memory allowed. The batch being committed and the kept postings of earlier
/// batches together take the same share. The rest is for documents in queues and for the store.
const BATCH_SHARE: (u64, u64) = (3, 8);

/// Gathers documents into batches and commits them.
pub(super) struct Intake<'a> {
    store: &'a Store,
    progress: &'a dyn Progress,
    task: &'a Task<'a>,
    options: &'a IngestOptions,
    batch: Batch,
    /// The committing thread holds the lock while it commits.
    committer: &'a Mutex<Committer>,
    batches: Sender<NextBatch>,
    outcomes: Receiver<Result<()>>,
    last: LastBatch,
    /// The time of the first document of the batch.
    begun: Option<Instant>,
    pub(super) summary: IngestSummary,
    /// In a dry run, the new names of renamed files. Their documents are stored under the old names.
    pub(super) given_in_dry_run: FxHashSet<String>,
    /// In a dry run, the documents that a dropped batch would have deleted.
    deleted_in_dry_run: RoaringBitmap,
    /// The counts of the run when the container that is being read began. `None` if no container is being
    /// read. Also `None` if the run stops or the file is skipped: then the run neither remembers the
    /// container nor deletes stored documents of it.
    before: Option<RunCounts>,
    /// The files and members that were skipped or failed since the last container began.
    noted: NotedMembers,
    /// The path of the container that began last; `None` once it was read whole.
    unread: Option<String>,
    kept_out: &'a KeptOutContents,
    /// Number of stored versions that stay although the new version is kept out.
    stale_versions: u64,
    /// The number of failures that may not occur again in another run.
    passing_failures: u64,
    pub(super) sweep: Sweep,
    last_file: LastFile,
    absent: AbsentFields,
    /// The contents of documents counted as moved, each with the id of the stored document whose file is
    /// gone.
    moved: FxHashMap<Digest, u32>,
    /// Documents of earlier runs that have the content of a new document of the same container. They may
    /// leave the container in this run.
    alike_in_containers: RoaringBitmap,
    /// True after a document was broken off because the run stops. The intake then ignores all later
    /// documents, even those that were read: the next run must find the same order.
    broken_off: bool,
}

/// The counts of the run when a container began.
struct RunCounts {
    documents: u64,
    kept: u64,
    failures: u64,
    skips: u64,
    left_out: u64,
    kept_out: u64,
    passing_failures: u64,
    stale_versions: u64,
}

/// A batch for the committing thread.
struct NextBatch {
    batch: Batch,
    /// True if no batch follows soon.
    ends: bool,
}

fn lock(committer: &Mutex<Committer>) -> MutexGuard<'_, Committer> {
    committer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` with an intake, beside a thread that commits its batches.
pub(super) fn with_intake<T>(
    store: &Store,
    (options, kept_out): (&IngestOptions, &KeptOutContents),
    task: &Task<'_>,
    work: impl FnOnce(&mut Intake<'_>) -> Result<T>,
) -> Result<T> {
    let committer = Mutex::new(Committer::new(store));
    let (batches, waiting) = channel::<NextBatch>();
    let (done, outcomes) = channel();
    let folding = task.silent();
    thread::scope(|scope| {
        let (committer, folding) = (&committer, &folding);
        let commit = move || {
            for NextBatch { mut batch, ends } in waiting {
                let mut committer = lock(committer);
                let mut outcome = committer.commit_next(store, &mut batch, ends);
                if outcome.is_ok() && !committer.keeps_runs() {
                    outcome = store.fold_excess(folding);
                }
                drop(committer);
                // If nothing receives the outcome, the intake has ended, and reports its own error.
                let _ = done.send(outcome);
            }
        };
        threads::start_within(scope, "commit", commit).map_err(Error::threads(1))?;
        let (part, whole) = BATCH_SHARE;
        let memory = usize::try_from(store.memory() / whole * part).unwrap_or(usize::MAX);
        let batch = Batch::new(store.profile(), store.view().state().next_document, memory);
        let worked = work(&mut Intake {
            store,
            progress: task.reports(),
            task,
            options,
            batch: if options.dry_run { batch.counting_only() } else { batch },
            committer,
            batches,
            outcomes,
            last: LastBatch::default(),
            begun: None,
            summary: IngestSummary { dry_run: options.dry_run, ..IngestSummary::default() },
            given_in_dry_run: FxHashSet::default(),
            deleted_in_dry_run: RoaringBitmap::new(),
            before: None,
            noted: NotedMembers::default(),
            unread: None,
            kept_out,
            stale_versions: 0,
            passing_failures: 0,
            sweep: Sweep::new(store.view().state().next_document),
            last_file: LastFile::default(),
            absent: AbsentFields::new(&options.read.fields),
            moved: FxHashMap::default(),
            alike_in_containers: RoaringBitmap::new(),
            broken_off: false,
        })?;
        if !options.dry_run {
            store.settle()?;
        }
        Ok(worked)
    })
}

impl Intake<'_> {
    pub(super) fn take(&mut self, step: IntakeStep) -> Result<()> {
        if self.broken_off {
            return Ok(());
        }
        match step {
            IntakeStep::Unchanged(about, format) => {
                self.progress.read(about.file.as_ref().map_or(0, |file| file.bytes));
                let source = about.file.as_ref().map(|file| file.source.as_str());
                self.count((&about.name, source), Outcome::Unchanged, &format);
            }
            IntakeStep::KnownContainer(name, file, KnownContainer { documents, left }) => {
                self.progress.read(file.bytes);
                self.tell_again(&name, left);
                self.summary.unchanged += documents;
                [&file.source].into_iter().filter(|_| documents > 0).for_each(|source| self.progress.of_file(source));
                self.progress.unchanged(&name, documents);
            }
            IntakeStep::NamedByPath { typed, name, other, had_other_bytes } => {
                self.progress.named_by_path(&typed, &name, (&other, had_other_bytes));
                self.summary.named_by_path += 1;
            }
            IntakeStep::Open(source) => {
                self.mark_unread();
                self.unread = Some(source);
                self.before = Some(self.counts());
                self.noted = NotedMembers::default();
            }
            IntakeStep::Close(closed) => self.close(closed)?,
            IntakeStep::Repeated(documents, names) => {
                (self.summary.repeated, self.summary.repeated_names) = (documents, names);
            }
            // The stored document of this name stays.
            IntakeStep::LeftOut(name) => self.leave_out(&name)?,
            IntakeStep::Skipped { name, reason } => self.skip(name, reason),
            IntakeStep::Failed { name, error } => self.fail(&name, &error),
            IntakeStep::Read(entries, parcels) => self.take_job(entries, &parcels)?,
        }
        Ok(())
    }

    /// The documents to compare a new one with.
    fn known(&self) -> KnownDocuments<'_> {
        KnownDocuments { store: self.store, committing: &self.last.pending, filling: self.batch.pending() }
    }

    /// Commits the last batch and returns the summary.
    pub(super) fn finish(&mut self, stop: &StopToken) -> Result<IngestSummary> {
        self.commit_all()?;
        if !stop.is_stopped() {
            self.sweep()?;
            self.commit_all()?;
        }
        self.summary.identical += self.stayed_in_containers();
        self.summary.interrupted = stop.is_stopped();
        // A run that was stopped has not reached the documents of all rows of the table.
        let table = self.options.metadata.as_ref().filter(|_| !self.summary.interrupted);
        for name in table.iter().flat_map(|table| table.unmatched()) {
            // The document may belong to a container that was skipped as unchanged.
            if self.known().named(&name)?.is_empty() {
                self.summary.unmatched.push(name);
            }
        }
        self.summary.absent_fields = self.absent.take();
        Ok(std::mem::take(&mut self.summary))
    }

    /// Number of documents of this run so far.
    fn documents(&self) -> u64 {
        self.summary.read()
    }

    fn take_job(&mut self, mut entries: usize, parcels: &Receiver<Parcel>) -> Result<()> {
        for Parcel { fingerprints, pieces } in parcels {
            let mut taken = 0;
            for (before, piece) in pieces {
                if self.broken_off {
                    return Ok(());
                }
                self.take_fingerprints(&fingerprints, taken..before)?;
                taken = before;
                self.take_piece(piece, &mut entries)?;
            }
            if self.broken_off {
                return Ok(());
            }
            self.take_fingerprints(&fingerprints, taken..fingerprints.len())?;
        }
        if entries > 0 {
            // The worker ended early because the run stops.
            self.break_off()?;
        }
        Ok(())
    }

    fn take_piece(&mut self, piece: ParcelEntry, entries: &mut usize) -> Result<()> {
        match piece {
            ParcelEntry::Text(chunk) => self.take_text(chunk)?,
            ParcelEntry::Stored(about, digest) => {
                *entries -= 1;
                self.touch(about, digest)?;
                self.commit_if_due()?;
            }
            ParcelEntry::End(about, read) => {
                *entries -= 1;
                self.take_end(about, read)?;
                self.commit_if_due()?;
            }
            ParcelEntry::EndAgain(stored, read) => {
                *entries -= 1;
                self.take_end_again(*stored, read)?;
                self.commit_if_due()?;
            }
            ParcelEntry::Skipped { name, reason } => {
                *entries -= 1;
                self.skip(name, reason);
            }
            ParcelEntry::Failed { name, error } => {
                *entries -= 1;
                self.fail(&name, &error);
            }
        }
        Ok(())
    }

    fn take_end(&mut self, about: About, read: Result<ReadDocument>) -> Result<()> {
        match read {
            Ok(read) => {
                self.absent.note(&about, Some(read.format));
                let fingerprints = (self.batch.fingerprints(), self.batch.fingerprints_of_text());
                let record = record_of(about, &read, fingerprints);
                if self.keep_emptied(&record)? {
                    return Ok(());
                }
                let mail = self.remembered_mail(&record).filter(|_| !self.kept_out.contains(&record.digest));
                let IngestSummary { kept, failures, .. } = self.summary;
                let added = self.resolve(record)?;
                if (kept, failures) == (self.summary.kept, self.summary.failures) {
                    mail.into_iter().for_each(|(source, record)| self.batch.container(source, record));
                }
                let are_read = self.options.read.reads_attachments();
                self.summary.attachments += added.filter(|_| !are_read).map_or(0, |_| read.facts.attachments);
            }
            Err(Error::Stopped) => self.break_off()?,
            Err(error) => {
                self.abandon()?;
                match error {
                    Error::Document(DocumentError::Binary { reason }) if !about.named => {
                        // The document that is stored under this name stays, as for a file outside a
                        // container.
                        self.meet_all_named(&about.name)?;
                        self.keep_members_of(&about)?;
                        // The reason calls a zip that was not opened a kind that is not read.
                        let is_closed = reason == SkipReason::Package && about.member.as_deref() == Some(CLOSED);
                        self.skip(about.name, if is_closed { SkipReason::Closed } else { reason });
                    }
                    error => self.fail(&about.name, &error),
                }
            }
        }
        Ok(())
    }

    fn take_end_again(&mut self, stored: DocumentRecord, read: Result<ReadDocument>) -> Result<()> {
        let error = match read {
            Ok(read) if read.digest == stored.digest => {
                let fingerprints = (self.batch.fingerprints(), self.batch.fingerprints_of_text());
                return self.resolve(record_again(&stored, &read, fingerprints)).map(|_| ());
            }
            Ok(_) => not_read_again(TextUnavailable::Changed.document()),
            Err(Error::Stopped) => return self.break_off(),
            Err(error) => error,
        };
        self.abandon()?;
        self.fail(&stored.name, &error);
        Ok(())
    }

    fn take_fingerprints(&mut self, fingerprints: &Fingerprints, mut range: Range<usize>) -> Result<()> {
        while !range.is_empty() {
            self.spill_if_full()?;
            let end = range.end.min(range.start + PUSHED_AT_ONCE);
            self.batch.push(fingerprints.range(range.start..end))?;
            range.start = end;
        }
        Ok(())
    }

    fn take_text(&mut self, chunk: Vec<u8>) -> Result<()> {
        self.spill_if_full()?;
        self.batch.push_text(chunk);
        Ok(())
    }

    /// True if the content of a document is kept out, and either the document has the name under which the
    /// content was removed, or no other document has the content.
    fn is_refused(&self, record: &DocumentRecord) -> Result<bool> {
        Ok(self.kept_out.contains(&record.digest)
            && (self.kept_out.names(self.store, (&record.name, record.member.as_deref()), &record.digest)?
                || self.known().with_content(&record.digest)?.is_none()))
    }

    /// Compares a document with the stored documents of its name. Returns the document's id if the document
    /// is added.
    pub(super) fn resolve(&mut self, mut record: DocumentRecord) -> Result<Option<u32>> {
        if let Err(error) = record.check() {
            self.abandon()?;
            self.fail(&record.name, &error);
            return Ok(None);
        }
        if self.is_refused(&record)? {
            self.abandon()?;
            self.drop_versions_before(&record)?;
            self.skip(record.name, SkipReason::KeptOut);
            return Ok(None);
        }
        let newest = self.known().newest_like(&record.name, record.source.as_deref())?;
        let is_other = newest.as_ref().is_some_and(|(_, stored)| self.is_part_of_other(stored, &record));
        if is_other && self.options.on_change != OnChange::Both {
            return self.refuse_name(record.name);
        }
        let Some((newest, newest_record)) = newest.filter(|_| !is_other) else {
            if self.given_in_dry_run.contains(&record.name) {
                self.abandon()?;
                self.count((&record.name, record.source.as_deref()), Outcome::Unchanged, &record.format);
                return Ok(None);
            }
            return self.add(record, Outcome::Added).map(Some);
        };
        let same = if is_same(self.options, &newest_record, &record) {
            Some((newest, newest_record.clone()))
        } else if self.options.on_change == OnChange::Both {
            self.known().version_like(self.options, &record)?
        } else {
            None
        };
        if let Some((id, stored)) = same {
            self.sweep.meet(id);
            // The document has the same bytes. It is stored again if its text must be stored from now on, or
            // if it becomes boilerplate and needs all of its k-grams. But a stored text and the k-grams of
            // boilerplate must not be lost.
            let becomes_boilerplate = record.boilerplate && !stored.boilerplate;
            let gains_text = record.stored_text && !stored.stored_text;
            let loses = stored.stored_text && !record.stored_text || stored.boilerplate && !record.boilerplate;
            if (gains_text || becomes_boilerplate) && !loses {
                self.summary.made_boilerplate += u64::from(becomes_boilerplate);
                let place = (record.name.as_str(), record.source.as_deref(), record.member.as_deref());
                record.metadata = metadata_after(&stored.metadata, place, record.metadata.clone(), self.options);
                self.batch.delete(id, stored);
                return self.add(record, Outcome::Replaced).map(Some);
            }
            let (name, format) = (record.name.clone(), stored.format.clone());
            self.abandon()?;
            self.refresh(id, &stored, record, &name, &format)?;
            return Ok(None);
        }
        record.boilerplate |= newest_record.boilerplate;
        let is_repeated = self.is_repeated(newest, &newest_record, &record);
        match self.options.on_change {
            OnChange::Keep => {
                [&record.name].into_iter().filter(|_| is_repeated).for_each(|name| self.progress.same_name(name));
                self.sweep.meet(newest);
                self.abandon()?;
                self.count((&record.name, record.source.as_deref()), Outcome::Kept, &record.format);
                Ok(None)
            }
            OnChange::Both => self.add(record, Outcome::Added).map(Some),
            // Another document of this run already has the name; for example, a file is named like a record
            // of another file.
            OnChange::Replace if self.sweep.is_of_this_run(newest) && newest_record.source != record.source => {
                self.refuse_name(record.name)
            }
            OnChange::Replace => self.replace(record, &newest_record, is_repeated).map(Some),
        }
    }

    /// True if a new document replaces the stored documents of its name.
    pub(super) fn replaces(&self) -> bool {
        self.options.on_change == OnChange::Replace
    }

    /// Adds a document and returns its id.
    pub(super) fn add(&mut self, record: DocumentRecord, outcome: Outcome) -> Result<u32> {
        if let Some(other) = self.known().with_content(&record.digest)? {
            self.count_identical(other, &record)?;
            if outcome == Outcome::Added {
                self.note_moved(other, &record)?;
            }
        }
        self.summary.boilerplate += u64::from(record.boilerplate);
        self.summary.bytes += record.bytes;
        self.summary.symbols += record.symbols;
        self.summary.fingerprints += record.fingerprints;
        self.summary.undecodable += record.undecodable;
        self.summary.undecodable_documents += u64::from(record.undecodable > 0);
        *self.summary.formats.entry(record.format.clone()).or_default() += 1;
        self.count((&record.name, record.source.as_deref()), outcome, &record.format);
        if record.symbols == 0 && !is_empty_file(&record) {
            self.summary.without_text += 1;
            self.progress.without_text(&record.name);
        } else if record.fingerprints == 0 && record.symbols > 0 {
            self.summary.too_short += 1;
            self.progress.too_short(&record.name);
        }
        name_place(&record).into_iter().for_each(|place| self.batch.place(place));
        self.batch.finish(record)
    }

    fn count(&mut self, (name, source): (&str, Option<&str>), outcome: Outcome, format: &str) {
        *match outcome {
            Outcome::Added => &mut self.summary.added,
            Outcome::Replaced => &mut self.summary.replaced,
            Outcome::Unchanged => &mut self.summary.unchanged,
            Outcome::Kept => &mut self.summary.kept,
        } += 1;
        source.into_iter().for_each(|source| self.progress.of_file(source));
        self.progress.document(name, outcome, format);
    }
}
