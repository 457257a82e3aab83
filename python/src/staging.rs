//! A build on many machines: the two sides of its shuffle, with rows as Arrow batches.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, Int64Array, RecordBatch};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use fpdb::staging::{StagedColumns, StagedRows, Staging, StagingMapper, StagingPlan};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow_input::{Arrays, Texts, Values, is_plain};
use crate::arrow_output as arrow;
use crate::errors::{exception, parameter, poisoned, raise};
use crate::options::{json, profile_of};

/// The columns of the rows that a shuffle moves to their parts.
fn schema() -> SchemaRef {
    let field = |name, kind| Field::new(name, kind, false);
    Arc::new(Schema::new(vec![
        field("part", DataType::Int32),
        field("high", DataType::Int64),
        field("low", DataType::Int64),
        field("value", DataType::Binary),
    ]))
}

/// The plan of a build, as Python gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Planning {
    profile: String,
    documents: u32,
    posting_parts: u32,
    document_parts: u32,
    name_bounds: Vec<String>,
    heavy: Vec<(u64, u32)>,
    format: String,
    store_text: bool,
    columns: Vec<String>,
    input: String,
}

impl Planning {
    fn plan(self) -> PyResult<StagingPlan> {
        Ok(StagingPlan::new(profile_of(&self.profile)?, self.documents)
            .posting_parts(self.posting_parts)
            .document_parts(self.document_parts)
            .name_bounds(self.name_bounds)
            .heavy(self.heavy)
            .front_end(self.format)
            .store_text(self.store_text)
            .columns(self.columns)
            .input(self.input))
    }
}

/// The folder of a build.
#[pyclass(frozen, module = "fpdb._native")]
pub(crate) struct NativeStaging(Staging);

#[pymethods]
impl NativeStaging {
    /// Opens the build in a folder, or begins one with this plan.
    #[new]
    #[pyo3(signature = (path, plan=None))]
    fn new(path: PathBuf, plan: Option<Planning>) -> PyResult<Self> {
        let staging = match plan {
            Some(plan) => Staging::create(path, &plan.plan()?),
            None => Staging::open(path),
        };
        staging.map(Self).map_err(raise)
    }

    #[getter]
    fn generation(&self) -> &str {
        self.0.generation()
    }

    #[getter]
    fn part_count(&self) -> u32 {
        self.0.part_count()
    }

    /// The plan as JSON.
    fn plan(&self) -> PyResult<String> {
        json(self.0.plan())
    }

    fn finished_parts(&self) -> PyResult<Vec<u32>> {
        self.0.finished_parts().map_err(raise)
    }

    /// A mapper: it makes rows of documents, except rows of finished parts.
    fn mapper(&self, finished: Vec<u32>) -> NativeMapper {
        NativeMapper(Mutex::new(Some(self.0.mapper(&finished))))
    }

    /// Makes parts from batches of sorted rows. Returns their numbers.
    fn reduce(&self, py: Python<'_>, batches: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let mut reducer = self.0.reducer();
        for batch in batches.try_iter()? {
            let mut arrays = Arrays::of(&batch?)?;
            while let Some(array) = py.detach(|| arrays.next())? {
                let rows = Rows::of(&array)?;
                reducer = py
                    .detach(|| -> fpdb::Result<_> {
                        reducer.push(&rows.columns())?;
                        Ok(reducer)
                    })
                    .map_err(raise)?;
            }
        }
        py.detach(|| reducer.finish()).map_err(raise)
    }

    /// Writes the manifest. Returns the summary of the build as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        json(&py.detach(|| self.0.finish()).map_err(raise)?)
    }
}

/// Makes rows of the documents of one task.
#[pyclass(frozen, module = "fpdb._native")]
pub(crate) struct NativeMapper(Mutex<Option<StagingMapper>>);

#[pymethods]
impl NativeMapper {
    /// Takes a batch of documents. The first columns are numbers, names and texts. Other columns become
    /// metadata. Returns the rows that are ready.
    fn push(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<StagedBatches> {
        let mut arrays = Arrays::of(batch)?;
        let mut made = Vec::new();
        while let Some(array) = py.detach(|| arrays.next())? {
            let documents = Documents::of(&array)?;
            py.detach(|| {
                let mut mapper = self.0.lock().map_err(|_| poisoned())?;
                let mapper = mapper.as_mut().ok_or_else(|| parameter("the mapper has been finished"))?;
                // A null row of a struct also has values, but these mean nothing.
                for row in (0..array.len()).filter(|&row| array.is_valid(row)) {
                    let (number, name, text) = (documents.number(row), documents.name(row), documents.texts.get(row));
                    mapper
                        .push(number, &name, text, documents.metadata(row), &mut |rows| {
                            made.push(rows);
                            Ok(())
                        })
                        .map_err(raise)?;
                }
                PyResult::Ok(())
            })?;
        }
        StagedBatches::of(made)
    }

    /// Ends the task, and returns the last rows.
    fn finish(&self, py: Python<'_>) -> PyResult<StagedBatches> {
        let mut made = Vec::new();
        py.detach(|| {
            let mapper = self.0.lock().map_err(|_| poisoned())?.take();
            let mapper = mapper.ok_or_else(|| parameter("the mapper has been finished"))?;
            let mut emit = |rows: StagedRows| {
                made.push(rows);
                Ok(())
            };
            mapper.finish(&mut emit).map_err(raise)
        })?;
        StagedBatches::of(made)
    }
}

/// Rows that a shuffle moves to their parts, as an Arrow stream.
#[pyclass(frozen, module = "fpdb._native")]
pub(crate) struct StagedBatches(Arc<Vec<RecordBatch>>);

impl StagedBatches {
    fn of(rows: Vec<StagedRows>) -> PyResult<Self> {
        let batches = rows.into_iter().map(batch_of).collect::<Result<Vec<_>, _>>();
        Ok(Self(Arc::new(batches.map_err(|error| parameter(&error.to_string()))?)))
    }
}

#[pymethods]
impl StagedBatches {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // By the protocol, a producer may ignore the requested schema.
        drop(requested_schema);
        arrow::stream_of(py, schema(), &self.0)
    }
}

