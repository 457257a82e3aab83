//! Turns: a lock between the threads that share an open store. One thread at a time changes the store. A full
//! scan excludes changes. The lock of the folder excludes other processes.
//!
//! Code of the host runs while a thread holds a turn: visitors, iterators of documents, progress reports. A
//! call from this code that needs the same turn would wait for its own thread for ever. So the call returns
//! an error instead. For this, each thread records the turns that it works in.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;

/// Interval at which a waiting thread checks its stop token.
const LOOK: Duration = Duration::from_millis(20);

/// The lock that threads wait for.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    changing: bool,
    /// The number of scans in progress. Each scan excludes changes.
    scans: usize,
    /// The number of threads that wait to change the store. New scans wait for them, so that changes are not
    /// delayed for ever.
    waiting: usize,
    /// The number of threads that wait to scan.
    scans_waiting: usize,
    /// The number of waiting scans that begin before the next change. Each change that ends sets this field
    /// to the number of waiting scans, so that scans are not delayed for ever either.
    admitted: usize,
}

/// The work of a thread in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Change,
    Scan,
}

thread_local! {
    /// The turns this thread works in, innermost last: the address of the lock, and the work.
    static WORKING: RefCell<Vec<(usize, Work)>> = const { RefCell::new(Vec::new()) };
}

/// Records that this thread works in a turn, for as long as this value lives. The value cannot move to
/// another thread.
struct Working {
    turns: usize,
    work: Work,
    stays: PhantomData<*const ()>,
}

impl Working {
    fn new(turns: &Turns, work: Work) -> Self {
        let turns = address(turns);
        WORKING.with_borrow_mut(|working| working.push((turns, work)));
        Self { turns, work, stays: PhantomData }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        WORKING.with_borrow_mut(|working| {
            let own = working.iter().rposition(|&entry| entry == (self.turns, self.work));
            own.map(|place| working.remove(place));
        });
    }
}

/// The right to change the store, for as long as this lives.
#[must_use]
pub(crate) struct Changing<'a> {
    turns: &'a Turns,
    _working: Working,
}

/// Excludes changes of the store for as long as this lives.
#[must_use]
pub struct Unchanged<'a> {
    turns: &'a Turns,
    _working: Working,
}

/// Records that a thread works for the running change, for as long as this lives.
#[must_use]
pub struct Lent(#[expect(dead_code, reason = "held, not read")] Working);

impl Turns {
    /// Waits for the right to change the store.
    ///
    /// # Errors
    /// * [`Error::Stopped`] if `stop` is stopped first.
    /// * [`Error::WaitsForItself`] if this thread already works in a turn.
    pub(super) fn change_alone(&self, stop: &StopToken) -> Result<Changing<'_>> {
        if self.own_work().is_some() {
            return Err(Error::WaitsForItself);
        }
        let mut state = self.state();
        state.waiting += 1;
        let busy = |state: &State| state.changing || state.scans > 0 || state.admitted > 0;
        let mut state = self.wait(state, stop, busy);
        state.waiting -= 1;
        if busy(&state) {
            // Scans that waited for this thread can continue.
            self.freed.notify_all();
            return Err(Error::Stopped);
        }
        state.changing = true;
        Ok(Changing { turns: self, _working: Working::new(self, Work::Change) })
    }

    /// Excludes changes. Waits for a change that is in progress. Inside a scan of the same thread, does not
    /// wait.
    ///
    /// # Errors
    /// * [`Error::Stopped`] if `stop` is stopped first.
    /// * [`Error::WaitsForItself`] if this thread works in a change.
    pub(super) fn keep_unchanged(&self, stop: &StopToken) -> Result<Unchanged<'_>> {
        let mut state = self.state();
        match self.own_work() {
            Some(Work::Change) => return Err(Error::WaitsForItself),
            Some(Work::Scan) => {}
            None => {
                let busy = |state: &State| state.changing || (state.waiting > 0 && state.admitted == 0);
                state.scans_waiting += 1;
                state = self.wait(state, stop, busy);
                state.scans_waiting -= 1;
                if busy(&state) {
                    state.admitted = state.admitted.min(state.scans_waiting);
                    self.freed.notify_all();
                    return Err(Error::Stopped);
                }
                state.admitted = state.admitted.saturating_sub(1);
            }
        }
        state.scans += 1;
        Ok(Unchanged { turns: self, _working: Working::new(self, Work::Scan) })
    }

    /// Records that this thread works for the running change. The thread also runs code of the host.
    pub(super) fn lend(&self) -> Lent {
        Lent(Working::new(self, Work::Change))
    }

    /// The work that this thread does in turns of this lock. If the thread has several, a change takes
    /// precedence over a scan.
    fn own_work(&self) -> Option<Work> {
        let own = |&(turns, work): &(usize, Work)| (turns == address(self)).then_some(work);
        WORKING.with_borrow(|working| {
            let mut works = working.iter().filter_map(own);
            let first = works.next()?;
            Some(if works.any(|work| work == Work::Change) { Work::Change } else { first })
        })
    }

    /// Waits until `busy` is false or `stop` is stopped.
    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        stop: &StopToken,
        busy: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        while busy(&state) && !stop.is_stopped() {
            (state, _) = self.freed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// The lock guards counters only, so a panic cannot leave them half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn address(turns: &Turns) -> usize {
    std::ptr::from_ref(turns).addr()
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        state.changing = false;
        state.admitted = state.scans_waiting;
        drop(state);
        self.turns.freed.notify_all();
    }
}

