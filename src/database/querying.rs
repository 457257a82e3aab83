//! Querying: finds the stored documents that share text with given documents.

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::query_batch::gather;
use super::query_below::QueriesBelow;
use super::selected::select;
use super::{Database, ids_named, visiting};
use crate::archive::nothing_fits::no_such_value;
use crate::nearest_name::nearest_name;
use crate::query::{
    self, JoinedQueries, PreparedQuery, QueryAnswer, QueryOptions, QueryReader, QuerySource, SubmissionFacts,
    TextCache, Units, finder_of,
};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::stop::StopToken;
use fpdb_passages::PhraseFinder;
use fpdb_reading::input::{InputLimits, PARTS, WalkOptions, for_each_held};
use fpdb_store::{Gathered, Store};

/// The name of the step that several queries report.
pub(super) const QUERIES: &str = "queries answered";

/// The settings for answering a query.
///
/// All queries of a call see one commit: the commit in which the units (documents or submissions) were
/// counted. The units of one commit lack the documents of later commits, and counting them again for each
/// batch would read every posting. The price: the space of documents removed meanwhile stays in use until the
/// call ends. That is at most the size of the database.
#[derive(Clone, Copy)]
pub(super) struct QueryContext<'a> {
    /// The store as of this commit.
    pub(super) store: &'a Store,
    pub(super) options: &'a QueryOptions,
    pub(super) phrases: Option<&'a PhraseFinder>,
    pub(super) units: &'a Units,
    /// Postings of the hashes of several queries.
    pub(super) gathered: Option<&'a Gathered>,
    pub(super) task: &'a Task<'a>,
}

impl<'a> QueryContext<'a> {
    pub(super) fn answer(&self, subject: &PreparedQuery, texts: &TextCache) -> Result<QueryAnswer> {
        query::answer(self.store, subject, self.options, self.units, texts, self.gathered, self.task)
    }

    /// Returns the reader of a thread. Makes the reader before the thread's first document.
    pub(super) fn reader<'r>(&self, made: &'r mut Option<QueryReader<'a>>) -> Result<&'r mut QueryReader<'a>> {
        match made {
            Some(reader) => Ok(reader),
            None => {
                let QueryOptions { window, read, .. } = self.options;
                let reader = QueryReader::new(self.store.profile(), *window, read, self.phrases, self.task.token())?;
                Ok(made.insert(reader))
            }
        }
    }

    /// Prepares the document of a query.
    fn prepare(
        &self,
        reader: &mut Option<QueryReader<'a>>,
        source: &QuerySource,
        texts: &TextCache,
    ) -> Result<PreparedQuery> {
        let (store, reader) = (self.store, self.reader(reader)?);
        match source {
            QuerySource::File(path) => reader.read(path),
            QuerySource::StandardInput { name } => reader.read_standard_input(name),
            QuerySource::Bytes { name, bytes } => reader.read_in_memory(name, bytes),
            QuerySource::Text { name, text } => reader.read_text(name, text),
            QuerySource::Stored(name) => match ids_named(store, name)?.last() {
                Some(&newest) => {
                    let mut query = reader.read_stored(store, newest, texts)?;
                    query.names_submission = self.submission(name).is_some();
                    Ok(query)
                }
                None => Err(Error::NoSuchDocument {
                    name: name.clone(),
                    nearest: nearest_name(store, name, self.task.token())?,
                }),
            },
            QuerySource::Number(id) => {
                store.document_numbered(id.0)?;
                reader.read_stored(store, id.0, texts)
            }
        }
    }

    /// The stored submission of this name, if the options make its documents one query.
    fn submission(&self, name: &str) -> Option<&'a SubmissionFacts> {
        let joins = self.options.join_submissions && !self.options.joining.rewritten;
        self.units.submission(name).filter(|_| joins)
    }

    /// Answers the query of a document, or of a stored submission if no document has the name. The documents
    /// of a submission may take a quarter of the memory, divided by the number of `threads` that answer
    /// queries.
    fn answer_prepared(
        &self,
        prepared: Result<PreparedQuery>,
        texts: &TextCache,
        threads: usize,
    ) -> Result<QueryAnswer> {
        match prepared {
            Err(Error::NoSuchDocument { name, nearest }) => {
                let Some(submission) = self.submission(&name) else {
                    return Err(Error::NoSuchDocument { name, nearest });
                };
                let (needed, allowed) = (submission.query_memory(), self.store.memory() / 4 / threads.max(1) as u64);
                if needed > allowed {
                    return Err(Error::SubmissionTooLarge { name: submission.name.clone(), needed, allowed });
                }
                let mut made = None;
                let reader = self.reader(&mut made)?;
                let read = |&id: &u32| reader.read_stored(self.store, id, texts);
                let parts = submission.documents.iter().map(read).collect::<Result<Vec<_>>>()?;
                query::answer_joined(&submission.name, &parts, self.store.profile(), self.options, |query, options| {
                    // The gathered postings are those of other queries.
                    QueryContext { options, gathered: None, ..*self }.answer(query, texts)
                })
            }
            prepared => self.answer(&prepared?, texts),
        }
    }

    fn answer_source(&self, source: &QuerySource, texts: &TextCache) -> Result<QueryAnswer> {
        self.answer_prepared(self.prepare(&mut None, source, texts), texts, 1)
    }
}

