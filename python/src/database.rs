//! A database that is open in Python. The file is long because a Python class is one block of methods.

use std::path::PathBuf;
use std::sync::Arc;

use fpdb::repeats::RepeatRow;
use fpdb::report::PairEvidence;
use fpdb::{DatabaseWriter, DocId, Error, Failure, IngestSummary, QuerySource, ReadOptions, Source, Task, Weight};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::arrow_input::{Arrays, Texts};
use crate::arrow_output as arrow;
use crate::asked::{Asked, Counted, FileState, Query};
use crate::comparison::{name_of, source};
use crate::errors::{exception, parameter, raise};
use crate::feed::{Columns, Feeder, Items, Portions, Table, feed};
use crate::opened::{Handle, Opened, Room, builder};
use crate::options::{Applying, Given, Pairing, json, profile_of};
use crate::pages::NativePages;
use crate::report::{Making, Origin};
use crate::rows::{Answers, BATCH, Rows};
use crate::stream::{Failed, RowStream};
use crate::waiting::{Caller, StopToken, Waited, wait};

/// Number of pairs whose passages are searched for together: a first document is compared with all of its
/// partners at once.
const PAIRS_AT_A_TIME: usize = 1 << 12;

/// An open database.
#[pyclass(frozen, module = "fpdb._native")]
pub(crate) struct NativeDatabase(pub(crate) Arc<Opened>);

/// The summary of an ingest as JSON, and the exception that ended it early.
pub(crate) type Ingested = (String, Option<Py<PyBaseException>>);

fn failure(name: &str, error: &fpdb::Error) -> Failed {
    let Failure { name, error, .. } = Failure::of(name, error);
    (name, error)
}

impl NativeDatabase {
    pub(crate) fn handle(&self) -> PyResult<Handle> {
        self.0.handle()
    }

    pub(crate) fn writer(&self) -> PyResult<Arc<DatabaseWriter>> {
        self.0.writer()
    }

    fn ingest_portions<S: Portions>(
        &self,
        py: Python<'_>,
        (source, options): (S, Given),
        caller: &Caller,
    ) -> PyResult<Ingested> {
        let writer = self.writer()?;
        let options = options.ingest()?;
        let (mut feeder, fed): (Feeder<S>, _) = feed(source);
        let _feeding = self.0.feeding();
        let waited = wait(py, caller, &mut feeder, |task, events| writer.ingest_with(fed(events), &options, task));
        ingested(py, waited)
    }
}

/// The outcome of an ingest for Python. A run that an exception has ended has a summary too.
pub(crate) fn ingested(py: Python<'_>, waited: Waited<IngestSummary>) -> PyResult<Ingested> {
    match waited {
        Waited { outcome: Ok(mut summary), raised } => {
            // If the source of documents fails, the ingest itself still ends without an error.
            summary.interrupted |= raised.is_some();
            Ok((json(&summary)?, raised.map(|error| error.into_value(py))))
        }
        Waited { outcome: Err(_), raised: Some(raised) } => Err(raised),
        Waited { outcome: Err(error), raised: None } => Err(raise(error)),
    }
}

