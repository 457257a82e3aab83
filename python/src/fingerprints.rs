//! Fingerprints of texts, for an index of the caller's own.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, LargeListArray, RecordBatch, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use fpdb::{Fingerprinter, Fingerprints, Format, Profile};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::arrow_input::{Arrays, Texts, is_arrow};
use crate::arrow_output as arrow;
use crate::errors::{exception, parameter};
use crate::feed::{Bytes, bytes_of};
use crate::options::profile_of;

/// Number of texts of an iterable that are processed together.
const TEXTS: usize = 4096;

/// The hashes and the positions of one text.
type Selected = (Vec<u64>, Vec<u64>);

fn schema() -> SchemaRef {
    let item = Arc::new(Field::new("item", DataType::UInt64, false));
    let list = |name| Field::new(name, DataType::LargeList(Arc::clone(&item)), true);
    Arc::new(Schema::new(vec![list("hashes"), list("positions")]))
}

/// The fingerprints of many texts, in their order.
#[pyclass(frozen, module = "fpdb._native")]
pub(crate) struct NativeFingerprints {
    batches: Arc<Vec<RecordBatch>>,
}

#[pymethods]
impl NativeFingerprints {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The hashes and the positions of one text; `None` if the text was null.
    fn get(&self, mut index: usize) -> PyResult<Option<Selected>> {
        for batch in &*self.batches {
            if index < batch.num_rows() {
                let list = |column: &ArrayRef| {
                    let values = column.as_list::<i64>().value(index);
                    values.as_primitive::<UInt64Type>().values().to_vec()
                };
                let is_null = batch.column(0).is_null(index);
                return Ok((!is_null).then(|| (list(batch.column(0)), list(batch.column(1)))));
            }
            index -= batch.num_rows();
        }
        Err(PyIndexError::new_err("there are not as many texts"))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // By the protocol, a producer may ignore the requested schema.
        drop(requested_schema);
        arrow::stream_of(py, schema(), &self.batches)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &schema())
    }
}

/// Fingerprints texts: a column, or an iterable of str and bytes. If `threads` is 0, uses one thread per
/// processor.
#[pyfunction]
pub(crate) fn fingerprint(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    profile: &str,
    format: &str,
    threads: usize,
) -> PyResult<NativeFingerprints> {
    let profile = profile_of(profile)?;
    let format = Format::named(format).ok_or_else(|| parameter(&format!("there is no format {format}")))?;
    let workers = ThreadPoolBuilder::new().num_threads(threads).thread_name(|number| format!("fpdb-{number}")).build();
    let workers = workers.map_err(|error| exception("StorageError", &error.to_string(), None))?;
    let mut batches = Vec::new();
    if is_arrow(texts)? {
        let mut arrays = Arrays::of(texts)?;
        if !Texts::fit(arrays.field().data_type()) {
            let kind = arrays.field().data_type();
            return Err(parameter(&format!("a column of texts is expected, not one of type {kind}")));
        }
        while let Some(array) = py.detach(|| arrays.next())? {
            let texts = Texts::new(&array);
            let made = py.detach(|| workers.install(|| select(&profile, format, texts.len(), |row| texts.get(row))));
            batches.push(made?);
            py.check_signals()?;
        }
    } else {
        let mut items = texts.try_iter()?;
        loop {
            let some = items.by_ref().take(TEXTS).map(|text| bytes_of(&text?)).collect::<PyResult<Vec<Bytes>>>()?;
            if some.is_empty() {
                break;
            }
            let text = |row: usize| some.get(row).map(AsRef::as_ref);
            let made = py.detach(|| workers.install(|| select(&profile, format, some.len(), text)));
            batches.push(made?);
            py.check_signals()?;
        }
    }
    Ok(NativeFingerprints { batches: Arc::new(batches) })
}

/// The fingerprints of some texts.
fn select<'a>(
    profile: &Profile,
    format: Format,
    texts: usize,
    text: impl Fn(usize) -> Option<&'a [u8]> + Sync,
) -> PyResult<RecordBatch> {
    let new = || (Fingerprinter::new(profile), Fingerprints::new());
    let selected: Vec<Option<fpdb::Result<Selected>>> = (0..texts)
        .into_par_iter()
        .map_init(new, |(fingerprinter, fingerprints), row| {
            let bytes = text(row)?;
            fingerprints.clear();
            fingerprinter.begin(format);
            fingerprinter.feed(bytes, fingerprints);
            let finished = fingerprinter.finish(fingerprints);
            Some(finished.map(|_| fingerprints.iter().map(|found| (found.hash, found.position)).unzip()))
        })
        .collect();
    let mut lists = Vec::with_capacity(texts);
    for one in selected {
        lists.push(one.transpose().map_err(crate::errors::raise)?);
    }
    batch(&lists).map_err(|error| parameter(&error.to_string()))
}

fn batch(lists: &[Option<Selected>]) -> Result<RecordBatch, ArrowError> {
    let item = Arc::new(Field::new("item", DataType::UInt64, false));
    let lengths = lists.iter().map(|list| list.as_ref().map_or(0, |(hashes, _)| hashes.len()));
    let offsets = OffsetBuffer::<i64>::from_lengths(lengths);
    let nulls = lists.iter().any(Option::is_none).then(|| lists.iter().map(Option::is_some).collect());
    let column = |values: Vec<u64>| {
        let values = Arc::new(UInt64Array::from(values));
        LargeListArray::try_new(Arc::clone(&item), offsets.clone(), values, nulls.clone())
    };
    let hashes = lists.iter().flatten().flat_map(|(hashes, _)| hashes).copied().collect();
    let positions = lists.iter().flatten().flat_map(|(_, positions)| positions).copied().collect();
    RecordBatch::try_new(schema(), vec![Arc::new(column(hashes)?), Arc::new(column(positions)?)])
}
