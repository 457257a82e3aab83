//! Workers: threads that are reused by later calls. A short query takes less time than a new thread with its
//! memory, so scoped threads of the standard library are not used. A pool of rayon is not used either: its
//! threads are limited in number, so calls that wait for other calls would block it. In addition, a forked
//! process lacks the threads of the pool.

use std::any::Any;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, TryLockError};
use std::thread;
use std::time::Duration;

/// Time after which a worker without work ends.
const STAY: Duration = Duration::from_secs(10);

type Work = Box<dyn FnOnce() + Send>;

/// A waiting worker: its number, and the sender of its work.
type Worker = (u64, Sender<Work>);

/// The idle workers.
struct Idle {
    /// The process that has these threads. A forked process has none of them.
    process: u32,
    workers: Vec<Worker>,
}

static IDLE: Mutex<Idle> = Mutex::new(Idle { process: 0, workers: Vec::new() });

/// Calls `with` with the idle workers of this process. Returns `None` if the list is locked. Never waits for
/// the lock, because after a fork the thread that holds it may not exist in this process.
fn idle<R>(with: impl FnOnce(&mut Vec<Worker>) -> R) -> Option<R> {
    let mut idle = match IDLE.try_lock() {
        Ok(idle) => idle,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    let this = process::id();
    if idle.process != this {
        // Channels to the threads of another process must be neither used nor dropped.
        mem::forget(mem::take(&mut idle.workers));
        idle.process = this;
    }
    Some(with(&mut idle.workers))
}

/// Work that runs on another thread. Dropping it waits for its end.
pub(crate) struct Running<'a, T> {
    outcome: Receiver<thread::Result<T>>,
    /// Marks the lifetime of the values that the work borrows.
    borrowed: PhantomData<&'a ()>,
}

/// Starts work on another thread, and calls `meanwhile`, which waits for its outcome.
///
/// # Errors
/// If the system has no more threads.
pub(crate) fn run<'a, T: Send + 'a, R>(
    work: impl FnOnce() -> T + Send + 'a,
    meanwhile: impl FnOnce(&Running<'a, T>) -> R,
) -> std::io::Result<R> {
    let (sender, outcome) = channel();
    let work: Box<dyn FnOnce() + Send + 'a> = Box::new(move || {
        // The outcome is sent after all borrows of the work have ended.
        let ended = catch_unwind(AssertUnwindSafe(work));
        let _ = sender.send(ended);
    });
    // SAFETY: nothing borrowed for 'a is used after this function. `running` waits for the outcome when it is
    // dropped, also after a panic of `meanwhile`, which has only a reference and so cannot forget it. The
    // outcome is sent after `work` was consumed. Work that is dropped unrun drops the sender, which ends the
    // wait.
    let work: Work = unsafe { mem::transmute::<Box<dyn FnOnce() + Send + 'a>, Work>(work) };
    hand_over(work)?;
    let running = Running { outcome, borrowed: PhantomData };
    Ok(meanwhile(&running))
}

impl<T> Running<'_, T> {
    /// Waits for the outcome, or the panic of the work. Call it only once.
    pub(crate) fn join(&self) -> thread::Result<T> {
        let gone = |_| Err(Box::new("the worker has ended without an outcome") as Box<dyn Any + Send>);
        self.outcome.recv().unwrap_or_else(gone)
    }
}

impl<T> Drop for Running<'_, T> {
    fn drop(&mut self) {
        // If the outcome was already taken, this returns an error at once, because the sender is gone.
        let _ = self.outcome.recv();
    }
}

/// Gives work to an idle worker, or to a new one.
fn hand_over(work: Work) -> std::io::Result<()> {
    match idle(Vec::pop) {
        // The worker waits for this work. It was taken out of the list, so no other thread can send work to
        // it, and it does not end before this work arrives.
        Some(Some((_, worker))) => worker.send(work).map_err(|_| std::io::ErrorKind::BrokenPipe.into()),
        _ => thread::Builder::new().name("fpdb call".into()).spawn(move || serve(work)).map(drop),
    }
}

/// Works until there is no work for a while.
fn serve(mut work: Work) {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    loop {
        work();
        let (sender, next) = channel();
        if idle(|workers| workers.push((number, sender))).is_none() {
            return;
        }
        work = loop {
            match next.recv_timeout(STAY) {
                Ok(more) => break more,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let leave = |workers: &mut Vec<Worker>| {
                let before = workers.len();
                workers.retain(|&(other, _)| other != number);
                workers.len() < before
            };
            // If this worker is no longer in the list, another thread has taken it out and will send work.
            if idle(leave) == Some(true) {
                return;
            }
        };
    }
}
