//! Writer: the one thread that changes the database. It takes all waiting changes and commits them in groups,
//! so that many small documents cost few commits. A change is acknowledged after its commit.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fpdb::maintenance::{Backup, BackupOptions};
use fpdb::{
    Database, DatabaseWriter, Document, DocumentInfo, Error, IngestOptions, IngestSummary, Outcome, Progress, Removal,
    SkipReason, StopToken, StoreFailure, Task,
};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, mpsc, oneshot};

use crate::error::{Result, ServeError};
use crate::jobs::{Job, Step};
use crate::problem::{Answer, Problem};
use crate::removing::Removing;
use crate::reopening::Reopening;
use crate::room::Room;

/// Maximum number of documents in a commit. They have at most [`BYTES_IN_A_COMMIT`] bytes.
const IN_A_COMMIT: usize = 1000;
const BYTES_IN_A_COMMIT: usize = 64 << 20;

/// After a refused change the service reports for this time that it is not ready. After that time it reports
/// that it is ready, because only another change can show whether the cause is gone.
const REFUSED: Duration = Duration::from_secs(60);

/// The cause of an error after a panic of the thread.
const DEAD: &str = "the writer has ended";

/// A document to be added to the database.
pub(crate) struct Put {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) metadata: Vec<(String, String)>,
    /// Documents are committed together only if they are ingested in the same way.
    pub(crate) options: IngestOptions,
}

impl Put {
    fn into_document(self) -> Document {
        let document = Document::new(self.name, self.bytes);
        self.metadata.into_iter().fold(document, |document, (name, value)| document.with(name, value))
    }

    /// True if the options that documents of one ingest share are equal.
    fn is_like(&self, other: &IngestOptions) -> bool {
        self.options.on_change == other.on_change
            && self.options.boilerplate == other.boilerplate
            && self.options.read == other.read
    }
}

/// The place of a change and the room of its body. A change keeps both until it has ended, because its bytes
/// stay in memory even if the client has gone. Both are free before the client gets the outcome, so that the
/// next request of the client finds room.
pub(crate) struct Held {
    _place: OwnedSemaphorePermit,
    _room: Option<Room>,
}

impl Held {
    /// A change without a body has no room to keep.
    pub(crate) fn new(place: OwnedSemaphorePermit, room: impl Into<Option<Room>>) -> Self {
        Self { _place: place, _room: room.into() }
    }
}

/// Sends the outcome of a change to the request that waits for it.
type Reply<T> = oneshot::Sender<Answer<T>>;

/// The documents of a change. The writer takes one document at a time, because all together may take many
/// times the memory of the body.
pub(crate) type Documents = Box<dyn Iterator<Item = Document> + Send>;

/// A change.
enum Change {
    Put(Box<Put>, Held, Reply<Stored>),
    Bulk(Documents, Box<IngestOptions>, Held, Reply<IngestSummary>),
    Remove(Removing, StopToken, Held, Reply<Removal>),
    Compact(StopToken, Arc<Step>, Held, Reply<fpdb::maintenance::Compaction>),
    Backup(PathBuf, BackupOptions, StopToken, Arc<Step>, Held, Reply<Backup>),
    /// Changes nothing, but lets the thread open the database again.
    Nothing(Held),
}

impl Change {
    /// Refuses a change, because the database takes no changes.
    fn refuse(self) {
        fn refused<T>(reply: Reply<T>) {
            // The request that waits for the reply may have ended.
            let _ = reply.send(Err(Problem::not_written()));
        }
        match self {
            Self::Put(_, _, reply) => refused(reply),
            Self::Bulk(_, _, _, reply) => refused(reply),
            Self::Remove(_, _, _, reply) => refused(reply),
            Self::Compact(_, _, _, reply) => refused(reply),
            Self::Backup(_, _, _, _, _, reply) => refused(reply),
            Self::Nothing(_) => {}
        }
    }
}

/// The record of the writer's changes so far.
#[derive(Clone, Default)]
pub(crate) struct Written {
    pub(crate) commits: Counter,
    pub(crate) documents: Counter,
    /// Time at which the database refused the last change, for example after a disk error.
    refused: Arc<Mutex<Option<Instant>>>,
    /// True while the store takes no changes, until it is opened again.
    stopped: Arc<AtomicBool>,
}

