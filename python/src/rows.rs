//! Rows: answers for Python: JSON one by one, or one Arrow stream of all.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use fpdb::apply::Applied;
use fpdb::dedup::{Removable, Superseded, Undecided};
use fpdb::pairs::Pair;
use fpdb::repeats::{Repeat, Uncompared};
use fpdb::{DocumentInfo, QueryAnswer};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::arrow_output as arrow;
use crate::asked::Counted;
use crate::options::json;
use crate::report::{Making, Origin};

/// Number of rows in a batch.
pub(crate) const BATCH: usize = 4096;

/// Answers of one kind.
pub(crate) enum Answers {
    Query(Vec<QueryAnswer>),
    Pair(Vec<Pair>),
    Removable(Vec<Removable>),
    Undecided(Vec<Undecided>),
    Superseded(Vec<Superseded>),
    Applied(Vec<Applied>),
    Repeat(Vec<Repeat>),
    Uncompared(Vec<Uncompared>),
    Document(Vec<DocumentInfo>),
}

/// Evaluates an expression with the rows of any kind.
macro_rules! each {
    ($answers:expr, $rows:ident => $then:expr) => {
        match $answers {
            Answers::Query($rows) => $then,
            Answers::Pair($rows) => $then,
            Answers::Removable($rows) => $then,
            Answers::Undecided($rows) => $then,
            Answers::Superseded($rows) => $then,
            Answers::Applied($rows) => $then,
            Answers::Repeat($rows) => $then,
            Answers::Uncompared($rows) => $then,
            Answers::Document($rows) => $then,
        }
    };
}

impl Answers {
    fn kind(&self) -> &'static str {
        match self {
            Self::Query(_) => "query",
            Self::Pair(_) => "pair",
            Self::Removable(_) => "removable",
            Self::Undecided(_) => "undecided",
            Self::Superseded(_) => "superseded",
            Self::Applied(_) => "applied",
            Self::Repeat(_) => "repeat",
            Self::Uncompared(_) => "uncompared",
            Self::Document(_) => "document",
        }
    }

    pub(crate) fn len(&self) -> usize {
        each!(self, rows => rows.len())
    }

    /// The JSON of the row at `index`.
    pub(crate) fn json(&self, index: usize) -> PyResult<String> {
        if index >= self.len() {
            return Err(PyIndexError::new_err("there are not as many rows"));
        }
        each!(self, rows => json(&rows[index]))
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            Self::Query(_) => arrow::query_schema(),
            Self::Pair(_) => arrow::pair_schema(),
            Self::Removable(_) => arrow::removable_schema(),
            Self::Undecided(_) => arrow::undecided_schema(),
            Self::Superseded(_) => arrow::superseded_schema(),
            Self::Applied(_) => arrow::applied_schema(),
            Self::Repeat(_) => arrow::repeat_schema(),
            Self::Uncompared(_) => arrow::uncompared_schema(),
            Self::Document(_) => arrow::document_schema(),
        }
    }

    /// The batch that begins with this row.
    pub(crate) fn batch(&self, schema: &SchemaRef, from: usize) -> Result<RecordBatch, ArrowError> {
        let to = self.len().min(from + BATCH);
        each!(self, rows => arrow::batch(schema, &rows[from..to]))
    }
}

/// Answers, in their order.
#[pyclass(frozen, module = "fpdb._native")]
pub(crate) struct Rows {
    answers: Arc<Answers>,
    /// The data that a report of these rows needs. Restored rows have none.
    made: Option<(Origin, Making)>,
}

impl Rows {
    pub(crate) fn new(answers: Answers) -> Self {
        Self { answers: Arc::new(answers), made: None }
    }

    /// The same rows with their origin.
    pub(crate) fn of(self, origin: Origin, making: Making) -> Self {
        Self { made: Some((origin, making)), ..self }
    }

    pub(crate) fn answers(&self) -> &Arc<Answers> {
        &self.answers
    }

    pub(crate) fn made(&self) -> Option<&(Origin, Making)> {
        self.made.as_ref()
    }
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        self.answers.len()
    }

    /// The JSON of the row at `index`.
    fn json(&self, index: usize) -> PyResult<String> {
        self.answers.json(index)
    }

    /// The bytes to which the offsets of a query refer, and their encoding. `None` if they are no longer
    /// available. In a comparison, the second document has index 1.
    fn text<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Option<Counted<'py>>> {
        match &self.made {
            Some((Origin::Asked(asked), _)) => asked.text(py, index),
            _ => Ok(None),
        }
    }

    /// The kind of the rows, and their JSON, one row per line. [`Self::restore`] makes the same rows from
    /// this state.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyBytes>)> {
        let lines = each!(&*self.answers, rows => lines(rows))?;
        Ok((self.answers.kind(), PyBytes::new(py, &lines)))
    }

    /// Makes rows from the result of [`Self::state`].
    #[staticmethod]
    fn restore(kind: &str, lines: &[u8]) -> PyResult<Self> {
        Ok(Self::new(match kind {
            "query" => Answers::Query(parse(lines)?),
            "pair" => Answers::Pair(parse(lines)?),
            "removable" => Answers::Removable(parse(lines)?),
            "undecided" => Answers::Undecided(parse(lines)?),
            "superseded" => Answers::Superseded(parse(lines)?),
            "applied" => Answers::Applied(parse(lines)?),
            "repeat" => Answers::Repeat(parse(lines)?),
            "uncompared" => Answers::Uncompared(parse(lines)?),
            "document" => Answers::Document(parse(lines)?),
            other => return Err(PyValueError::new_err(format!("there are no rows of kind {other}"))),
        }))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // By the protocol, a producer may ignore the requested schema.
        drop(requested_schema);
        let (answers, schema, mut from) = (Arc::clone(&self.answers), self.answers.schema(), 0);
        arrow::stream(py, schema.clone(), move || {
            let batch = (from < answers.len()).then(|| answers.batch(&schema, from));
            from += BATCH;
            batch
        })
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &self.answers.schema())
    }
}

fn lines<T: Serialize>(rows: &[T]) -> PyResult<Vec<u8>> {
    let mut lines = Vec::new();
    for row in rows {
        lines.extend_from_slice(json(row)?.as_bytes());
        lines.push(b'\n');
    }
    Ok(lines)
}

fn parse<T: DeserializeOwned>(lines: &[u8]) -> PyResult<Vec<T>> {
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(|error| PyValueError::new_err(error.to_string()))).collect()
}
