//! Pool: the threads of one open database. They start on first use, and are not shared with other databases.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rayon::ThreadPool;

use crate::error::{Error, Result};
use crate::threads;

/// A pool of threads.
pub struct Pool {
    threads: usize,
    started: Mutex<Option<Arc<ThreadPool>>>,
}

/// Number of threads that the machine can run at once.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl Pool {
    /// A pool of `threads` threads, at least one.
    pub fn new(threads: usize) -> Self {
        Self { threads: threads.max(1), started: Mutex::new(None) }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` in the pool. Parallel work of rayon is divided among its threads.
    ///
    /// # Errors
    /// [`Error::Threads`] if the threads cannot be started, and any error of `work`.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let pool = self.pool()?;
        pool.install(work)
    }

    fn pool(&self) -> Result<Arc<ThreadPool>> {
        // A poisoned lock is harmless: the pool is stored in one step.
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
        // Nested work runs in the same pool.
        assert_eq!(pool.run(|| pool.run(|| Ok(rayon::current_num_threads()))).unwrap(), 3);
    }
}