impl Drop for Unchanged<'_> {
    fn drop(&mut self) {
        self.turns.state().scans -= 1;
        self.turns.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    fn never() -> StopToken {
        StopToken::new()
    }

    #[test]
    fn changes_exclude_each_other_and_scans() {
        let (turns, changes, inside) = (Turns::default(), AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for number in 0..8 {
                let (turns, changes, inside) = (&turns, &changes, &inside);
                scope.spawn(move || {
                    for _ in 0..200 {
                        if number % 2 == 0 {
                            let _changing = turns.change_alone(&never()).unwrap();
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            changes.fetch_add(1, Ordering::SeqCst);
                            inside.fetch_sub(1, Ordering::SeqCst);
                        } else {
                            let _unchanged = turns.keep_unchanged(&never()).unwrap();
                            let before = changes.load(Ordering::SeqCst);
                            assert_eq!(inside.load(Ordering::SeqCst), 0);
                            assert_eq!(changes.load(Ordering::SeqCst), before);
                        }
                    }
                });
            }
        });
        assert_eq!(changes.into_inner(), 800);
    }

    #[test]
    fn a_call_from_within_its_own_turn_is_an_error_or_goes_on() {
        let (turns, other) = (Turns::default(), Turns::default());
        let scan = turns.keep_unchanged(&never()).unwrap();
        assert!(matches!(turns.change_alone(&never()), Err(Error::WaitsForItself)));
        // A change of another store does not wait. A scan inside a scan does not wait either, although a
        // change waits: that change waits for both scans.
        drop(other.change_alone(&never()).unwrap());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.change_alone(&never()).map(drop));
            while turns.state().waiting == 0 {
                thread::yield_now();
            }
            drop(turns.keep_unchanged(&never()).unwrap());
            drop(scan);
            waiting.join().unwrap().unwrap();
        });

        let change = turns.change_alone(&never()).unwrap();
        assert!(matches!(turns.change_alone(&never()), Err(Error::WaitsForItself)));
        assert!(matches!(turns.keep_unchanged(&never()), Err(Error::WaitsForItself)));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _lent = turns.lend();
                assert!(matches!(turns.keep_unchanged(&never()), Err(Error::WaitsForItself)));
            });
        });
        drop(change);
        drop(turns.change_alone(&never()).unwrap());
    }

    /// Threads that change the store one after the other leave no moment without a waiting change.
    #[test]
    fn a_scan_that_waits_begins_before_the_next_change() {
        let (turns, order) = (Turns::default(), Mutex::new(Vec::new()));
        let note = |what| order.lock().unwrap().push(what);
        let until = |waits: fn(&State) -> bool| {
            while !waits(&turns.state()) {
                thread::yield_now();
            }
        };
        let change = turns.change_alone(&never()).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _unchanged = turns.keep_unchanged(&never()).unwrap();
                note("scan");
            });
            until(|state| state.scans_waiting == 1);
            scope.spawn(|| {
                let _changing = turns.change_alone(&never()).unwrap();
                note("change");
            });
            until(|state| state.waiting == 1);
            drop(change);
        });
        assert_eq!(order.into_inner().unwrap(), ["scan", "change"]);
    }

    #[test]
    fn a_thread_that_waits_ends_with_its_token() {
        let (turns, token) = (Turns::default(), StopToken::new());
        let change = turns.change_alone(&never()).unwrap();
        thread::scope(|scope| {
            let waiting = [
                scope.spawn(|| turns.change_alone(&token).map(drop)),
                scope.spawn(|| turns.keep_unchanged(&token).map(drop)),
            ];
            token.stop();
            for ended in waiting {
                assert!(matches!(ended.join().unwrap(), Err(Error::Stopped)));
            }
        });
        drop(change);
        // No change waits any more, so a scan need not wait. A free turn is granted even if the token is
        // stopped.
        drop(turns.keep_unchanged(&token).unwrap());
        drop(turns.change_alone(&token).unwrap());
    }
}
