//! Walker: finds documents and decides the next step for each.
//!
//! The walking thread reads containers, and hands over each member before it reads the next. So a member of
//! any size passes through a queue of a few pieces. Many small members form one job, because waking another
//! thread costs more than reading a small member.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::first_names::{FileName, FirstNames};
use super::kept_out::KeptOutContents;
use super::known::{self, Known};
use super::messages::{IntakeStep, JobEntry, ReadContainer, ReadJob};
use super::options::IngestOptions;
use super::prune::SearchFailures;
use super::summary::IngestSummary;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::progress::Progress;
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::Digest;
use fpdb_reading::input::{
    About, Candidate, Content, Document, Opened, PathFilter, ReadContext, Source, WalkEvent, expand_stream, open, walk,
};
use fpdb_store::Store;

/// Parcels of one job that may wait for the intake.
const PARCELS_WAITING: usize = 3;

/// Maximum bytes of small members in one job: enough that the threads seldom wake each other. A larger member
/// is a job of its own.
const JOB_BYTES: usize = 128 << 10;

/// Maximum number of members in one job. Failed and skipped members count too.
const JOB_ENTRIES: usize = 256;

/// Finds documents and decides the next step for each.
pub(super) struct Walker<'a> {
    pub(super) store: &'a Store,
    pub(super) options: &'a IngestOptions,
    pub(super) stop: &'a StopToken,
    pub(super) progress: &'a dyn Progress,
    /// The filter for members of archives.
    filter: Option<Arc<PathFilter>>,
    /// As in [`KeptOutContents::digest`].
    kept_out: Option<u64>,
    steps: SyncSender<IntakeStep>,
    jobs: SyncSender<ReadJob>,
    /// The entries of the next job (small members, with the failed and skipped ones between them), and their
    /// bytes.
    entries: Vec<JobEntry>,
    bytes: usize,
    /// Files and folders that the search for renamed files could not read. A new document there may be a
    /// renamed document, so it waits for the next run.
    unseen: FxHashSet<PathBuf>,
}

impl<'a> Walker<'a> {
    /// A walker that sends steps to the intake and jobs to the workers.
    pub(super) fn new(
        store: &'a Store,
        options: &'a IngestOptions,
        stop: &'a StopToken,
        progress: &'a dyn Progress,
        (steps, jobs): (SyncSender<IntakeStep>, SyncSender<ReadJob>),
    ) -> Self {
        Self {
            store,
            options,
            stop,
            progress,
            filter: None,
            kept_out: None,
            steps,
            jobs,
            entries: Vec::new(),
            bytes: 0,
            unseen: FxHashSet::default(),
        }
    }

