//! Arrow output: rows as streams that pandas, polars, pyarrow and DuckDB read. The batches of a stream are
//! made one by one as it is read.

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde::Serialize;

/// A stream of batches that `next` makes one after the other.
pub(crate) fn stream<'py, F>(py: Python<'py>, schema: SchemaRef, next: F) -> PyResult<Bound<'py, PyCapsule>>
where
    F: FnMut() -> Option<Result<RecordBatch, ArrowError>> + Send + 'static,
{
    let reader: Box<dyn RecordBatchReader + Send> = Box::new(Batches { schema, next });
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}

/// A stream of existing batches.
pub(crate) fn stream_of<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: &Arc<Vec<RecordBatch>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let (batches, mut index) = (Arc::clone(batches), 0);
    stream(py, schema, move || {
        index += 1;
        batches.get(index - 1).cloned().map(Ok)
    })
}

/// A schema as its capsule.
pub(crate) fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| crate::errors::parameter(&error.to_string()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

struct Batches<F> {
    schema: SchemaRef,
    next: F,
}

impl<F: FnMut() -> Option<Result<RecordBatch, ArrowError>>> Iterator for Batches<F> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.next)()
    }
}

impl<F: FnMut() -> Option<Result<RecordBatch, ArrowError>>> RecordBatchReader for Batches<F> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Rows as a batch: each field of their JSON is a column.
pub(crate) fn batch<T: Serialize>(schema: &Schema, rows: &[T]) -> Result<RecordBatch, ArrowError> {
    serde_arrow::to_record_batch(schema.fields(), &rows).map_err(|error| ArrowError::ExternalError(error.into()))
}

/// An exception as an error of a stream.
pub(crate) fn refused(error: &PyErr) -> ArrowError {
    ArrowError::ComputeError(Python::attach(|py| error.value(py).to_string()))
}

fn field(name: &str, kind: DataType) -> Field {
    Field::new(name, kind, false)
}

/// A field that may be missing or null in the JSON.
fn maybe(name: &str, kind: DataType) -> Field {
    Field::new(name, kind, true)
}

fn list(kind: DataType) -> DataType {
    DataType::LargeList(Arc::new(field("item", kind)))
}

fn pair(kind: DataType) -> DataType {
    DataType::FixedSizeList(Arc::new(field("item", kind)), 2)
}

fn object(fields: impl Into<Fields>) -> DataType {
    DataType::Struct(fields.into())
}

fn strings() -> DataType {
    let entries = object(vec![field("key", DataType::Utf8), field("value", DataType::Utf8)]);
    DataType::Map(Arc::new(field("entries", entries)), false)
}

fn location() -> DataType {
    use DataType::UInt64;
    let pages = maybe("pages", pair(UInt64));
    object(vec![field("start", UInt64), field("end", UInt64), field("lines", pair(UInt64)), pages])
}

fn passages() -> DataType {
    list(object(vec![
        field("query", location()),
        field("document", location()),
        field("symbols", DataType::UInt64),
        maybe("agreement", DataType::Float64),
        maybe("same_names", DataType::Float64),
        maybe("as_written", DataType::Boolean),
        field("exact", DataType::Boolean),
    ]))
}

fn schema(fields: Vec<Field>) -> SchemaRef {
    Arc::new(Schema::new(fields))
}

/// The fields of a match or pair of submissions: the fields of documents, and a list of files with the same
/// fields.
fn with_files(of_documents: Vec<Field>) -> Vec<Field> {
    let files = maybe("files", list(object(of_documents.clone())));
    [of_documents, vec![files, maybe("files_left_out", DataType::UInt64)]].concat()
}

