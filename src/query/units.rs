//! Units: the items that a query ranks. A unit is a document, or a submission, whose documents count as one.
//! The id of a unit is the id of its first document.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::prepared::{JOINED_BYTES, view_index};
use crate::archive::nothing_fits::nothing_fits;
use crate::archive::submissions::Submissions;
use fpdb_host::error::Result;
use fpdb_host::progress::is_due;
use fpdb_host::stop::StopToken;
use fpdb_reading::input::tidied;
use fpdb_store::{AsOf, Store, ViewCounts};

/// Interval at which a waiting query checks its stop token.
const LOOK: Duration = Duration::from_millis(20);

/// Maps each document of one commit to its unit. By default each document is a unit.
#[derive(Default)]
pub(crate) struct Units {
    submissions: Submissions,
    /// The totals of submissions, by first document. Empty without submissions.
    facts: HashMap<u32, SubmissionFacts>,
    /// Number of units. `None`: each document is a unit.
    count: Option<u64>,
}

/// The totals of a submission's documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubmissionFacts {
    pub(crate) name: String,
    /// Its documents, ascending.
    pub(crate) documents: Vec<u32>,
    pub(super) bytes: u64,
    pub(super) symbols: u64,
    /// By view: the structure, then the text as written. A hash that several documents hold counts once.
    pub(super) views: [ViewCounts; 2],
}

impl Units {
    /// The submissions that a regular expression forms, and the documents outside submissions. Reads the
    /// record of every document and, for the sizes, every posting.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped); an invalid regular expression; errors from reading the
    /// store.
    fn counted(store: &Store, pattern: &str, stop: &StopToken) -> Result<Self> {
        let view = store.view();
        let next_document = view.state().next_document;
        let mut submissions = Submissions::new(Some(pattern), next_document as usize)?;
        let (mut facts, mut count) = (HashMap::<u32, SubmissionFacts>::new(), 0);
        store.for_each_document(|id, record| {
            stop.check()?;
            match view.is_boilerplate(id) {
                true => submissions.note_boilerplate(&record.name, record.member.as_deref()),
                false => submissions.add(id, (&record.name, record.member.as_deref()), false),
            }
            let first = submissions.of(id);
            count += u64::from(first == id);
            if submissions.has(id) {
                let facts = facts.entry(first).or_default();
                facts.documents.push(id);
                facts.bytes += record.bytes;
                facts.symbols += record.symbols;
                for (all, one) in facts.views.iter_mut().zip([record.structure(), record.text().unwrap_or_default()]) {
                    all.kgrams += one.kgrams;
                    all.fingerprints += one.fingerprints;
                }
            }
            Ok(true)
        })?;
        if submissions.are_missing() {
            return nothing_fits(store, "submission_by", pattern, stop);
        }
        let mut sizes = vec![[0u64; 2]; next_document as usize];
        let mut room = Vec::new();
        let mut read = 0;
        let profile = store.profile();
        store.for_each_hash(|hash, _, holders| {
            if is_due(read) {
                stop.check()?;
            }
            read += 1;
            for &holder in submissions.holders(holders, &mut room) {
                sizes[holder as usize][view_index(profile, hash)] += 1;
            }
            Ok(())
        })?;
        for (name, first) in submissions.by_name() {
            if let Some(facts) = facts.get_mut(&first) {
                facts.name = name.to_owned();
                let views = facts.views.iter_mut().zip(sizes[first as usize]);
                views.for_each(|(view, distinct)| view.distinct = distinct);
            }
        }
        Ok(Self { submissions, facts, count: Some(count) })
    }

    /// The unit of a document.
    pub(super) fn of(&self, document: u32) -> u32 {
        self.submissions.of(document)
    }

    /// The units of some documents; ascending, no duplicates. The documents are ascending too.
    pub(super) fn of_all<'a>(&self, documents: &'a [u32], room: &'a mut Vec<u32>) -> &'a [u32] {
        self.submissions.holders(documents, room)
    }

    /// Number of units in a database with `documents` documents.
    pub(super) fn count(&self, documents: u64) -> u64 {
        self.count.unwrap_or(documents)
    }

    /// The documents that are part of a submission, each as a pair (submission, document).
    pub(super) fn parts(&self, documents: &[u32]) -> Vec<(u32, u32)> {
        if self.facts.is_empty() {
            return Vec::new();
        }
        let parts = documents.iter().filter(|&&document| self.submissions.has(document));
        parts.map(|&document| (self.of(document), document)).collect()
    }

    /// The submission that a user calls `name`; `None` if there is no such submission.
    pub(crate) fn submission(&self, name: &str) -> Option<&SubmissionFacts> {
        let first = self.submissions.named(name).or_else(|| self.submissions.named(&tidied(name)?))?;
        self.facts.get(&first)
    }

    /// The facts of a submission; `None` for a unit that is a document.
    pub(super) fn facts(&self, unit: u32) -> Option<&SubmissionFacts> {
        self.facts.get(&unit)
    }
}

impl SubmissionFacts {
    /// The approximate memory, in bytes, of all documents prepared as one query: their texts, and their
    /// fingerprints in the query of each document and in that of the submission.
    pub(crate) fn query_memory(&self) -> u64 {
        let fingerprints: u64 = self.views.iter().map(|view| view.fingerprints).sum();
        self.bytes.max(self.symbols).saturating_add(fingerprints.saturating_mul(JOINED_BYTES))
    }
}