fn batch_of(rows: StagedRows) -> Result<RecordBatch, ArrowError> {
    let StagedRows { parts, highs, lows, ends, values, .. } = rows;
    let offsets: Vec<i32> = std::iter::once(0).chain(ends).collect();
    let values = BinaryArray::try_new(OffsetBuffer::new(ScalarBuffer::from(offsets)), Buffer::from_vec(values), None)?;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(parts)),
        Arc::new(Int64Array::from(highs)),
        Arc::new(Int64Array::from(lows)),
        Arc::new(values),
    ];
    RecordBatch::try_new(schema(), columns)
}

/// The columns of a batch, which must have at least `least` of them.
fn columns_of(array: &ArrayRef, least: usize) -> PyResult<&[ArrayRef]> {
    let columns = array.as_struct_opt().map(arrow_array::StructArray::columns);
    columns.filter(|columns| columns.len() >= least).ok_or_else(|| parameter("the batch lacks columns"))
}

fn unfit(name: &str, array: &ArrayRef, expected: &str) -> PyErr {
    parameter(&format!("the column {name} is of type {}, and not {expected}", array.data_type()))
}

/// A batch of documents.
struct Documents {
    numbers: Int64Array,
    names: Values,
    texts: Texts,
    metadata: Vec<(String, Values)>,
}

impl Documents {
    fn of(array: &ArrayRef) -> PyResult<Self> {
        let columns = columns_of(array, 3)?;
        let numbers = columns[0].as_primitive_opt::<Int64Type>().filter(|numbers| numbers.null_count() == 0);
        let numbers = numbers.ok_or_else(|| unfit("number", &columns[0], "int64 without nulls"))?.clone();
        let DataType::Struct(fields) = array.data_type() else { return Err(parameter("the batch has no columns")) };
        if !is_plain(columns[1].data_type()) {
            return Err(unfit(fields[1].name(), &columns[1], "text or a number"));
        }
        let nulls = columns[1].null_count();
        if nulls > 0 {
            let name = fields[1].name();
            let message =
                format!("the column {name} names the documents, and {nulls} of {} rows have none", array.len());
            let hint = "leave these rows out, or name documents by a column without nulls";
            return Err(exception("ParameterError", &message, Some(hint)));
        }
        if !Texts::fit(columns[2].data_type()) {
            return Err(unfit(fields[2].name(), &columns[2], "text or binary"));
        }
        let mut metadata = Vec::new();
        for (field, column) in fields.iter().zip(columns).skip(3) {
            if !is_plain(field.data_type()) {
                return Err(unfit(field.name(), column, "text, a number, a date or a truth value"));
            }
            metadata.push((field.name().clone(), Values::new(column)));
        }
        Ok(Self { numbers, names: Values::new(&columns[1]), texts: Texts::new(&columns[2]), metadata })
    }

    fn number(&self, row: usize) -> u32 {
        // `u32::MAX` stands for numbers that do not fit into 32 bits. The plan has no document with the
        // number `u32::MAX`.
        u32::try_from(self.numbers.value(row)).unwrap_or(u32::MAX)
    }

    fn name(&self, row: usize) -> String {
        self.names.get(row).unwrap_or_default()
    }

    /// The metadata of a row. Nulls are left out, as in an ingest of a table.
    fn metadata(&self, row: usize) -> Vec<(String, String)> {
        self.metadata.iter().filter_map(|(name, column)| Some((name.clone(), column.get(row)?))).collect()
    }
}

/// A batch of sorted rows.
struct Rows {
    parts: Int32Array,
    highs: Int64Array,
    lows: Int64Array,
    values: BinaryArray,
}

impl Rows {
    fn of(array: &ArrayRef) -> PyResult<Self> {
        let columns = columns_of(array, 4)?;
        let whole = |index: usize| columns[index].null_count() == 0;
        let parts = columns[0].as_primitive_opt::<Int32Type>().filter(|_| whole(0));
        let long = |index: usize| columns[index].as_primitive_opt::<Int64Type>().filter(|_| whole(index));
        Ok(Self {
            parts: parts.ok_or_else(|| unfit("part", &columns[0], "int32 without nulls"))?.clone(),
            highs: long(1).ok_or_else(|| unfit("high", &columns[1], "int64 without nulls"))?.clone(),
            lows: long(2).ok_or_else(|| unfit("low", &columns[2], "int64 without nulls"))?.clone(),
            values: columns[3]
                .as_binary_opt::<i32>()
                .filter(|_| whole(3))
                .ok_or_else(|| unfit("value", &columns[3], "binary without nulls"))?
                .clone(),
        })
    }

    fn columns(&self) -> StagedColumns<'_> {
        StagedColumns {
            parts: self.parts.values(),
            highs: self.highs.values(),
            lows: self.lows.values(),
            offsets: self.values.value_offsets(),
            values: self.values.value_data(),
        }
    }
}
