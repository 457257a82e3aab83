//! Pipeline: one thread walks, some read, one takes in; in order, and in bounded memory.
//!
//! Every job, a document to be read, gets a short queue of its own. The queues are handed to the intake in the
//! order of the walk, and it empties them one after the other: a worker that runs ahead waits when its
//! job's queue is full. Containers are read by the walking thread, which hands each member over before the
//! next: so a member of any size passes through a queue of a few pieces. Small members are handed over many at a
//! time, as one job: to wake another thread for each of them would cost more than to read it.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::IngestOptions;
use super::intake::Intake;
use super::worker::{Job, JobEntry, Parcel, work};
use crate::document::Digest;
use crate::error::{Error, Result};
use crate::input::{
    About, CLOSED, Candidate, Content, Document, FileFacts, Found, Opened, Reading, Source, expand_stream, open, walk,
};
use crate::progress::{Progress, Task};
use crate::stop::StopToken;
use crate::store::Store;
use crate::threads;

/// Parcels of one job that may wait to be taken in.
const PARCELS_WAITING: usize = 3;

/// Jobs per thread that may wait to be taken in.
const JOBS_WAITING: usize = 16;

/// Small members are one job up to so many bytes: enough that the threads seldom wake each other. One with more is a job
/// of its own.
const JOB_BYTES: usize = 128 << 10;

/// And up to so many of them, those that failed or were skipped included.
const JOB_ENTRIES: usize = 256;

/// One step of the walk, as the intake sees it.
pub(super) enum Step {
    /// What comes of a job of so many entries.
    Read(usize, Receiver<Parcel>),
    /// A document that has not changed, in this format.
    Unchanged(About, String),
    /// A container that was ingested whole before and has not changed: its name, bytes and documents.
    KnownContainer(String, u64, u64),
    /// What comes up to the next `Close` is of one file.
    Open,
    /// All of the file has been handed over.
    Close(Closed),
    Skipped {
        name: String,
        reason: &'static str,
    },
    Failed {
        name: String,
        error: Error,
    },
}

/// A container or compressed file that has been read.
pub(super) struct Closed {
    pub(super) name: String,
    pub(super) file: Arc<FileFacts>,
    /// None of it was left out because of an error.
    pub(super) whole: bool,
}