    /// Finds the documents of `sources`, after a search for renamed files with these failures.
    pub(super) fn walk(
        &mut self,
        sources: &[Source],
        (names, kept_out): (&FirstNames<'_>, &KeptOutContents),
        failures: SearchFailures,
    ) -> Result<()> {
        for (path, (name, error)) in failures {
            self.unseen.insert(path);
            if self.step(IntakeStep::Failed { name, error }).is_break() {
                return Ok(());
            }
        }
        let mut failure = None;
        let options = self.options;
        self.filter = Some(Arc::new(PathFilter::new(&options.walk)?));
        self.kept_out = kept_out.digest();
        walk(sources, &options.walk, &mut |found| match self.found(found, names) {
            Ok(flow) => flow,
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })?;
        // Entries of standard input may still wait to be handed over.
        let _ = self.hand_over();
        failure.map_or(Ok(()), Err)
    }

    /// Takes documents that the caller supplies, one at a time.
    pub(super) fn take_supplied(&mut self, documents: impl Iterator<Item = Document>) {
        let mut names = FxHashSet::default();
        let (mut repeated_documents, mut repeated_names) = (0, Vec::new());
        let (options, stop) = (self.options, self.stop);
        for document in documents {
            if stop.is_stopped() {
                break;
            }
            let repeated = !names.insert(xxh3_64(document.name().as_bytes()));
            if repeated {
                repeated_documents += 1;
                if repeated_names.len() < IngestSummary::LISTED {
                    repeated_names.push(document.name().to_owned());
                }
            }
            if document.hand_over(&options.read.limits, stop, repeated, &mut |found| self.member(found)).is_break() {
                break;
            }
        }
        // This step must follow the last small members.
        let _ = self.step(IntakeStep::Repeated(repeated_documents, repeated_names));
    }

    /// Handles an event of the walk.
    fn found(&mut self, found: WalkEvent, names: &FirstNames<'_>) -> Result<ControlFlow<()>> {
        if self.stop.is_stopped() {
            return Ok(ControlFlow::Break(()));
        }
        if let Some((name, error)) = names.gone(&found)? {
            return Ok(self.step(IntakeStep::Failed { name, error }));
        }
        let only_members = matches!(found, WalkEvent::Archive(_));
        let mut candidate = match found {
            WalkEvent::LeftOut(name) => return Ok(self.step(IntakeStep::LeftOut(name))),
            WalkEvent::Skipped { name, reason } => return Ok(self.step(IntakeStep::Skipped { name, reason })),
            // The search for renamed files has reported this error already.
            WalkEvent::Failed { error: Error::Io { path, .. }, .. } if self.unseen.contains(&path) => {
                return Ok(ControlFlow::Continue(()));
            }
            WalkEvent::Failed { name, error } => return Ok(self.step(IntakeStep::Failed { name, error })),
            WalkEvent::Document(candidate) | WalkEvent::Archive(candidate) => candidate,
        };
        if let Some(file) = &candidate.about.file {
            let typed = std::mem::take(&mut candidate.about.name);
            let FileName { name, taken_by } = names.of(typed.clone(), file)?;
            candidate.about.name.clone_from(&name);
            if let Some(other) = taken_by
                && self
                    .step(IntakeStep::NamedByPath {
                        typed,
                        name,
                        other: other.path,
                        had_other_bytes: other.had_other_bytes,
                    })
                    .is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        if self.must_wait(&candidate.about)? {
            return Ok(ControlFlow::Continue(()));
        }
        if let Some(table) = &self.options.metadata {
            table.apply(&mut candidate.about);
        }
        let (progress, filter) = (self.progress, self.filter.clone());
        let read = |bytes| progress.read(bytes);
        let reading =
            ReadContext { options: &self.options.read, members: filter.as_deref(), stop: self.stop, progress: &read };
        let Some(file) = candidate.about.file.clone() else {
            expand_stream(&candidate, reading, &mut |found| self.member(found));
            return Ok(ControlFlow::Continue(()));
        };
        let mut about = candidate.about;
        let known = match known::before_reading(self.store, self.options, &about, &file)? {
            _ if only_members => Known::Nothing,
            // A file of records is refused even if an earlier run has stored it whole.
            Known::Unchanged(format) if !self.options.read.refuses_whole_records() => {
                return Ok(self.step(IntakeStep::Unchanged(about, format)));
            }
            known => known,
        };
        if let Some(known) = known::container(self.store, (self.options, self.kept_out), &about.name, &file)? {
            return Ok(self.step(IntakeStep::KnownContainer(about.name, file, known)));
        }
        let container = match open(&mut about, &file, reading) {
            Ok(Opened::Document(_)) if only_members => return Ok(ControlFlow::Continue(())),
            Ok(Opened::Document(Content::File)) if self.store.container(&file.source)?.is_none() => {
                return Ok(match known {
                    Known::Unchanged(format) => self.step(IntakeStep::Unchanged(about, format)),
                    Known::Content(digest) => self.document(about, Content::File, Some(digest)),
                    Known::Nothing => self.document(about, Content::File, None),
                });
            }
            // The file is compressed, or was a container. Closing the file deletes the documents that it no
            // longer holds.
            Ok(Opened::Document(content)) => {
                let _ = self.step(IntakeStep::Open(file.source.clone()));
                // A container that is empty now does not become a document itself, in place of the documents
                // that it held.
                let is_emptied = file.bytes == 0 && self.store.newest_named(&about.name, |_| true)?.is_none();
                let closed = ReadContainer { name: about.name.clone(), file, whole: true };
                if self.options.prune || !is_emptied {
                    let _ = self.document(about, content, None);
                }
                return Ok(self.step(IntakeStep::Close(closed)));
            }
            Ok(Opened::Container(container)) => container,
            Err(Error::Document(DocumentError::Binary { reason })) => {
                return Ok(self.step(IntakeStep::Skipped { name: about.name, reason }));
            }
            Err(error) => return Ok(self.step(IntakeStep::Failed { name: about.name, error })),
        };
        let _ = self.step(IntakeStep::Open(file.source.clone()));
        match container.expand(&about, &file, reading, &mut |found| self.member(found)) {
            // The container was not read to its end.
            Ok(_) if self.stop.is_stopped() => Ok(ControlFlow::Break(())),
            Ok(whole) => Ok(self.step(IntakeStep::Close(ReadContainer { name: about.name, file, whole }))),
            Err(error) => Ok(self.step(IntakeStep::Failed { name: about.name, error })),
        }
    }

    /// True for a new file that the search for renamed files could not read.
    fn must_wait(&self, about: &About) -> Result<bool> {
        let Some(file) = about.file.as_ref().filter(|_| !self.unseen.is_empty()) else { return Ok(false) };
        let is_unseen = || file.path.ancestors().any(|path| self.unseen.contains(path));
        Ok(is_unseen()
            && self.store.newest_named(&about.name, |_| true)?.is_none()
            && self.store.container(&file.source)?.is_none())
    }

    /// Handles a member of a container.
    fn member(&mut self, found: WalkEvent) -> ControlFlow<()> {
        if self.stop.is_stopped() {
            return ControlFlow::Break(());
        }
        match found {
            WalkEvent::Skipped { name, reason } => self.entry(name.len(), JobEntry::Skipped { name, reason }),
            WalkEvent::Failed { name, error } => self.entry(name.len(), JobEntry::Failed { name, error }),
            WalkEvent::LeftOut(name) => self.step(IntakeStep::LeftOut(name)),
            WalkEvent::Document(Candidate { mut about, content })
            | WalkEvent::Archive(Candidate { mut about, content }) => {
                if let Some(table) = &self.options.metadata {
                    table.apply(&mut about);
                }
                match content {
                    Content::Whole(bytes) => {
                        let held = bytes.len() + held_by(&about);
                        let content = Content::Whole(bytes);
                        self.entry(held, JobEntry::Document(Candidate { about, content }))
                    }
                    content => self.document(about, content, None),
                }
            }
        }
    }

    /// Adds an entry of `bytes` bytes to the next job.
    pub(super) fn entry(&mut self, bytes: usize, entry: JobEntry) -> ControlFlow<()> {
        if self.bytes + bytes > JOB_BYTES || self.entries.len() == JOB_ENTRIES {
            self.hand_over()?;
        }
        self.bytes += bytes;
        self.entries.push(entry);
        ControlFlow::Continue(())
    }

    /// Hands over the entries gathered so far, as one job.
    pub(super) fn hand_over(&mut self) -> ControlFlow<()> {
        if self.entries.is_empty() {
            return ControlFlow::Continue(());
        }
        self.bytes = 0;
        let entries = std::mem::take(&mut self.entries);
        self.job(entries, None)
    }

    fn document(&mut self, about: About, content: Content, stored: Option<Digest>) -> ControlFlow<()> {
        self.hand_over()?;
        self.job(vec![JobEntry::Document(Candidate { about, content })], stored)
    }

    pub(super) fn job(&self, entries: Vec<JobEntry>, stored: Option<Digest>) -> ControlFlow<()> {
        let (parcels, taken) = sync_channel(PARCELS_WAITING);
        // The step goes out before the job, so the intake reaches each queue that a worker waits on.
        let told = self.steps.send(IntakeStep::Read(entries.len(), taken)).is_ok();
        // If sending fails, the intake has ended, and reports its own error.
        let given = told && self.jobs.send(ReadJob { entries, stored, parcels }).is_ok();
        if given { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    pub(super) fn step(&mut self, step: IntakeStep) -> ControlFlow<()> {
        self.hand_over()?;
        // If sending fails, the intake has ended, and reports its own error.
        if self.steps.send(step).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Bytes that a member takes beside its content.
fn held_by(about: &About) -> usize {
    let metadata = about.metadata.iter().map(|(name, value)| name.len() + value.len());
    about.name.len() + about.hint.name.len() + about.member.as_ref().map_or(0, String::len) + metadata.sum::<usize>()
}