#[pymethods]
impl NativeDatabase {
    /// Opens the database at `path`, or creates one with this profile.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, write: bool, profile: Option<&str>, room: Room) -> PyResult<Self> {
        let builder = builder(room);
        let profile = profile.map(profile_of).transpose()?;
        let handle = py.detach(|| match (profile, write) {
            (Some(profile), _) => builder.create(&path, profile).map(|writer| Handle::Writer(Arc::new(writer))),
            (None, true) => builder.open_writer(&path).map(|writer| Handle::Writer(Arc::new(writer))),
            (None, false) => builder.open(&path).map(Handle::Reader),
        });
        Ok(Self(Arc::new(Opened::new(handle.map_err(raise)?, path))))
    }

    /// Closes the database once the calls that run on it have ended.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.0.is_own() {
            return Ok(());
        }
        let handle = self.0.take()?;
        py.detach(|| drop(handle));
        Ok(())
    }

    #[getter]
    fn closed(&self) -> PyResult<bool> {
        self.0.is_closed()
    }

    #[getter]
    fn writable(&self) -> PyResult<bool> {
        Ok(matches!(self.handle()?, Handle::Writer(_)))
    }

    fn profile(&self) -> PyResult<String> {
        json(self.handle()?.database().profile())
    }

    /// The identifier of the commit that this handle shows.
    fn commit_id(&self) -> PyResult<String> {
        self.handle()?.database().commit_id().map_err(raise)
    }

    /// Moves a reader to the last commit. Returns true if there was a later one.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        self.0.refresh(py)
    }

    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        let handle = self.handle()?;
        json(&py.detach(|| handle.database().stats()).map_err(raise)?)
    }

    fn ingest_paths(&self, py: Python<'_>, paths: Vec<PathBuf>, options: Given, caller: Caller) -> PyResult<Ingested> {
        let writer = self.writer()?;
        let options = options.ingest()?;
        let sources: Vec<Source> = paths.into_iter().map(Source::Path).collect();
        ingested(py, wait(py, &caller, &mut (), |task, _| writer.ingest_sources(&sources, &options, task)))
    }

    /// Stores the options with which these files and folders are read.
    fn remember(&self, py: Python<'_>, paths: Vec<PathBuf>, options: Given) -> PyResult<()> {
        let writer = self.writer()?;
        let options = options.ingest()?;
        py.detach(|| writer.remember(&paths, &options)).map_err(raise)
    }

    /// The stored options of a file or folder, as JSON.
    fn remembered(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        let handle = self.handle()?;
        json(&py.detach(|| handle.database().remembered(&path)).map_err(raise)?)
    }

    fn ingest_documents(
        &self,
        py: Python<'_>,
        documents: &Bound<'_, PyAny>,
        options: Given,
        caller: Caller,
    ) -> PyResult<Ingested> {
        let items = Items::of(documents)?;
        self.ingest_portions(py, (items, options), &caller)
    }

    fn ingest_table(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        columns: (String, Option<String>, Vec<String>, String),
        options: Given,
        caller: Caller,
    ) -> PyResult<Ingested> {
        self.writer()?;
        let arrays = Arrays::of(table)?;
        let (text, id, keep, prefix) = columns;
        let columns = Columns::find(arrays.field().data_type(), &text, id.as_deref(), keep, prefix)?;
        let table = Table { arrays, columns, rows: 0 };
        self.ingest_portions(py, (table, options), &caller)
    }

    /// Answers queries, each a tuple (kind, name, content). Also returns the names of the queries that could
    /// not be read, each with the reason.
    fn query(
        &self,
        py: Python<'_>,
        sources: Vec<Bound<'_, PyAny>>,
        options: Given,
        caller: Caller,
    ) -> PyResult<(Rows, Vec<Failed>)> {
        let sources = sources.iter().map(source).collect::<PyResult<Vec<_>>>()?;
        self.answers(py, sources, options, &caller)
    }

    /// Answers a query for each text of a column. The name of a query is its row, counted from 0.
    fn query_column(
        &self,
        py: Python<'_>,
        column: &Bound<'_, PyAny>,
        options: Given,
        caller: Caller,
    ) -> PyResult<(Rows, Vec<Failed>)> {
        let mut arrays = Arrays::of(column)?;
        let kind = arrays.field().data_type();
        if !Texts::fit(kind) {
            return Err(parameter(&format!("a column of texts is expected, not one of type {kind}")));
        }
        let is_text = Texts::are_strings(kind);
        let mut sources = Vec::new();
        while let Some(array) = py.detach(|| arrays.next())? {
            let texts = Texts::new(&array);
            sources.extend(
                (0..texts.len())
                    .map(|row| {
                        let name = (sources.len() + row).to_string();
                        let bytes = texts.get(row).unwrap_or_default();
                        match is_text {
                            true => QuerySource::Text { name, text: String::from_utf8_lossy(bytes).into_owned() },
                            false => QuerySource::Bytes { name, bytes: bytes.to_vec() },
                        }
                    })
                    .collect::<Vec<_>>(),
            );
        }
        self.answers(py, sources, options, &caller)
    }

    /// Answers a query for each document in a file or folder.
    fn query_below(
        &self,
        py: Python<'_>,
        path: PathBuf,
        options: Given,
        caller: Caller,
    ) -> PyResult<(Rows, Vec<Failed>)> {
        let handle = self.handle()?;
        let (walk, options) = options.query_below(handle.database().profile())?;
        let (mut answers, mut failed) = (Vec::new(), Vec::new());
        let waited = wait(py, &caller, &mut (), |task, _| {
            handle.database().query_below(&path, &walk, &options, task, |name, answer| {
                match answer {
                    Ok(answer) => answers.push(answer),
                    Err(error) => failed.push(failure(name, &error)),
                }
                fpdb::Result::Ok(())
            })
        });
        waited.whole()?;
        Ok((Rows::new(Answers::Query(answers)), failed))
    }

    /// The answers of `query_below`, read one by one as they come.
    fn iter_query_below(&self, path: PathBuf, options: Given, stop: Option<Py<StopToken>>) -> PyResult<RowStream> {
        let handle = self.handle()?;
        let (walk, options) = options.query_below(handle.database().profile())?;
        RowStream::begin(Answers::Query, 1, stop.as_ref(), move |task, found| {
            handle.database().query_below(&path, &walk, &options, task, |name, answer| match answer {
                Ok(answer) => found.row(answer),
                Err(error) => found.failed(failure(name, &error)),
            })
        })
    }

    fn pairs(&self, py: Python<'_>, options: Given, caller: Caller) -> PyResult<Rows> {
        let handle = self.0.unchanged()?;
        let database = handle.database();
        let Pairing { options: asked, evidence, passages } = options.pairs(database.profile())?;
        let answer = wait(py, &caller, &mut (), |task, _| database.pairs(&asked, task)).whole()?;
        let mut pairs = answer.pairs;
        if passages {
            let add = |task: &Task<'_>, _| {
                pairs.chunks_mut(PAIRS_AT_A_TIME).try_for_each(|some| database.add_passages(some, &evidence, task))
            };
            wait(py, &caller, &mut (), add).whole()?;
        }
        let read = ReadOptions::default().limits(evidence.limits.clone());
        let making = Making { weighted: asked.weight == Weight::Idf, evidence: Some(evidence), read };
        Ok(Rows::new(Answers::Pair(pairs)).of(Origin::Pairs(answer.summary), making))
    }

    /// The pairs of `pairs`, read as they come. Refuses a database that is open for writing: a change would
    /// wait until the last pair is read, and the code that reads the pairs might wait for the change.
    fn iter_pairs(&self, options: Given, stop: Option<Py<StopToken>>) -> PyResult<RowStream> {
        let Handle::Reader(database) = self.0.unchanged()? else {
            let hint = "open it a second time with fpdb.open(path), for reading";
            return Err(exception(
                "ParameterError",
                "the pairs of a database open for writing cannot be streamed",
                Some(hint),
            ));
        };
        let options = options.pairs(database.profile())?.options;
        RowStream::begin(Answers::Pair, BATCH, stop.as_ref(), move |task, found| {
            database.for_each_pair(&options, task, |_, pair| found.row(pair)).map(drop)
        })
    }

    /// The passages that also occur earlier, the documents that could not be compared, and the JSON of the
    /// summary.
    fn repeats(&self, py: Python<'_>, options: Given, caller: Caller) -> PyResult<(Rows, Rows, String)> {
        let handle = self.0.unchanged()?;
        let options = options.repeats(handle.database().profile())?;
        let (mut repeats, mut uncompared) = (Vec::new(), Vec::new());
        let waited = wait(py, &caller, &mut (), |task, _| {
            handle.database().for_each_repeat(&options, task, |row| {
                match row {
                    RepeatRow::Repeat(repeat) => repeats.push(repeat),
                    RepeatRow::Uncompared(document) => uncompared.push(document),
                }
                fpdb::Result::Ok(())
            })
        });
        let summary = json(&waited.whole()?)?;
        Ok((Rows::new(Answers::Repeat(repeats)), Rows::new(Answers::Uncompared(uncompared)), summary))
    }

    /// The removable documents, the undecided ones, the superseded ones, and the JSON of the summary.
    fn dedup(&self, py: Python<'_>, options: Given, caller: Caller) -> PyResult<(Rows, Rows, Rows, String)> {
        let handle = self.0.unchanged()?;
        let options = options.dedup(handle.database().profile())?;
        let answer = wait(py, &caller, &mut (), |task, _| handle.database().dedup(&options, task)).whole()?;
        let summary = json(&answer.summary)?;
        let evidence = PairEvidence::default().max_df(options.max_df).limits(options.limits.clone());
        let read = ReadOptions::default().limits(options.limits);
        let making = Making { weighted: false, evidence: Some(evidence), read };
        Ok((
            Rows::new(Answers::Removable(answer.removable)).of(Origin::Dedup(answer.summary), making),
            Rows::new(Answers::Undecided(answer.undecided)),
            Rows::new(Answers::Superseded(answer.superseded)),
            summary,
        ))
    }

    /// The plan of a dedup as JSON: passes, memory, disk.
    fn plan_dedup(&self, py: Python<'_>, options: Given) -> PyResult<String> {
        let handle = self.0.unchanged()?;
        let options = options.dedup(handle.database().profile())?;
        json(&py.detach(|| handle.database().plan_dedup(&options)).map_err(raise)?)
    }

    /// Acts on the report of a dedup. Returns a row for each file, and the JSON of the summary.
    fn apply(&self, py: Python<'_>, report: PathBuf, options: Applying, caller: Caller) -> PyResult<(Rows, String)> {
        let (handle, options) = (self.handle()?, options.options()?);
        let mut files = Vec::new();
        let waited = wait(py, &caller, &mut (), |task, _| {
            handle.database().apply(&report, &options, task, |applied| {
                files.push(applied);
                fpdb::Result::Ok(())
            })
        });
        let summary = json(&waited.whole()?)?;
        Ok((Rows::new(Answers::Applied(files)), summary))
    }

    /// All documents, page by page, as long as the database is open.
    fn document_pages(&self) -> PyResult<NativePages> {
        NativePages::new(&self.0)
    }

    /// All documents, as an Arrow stream.
    fn documents_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let (pages, schema) = (NativePages::new(&self.0)?, arrow::document_schema());
        arrow::stream(py, schema.clone(), move || match pages.read(BATCH) {
            Ok(page) if page.is_empty() => None,
            Ok(page) => Some(arrow::batch(&schema, &page)),
            Err(error) => Some(Err(arrow::refused(&error))),
        })
    }

    /// The documents with this name, oldest first.
    fn documents_named(&self, py: Python<'_>, name: &str) -> PyResult<Rows> {
        let handle = self.handle()?;
        let database = handle.database();
        let found = py.detach(|| match database.documents_named(name) {
            Err(Error::NoSuchDocument { name, .. }) => {
                let nearest = database.nearest_name(&name)?;
                Err(Error::NoSuchDocument { name, nearest })
            }
            found => found,
        });
        Ok(Rows::new(Answers::Document(found.map_err(raise)?)))
    }

    /// The document with this number.
    fn document(&self, py: Python<'_>, id: u32) -> PyResult<Rows> {
        let handle = self.handle()?;
        Ok(Rows::new(Answers::Document(vec![py.detach(|| handle.database().document(DocId(id))).map_err(raise)?])))
    }

    /// The bytes to which the offsets of a document refer, and their encoding. `None` if they are no longer
    /// available.
    fn text<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Option<Counted<'py>>> {
        let handle = self.handle()?;
        let text = py.detach(|| handle.database().text_of(DocId(id))).map_err(raise)?;
        Ok(text.map(|text| (PyBytes::new(py, &text.bytes), text.encoding)))
    }

    /// Deletes documents by name and by number. Returns the summary as JSON.
    fn remove(&self, py: Python<'_>, names: Vec<String>, ids: Vec<u32>) -> PyResult<String> {
        let writer = self.writer()?;
        let ids: Vec<DocId> = ids.into_iter().map(DocId).collect();
        json(&py.detach(|| writer.remove_named_or_numbered(&names, &ids)).map_err(raise)?)
    }

    /// Deletes the documents that prefixes and values select. Returns the summary as JSON.
    fn remove_selected(
        &self,
        py: Python<'_>,
        prefixes: Vec<String>,
        fields: Vec<(String, String)>,
        caller: Caller,
    ) -> PyResult<String> {
        let writer = self.writer()?;
        json(&wait(py, &caller, &mut (), |task, _| writer.remove_selected(&prefixes, &fields, task)).whole()?)
    }

    /// Deletes the documents that the report of a dedup lists. Returns the summary as JSON.
    fn remove_reported(&self, py: Python<'_>, report: PathBuf, caller: Caller) -> PyResult<String> {
        let writer = self.writer()?;
        json(&wait(py, &caller, &mut (), |task, _| writer.remove_reported(&report, task)).whole()?)
    }

    /// Keeps out the contents of these documents, and of the documents that prefixes and values select.
    fn keep_out(
        &self,
        py: Python<'_>,
        documents: (Vec<String>, Vec<u32>),
        prefixes: Vec<String>,
        fields: Vec<(String, String)>,
        caller: Caller,
    ) -> PyResult<()> {
        let writer = self.writer()?;
        let keep_out = |task: &Task<'_>, _| {
            let (names, ids) = documents;
            let mut ids: Vec<DocId> = ids.into_iter().map(DocId).collect();
            if !(prefixes.is_empty() && fields.is_empty()) {
                ids.extend(writer.select(&prefixes, &fields, task)?.ids);
            }
            writer.keep_named_or_numbered_out(&names, &ids)
        };
        wait(py, &caller, &mut (), keep_out).whole()
    }

    /// Lets later ingests add contents again, by the names of removed documents and by digests. Returns the
    /// number of these contents.
    fn readmit(&self, py: Python<'_>, names: Vec<String>) -> PyResult<u64> {
        let writer = self.writer()?;
        Ok(py.detach(|| writer.readmit(&names)).map_err(raise)?.readmitted.unwrap_or_default())
    }

    /// Renames a file or a folder of documents. Returns the summary as JSON.
    fn rename(&self, py: Python<'_>, old: &str, new: &str) -> PyResult<String> {
        let writer = self.writer()?;
        json(&py.detach(|| writer.rename(old, new)).map_err(raise)?)
    }

    /// The numbers of the documents that prefixes and values select, and the prefixes and values that no
    /// document has.
    fn select(
        &self,
        py: Python<'_>,
        prefixes: Vec<String>,
        fields: Vec<(String, String)>,
        caller: Caller,
    ) -> PyResult<(Vec<u32>, Vec<String>)> {
        let handle = self.0.unchanged()?;
        let select = |task: &Task<'_>, _| handle.database().select(&prefixes, &fields, task);
        let selected = wait(py, &caller, &mut (), select).whole()?;
        Ok((selected.ids.into_iter().map(|id| id.0).collect(), selected.unmatched))
    }

    /// Adds the documents of a build. Returns the summary as JSON.
    fn assemble(&self, py: Python<'_>, staging: PathBuf, caller: Caller) -> PyResult<String> {
        let writer = self.writer()?;
        json(&wait(py, &caller, &mut (), |task, _| writer.assemble(&staging, task)).whole()?)
    }

    fn compact(&self, py: Python<'_>, caller: Caller) -> PyResult<String> {
        let writer = self.writer()?;
        json(&wait(py, &caller, &mut (), |task, _| writer.compact(task)).whole()?)
    }
}