/// The options, with `only` set to the documents that have the wanted metadata.
fn with_selected<'a>(store: &Store, options: Cow<'a, QueryOptions>, task: &Task<'_>) -> Result<Cow<'a, QueryOptions>> {
    if options.metadata.is_empty() {
        return Ok(options);
    }
    let fields: Vec<_> = options.metadata.clone().into_iter().collect();
    let selected = select(store, &[], &fields, &task.silent())?;
    if let Some(&field) = selected.unmatched_fields.first() {
        return Err(no_such_value(store, &fields[field].0, &fields[field].1, task)?);
    }
    let mut ids = selected.ids;
    if let Some(only) = &options.only {
        ids.retain(|id| only.binary_search(id).is_ok());
    }
    Ok(Cow::Owned(options.into_owned().only(Some(ids))))
}

/// If `error` says that no stored document fits an option, returns the error for the first of these files
/// that does not exist. The value of the option is often the folder of the file.
fn missing_file(error: &Error, sources: &[QuerySource]) -> Option<Error> {
    let Error::NothingFits { .. } = error else { return None };
    sources.iter().find_map(|source| {
        let QuerySource::File(path) = source else { return None };
        let is_part_or_input = path.to_str().is_some_and(|path| path == "-" || path.contains(PARTS));
        std::fs::metadata(path).err().filter(|_| !is_part_or_input).map(Error::io("read", path))
    })
}

impl Database {
    /// Finds the documents that share text with this one, best first, with their passages, by the default
    /// options. A string is the text itself, a path names a file; [`QuerySource`] lists the other sources.
    ///
    /// # Errors
    /// Fails if the document or the database cannot be read.
    ///
    /// ```standalone_crate
    /// use fpdb::{Database, Document, Profile};
    /// # fn main() -> fpdb::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # std::env::set_current_dir(&folder).unwrap();
    /// let db = Database::create("essays.db", Profile::PROSE)?;
    /// db.ingest([Document::new("dickens", "It was the best of times, it was the worst of times, it was the age of wisdom.")])?;
    /// let answer = db.query("He wrote: it was the best of times, it was the worst of times, it was the age of reason.")?;
    /// assert_eq!(answer.matches[0].document, "dickens");
    /// # Ok(())
    /// # }
    /// ```
    pub fn query(&self, source: impl Into<QuerySource>) -> Result<QueryAnswer> {
        self.query_with(source, &QueryOptions::default(), &Task::new())
    }

    /// Like [`Self::query`], with other options, and a task that reports and can stop the work.
    ///
    /// # Errors
    /// Those of [`Self::query`]; [`Error::Stopped`]; an error for invalid options, such as a window below
    /// that of the database.
    pub fn query_with(
        &self,
        source: impl Into<QuerySource>,
        options: &QueryOptions,
        task: &Task<'_>,
    ) -> Result<QueryAnswer> {
        // One source has one answer.
        self.query_each(&[source.into()], options, task)?.pop().unwrap_or(Err(Error::Stopped))
    }

