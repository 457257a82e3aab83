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
use crate::document::Digest;
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
    End(Result<Read>),
}

/// A document that has been read to its end.
pub(super) struct Read {
    pub(super) digest: Digest,
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
            Found::Document(candidate) => match is_unchanged(store, &candidate) {
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
                Ok(true) => (Step::Unchanged(candidate), None),
                Ok(false) => {
                    let (sender, pieces) = sync_channel(PIECES_WAITING);
                    (Step::Read(candidate.clone(), pieces), Some(Job { candidate, pieces: sender }))
                }
            },
        };
        // The step before the job: a worker that waits for the intake then waits for a step it will reach.
        let sent = steps.send(step).is_ok() && job.is_none_or(|job| jobs.send(job).is_ok());
        if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    failure.map_or(Ok(()), Err)
}

/// True where the stored document of this name was read from this very file, which has the same size and
/// time still.
fn is_unchanged(store: &Store, candidate: &Candidate) -> Result<bool> {
    let Some(file) = &candidate.file else { return Ok(false) };
    let Some(&newest) = store.documents_named(&candidate.name)?.last() else { return Ok(false) };
    let record = store.document(newest)?;
    Ok(record.bytes == file.bytes
        && record.modified().is_some()
        && record.modified() == file.modified
        && record.source.as_deref() == Some(&file.source))
}

fn work(store: &Store, jobs: &Mutex<Receiver<Job>>, stop: &AtomicBool, observer: &dyn IngestObserver) {
    let mut reader = Reader::new(store.profile().unit != Unit::Byte);
    let mut fingerprinter = Fingerprinter::new(store.profile());
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { candidate, pieces }) = job else { return };
        let mut fingerprints = Vec::new();
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
        let end = digest.map(|digest| Read { digest, facts, rest: fingerprints });
        // As above.
        let _ = pieces.send(Piece::End(end));
    }
}