/// Runs the pipeline to the end of the walk, or until the task is stopped.
pub(super) fn run(
    store: &Store,
    options: &IngestOptions,
    task: &Task<'_>,
    intake: &mut Intake<'_>,
    find: impl FnOnce(&mut Walker<'_>) -> Result<()> + Send,
) -> Result<()> {
    // A run that fails stops its own threads, not its caller's token.
    let threads = store.pool().threads();
    let (stop, progress) = (&task.token().child(), task.reports());
    let waiting = threads * JOBS_WAITING;
    let (steps, taken) = sync_channel(waiting);
    let (jobs, waiting_jobs) = sync_channel::<Job>(waiting);
    let waiting_jobs = Mutex::new(waiting_jobs);
    thread::scope(|scope| {
        let mut walker = Walker { store, options, stop, progress, steps, jobs, entries: Vec::new(), bytes: 0 };
        for number in 0..threads {
            let jobs = &waiting_jobs;
            let work = move || work(store, options, jobs, stop, progress);
            // Those that have started end with the walker, which alone has jobs for them.
            threads::start_within(scope, &format!("read-{number}"), work).map_err(Error::threads(threads))?;
        }
        let walker =
            threads::start_within(scope, "walk", move || find(&mut walker)).map_err(Error::threads(threads))?;
        let mut outcome = Ok(());
        for step in &taken {
            outcome = intake.take(step);
            if outcome.is_err() {
                // The others notice, and end; what they still send is dropped.
                stop.stop();
                break;
            }
        }
        drop(taken);
        outcome.and(walker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Finds documents, and says what is to be done with them.
pub(super) struct Walker<'a> {
    store: &'a Store,
    options: &'a IngestOptions,
    stop: &'a StopToken,
    progress: &'a dyn Progress,
    steps: SyncSender<Step>,
    jobs: SyncSender<Job>,
    /// The entries of the next job: small members, with those that failed or were skipped between them. And the bytes
    /// they hold.
    entries: Vec<JobEntry>,
    bytes: usize,
}

impl Walker<'_> {
    /// Finds the documents of `sources`.
    pub(super) fn walk(&mut self, sources: &[Source]) -> Result<()> {
        let mut failure = None;
        let options = self.options;
        walk(sources, &options.walk, &mut |found| match self.found(found) {
            Ok(flow) => flow,
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })?;
        // Those of standard input, behind which no other step comes.
        let _ = self.hand_over();
        failure.map_or(Ok(()), Err)
    }

    /// Takes documents that the caller supplies, one when the one before is on its way.
    pub(super) fn take_supplied(&mut self, documents: impl Iterator<Item = Document>) {
        let mut names = FxHashSet::default();
        let (options, stop) = (self.options, self.stop);
        for document in documents {
            if stop.is_stopped() {
                break;
            }
            let repeated = !names.insert(xxh3_64(document.name().as_bytes()));
            if document.hand_over(&options.read.limits, stop, repeated, &mut |found| self.member(found)).is_break() {
                break;
            }
        }
        // The last small ones, behind which no other step comes.
        let _ = self.hand_over();
    }

    /// Takes what the walk has found.
    fn found(&mut self, found: Found) -> Result<ControlFlow<()>> {
        if self.stop.is_stopped() {
            return Ok(ControlFlow::Break(()));
        }
        let mut candidate = match found {
            Found::Skipped { name, reason } => return Ok(self.step(Step::Skipped { name, reason })),
            Found::Failed { name, error } => return Ok(self.step(Step::Failed { name, error })),
            Found::Document(candidate) => candidate,
        };
        if let Some(table) = &self.options.metadata {
            table.apply(&mut candidate.about);
        }
        let progress = self.progress;
        let read = |bytes| progress.read(bytes);
        let reading = Reading { options: &self.options.read, stop: self.stop, progress: &read };
        let Some(file) = candidate.about.file.clone() else {
            expand_stream(&candidate, reading, &mut |found| self.member(found));
            return Ok(ControlFlow::Continue(()));
        };
        let mut about = candidate.about;
        let stored = match look_up(self.store, self.options, &about, &file)? {
            Known::Unchanged(format) => return Ok(self.step(Step::Unchanged(about, format))),
            Known::Content(digest) => Some(digest),
            Known::Nothing => None,
        };
        if let Some(documents) = self.known_documents(&about.name, &file)? {
            return Ok(self.step(Step::KnownContainer(about.name, file.bytes, documents)));
        }
        let container = match open(&mut about, &file, reading) {
            Ok(Opened::Document(Content::File)) => return Ok(self.document(about, Content::File, stored)),
            Ok(Opened::Document(content)) => {
                let closed = Closed { name: about.name.clone(), file, whole: true };
                let _ = self.step(Step::Open);
                let _ = self.document(about, content, None);
                return Ok(self.step(Step::Close(closed)));
            }
            Ok(Opened::Container(container)) => container,
            Err(error) => return Ok(self.step(Step::Failed { name: about.name, error })),
        };
        let _ = self.step(Step::Open);
        match container.expand(&about, &file, reading, &mut |found| self.member(found)) {
            Ok(whole) => Ok(self.step(Step::Close(Closed { name: about.name, file, whole }))),
            Err(error) => Ok(self.step(Step::Failed { name: about.name, error })),
        }
    }

    /// Takes what a container holds.
    fn member(&mut self, found: Found) -> ControlFlow<()> {
        if self.stop.is_stopped() {
            return ControlFlow::Break(());
        }
        match found {
            Found::Skipped { name, reason } => self.entry(name.len(), JobEntry::Skipped { name, reason }),
            Found::Failed { name, error } => self.entry(name.len(), JobEntry::Failed { name, error }),
            Found::Document(Candidate { mut about, content }) => {
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

    /// Adds an entry that holds so many bytes to the next job.
    fn entry(&mut self, bytes: usize, entry: JobEntry) -> ControlFlow<()> {
        if self.bytes + bytes > JOB_BYTES || self.entries.len() == JOB_ENTRIES {
            self.hand_over()?;
        }
        self.bytes += bytes;
        self.entries.push(entry);
        ControlFlow::Continue(())
    }

    /// Hands over the entries gathered so far, as one job.
    fn hand_over(&mut self) -> ControlFlow<()> {
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

    fn job(&self, entries: Vec<JobEntry>, stored: Option<Digest>) -> ControlFlow<()> {
        let (parcels, taken) = sync_channel(PARCELS_WAITING);
        // The step before the job: a worker that waits for the intake then waits for a step it will reach.
        let told = self.steps.send(Step::Read(entries.len(), taken)).is_ok();
        // An intake that is gone has failed, and says so itself.
        let given = told && self.jobs.send(Job { entries, stored, parcels }).is_ok();
        if given { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn step(&mut self, step: Step) -> ControlFlow<()> {
        self.hand_over()?;
        // An intake that is gone has failed, and says so itself.
        if self.steps.send(step).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// The documents that came of this file, if it was ingested whole under this name with the same settings and has not
    /// changed.
    fn known_documents(&self, name: &str, file: &FileFacts) -> Result<Option<u64>> {
        let known = self.store.container(&file.source)?.filter(|known| {
            let modified = file.modified.map(|modified| (modified.seconds, modified.nanoseconds));
            known.bytes == file.bytes
                && Some(known.modified) == modified
                && known.settings == self.options.settings(name)
        });
        Ok(known.map(|known| known.documents))
    }
}

/// The bytes of what is known of a member beside its content.
fn held_by(about: &About) -> usize {
    let metadata = about.metadata.iter().map(|(name, value)| name.len() + value.len());
    about.name.len() + about.hint.len() + about.member.as_ref().map_or(0, String::len) + metadata.sum::<usize>()
}

/// What is known of a document before it is read.
enum Known {
    /// Nothing, or that it has changed.
    Nothing,
    /// A document of its name and size is stored, with this content.
    Content(Digest),
    /// It was read from this very file, which has the same size and time still; its format.
    Unchanged(String),
}

fn look_up(store: &Store, options: &IngestOptions, about: &About, file: &FileFacts) -> Result<Known> {
    let Some(newest) = store.newest_named(&about.name, |_| true)? else { return Ok(Known::Nothing) };
    let record = match store.document(newest) {
        // The intake has deleted it in between.
        Err(_) if !store.view().is_live(newest) => return Ok(Known::Nothing),
        record => record?,
    };
    let same_format = options.read.front_end.allows(&record.format, &about.hint);
    let closed = options.read.closed && record.member.as_deref() == Some(CLOSED);
    if record.bytes != file.bytes
        || record.member.is_some() && !closed
        || !same_format
        || options.store_text && !record.stored_text
    {
        return Ok(Known::Nothing);
    }
    let same_time = record.modified().is_some() && record.modified() == file.modified;
    let same_words = about.metadata.is_empty() || about.metadata == record.metadata;
    let marked = record.boilerplate || !options.boilerplate;
    let unchanged = same_time && same_words && marked && record.source.as_deref() == Some(&file.source);
    Ok(if unchanged { Known::Unchanged(record.format) } else { Known::Content(record.digest) })
}
