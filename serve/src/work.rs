//! Work: runs blocking work on separate threads. The number of running requests is bounded, and so is the
//! number of waiting ones. The number of changes has another bound, in `writer`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fpdb::StopToken;
use tokio::sync::Semaphore;

use crate::problem::{Answer, Problem};

/// The places of requests that read. A request has a place while it waits and while it is processed.
pub(crate) struct Work {
    workers: Arc<Semaphore>,
    /// Number of workers.
    count: usize,
    /// Number of requests that are processed or wait.
    inside: Arc<AtomicUsize>,
    most: usize,
    /// The token is stopped when the service ends and the time for its last requests is over.
    pub(crate) stop: StopToken,
}

/// A place for a request. It becomes free when this value is dropped.
pub(crate) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Stops the work of a request when dropped, because the client has gone or the time is over.
struct StopAtDrop(StopToken);

impl Drop for StopAtDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Work {
    pub(crate) fn new(workers: usize, queue: usize, stop: StopToken) -> Self {
        let workers = workers.min(Semaphore::MAX_PERMITS);
        Self {
            workers: Arc::new(Semaphore::new(workers)),
            count: workers,
            inside: Arc::default(),
            most: workers.saturating_add(queue),
            stop,
        }
    }

    /// Number of requests that are processed or wait.
    pub(crate) fn inside(&self) -> usize {
        self.inside.load(Ordering::Relaxed)
    }

    /// Maximum number of requests that are processed or wait.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Number of workers, and number of workers that run a request.
    pub(crate) fn workers(&self) -> (usize, usize) {
        (self.count, self.count.saturating_sub(self.workers.available_permits()))
    }

    /// Takes a place, unless all are taken.
    pub(crate) fn enter(&self) -> Answer<Place> {
        let enter = |inside: usize| (inside < self.most).then_some(inside + 1);
        match self.inside.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enter) {
            Ok(_) => Ok(Place(Arc::clone(&self.inside))),
            Err(_) => Err(Problem::busy()),
        }
    }

    /// Runs `work` on a thread that may block, once a worker is free. When the caller no longer waits, stops
    /// the token that `work` got.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&StopToken) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let place = self.enter()?;
        let worker = Arc::clone(&self.workers).acquire_owned().await.map_err(|_| Problem::ending())?;
        let stop = self.stop.child();
        let _caller = StopAtDrop(stop.clone());
        let run = move || {
            // The place and the worker are held until the work has ended, even if the caller has gone.
            let _held = (place, worker);
            work(&stop)
        };
        blocking(run).await
    }
}

/// Runs `work` on a thread that may block. Requests share the two threads of the runtime, and a thread that
/// parses a large body answers no other request meanwhile.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Answer<T> + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|failed| Err(Problem::internal(failed.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_refuses_at_once() {
        let work = Work::new(1, 1, StopToken::new());
        let places = [work.enter(), work.enter()].map(|place| place.map_err(|problem| problem.status()).ok().unwrap());
        assert_eq!(work.enter().err().unwrap().status().as_u16(), 503);
        drop(places);
        assert!(work.enter().is_ok());
    }

    #[test]
    fn work_is_stopped_when_nobody_waits_for_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let work = Work::new(1, 1, StopToken::new());
        let (sender, stopped) = std::sync::mpsc::channel();
        runtime.block_on(async {
            let run = work.run(move |stop| {
                while !stop.is_stopped() {
                    std::thread::yield_now();
                }
                sender.send(()).unwrap();
                Ok(())
            });
            assert!(tokio::time::timeout(std::time::Duration::from_millis(20), run).await.is_err());
        });
        stopped.recv().unwrap();
    }
}
