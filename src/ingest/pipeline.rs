//! Pipeline: one thread walks, some read, one takes in; in order, and in bounded memory.
//!
//! Every document to be read gets a short queue of its own. The queues are handed to the intake in the
//! order of the walk, and it empties them one after the other: a worker that runs ahead waits when its
//! document's queue is full.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::intake::Intake;
use super::{IngestObserver, IngestOptions};
use crate::document::{Digest, Format};
use crate::error::{Error, Result};
use crate::fingerprint::{DocumentFacts, Fingerprint, Fingerprinter};
use crate::input::{Candidate, Found, Reader, Source, walk};
use crate::profile::Unit;
use crate::store::Store;

/// Fingerprints that travel together: some 200 KiB.
const PIECE_FINGERPRINTS: usize = 4096;

/// Pieces of one document that may wait to be taken in.
const PIECES_WAITING: usize = 3;

/// Documents per thread that may wait to be taken in.
const DOCUMENTS_WAITING: usize = 16;

/// Part of a document, on its way from a worker to the intake.
pub(super) enum Piece {
    Fingerprints(Vec<Fingerprint>),
    /// It has the content that is stored; nothing else comes.
    Stored(Digest),
    End(Result<Read>),
}

/// A document that has been read to its end.
pub(super) struct Read {
    pub(super) digest: Digest,
    pub(super) format: Format,
    pub(super) facts: DocumentFacts,
    /// The fingerprints that no piece has brought.
    pub(super) rest: Vec<Fingerprint>,
}

/// One step of the walk, as the intake sees it.
pub(super) enum Step {
    Read(Candidate, Receiver<Piece>),
    Unchanged(Candidate),
    Skipped { name: String, reason: &'static str },
    Failed { name: String, error: Error },
}

struct Job {
    candidate: Candidate,
    /// The content stored under its name, where the size is the same: then it is worth a look before the work.
    stored: Option<Digest>,
    pieces: SyncSender<Piece>,
}

/// Runs the pipeline to the end of the walk, or until `stop` is set.
pub(super) fn run(
    store: &Store,
    sources: &[Source],
    options: &IngestOptions,
    stop: &AtomicBool,
    observer: &dyn IngestObserver,
    intake: &mut Intake<'_>,
) -> Result<()> {
    let waiting = options.threads * DOCUMENTS_WAITING;
    let (step_sender, steps) = sync_channel(waiting);
    let (job_sender, jobs) = sync_channel::<Job>(waiting);
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        let walker = scope.spawn(move || walk_all(store, sources, options, stop, &step_sender, &job_sender));
        for _ in 0..options.threads {
            let jobs = &jobs;
            scope.spawn(move || work(store, jobs, stop, observer));
        }
        let mut taken = Ok(());
        for step in &steps {
            taken = intake.take(step);
            if taken.is_err() {
                // The others notice, and end; what they still send is dropped.
                stop.store(true, Ordering::Relaxed);
                break;
            }
        }
        drop(steps);
        let walked = walker.join().unwrap_or(Ok(()));
        taken.and(walked)
    })
}

fn walk_all(
    store: &Store,
    sources: &[Source],
    options: &IngestOptions,
    stop: &AtomicBool,
    steps: &SyncSender<Step>,
    jobs: &SyncSender<Job>,
) -> Result<()> {
    let mut failure = None;
    walk(sources, &options.walk, &mut |found| {
        if stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let (step, job) = match found {
            Found::Skipped { name, reason } => (Step::Skipped { name, reason }, None),
            Found::Failed { name, error } => (Step::Failed { name, error }, None),
            Found::Document(candidate) => match look_up(store, &candidate) {
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
                Ok(Known::Unchanged) => (Step::Unchanged(candidate), None),
                Ok(known) => {
                    let stored = match known {
                        Known::Content(digest) => Some(digest),
                        _ => None,
                    };
                    let (sender, pieces) = sync_channel(PIECES_WAITING);
                    (Step::Read(candidate.clone(), pieces), Some(Job { candidate, stored, pieces: sender }))
                }
            },
        };
        // The step before the job: a worker that waits for the intake then waits for a step it will reach.
        let sent = steps.send(step).is_ok() && job.is_none_or(|job| jobs.send(job).is_ok());
        if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    failure.map_or(Ok(()), Err)
}

/// What is known of a document before it is read.
enum Known {
    /// Nothing, or that it has changed.
    Nothing,
    /// A document of its name and size is stored, with this content.
    Content(Digest),
    /// It was read from this very file, which has the same size and time still.
    Unchanged,
}

fn look_up(store: &Store, candidate: &Candidate) -> Result<Known> {
    let Some(file) = &candidate.file else { return Ok(Known::Nothing) };
    let Some(&newest) = store.documents_named(&candidate.name)?.last() else { return Ok(Known::Nothing) };
    let record = match store.document(newest) {
        // The intake has deleted it in between.
        Err(_) if !store.view().is_live(newest) => return Ok(Known::Nothing),
        record => record?,
    };
    let same_time = record.modified().is_some() && record.modified() == file.modified;
    Ok(match record.bytes == file.bytes {
        true if same_time && record.source.as_deref() == Some(&file.source) => Known::Unchanged,
        true => Known::Content(record.digest),
        false => Known::Nothing,
    })
}

fn work(store: &Store, jobs: &Mutex<Receiver<Job>>, stop: &AtomicBool, observer: &dyn IngestObserver) {
    let mut reader = Reader::new(store.profile().unit != Unit::Byte);
    let mut fingerprinter = Fingerprinter::new(store.profile());
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { candidate, stored, pieces }) = job else { return };
        if let Some(stored) = stored
            && let Ok(digest) = reader.read(&candidate, stop, &mut |_| Ok(()))
            && digest == stored
        {
            observer.read(candidate.file.as_ref().map_or(0, |file| file.bytes));
            // As below.
            let _ = pieces.send(Piece::Stored(digest));
            continue;
        }
        let mut fingerprints = Vec::new();
        let format = if store.profile().unit == Unit::Byte { Format::Bytes } else { Format::Text };
        fingerprinter.begin(format);
        let digest = reader.read(&candidate, stop, &mut |bytes| {
            observer.read(bytes.len() as u64);
            fingerprinter.feed(bytes, &mut fingerprints);
            if fingerprints.len() < PIECE_FINGERPRINTS {
                return Ok(());
            }
            // An intake that is gone has failed, and says so itself.
            pieces.send(Piece::Fingerprints(std::mem::take(&mut fingerprints))).map_err(|_| Error::Interrupted)
        });
        // Finished in any case, so as to be ready for the next document.
        let facts = fingerprinter.finish(&mut fingerprints);
        let end = digest.and_then(|digest| facts.map(|facts| Read { digest, format, facts, rest: fingerprints }));
        // As above.
        let _ = pieces.send(Piece::End(end));
    }
}
