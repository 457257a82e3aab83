//! Querying: which stored documents share text with these?

use std::path::Path;

use rayon::prelude::*;

use super::{Database, visiting};
use crate::error::{Error, Result};
use crate::input::{Candidate, Content, WalkOptions, for_each_held};
use crate::progress::Task;
use crate::query::{
    self, CountedSubmissions, PhraseFinder, PreparedQuery, QueryAnswer, QueryOptions, QueryReader, QuerySource,
    TextCache,
};
use crate::store::Store;

/// Documents found at a path that are answered at a time, and the most bytes of them that are held for it.
const QUERIES_AT_A_TIME: usize = 256;
const QUERY_BYTES: u64 = 16 << 20;

/// How a query is answered.
#[derive(Clone, Copy)]
struct QueryContext<'a> {
    options: &'a QueryOptions,
    submissions: Option<&'a CountedSubmissions>,
    texts: &'a TextCache,
}

impl QueryContext<'_> {
    fn answer(&self, store: &Store, subject: &PreparedQuery) -> Result<QueryAnswer> {
        query::answer(store, subject, self.options, self.submissions, self.texts)
    }
}

impl Database {
    /// Answers queries, in parallel; the answers are in the order of the sources.
    ///
    /// # Errors
    /// Options that make no sense for any query, such as a window below the database's. An error of
    /// one source is its own result.
    pub fn query(&self, sources: &[QuerySource], options: &QueryOptions) -> Result<Vec<Result<QueryAnswer>>> {
        // Checked once, so that it is not reported for every source.
        QueryReader::new(self.store.profile(), options.window, &options.read, None)?;
        let phrases = PhraseFinder::of(options.phrases.as_ref(), self.store.profile())?;
        let texts = TextCache::of_queries(sources.len());
        let submissions = self.submissions.get(&self.store, options.submission_by.as_deref())?;
        let asked = QueryContext { options, submissions: submissions.as_deref(), texts: &texts };
        let new = || QueryReader::new(self.store.profile(), options.window, &options.read, phrases.as_ref());
        if let [source] = sources {
            // There is nothing to divide: other threads need not be woken.
            return Ok(vec![self.answer(&mut new()?, source, asked)]);
        }
        let answer = |reader: &mut Option<_>, source| {
            let reader = match reader {
                Some(reader) => reader,
                None => reader.insert(new()?),
            };
            self.answer(reader, source, asked)
        };
        self.run(|| Ok(sources.par_iter().map_init(|| None, answer).collect()))
    }

    /// Answers a query for each document of a file or folder: for each file, and for each member of a container. Nothing is stored. Documents
    /// are read as they are answered, so that an archive of any size can be asked about; `visit` is called in their order, with
    /// their names.
    ///
    /// # Errors
    /// As [`Self::query`], [`Error::Stopped`], and the error of `visit`. An error of one document is its own result.
    pub fn query_below<E: From<Error>>(
        &self,
        path: &Path,
        walk: &WalkOptions,
        options: &QueryOptions,
        task: &Task<'_>,
        mut visit: impl FnMut(&str, Result<QueryAnswer>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        QueryReader::new(self.store.profile(), options.window, &options.read, None)?;
        let phrases = PhraseFinder::of(options.phrases.as_ref(), self.store.profile())?;
        let submissions = self.submissions.get(&self.store, options.submission_by.as_deref())?;
        let visit = |(name, answer): (String, _)| visit(&name, answer);
        visiting(visit, |visit| {
            let mut batch: Vec<std::result::Result<Candidate, (String, Error)>> = Vec::new();
            let (mut bytes, mut answered) = (0, 0);
            let mut answer = |batch: &mut Vec<_>| -> Result<()> {
                let taken: Vec<std::result::Result<Candidate, (String, Error)>> = std::mem::take(batch);
                let texts = TextCache::of_queries(taken.len());
                let new = || QueryReader::new(self.store.profile(), options.window, &options.read, phrases.as_ref());
                let one = |reader: &mut Option<_>, found: std::result::Result<Candidate, (String, Error)>| match found {
                    Err((name, error)) => (name, Err(error)),
                    Ok(candidate) => {
                        let name = candidate.about.name.clone();
                        let answer = match reader {
                            Some(reader) => Ok(reader),
                            None => new().map(|made| reader.insert(made)),
                        };
                        let answer = answer.and_then(|reader| {
                            let subject = reader.read_found(&candidate)?;
                            let asked = QueryContext { options, submissions: submissions.as_deref(), texts: &texts };
                            self.answer_subject(&subject, asked)
                        });
                        (name, answer)
                    }
                };
                let answers: Vec<_> = self.run(|| Ok(taken.into_par_iter().map_init(|| None, one).collect()))?;
                for (name, answer) in answers {
                    answered += 1;
                    visit((name, answer))?;
                }
                task.step("queries answered", answered, 0)
            };
            for_each_held(path, walk, &options.read, task.token(), &mut |found| {
                if let Ok(Candidate { content: Content::Whole(held), .. }) = &found {
                    bytes += held.len() as u64;
                }
                batch.push(found);
                if batch.len() < QUERIES_AT_A_TIME && bytes < QUERY_BYTES {
                    return Ok(());
                }
                bytes = 0;
                answer(&mut batch)
            })?;
            answer(&mut batch)
        })
    }

    /// Answers one of many queries, each with options of its own, that compare the same texts.
    pub(crate) fn query_with(
        &self,
        source: &QuerySource,
        options: &QueryOptions,
        texts: &TextCache,
    ) -> Result<QueryAnswer> {
        let phrases = PhraseFinder::of(options.phrases.as_ref(), self.store.profile())?;
        let mut reader = QueryReader::new(self.store.profile(), options.window, &options.read, phrases.as_ref())?;
        self.answer(&mut reader, source, QueryContext { options, submissions: None, texts })
    }

    fn answer(
        &self,
        reader: &mut QueryReader<'_>,
        source: &QuerySource,
        asked: QueryContext<'_>,
    ) -> Result<QueryAnswer> {
        if let QuerySource::File(_) | QuerySource::Bytes { .. } = source {
            // Read once: it may be standard input.
            return self.answer_subject(&self.subject(reader, source)?, asked);
        }
        // Another document may have its name by now.
        self.store.retry_on_delete(|| asked.answer(&self.store, &self.subject(reader, source)?))
    }

    fn answer_subject(&self, subject: &PreparedQuery, asked: QueryContext<'_>) -> Result<QueryAnswer> {
        self.store.retry_on_delete(|| asked.answer(&self.store, subject))
    }

    fn subject(&self, reader: &mut QueryReader<'_>, source: &QuerySource) -> Result<PreparedQuery> {
        match source {
            QuerySource::File(path) => reader.read(path),
            QuerySource::Bytes { name, bytes } => reader.read_in_memory(name, bytes),
            QuerySource::Stored(name) => match self.ids_named(name)?.last() {
                Some(&newest) => reader.read_stored(&self.store, newest),
                None => Err(Error::NoSuchDocument { name: name.clone() }),
            },
            QuerySource::Number(id) => {
                self.store.document_numbered(id.0)?;
                reader.read_stored(&self.store, id.0)
            }
        }
    }
}
