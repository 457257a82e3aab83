//! Query batch: looks up the hashes of several queries together.
//!
//! The queries of a batch and the postings found for them are in memory at the same time, so a batch is
//! bounded. Answers do not depend on where one batch ends and the next begins.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use rayon::prelude::*;

use super::Database;
use super::querying::QueryContext;
use crate::query::{PreparedQuery, QueryOptions, TextCache, hashes_to_look_up};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::threads;
use fpdb_store::{Gathered, Store};

/// Maximum bytes of memory for the queries of a batch, and again for the postings found for them. The maximum
/// is 1/`SHARE` of the allowed memory if that is less.
const MOST_BYTES: usize = 256 << 20;
const SHARE: u64 = 8;

/// Maximum number of queries in a batch. With more queries, blocks would hardly be read less often.
const MOST_QUERIES: usize = 1 << 14;

/// Maximum number of queries that a thread prepares between two checks of the memory they take.
const AT_ONCE: usize = 64;

/// The maximum number of queries that are ranked at a time to find the texts they need.
const RANKED_QUERIES: usize = 1024;

/// [`MOST_BYTES`], or 1/[`SHARE`] of the allowed memory if that is less. At least 1, since an empty batch
/// means that no query is left.
fn memory(store: &Store) -> usize {
    usize::try_from(store.memory() / SHARE).map_or(MOST_BYTES, |share| share.clamp(1, MOST_BYTES))
}

impl Database {
    /// Prepares the next queries, several at once, until they fill a batch or there are no more. `bytes`
    /// returns the memory that a prepared query takes. Each thread prepares at least one query.
    pub(super) fn prepare_batch<Q: Send, R: Send, P: Send>(
        &self,
        queries: &mut impl Iterator<Item = Q>,
        prepare: impl Fn(&mut Option<R>, Q) -> P + Sync + Send,
        bytes: impl Fn(&P) -> usize,
    ) -> Result<Vec<P>> {
        let (threads, most) = (self.store.pool().threads().max(1), memory(&self.store));
        let (mut batch, mut taken, mut largest, mut count) = (Vec::new(), 0, 1, threads);
        while taken < most && batch.len() < MOST_QUERIES {
            let some: Vec<Q> = queries.take(count).collect();
            if some.is_empty() {
                break;
            }
            let prepared: Vec<P> =
                self.run(|| Ok(some.into_par_iter().map_init(|| None, &prepare).collect::<Vec<_>>()))?;
            for size in prepared.iter().map(&bytes) {
                taken += size;
                largest = largest.max(size);
            }
            batch.extend(prepared);
            // The number of queries that fit if none is larger than the largest so far.
            count = (most.saturating_sub(taken) / largest).clamp(threads, threads * AT_ONCE);
        }
        Ok(batch)
    }

    /// Calls `visit` with the answer of each query, in order and on this thread, while other queries run.
    /// After a stop or an error of `visit` no more queries begin.
    pub(super) fn answer_in_order<Q: Send, R: Send, A: Send>(
        &self,
        queries: Vec<Q>,
        task: &Task<'_>,
        answer: impl Fn(&mut Option<R>, Q) -> A + Sync + Send,
        visit: &mut dyn FnMut(A) -> Result<()>,
    ) -> Result<()> {
        let (token, failed) = (task.token(), AtomicBool::new(false));
        let (sender, answers) = mpsc::channel();
        let work = || {
            // Queries begin in order, so an answer waits only for queries that already run.
            queries.into_iter().enumerate().par_bridge().for_each_init(
                || (None, sender.clone()),
                |(reader, sender), (place, query)| {
                    if !token.is_stopped() && !failed.load(Ordering::Relaxed) {
                        // After an error the receiver is gone.
                        let _ = sender.send((place, answer(reader, query)));
                    }
                },
            );
            drop(sender);
            Ok(())
        };
        thread::scope(|scope| {
            let started = threads::start_within(scope, "queries", || self.run(work));
            let work = started.map_err(Error::threads(1))?;
            let (mut next, mut waiting, mut visited) = (0, BTreeMap::new(), Ok(()));
            for (place, answer) in answers {
                waiting.insert(place, answer);
                while let Some(answer) = waiting.remove(&next).filter(|_| visited.is_ok()) {
                    next += 1;
                    visited = visit(answer);
                    failed.store(visited.is_err(), Ordering::Relaxed);
                }
            }
            // Passes on panics that the query has not caught.
            let worked = work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            visited.and(worked)
        })?;
        token.check()
    }