impl Written {
    /// Notes the outcome of a change, which is one commit if it succeeds.
    fn note<T>(&self, outcome: &fpdb::Result<T>) {
        match outcome {
            Ok(_) => drop(self.commits.inc()),
            // A stop, or an error of the request, is not a failure of the database.
            Err(error) if matches!(error, Error::Stopped) || !Problem::from(error).status().is_server_error() => return,
            Err(Error::Store {
                failure: StoreFailure::Stopped | StoreFailure::NoSpace | StoreFailure::FileTooLarge,
                ..
            }) => self.stopped.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = outcome.as_ref().err().map(|_| Instant::now());
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Notes that the database was opened again.
    fn opened(&self) {
        self.stopped.store(false, Ordering::Relaxed);
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// True if the last change was refused less than `time` ago, or if no further change is possible.
    fn refused_within(&self, time: Duration) -> bool {
        if self.is_stopped() {
            return true;
        }
        let refused = *self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.is_some_and(|refused| refused.elapsed() < time)
    }
}

/// Number of documents of the same bytes that the answer to a PUT names.
const IDENTICAL: usize = 20;

/// A document that a PUT has stored, or found stored.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) outcome: Outcome,
    /// The stored document, with the first documents of the same bytes. `None` if the PUT did not store this
    /// document, or if it cannot be read.
    pub(crate) document: Option<DocumentInfo>,
}

impl Stored {
    /// Looks up the document at once, before a later commit replaces it.
    fn look_up(database: &Database, name: &str, outcome: Outcome) -> Self {
        if outcome == Outcome::Kept {
            return Self { outcome, document: None };
        }
        let look_up = || -> fpdb::Result<Option<DocumentInfo>> {
            let mut document = database.newest_named(name)?;
            document.identical_to = database.first_identical_to(&document, IDENTICAL)?;
            Ok(Some(document))
        };
        // The document is committed, so an error here must not become an error of the PUT.
        Self { outcome, document: look_up().unwrap_or_default() }
    }
}

/// Hands changes to the writer.
pub(crate) struct Writer {
    changes: Mutex<Option<mpsc::UnboundedSender<Change>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The places of changes. A change has a place while it waits for the thread and while the thread carries
    /// it out. Queries have other places, so a compaction, for which changes wait, holds up no query.
    places: Arc<Semaphore>,
    most: usize,
    written: Written,
}

impl Writer {
    /// Starts the thread. At most `most` changes are made or wait.
    pub(crate) fn start(
        database: DatabaseWriter,
        mut reopening: Reopening,
        written: Written,
        most: usize,
    ) -> Result<Self> {
        let (sender, mut waiting) = mpsc::unbounded_channel();
        let counted = written.clone();
        let run = move || {
            let (mut database, mut next) = (Some(database), None);
            while let Some(change) = next.take().or_else(|| waiting.blocking_recv()) {
                if counted.is_stopped() && reopening.attempt(&mut database) {
                    counted.opened();
                }
                match &database {
                    Some(database) if !counted.is_stopped() => next = make(database, change, &mut waiting, &counted),
                    _ => change.refuse(),
                }
            }
        };
        let thread = thread::Builder::new().name("writer".into()).spawn(run);
        let thread = thread.map_err(ServeError::system("start a thread"))?;
        Ok(Self { thread: Mutex::new(Some(thread)), ..Self::of(Some(sender), written, most) })
    }

    /// The writer of a service that only reads: it takes no changes.
    pub(crate) fn none(written: Written) -> Self {
        Self::of(None, written, 0)
    }

    fn of(changes: Option<mpsc::UnboundedSender<Change>>, written: Written, most: usize) -> Self {
        let most = most.min(Semaphore::MAX_PERMITS);
        let places = Arc::new(Semaphore::new(most));
        Self { changes: Mutex::new(changes), thread: Mutex::default(), places, most, written }
    }

    /// Takes a place for a change, unless all are taken.
    pub(crate) fn enter(&self) -> Answer<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|refused| match refused {
            TryAcquireError::NoPermits => Problem::busy(),
            TryAcquireError::Closed => Problem::ending(),
        })
    }

