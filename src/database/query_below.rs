//! Query below: answers a query for each document of a file or folder, in batches.

use super::Database;
use super::query_batch::gather;
use super::querying::{QUERIES, QueryContext};
use crate::query::{self, JoinedQueries, PreparedQuery, QueryAnswer, QueryReader, TextCache};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::skip_reason::SkipReason;
use fpdb_reading::input::{About, Candidate, Content};

/// Limits of a batch of query documents below a path: number of documents, and bytes in memory. A batch is
/// read before its queries are answered. The first batch is small, so that the first answers come soon. Each
/// further batch has twice the number of documents, up to the limit.
const FIRST_QUERIES: usize = 256;
const QUERIES_AT_A_TIME: usize = 4096;
const QUERY_BYTES: u64 = 16 << 20;

/// A document below the path; or the name of a document that cannot be read, and the error.
type Held = std::result::Result<Candidate, (String, Error)>;

/// A document below the path, with its prepared query or its answer.
struct Found<T> {
    name: String,
    member: Option<String>,
    outcome: Result<T>,
    /// True if the document is skipped if it is binary.
    may_skip: bool,
}

impl<T> Found<T> {
    /// The reason to skip the document; `None` if its answer or its error is reported.
    fn skipped(&self) -> Option<&SkipReason> {
        match &self.outcome {
            Err(Error::Document(DocumentError::Binary { reason })) if self.may_skip => Some(reason),
            _ => None,
        }
    }

    fn and_then<U>(self, next: impl FnOnce(T) -> Result<U>) -> Found<U> {
        Found { name: self.name, member: self.member, outcome: self.outcome.and_then(next), may_skip: self.may_skip }
    }
}

impl Found<PreparedQuery> {
    fn query(&self) -> Option<&PreparedQuery> {
        self.outcome.as_ref().ok()
    }
}

/// The queries of all documents below a path.
pub(super) struct QueriesBelow<'a> {
    database: &'a Database,
    asked: QueryContext<'a>,
    /// Receives the reports of answers and of skipped documents.
    task: &'a Task<'a>,
    /// Collects the documents of submissions, which are answered last.
    submissions: JoinedQueries,
    visit: &'a mut Visit<'a>,
    /// The documents of the next batch, and their bytes in memory.
    batch: Vec<Held>,
    bytes: u64,
    /// Number of documents that complete a batch.
    most: usize,
    /// Made for the first batch.
    texts: Option<TextCache>,
    answered: u64,
}

/// Receives the name and the answer of a document.
type Visit<'a> = dyn FnMut((String, Result<QueryAnswer>)) -> Result<()> + 'a;

impl<'a> QueriesBelow<'a> {
    pub(super) fn new(
        database: &'a Database,
        asked: QueryContext<'a>,
        task: &'a Task<'a>,
        submissions: JoinedQueries,
        visit: &'a mut Visit<'a>,
    ) -> Self {
        let (batch, bytes, most, texts, answered) = (Vec::new(), 0, FIRST_QUERIES, None, 0);
        Self { database, asked, task, submissions, visit, batch, bytes, most, texts, answered }
    }

    /// Adds a document, and answers the batch once it is full.
    pub(super) fn take(&mut self, held: Held) -> Result<()> {
        match &held {
            Ok(Candidate { content: Content::Whole(held), .. }) => self.bytes += held.len() as u64,
            // Temporary files are large, so each completes its batch.
            Ok(Candidate { content: Content::Temporary(_), .. }) => self.bytes = QUERY_BYTES,
            _ => {}
        }
        self.batch.push(held);
        if self.batch.len() < self.most && self.bytes < QUERY_BYTES {
            return Ok(());
        }
        self.bytes = 0;
        self.most = (self.most * 2).min(QUERIES_AT_A_TIME);
        self.answer_batch()
    }