/// `fpdb.query/1`.
pub(crate) fn query_schema() -> SchemaRef {
    use DataType::{Boolean, Float64, Int64, UInt32, UInt64, Utf8};
    let profile = object(vec![
        field("unit", Utf8),
        field("k", UInt32),
        field("w", UInt32),
        field("selection", Utf8),
        maybe("words", Utf8),
        maybe("guarantee", UInt64),
        maybe("text", object(vec![field("k", UInt32), field("w", UInt32), maybe("guarantee", UInt64)])),
    ]);
    let text = object(vec![
        field("symbols", UInt64),
        field("fingerprints", UInt64),
        field("looked_up", UInt64),
        field("found", UInt64),
        field("boilerplate", UInt64),
        field("common", UInt64),
        field("corpus_containment", Float64),
    ]);
    let disguised = vec![
        field("words", UInt64),
        field("example", Utf8),
        field("start", UInt64),
        maybe("file", Utf8),
        maybe("extracted", Boolean),
    ];
    let query = object(vec![
        field("name", Utf8),
        field("bytes", UInt64),
        field("symbols", UInt64),
        field("fingerprints", UInt64),
        field("window", UInt32),
        maybe("extracted", Boolean),
        maybe("attachments", UInt64),
        maybe("files", UInt64),
        maybe("files_unread", UInt64),
        maybe("metadata", strings()),
        maybe("disguised", object(disguised)),
        maybe("names_submission", Boolean),
    ]);
    let own = vec![field("containment", Float64), maybe("text_containment", Float64)];
    let of_document = vec![
        field("document", Utf8),
        field("id", UInt32),
        field("document_bytes", UInt64),
        field("document_symbols", UInt64),
        maybe("extracted", Boolean),
        field("shared", UInt64),
        field("score", Float64),
        field("containment", Float64),
        field("document_containment", Float64),
        field("resemblance", Float64),
        maybe("text_shared", UInt64),
        maybe("text_containment", Float64),
        maybe("text_document_containment", Float64),
        maybe("text_resemblance", Float64),
        maybe("without_boilerplate", object(own)),
        maybe("interval", pair(Float64)),
        field("estimated", list(Utf8)),
        field("identical", Boolean),
        maybe("coverage", Float64),
        field("passages", passages()),
        maybe("passages_left_out", UInt64),
        maybe("metadata", strings()),
        maybe("modified", Int64),
        maybe("inferred", Utf8),
        field("repeats", UInt64),
        // Only the files of a submission have this field.
        maybe("query", query.clone()),
    ];
    let matches = object(with_files(of_document));
    schema(vec![
        field("schema", Utf8),
        field("mode", Utf8),
        field("weight", Utf8),
        field("profile", profile),
        field("query", query),
        field("looked_up", UInt64),
        field("found", UInt64),
        field("boilerplate", UInt64),
        field("common", UInt64),
        maybe("quoted", UInt64),
        maybe("phrases", UInt64),
        field("corpus_containment", Float64),
        maybe("text", text),
        field("matching_documents", UInt64),
        maybe("compared", UInt64),
        maybe("below", UInt64),
        maybe("documents_left_out", UInt64),
        field("ignored", list(object(vec![field("query", location()), field("because", Utf8)]))),
        field("matches", list(matches)),
    ])
}

/// `fpdb.pair/1`.
pub(crate) fn pair_schema() -> SchemaRef {
    use DataType::{Boolean, Float64, Int64, UInt32, UInt64, Utf8};
    let without_boilerplate = vec![
        field("resemblance", Float64),
        field("containment_a", Float64),
        field("containment_b", Float64),
        maybe("text_resemblance", Float64),
        maybe("text_containment_a", Float64),
        maybe("text_containment_b", Float64),
    ];
    let of_documents = vec![
        field("schema", Utf8),
        field("a", Utf8),
        field("b", Utf8),
        field("a_id", UInt32),
        field("b_id", UInt32),
        field("shared", UInt64),
        field("resemblance", Float64),
        field("containment_a", Float64),
        field("containment_b", Float64),
        field("score", Float64),
        maybe("text_shared", UInt64),
        maybe("text_resemblance", Float64),
        maybe("text_containment_a", Float64),
        maybe("text_containment_b", Float64),
        maybe("without_boilerplate", object(without_boilerplate)),
        maybe("passages", passages()),
        maybe("longest", UInt64),
        maybe("a_old", Boolean),
        maybe("b_old", Boolean),
        maybe("a_extracted", Boolean),
        maybe("b_extracted", Boolean),
        maybe("a_metadata", strings()),
        maybe("b_metadata", strings()),
        maybe("a_modified", Int64),
        maybe("b_modified", Int64),
    ];
    schema([with_files(of_documents), vec![maybe("by_files", Boolean)]].concat())
}

