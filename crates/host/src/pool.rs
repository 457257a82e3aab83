//! Pool: the threads of one open database. They start when they are first needed, and are no other database's.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rayon::ThreadPool;

use crate::error::{Error, Result};
use crate::threads;

/// Some threads that work on one thing together.
pub struct Pool {
    threads: usize,
    started: Mutex<Option<Arc<ThreadPool>>>,
}

/// As many threads as the machine runs at once.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl Pool {
    /// A pool of so many threads, at least one.
    pub fn new(threads: usize) -> Self {
        Self { threads: threads.max(1), started: Mutex::new(None) }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` on these threads: what rayon divides, it divides among them.
    ///
    /// # Errors
    /// [`Error::Threads`] where they cannot be started, and the error of `work`.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let pool = self.pool()?;
        pool.install(work)
    }

    fn pool(&self) -> Result<Arc<ThreadPool>> {
        // A pool is put in whole.
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = &*started {
            return Ok(Arc::clone(pool));
        }
        let pool = threads::pool(self.threads).build();
        let pool = Arc::new(pool.map_err(|error| Error::Threads { threads: self.threads, source: error.into() })?);
        *started = Some(Arc::clone(&pool));
        Ok(pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_divided_among_the_threads_of_the_pool_alone() {
        let pool = Pool::new(3);
        let threads = pool.run(|| Ok((rayon::current_num_threads(), thread::current().name().map(str::to_owned))));
        let (threads, name) = threads.unwrap();
        assert_eq!(threads, 3);
        assert!(name.unwrap().starts_with("fpdb-"));
        // Work inside work stays where it is.
        assert_eq!(pool.run(|| pool.run(|| Ok(rayon::current_num_threads()))).unwrap(), 3);
    }
}