    /// Refuses a change if no place is free. Takes no place, so that no other change is refused because of
    /// this look.
    pub(crate) fn look_for_place(&self) -> Answer<()> {
        match self.places.available_permits() {
            _ if self.places.is_closed() => Err(Problem::ending()),
            0 => Err(Problem::busy()),
            _ => Ok(()),
        }
    }

    /// Waits for a place, until the job is dropped. Waiting jobs need no limit here, because the number of
    /// jobs is limited.
    async fn wait(&self, job: &Job) -> Answer<Held> {
        let place = Arc::clone(&self.places).acquire_owned();
        let place = job.unless_dropped(place).await?.map_err(|_| Problem::ending())?;
        Ok(Held::new(place, None))
    }

    /// Accepts no further changes, carries out the waiting ones, and closes the database.
    pub(crate) fn end(&self) {
        self.places.close();
        drop(self.changes.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // If the thread has panicked, its panic message was already printed.
            let _ = thread.join();
        }
    }

    /// Lets the thread open the database again, if a write has failed. The caller that asks whether the
    /// service is ready may be the only caller left, because others do not use a service that is not ready.
    pub(crate) fn recover(&self) {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(changes) = changes.as_ref().filter(|_| self.written.is_stopped()) {
            // If all places are taken, one of the waiting changes has the same effect.
            if let Ok(place) = self.enter() {
                // A thread that has panicked opens nothing.
                let _ = changes.send(Change::Nothing(Held::new(place, None)));
            }
        }
    }

    /// Number of changes that wait for the thread, or are made.
    pub(crate) fn waiting(&self) -> usize {
        self.most - self.places.available_permits()
    }

    /// False if the database refused the last change within [`REFUSED`], if it takes no further changes, or
    /// if the thread has panicked.
    pub(crate) fn is_well(&self) -> bool {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        !self.written.refused_within(REFUSED) && !changes.as_ref().is_some_and(mpsc::UnboundedSender::is_closed)
    }

    async fn change<T>(&self, change: impl FnOnce(Reply<T>) -> Change) -> Answer<T> {
        let sender = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (reply, outcome) = oneshot::channel();
        sender.ok_or_else(Problem::ending)?.send(change(reply)).map_err(|_| Problem::internal(DEAD))?;
        outcome.await.map_err(|_| Problem::internal(DEAD))?
    }

    /// Adds a document, and returns once it is committed.
    pub(crate) async fn put(&self, put: Put, held: Held) -> Answer<Stored> {
        self.change(|reply| Change::Put(Box::new(put), held, reply)).await
    }

    /// Adds documents, and returns once all are committed.
    pub(crate) async fn bulk(&self, documents: Documents, options: IngestOptions, held: Held) -> Answer<IngestSummary> {
        self.change(|reply| Change::Bulk(documents, Box::new(options), held, reply)).await
    }

    /// Removes documents, and returns once all are removed and committed.
    pub(crate) async fn remove(&self, removing: Removing, stop: StopToken, held: Held) -> Answer<Removal> {
        self.change(|reply| Change::Remove(removing, stop, held, reply)).await
    }

    /// Folds the database into one run.
    pub(crate) async fn compact(&self, job: &Job) -> Answer<fpdb::maintenance::Compaction> {
        let held = self.wait(job).await?;
        self.change(|reply| Change::Compact(job.stop.clone(), Arc::clone(&job.step), held, reply)).await
    }

    /// Copies the database into a folder of backups.
    pub(crate) async fn backup(&self, folder: PathBuf, options: BackupOptions, job: &Job) -> Answer<Backup> {
        let held = self.wait(job).await?;
        let (stop, step) = (job.stop.clone(), Arc::clone(&job.step));
        self.change(|reply| Change::Backup(folder, options, stop, step, held, reply)).await
    }
}