    /// Calls `answer` with the queries of a batch, in order, in portions. The texts that a portion needs from
    /// containers are read ahead. So a container is read once for a portion, not once for each query. `query`
    /// gives the prepared query of an entry, if there is one.
    pub(super) fn answer_in_portions<Q: Sync>(
        &self,
        batch: Vec<Q>,
        asked: QueryContext<'_>,
        texts: &mut TextCache,
        query: impl Fn(&Q) -> Option<&PreparedQuery> + Sync,
        answer: &mut dyn FnMut(Vec<Q>, &TextCache) -> Result<()>,
    ) -> Result<()> {
        let reads = asked.options.passages && !asked.options.joining.rewritten;
        let (mut rest, mut answered) = (batch, 0);
        // For each of the next queries, the documents whose texts it needs.
        let mut needed: VecDeque<Vec<u32>> = VecDeque::new();
        while !rest.is_empty() {
            let count = if !reads {
                rest.len()
            } else if texts.are_in_containers() {
                if needed.is_empty() {
                    // These queries are ranked here and again for their answers, because only a ranking shows
                    // which texts they need.
                    let shown = |entry: &Q| query(entry).map_or(Ok(Vec::new()), |query| shown(query, asked));
                    let ranked = &rest[..rest.len().min(RANKED_QUERIES)];
                    needed = self.run(|| ranked.par_iter().map(shown).collect::<Result<Vec<_>>>())?.into();
                }
                let groups = needed.iter().map(|group| group.iter().copied());
                let (limits, most) = (&asked.options.read.limits, memory(asked.store) as u64);
                let count = self.run(|| texts.read_ahead(asked.store, groups, most, limits, asked.task.token()))?;
                needed.drain(..count);
                count
            } else {
                // The first queries, one for each thread, show whether texts are in containers.
                rest.len().min(answered.max(self.store.pool().threads()).max(1))
            };
            let later = rest.split_off(count);
            answer(rest, texts)?;
            answered += count;
            rest = later;
        }
        Ok(())
    }
}

/// The documents whose texts a query needs for its passages.
///
/// # Errors
/// [`Error::Stopped`]. Any other error occurs again when the query is answered, and is reported then.
fn shown(query: &PreparedQuery, asked: QueryContext<'_>) -> Result<Vec<u32>> {
    let options = QueryOptions { passages: false, ..asked.options.clone() };
    match (QueryContext { options: &options, ..asked }).answer(query, &TextCache::default()) {
        Err(Error::Stopped) => Err(Error::Stopped),
        Err(_) => Ok(Vec::new()),
        Ok(answer) => {
            let documents = answer.matches.iter().flat_map(|found| match found.files.is_empty() {
                true => std::slice::from_ref(found),
                false => &found.files,
            });
            // An identical document has the query's own text.
            Ok(documents.filter(|found| !found.identical).map(|found| found.id.0).collect())
        }
    }
}