    /// Answers queries in parallel, all as of one commit. The answers are in the order of the sources. `task`
    /// counts queries or, with one source, the steps of its query.
    ///
    /// Looks up the hashes of several queries together, in one ascending pass, which costs less than a
    /// separate call for each query. The queries prepared at a time, and the postings found for them, take at
    /// most a quarter of the [memory](crate::DatabaseBuilder::memory), and at most 512 MiB. A stored
    /// submission may take a quarter too, and a larger one is refused ([`Error::SubmissionTooLarge`]).
    ///
    /// # Errors
    /// [`Error::Stopped`] soon after a stop, also within a query, but not while a document is parsed. An
    /// error for invalid options, such as a window below that of the database. An error of one source is the
    /// result for that source.
    pub fn query_each(
        &self,
        sources: &[QuerySource],
        options: &QueryOptions,
        task: &Task<'_>,
    ) -> Result<Vec<Result<QueryAnswer>>> {
        // Check the options once, so that the error is not reported for every source.
        let options = options.checked(self.profile())?;
        let phrases = finder_of(options.phrases.as_ref(), self.store.profile())?;
        let mut texts = TextCache::of_queries(sources.len());
        let store = self.store.as_of_last_commit();
        let options = &*with_selected(&store, options, task)?;
        let units = self.units.get(&store, options.submission_by.as_deref(), task.token());
        let units = units.map_err(|error| missing_file(&error, sources).unwrap_or(error))?;
        let asked =
            QueryContext { store: &store, options, phrases: phrases.as_ref(), units: &units, gathered: None, task };
        if let [source] = sources {
            // A single query runs on this thread.
            return match asked.answer_source(source, &texts) {
                Err(Error::Stopped) => Err(Error::Stopped),
                answer => Ok(vec![answer]),
            };
        }
        // Each of several queries is one step.
        let silent = task.silent();
        let asked = QueryContext { task: &silent, ..asked };
        let (answered, total) = (AtomicU64::new(0), sources.len() as u64);
        let (mut left, mut answers) = (sources.iter(), Vec::with_capacity(sources.len()));
        loop {
            let prepare = |reader: &mut Option<_>, source| -> Result<PreparedQuery> {
                task.token().check()?;
                asked.prepare(reader, source, &texts)
            };
            let batch =
                self.prepare_batch(&mut left, prepare, |query| query.as_ref().map_or(0, PreparedQuery::memory))?;
            if batch.is_empty() {
                return Ok(answers);
            }
            let gathered = gather(asked, batch.iter().flatten())?;
            let asked = QueryContext { gathered: Some(&gathered), ..asked };
            let answer = |subject: Result<PreparedQuery>, texts: &TextCache| {
                task.token().check()?;
                match asked.answer_prepared(subject, texts, self.store.pool().threads()) {
                    Err(Error::Stopped) => Err(Error::Stopped),
                    answer => {
                        task.step(QUERIES, answered.fetch_add(1, Ordering::Relaxed) + 1, total)?;
                        Ok(answer)
                    }
                }
            };
            self.answer_in_portions(batch, asked, &mut texts, |query| query.as_ref().ok(), &mut |portion, texts| {
                let answer = |subject| answer(subject, texts);
                let answered = self.run(|| portion.into_par_iter().map(answer).collect::<Result<Vec<_>>>())?;
                for mut answer in answered {
                    if let Err(Error::SubmissionTooLarge { .. }) = answer {
                        // A single submission may take the memory of all threads.
                        answer = asked.answer_source(&sources[answers.len()], texts);
                        task.token().check()?;
                    }
                    answers.push(answer);
                }
                Ok(())
            })?;
        }
    }