/// Carries out a change, together with waiting changes of the same kind. Returns the first waiting change
/// that does not belong to this group.
fn make(
    database: &DatabaseWriter,
    change: Change,
    waiting: &mut mpsc::UnboundedReceiver<Change>,
    written: &Written,
) -> Option<Change> {
    // Errors of `send` are ignored, because the request that waits for the reply may have ended.
    match change {
        Change::Put(put, held, reply) => {
            let options = put.options.clone();
            let mut names = HashSet::from([put.name.clone()]);
            let mut bytes = put.bytes.len();
            let mut group = vec![(put, held, reply)];
            let mut next = None;
            while group.len() < IN_A_COMMIT && bytes < BYTES_IN_A_COMMIT {
                match waiting.try_recv() {
                    // If two documents have one name, the second needs a commit of its own, so that the
                    // outcome of the first can be reported.
                    Ok(Change::Put(put, held, reply)) if put.is_like(&options) && !names.contains(&put.name) => {
                        names.insert(put.name.clone());
                        bytes += put.bytes.len();
                        group.push((put, held, reply));
                    }
                    Ok(change) => {
                        next = Some(change);
                        break;
                    }
                    Err(_) => break,
                }
            }
            ingest_group(database, group, &options, written);
            return next;
        }
        Change::Bulk(documents, options, held, reply) => {
            let summary = database.ingest_with(documents, &options, &Task::new());
            written.note(&summary);
            if let Ok(summary) = &summary {
                written.documents.inc_by(summary.added + summary.replaced);
            }
            drop(held);
            let _ = reply.send(summary.map_err(Problem::from));
        }
        Change::Remove(removing, stop, held, reply) => {
            let removal = removing.run(database, &stop);
            written.note(&removal);
            drop(held);
            let _ = reply.send(removal.map_err(Problem::from));
        }
        Change::Compact(stop, step, held, reply) => {
            let compaction = database.compact(&Task::new().progress(&*step).stop(&stop));
            // A compaction does not count as a commit, unlike other changes.
            if compaction.is_err() {
                written.note(&compaction);
            }
            // After a failure of the engine in a compaction, the store takes no changes.
            if let Err(Error::Store { .. }) = &compaction {
                written.stopped.store(true, Ordering::Relaxed);
            }
            drop(held);
            let _ = reply.send(compaction.map_err(Problem::from));
        }
        Change::Backup(folder, options, stop, step, held, reply) => {
            let backup = database.backup(folder, &options, &Task::new().progress(&*step).stop(&stop));
            drop(held);
            let _ = reply.send(backup.map_err(Problem::from));
        }
        Change::Nothing(held) => drop(held),
    }
    None
}

/// The outcome of each document of a group, by name.
#[derive(Default)]
struct Outcomes(Mutex<HashMap<String, Answer<Outcome>>>);

impl Outcomes {
    fn note(&self, name: &str, outcome: Answer<Outcome>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), outcome);
    }
}

impl Progress for Outcomes {
    fn document(&self, name: &str, outcome: Outcome, _: &str) {
        self.note(name, Ok(outcome));
    }

    fn skipped(&self, name: &str, reason: &SkipReason) {
        self.note(name, Err(Problem::not_a_document(reason)));
    }

    fn failed(&self, name: &str, error: &Error) {
        self.note(name, Err(Problem::from(error)));
    }
}

fn ingest_group(
    database: &DatabaseWriter,
    group: Vec<(Box<Put>, Held, Reply<Stored>)>,
    options: &IngestOptions,
    written: &Written,
) {
    let outcomes = Outcomes::default();
    let mut replies = Vec::with_capacity(group.len());
    let documents: Vec<Document> = group
        .into_iter()
        .map(|(put, held, reply)| {
            replies.push((put.name.clone(), held, reply));
            put.into_document()
        })
        .collect();
    let ended = database.ingest_with(documents, options, &Task::new().progress(&outcomes));
    written.note(&ended);
    let mut outcomes = outcomes.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (name, held, reply) in replies {
        let outcome = match &ended {
            Ok(_) => outcomes.remove(&name).unwrap_or_else(|| Err(Problem::internal("the ingest did not report it"))),
            // Documents that were committed before the error are stored, but are reported as failed. That is
            // harmless, because a PUT may be repeated.
            Err(error) => Err(Problem::from(error)),
        };
        if let Ok(Outcome::Added | Outcome::Replaced) = outcome {
            written.documents.inc();
        }
        let outcome = outcome.map(|outcome| Stored::look_up(database, &name, outcome));
        drop(held);
        // The request that waits for the outcome may have ended.
        let _ = reply.send(outcome);
    }
}

#[cfg(test)]
mod tests;