/// Looks up the hashes of all queries of a batch in one ascending pass. If that fails, the result is empty,
/// and the queries that need the unreadable part fail by themselves.
///
/// # Errors
/// [`Error::Stopped`].
pub(super) fn gather<'a>(
    asked: QueryContext<'_>,
    queries: impl Iterator<Item = &'a PreparedQuery>,
) -> Result<Gathered> {
    let QueryContext { store, options, task, .. } = asked;
    let mut hashes: Vec<u64> = Vec::new();
    for query in queries {
        hashes.extend(hashes_to_look_up(query, options));
    }
    hashes.par_sort_unstable();
    hashes.dedup();
    match store.gather(&hashes, memory(store), task.token()) {
        Err(Error::Stopped) => Err(Error::Stopped),
        gathered => Ok(gathered.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use super::*;
    use crate::Profile;
    use fpdb_host::stop::StopToken;

    /// Each answer is visited while the next query runs. After a stop, no further query begins.
    #[test]
    fn answers_are_visited_as_they_come_and_none_is_begun_after_a_stop() {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::named("words").unwrap();
        let database = Database::builder().threads(1).create(folder.path().join("db"), profile).unwrap();
        let (token, begun) = (StopToken::new(), AtomicUsize::new(0));
        let (visited, go_on) = mpsc::channel();
        let go_on = std::sync::Mutex::new(go_on);
        let answer = |_: &mut Option<()>, query: u64| {
            begun.fetch_add(1, Ordering::Relaxed);
            if query > 0 {
                let last = go_on.lock().unwrap().recv_timeout(Duration::from_secs(60));
                assert_eq!(last, Ok(query - 1), "the answer before is visited meanwhile");
            }
            query
        };
        let seen = Cell::new(0);
        let stopped = database.answer_in_order((0..100).collect(), &Task::new().stop(&token), answer, &mut |answer| {
            assert_eq!(answer, seen.get());
            seen.set(answer + 1);
            if answer == 4 {
                token.stop();
            }
            // The next query has begun, and waits for this message.
            let _ = visited.send(answer);
            Ok(())
        });
        assert!(matches!(stopped, Err(Error::Stopped)));
        // The next query may have begun before the stop. Then its answer is visited too.
        let begun = begun.into_inner();
        assert!(seen.get() == begun as u64 && (5..=6).contains(&begun), "{begun}");
    }

    #[test]
    fn answers_are_in_order_and_an_error_of_the_visitor_ends_them() {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::named("words").unwrap();
        let database = Database::builder().threads(3).create(folder.path().join("db"), profile).unwrap();
        let mut seen = Vec::new();
        let square = |_: &mut Option<()>, query: u64| query * query;
        let mut take = |answer| {
            seen.push(answer);
            Ok(())
        };
        database.answer_in_order((0..1000).collect(), &Task::new(), square, &mut take).unwrap();
        assert!(seen.into_iter().eq((0..1000).map(|query| query * query)));
        let mut visited = 0;
        let failed = database.answer_in_order((0..1000).collect(), &Task::new(), square, &mut |answer| {
            visited += 1;
            if answer == 9 { Err(Error::NoSuchNumber { number: 9 }) } else { Ok(()) }
        });
        assert!(matches!(failed, Err(Error::NoSuchNumber { number: 9 })), "{failed:?}");
        assert_eq!(visited, 4);
    }

    /// After the first queries, one pass over a container gives its texts to many queries. Each answer equals
    /// the answer to the query alone.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_container_is_read_once_for_many_queries() {
        use crate::query::{Openings, QueryAnswer, QuerySource};
        use crate::{IngestOptions, Source, WalkOptions};
        use serde_json::json;

        const RECORDS: u64 = 400;
        let letter = |digit: u8| char::from(digit - b'0' + b'a');
        let word = |number: u64| (number * 7919).to_string().bytes().map(letter).collect::<String>();
        let text = |own: u64| (own * 12..own * 12 + 12).map(|number| word(number) + " ").collect::<String>();
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let [archive, feed] = ["archive.jsonl", "feed.jsonl"].map(|name| folder.join(name));
        let lines = |text: &dyn Fn(u64) -> String| -> String {
            (0..RECORDS).map(|number| json!({"text": text(number)}).to_string() + "\n").collect()
        };
        std::fs::write(&archive, lines(&text)).unwrap();
        std::fs::write(&feed, lines(&|number| text(number) + "and more")).unwrap();
        let profile = Profile::named("words").unwrap();
        let database = Database::builder().threads(1).create(folder.join("db"), profile).unwrap();
        database.ingest_sources(&[Source::Path(archive.clone())], &IngestOptions::default(), &Task::new()).unwrap();

        let options = QueryOptions::default().top(Some(2));
        let openings = Openings::of(&[archive]);
        let sources: Vec<QuerySource> =
            (0..RECORDS).map(|number| QuerySource::text(text(number) + "and more")).collect();
        let together = database.query_each(&sources, &options, &Task::new()).unwrap();
        let for_each = openings.count();
        let mut below = Vec::new();
        let visit = |_: &str, answer: Result<QueryAnswer>| answer.map(|answer| below.push(answer.matches));
        database.query_below(&feed, &WalkOptions::default(), &options, &Task::new(), visit).unwrap();
        let for_below = openings.count();
        for passes in [for_each, for_below] {
            assert!((2..=16).contains(&passes), "one query by itself, then a few passes: {passes}");
        }
        for (number, together) in together.into_iter().enumerate().step_by(37) {
            let alone = database.query_with(sources[number].clone(), &options, &Task::new()).unwrap();
            assert_eq!(together.unwrap(), alone);
            assert_eq!(below[number], alone.matches);
            assert!(alone.matches.iter().all(|found| found.inferred.is_none() && !found.passages.is_empty()));
        }
    }
}