    /// Answers the last batch, then the submissions.
    pub(super) fn finish(mut self) -> Result<()> {
        self.answer_batch()?;
        let Self { database, asked, task, submissions, visit, .. } = self;
        let joined = submissions.into_queries();
        if joined.is_empty() {
            return Ok(());
        }
        let texts = TextCache::of_queries(joined.len());
        let one = |_: &mut Option<()>, (name, parts, unread): (String, Vec<PreparedQuery>, u64)| {
            let profile = asked.store.profile();
            let answer = query::answer_joined(&name, &parts, profile, asked.options, |query, options| {
                QueryContext { options, ..asked }.answer(query, &texts)
            });
            let with_unread = |mut answer: QueryAnswer| {
                answer.query.files_unread = unread;
                answer
            };
            (name, answer.map(with_unread))
        };
        database.answer_in_order(joined, task, one, &mut |(name, answer)| match answer {
            Err(Error::Stopped) => Err(Error::Stopped),
            answer => visit((name, answer)),
        })
    }

    fn answer_batch(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        let Self { database, asked, task, .. } = *self;
        let mut texts = self.texts.take().unwrap_or_else(|| TextCache::of_queries(batch.len()));
        let mut left = batch.into_iter();
        loop {
            let prepare = |reader: &mut Option<_>, held| read(asked, reader, held);
            let memory = |found: &Found<PreparedQuery>| found.query().map_or(0, PreparedQuery::memory);
            let prepared = database.prepare_batch(&mut left, prepare, memory)?;
            if prepared.is_empty() {
                self.texts = Some(texts);
                return Ok(());
            }
            let alone: Vec<_> = prepared.into_iter().filter_map(|found| self.alone(found)).collect();
            let gathered = gather(asked, alone.iter().filter_map(Found::query))?;
            let asked = QueryContext { gathered: Some(&gathered), ..asked };
            database.answer_in_portions(alone, asked, &mut texts, Found::query, &mut |portion, texts| {
                let answer = |_: &mut Option<()>, found: Found<PreparedQuery>| {
                    found.and_then(|query| asked.answer(&query, texts))
                };
                database.answer_in_order(portion, task, answer, &mut |found| self.visit(found))
            })?;
        }
    }

    /// Keeps a document that is part of a submission for later; returns any other document.
    fn alone(&mut self, found: Found<PreparedQuery>) -> Option<Found<PreparedQuery>> {
        if found.outcome.is_err() && found.skipped().is_none() {
            self.submissions.count_unread(&found.name);
        }
        let Found { name, member, outcome, may_skip } = found;
        let outcome = match outcome {
            Ok(query) => Ok(self.submissions.take(query, member.as_deref())?),
            Err(error) => Err(error),
        };
        Some(Found { name, member, outcome, may_skip })
    }

    /// Passes on an answer, or reports that the document is skipped.
    fn visit(&mut self, found: Found<QueryAnswer>) -> Result<()> {
        if let Some(reason) = found.skipped() {
            self.task.reports().skipped(&found.name, reason);
            return Ok(());
        }
        if matches!(found.outcome, Err(Error::Stopped)) {
            return Err(Error::Stopped);
        }
        self.answered += 1;
        (self.visit)((found.name, found.outcome))?;
        // Complete answers are visited even after a stop.
        self.task.reports().step(QUERIES, self.answered, 0);
        Ok(())
    }
}

/// Prepares the query of a document.
fn read<'a>(asked: QueryContext<'a>, reader: &mut Option<QueryReader<'a>>, held: Held) -> Found<PreparedQuery> {
    match held {
        Err((name, error)) => Found { name, member: None, outcome: Err(error), may_skip: true },
        Ok(candidate) => {
            let outcome = asked.reader(reader).and_then(|reader| {
                asked.task.token().check()?;
                reader.read_found(&candidate)
            });
            let About { name, member, named, .. } = candidate.about;
            Found { name, member, outcome, may_skip: !named }
        }
    }
}
