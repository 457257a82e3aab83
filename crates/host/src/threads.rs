//! Threads of this library. Each has a name and a fixed stack size. Starting a thread fails if the system has
//! no more threads.

use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use rayon::ThreadPoolBuilder;

/// Bytes of stack per thread, regardless of `RUST_MIN_STACK`. Only used pages take memory. Readers of
/// documents need most; tests read the hostile documents on such stacks.
const STACK: usize = 2 << 20;

fn builder(name: impl Into<String>) -> Builder {
    Builder::new().name(name.into()).stack_size(STACK)
}

/// Starts a thread.
pub fn start<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    builder(name).spawn(work)
}

/// Starts a thread within a scope, which waits for it.
pub fn start_within<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    builder(name).spawn_scoped(scope, work)
}

/// A builder for a pool of threads.
pub fn pool(threads: usize) -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().num_threads(threads).thread_name(|number| format!("fpdb-{number}")).stack_size(STACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_names_and_return_what_their_work_does() {
        let name = || std::thread::current().name().map(str::to_owned);
        assert_eq!(start("reader", name).unwrap().join().unwrap().as_deref(), Some("reader"));
        let borrowed = String::from("of the caller");
        let found = std::thread::scope(|scope| {
            start_within(scope, "worker", || (name(), borrowed.len())).unwrap().join().unwrap()
        });
        assert_eq!(found, (Some("worker".into()), 13));
        let pool = pool(2).build().unwrap();
        assert!(pool.install(name).unwrap().starts_with("fpdb-"));
    }
}
