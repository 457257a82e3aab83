//! Pipeline: one thread walks, several read, and one stores (the *intake*). Documents stay in order, and
//! memory is bounded.
//!
//! Each job has its own short queue. The intake gets the queues in the order of the walk and empties them one
//! by one. A worker that runs ahead waits when the queue of its job is full.

use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;

use super::intake::Intake;
use super::messages::ReadJob;
use super::options::IngestOptions;
use super::walker::Walker;
use super::worker::work;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::threads;
use fpdb_store::Store;

/// Jobs per thread that may wait for the intake.
const JOBS_WAITING: usize = 16;

/// Runs the pipeline to the end of the walk, or until the task is stopped.
pub(super) fn run(
    store: &Store,
    options: &IngestOptions,
    task: &Task<'_>,
    intake: &mut Intake<'_>,
    find: impl FnOnce(&mut Walker<'_>) -> Result<()> + Send,
) -> Result<()> {
    // A failure stops the threads of this run, not the token of its caller.
    let threads = store.pool().threads();
    let (stop, progress) = (&task.token().child(), task.reports());
    let waiting = threads * JOBS_WAITING;
    let (steps, taken) = sync_channel(waiting);
    let (jobs, waiting_jobs) = sync_channel::<ReadJob>(waiting);
    // Only the workers own the receiver. So if all of them have panicked, the walker fails to send its next
    // job.
    let waiting_jobs = Arc::new(Mutex::new(waiting_jobs));
    thread::scope(|scope| {
        let mut walker = Walker::new(store, options, stop, progress, (steps, jobs));
        for number in 0..threads {
            let jobs = Arc::clone(&waiting_jobs);
            let work = move || {
                let _lent = store.lend_turn();
                work(store, options, &jobs, stop, progress);
            };
            // If a thread cannot start, the walker is dropped. Then no more jobs come, so the threads that
            // have started end.
            threads::start_within(scope, &format!("read-{number}"), work).map_err(Error::threads(threads))?;
        }
        drop(waiting_jobs);
        let walk = move || {
            let _lent = store.lend_turn();
            find(&mut walker)
        };
        let walker = threads::start_within(scope, "walk", walk).map_err(Error::threads(threads))?;
        let mut outcome = Ok(());
        for step in &taken {
            outcome = intake.take(step);
            if outcome.is_err() {
                // The other threads notice the stop and end. Their last messages are dropped.
                stop.stop();
                break;
            }
        }
        drop(taken);
        outcome.and(walker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}