/// Caches the units of the last regular expression for submissions, so that queries with the same expression
/// at the same commit share one count.
#[derive(Default)]
pub(crate) struct UnitCache(Mutex<Option<Arc<Counting>>>);

/// The count of the submissions of one expression at one commit.
struct Counting {
    pattern: String,
    commit: u64,
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    /// No query is counting these submissions. The next query that needs the count makes it.
    Open,
    /// A query is counting these submissions.
    Busy,
    Counted(Arc<Units>),
}

impl UnitCache {
    /// The units that a regular expression for submissions forms; without an expression, the documents.
    /// Queries with the same expression and the same commit share one count. Queries with another expression
    /// do not wait for this count.
    pub(crate) fn get(&self, store: &AsOf<'_>, pattern: Option<&str>, stop: &StopToken) -> Result<Arc<Units>> {
        let Some(pattern) = pattern else { return Ok(Arc::default()) };
        let counting = self.counting(pattern, store.view().state().commits);
        counting.wait(|| Units::counted(store, pattern, stop), stop)
    }

    /// The count of these submissions, which replaces any other count in the cache.
    fn counting(&self, pattern: &str, commit: u64) -> Arc<Counting> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(counting) if counting.pattern == pattern && counting.commit == commit => Arc::clone(counting),
            _ => {
                let counting = Arc::new(Counting {
                    pattern: pattern.to_owned(),
                    commit,
                    state: Mutex::new(State::Open),
                    changed: Condvar::new(),
                });
                Arc::clone(last.insert(counting))
            }
        }
    }
}

impl Counting {
    /// Returns the counted submissions. Counts them, or waits for the query that does.
    fn wait(&self, count: impl FnOnce() -> Result<Units>, stop: &StopToken) -> Result<Arc<Units>> {
        let mut state = self.state();
        loop {
            match &*state {
                State::Counted(counted) => return Ok(Arc::clone(counted)),
                State::Open => break,
                State::Busy => {
                    stop.check()?;
                    (state, _) = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        *state = State::Busy;
        drop(state);
        // If counting fails or panics, another query counts.
        let mut ended = Ended { counting: self, state: State::Open };
        let counted = Arc::new(count()?);
        ended.state = State::Counted(Arc::clone(&counted));
        Ok(counted)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment, so a poisoned state is valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sets the state of a count when the count ends.
struct Ended<'a> {
    counting: &'a Counting,
    state: State,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        *self.counting.state() = std::mem::replace(&mut self.state, State::Open);
        self.counting.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;
    use fpdb_host::error::Error;

    fn counted(pattern: &str) -> Units {
        Units { submissions: Submissions::new(Some(pattern), 0).unwrap(), ..Units::default() }
    }

    #[test]
    fn queries_for_the_same_count_once_and_keep_no_others_waiting() {
        let (cache, counts, stop) = (UnitCache::default(), AtomicU64::new(0), StopToken::new());
        let count = |pattern: &str, inside: &dyn Fn()| {
            let counting = cache.counting(pattern, 1);
            let count = || {
                counts.fetch_add(1, Ordering::SeqCst);
                inside();
                Ok(counted(pattern))
            };
            counting.wait(count, &stop).map(drop)
        };
        count("a", &|| {
            // Meanwhile another thread counts other submissions to the end.
            thread::scope(|scope| scope.spawn(|| count("b", &|| {})).join()).unwrap().unwrap();
        })
        .unwrap();
        assert_eq!(counts.load(Ordering::SeqCst), 2);

        let counting = cache.counting("c", 1);
        let asked = || {
            counting.wait(
                || {
                    counts.fetch_add(1, Ordering::SeqCst);
                    // Gives the others a chance to wait.
                    thread::yield_now();
                    Ok(counted("c"))
                },
                &stop,
            )
        };
        thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(asked)).collect();
            let all: Vec<_> = all.into_iter().map(|one| one.join().unwrap().unwrap()).collect();
            assert!(all.iter().all(|one| Arc::ptr_eq(one, &all[0])));
        });
        assert_eq!(counts.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_query_that_waits_can_be_stopped_and_one_that_fails_leaves_the_count_to_others() {
        let cache = UnitCache::default();
        let (stopped, going) = (StopToken::new(), StopToken::new());
        stopped.stop();
        let counting = cache.counting("a", 1);
        let first = counting.wait(
            || {
                // The query is stopped while it waits for this count.
                let wait = || cache.counting("a", 1).wait(|| unreachable!("another counts"), &stopped).err();
                let error = thread::scope(|scope| scope.spawn(wait).join()).unwrap();
                assert!(matches!(error, Some(Error::Stopped)));
                Err(Error::Stopped)
            },
            &going,
        );
        assert!(matches!(first, Err(Error::Stopped)));
        assert!(counting.wait(|| Ok(counted("a")), &going).is_ok());
        assert!(cache.counting("a", 1).wait(|| unreachable!("it is counted"), &stopped).is_ok());
        assert!(cache.counting("a", 2).wait(|| Err(Error::Stopped), &going).is_err(), "another commit");
    }
}