impl NativeDatabase {
    fn answers(
        &self,
        py: Python<'_>,
        sources: Vec<QuerySource>,
        options: Given,
        caller: &Caller,
    ) -> PyResult<(Rows, Vec<Failed>)> {
        let handle = self.handle()?;
        let options = options.query(handle.database().profile())?;
        let (mut answers, mut answered, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        let files: Vec<_> = sources.iter().map(FileState::of).collect();
        let waited = wait(py, caller, &mut (), |task, _| handle.database().query_each(&sources, &options, task));
        for (source, outcome) in sources.iter().zip(waited.whole()?) {
            answered.push(outcome.is_ok());
            match outcome {
                Ok(answer) => answers.push(answer),
                // If the only query fails, the call fails.
                Err(error) if sources.len() == 1 => return Err(raise(error)),
                Err(error) => failed.push(failure(&name_of(source), &error)),
            }
        }
        let queries = sources.into_iter().zip(files).zip(answered).filter(|(_, answered)| *answered);
        let queries = queries.map(|((source, file), _)| Query::new(source, file)).collect();
        let asked = Asked { profile: *handle.database().profile(), read: options.read.clone(), queries };
        let evidence =
            PairEvidence::default().max_df(options.max_df).joining(options.joining).limits(options.read.limits.clone());
        let making = Making {
            weighted: options.weight == Weight::Idf,
            evidence: options.passages.then_some(evidence),
            read: options.read,
        };
        Ok((Rows::new(Answers::Query(answers)).of(Origin::Asked(asked), making), failed))
    }
}