/// `fpdb.dedup/1`.
pub(crate) fn removable_schema() -> SchemaRef {
    use DataType::{Float64, UInt32, UInt64, Utf8};
    schema(vec![
        field("schema", Utf8),
        field("remove", Utf8),
        field("remove_id", UInt32),
        field("keep", Utf8),
        field("keep_id", UInt32),
        field("because", Utf8),
        field("score", Float64),
        field("shared", UInt64),
        field("novel", UInt64),
        field("bytes", UInt64),
        field("remove_digest", Utf8),
        field("keep_digest", Utf8),
        maybe("run", UInt32),
        field("metadata", strings()),
        maybe("keep_metadata", strings()),
    ])
}

/// `fpdb.dedup.undecided/1`.
pub(crate) fn undecided_schema() -> SchemaRef {
    use DataType::{UInt32, Utf8};
    schema(vec![field("schema", Utf8), field("document", Utf8), field("id", UInt32), field("metadata", strings())])
}

/// `fpdb.dedup.superseded/1`.
pub(crate) fn superseded_schema() -> SchemaRef {
    use DataType::{Float64, UInt32, UInt64, Utf8};
    schema(vec![
        field("schema", Utf8),
        field("document", Utf8),
        field("id", UInt32),
        field("by", Utf8),
        field("by_id", UInt32),
        field("because", Utf8),
        field("score", Float64),
        field("shared", UInt64),
        field("novel", UInt64),
        field("bytes", UInt64),
        field("run", UInt32),
        field("metadata", strings()),
        maybe("by_metadata", strings()),
    ])
}

/// `fpdb.repeat/1`.
pub(crate) fn repeat_schema() -> SchemaRef {
    use DataType::{Boolean, UInt32, UInt64, Utf8};
    let place = || {
        let offsets = [field("start", UInt64), field("end", UInt64), maybe("extracted", Boolean)];
        [vec![field("document", Utf8), field("id", UInt32)], offsets.to_vec()].concat()
    };
    let of = object([place(), vec![field("digest", Utf8)]].concat());
    let rest = vec![field("symbols", UInt64), field("digest", Utf8), field("of", of), field("exact", Boolean)];
    schema([vec![field("schema", Utf8)], place(), rest].concat())
}

/// `fpdb.repeat.uncompared/1`.
pub(crate) fn uncompared_schema() -> SchemaRef {
    use DataType::{UInt32, Utf8};
    schema(vec![field("schema", Utf8), field("document", Utf8), field("id", UInt32), field("why", Utf8)])
}

/// `fpdb.apply/1`.
pub(crate) fn applied_schema() -> SchemaRef {
    use DataType::{Boolean, UInt64, Utf8};
    schema(vec![
        field("schema", Utf8),
        field("source", Utf8),
        field("act", Utf8),
        maybe("target", Utf8),
        field("documents", UInt64),
        field("done", Boolean),
        maybe("reason", Utf8),
    ])
}

/// `fpdb.document/1`.
pub(crate) fn document_schema() -> SchemaRef {
    use DataType::{Boolean, Int64, UInt32, UInt64, Utf8};
    schema(vec![
        field("schema", Utf8),
        field("id", UInt32),
        field("name", Utf8),
        maybe("source", Utf8),
        field("bytes", UInt64),
        field("symbols", UInt64),
        field("lines", UInt64),
        field("fingerprints", UInt64),
        field("distinct", UInt64),
        field("encoding", Utf8),
        field("undecodable", UInt64),
        field("digest", Utf8),
        field("ingested_at", Int64),
        maybe("modified", Int64),
        maybe("member", Utf8),
        field("format", Utf8),
        maybe("extracted", Boolean),
        field("metadata", strings()),
        field("boilerplate", Boolean),
        maybe("identical_to", list(Utf8)),
    ])
}