    /// Answers a query for each document of a file or folder: for each file, and for each member of a
    /// container. All answers are as of one commit, also if `visit` changes the database. Stores nothing.
    /// Reads documents as it answers them, so an archive may have any size. Calls `visit` with the name and
    /// the answer of each document, in order, as soon as the answer is ready. Skips files in a folder and
    /// members of a container that are not documents, as an ingest does, and reports them to
    /// [`Progress::skipped`].
    ///
    /// With [`QueryOptions::join_submissions`], the answers of submissions come last, in the order of their
    /// first documents.
    ///
    /// # Errors
    /// Those of [`Self::query`], and the error of `visit`. `visit` receives the error of a single document.
    /// After a stop, `visit` receives only answers that are complete and next in order.
    ///
    /// [`Progress::skipped`]: crate::Progress::skipped
    pub fn query_below<E: From<Error>>(
        &self,
        path: &Path,
        walk: &WalkOptions,
        options: &QueryOptions,
        task: &Task<'_>,
        mut visit: impl FnMut(&str, Result<QueryAnswer>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let options = options.checked(self.profile())?;
        let phrases = finder_of(options.phrases.as_ref(), self.store.profile())?;
        let store = self.store.as_of_last_commit();
        let options = &*with_selected(&store, options, task)?;
        let units = self.units.get(&store, options.submission_by.as_deref(), task.token())?;
        let silent = task.silent();
        let phrases = phrases.as_ref();
        let asked = QueryContext { store: &store, options, phrases, units: &units, gathered: None, task: &silent };
        let submissions = JoinedQueries::new(options)?;
        let visit = |(name, answer): (String, _)| visit(&name, answer);
        visiting(visit, |visit| {
            let mut below = QueriesBelow::new(self, asked, task, submissions, visit);
            for_each_held(path, walk, &options.read, task.token(), &mut |found| below.take(found))?;
            below.finish()
        })
    }

    /// Answers one query with its own options. Many such queries can share one cache of texts.
    pub(crate) fn query_sharing(
        &self,
        source: &QuerySource,
        options: &QueryOptions,
        texts: &TextCache,
        task: &Task<'_>,
    ) -> Result<QueryAnswer> {
        let phrases = finder_of(options.phrases.as_ref(), self.store.profile())?;
        let (store, phrases, units) = (self.store.as_of_last_commit(), phrases.as_ref(), Units::default());
        let asked = QueryContext { store: &store, options, phrases, units: &units, gathered: None, task };
        asked.answer_source(source, texts)
    }

    /// Reads the texts of documents before [`Self::query_with`] compares them: see [`TextCache::read_ahead`].
    pub(crate) fn read_ahead<I: IntoIterator<Item = u32>>(
        &self,
        texts: &mut TextCache,
        groups: impl IntoIterator<Item = I>,
        most: u64,
        limits: &InputLimits,
        stop: &StopToken,
    ) -> Result<usize> {
        texts.read_ahead(&self.store, groups, most, limits, stop)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use fpdb_kernel::profile::Profile;

    /// A text of sixty sentences. All texts made by this function share two thirds of their sentences.
    fn text(own: u64) -> String {
        let letter = |part: u64| char::from(b'a' + (part % 26) as u8);
        let word = |number: u64| String::from_iter([number, number / 26, number / 676].map(letter));
        let sentence = |first: u64| (first..first + 12).map(word).collect::<Vec<String>>().join(" ") + ". ";
        (0..60).map(|at| sentence(12 * at + if at % 3 == 1 { 800 * (own + 1) } else { 0 })).collect()
    }

    /// Each kind of query ends at the first check of its token that sees the stop.
    #[test]
    fn a_single_query_can_be_stopped_at_each_step() {
        use crate::query::{DiffOptions, PassageOptions, diff};
        use crate::{IngestOptions, Source};
        use fpdb_reading::input::Document;

        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::named("words").unwrap();
        let database = Database::builder().threads(1).create(folder.path().join("db"), profile).unwrap();
        let stored = (0..6).map(|number| Document::new(format!("{}/{number}", number % 2), text(number)));
        database.ingest_with(stored, &IngestOptions::default().store_text(true), &Task::new()).unwrap();
        let [file, gone] = ["file.txt", "gone.txt"].map(|name| folder.path().join(name));
        std::fs::write(&file, text(7)).unwrap();
        std::fs::write(&gone, text(8)).unwrap();
        let sources = [Source::Path(file.clone()), Source::Path(gone.clone())];
        database.ingest_sources(&sources, &IngestOptions::default(), &Task::new()).unwrap();
        std::fs::remove_file(&gone).unwrap();

        // Stops the work at each check of the token in turn, or at a hundred of the checks. Returns the
        // number of checks.
        let stops = |about: &str, ask: &dyn Fn(&Task<'_>) -> Result<()>| {
            let asked = |token: &StopToken| ask(&Task::new().stop(token));
            let token = StopToken::after(u64::MAX);
            asked(&token).unwrap();
            let looks = u64::MAX - token.looks_left();
            for left in (0..looks).step_by((looks / 100).max(1) as usize).chain([looks - 1]) {
                let stopped = asked(&StopToken::after(left));
                assert!(matches!(stopped, Err(Error::Stopped)), "{about}, look {left} of {looks}: {stopped:?}");
            }
            looks
        };
        let query = |about: &str, source: QuerySource, options: &QueryOptions| {
            stops(about, &|task| {
                let answer = database.query_with(source.clone(), options, task)?;
                assert!(answer.matches.len() >= 3 && answer.found > 50, "{about}");
                Ok(())
            })
        };
        let by_text = || QuerySource::text(text(9));
        let plain = QueryOptions::default();
        let without = query("without passages", by_text(), &plain.clone().passages(false));
        let with = query("with passages", by_text(), &plain);
        assert!(without > 50 && with > 2 * without, "each hash is a look: {without}, {with}");
        query("rewritten", by_text(), &plain.clone().joining(PassageOptions::default().rewritten(true)));
        query("a file", QuerySource::File(file.clone()), &plain);
        query("a stored text", QuerySource::Stored("0/0".into()), &plain);
        query("a text that is gone", QuerySource::Stored(gone.to_string_lossy().into()), &plain);
        // The units under one pattern are counted only once, so each query has another pattern.
        let patterns = AtomicUsize::new(1);
        stops("by submission", &|task| {
            let pattern = format!("^[01]{{1,{}}}/", patterns.fetch_add(1, Ordering::Relaxed));
            let options = QueryOptions::default().submission_by(Some(pattern));
            database.query_each(&[by_text()], &options, task).map(drop)
        });
        stops("several", &|task| {
            database.query_each(&[by_text(), by_text()], &QueryOptions::default(), task).map(drop)
        });
        let (a, b) = (by_text(), QuerySource::File(file));
        let compared = stops("diff", &|task| {
            let answer = diff(&a, &b, &profile, &DiffOptions::default(), task)?;
            assert!(!answer.matches[0].passages.is_empty());
            Ok(())
        });
        assert!(compared > 20, "{compared}: matches and passages too are looks");
    }
}
