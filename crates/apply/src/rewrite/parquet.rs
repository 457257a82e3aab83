//! Parquet: writes a table without some rows, or with two more columns. Unchanged row groups are copied page
//! for page. The values of other row groups are read and written again; schema, compression, kind of
//! encodings and metadata stay.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::arrow_schema::with_texts;
use super::marks::Marks;
use super::texts::Texts;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;

/// Number of records read at a time.
const BATCH: usize = 4096;

/// Writes a table without the rows in `rows`, ascending; or with all rows and their marks.
pub(super) fn rewrite(
    path: &Path,
    rows: &[u64],
    marks: Option<&Marks<'_>>,
    output: &mut File,
    stop: &StopToken,
) -> Result<()> {
    let failed = |error| failed(path, error);
    let file = File::open(path).map_err(Error::io("read", path))?;
    let chunks = file.try_clone().map_err(Error::io("read", path))?;
    let reader = SerializedFileReader::new(file).map_err(failed)?;
    let metadata = reader.metadata();
    let schema = schema_of(metadata, marks)?;
    let properties = Arc::new(properties_of(metadata, marks));
    let mut writer = SerializedFileWriter::new(&mut *output, schema, properties).map_err(failed)?;
    let mut first = 0;
    let mut rest = rows;
    for (index, group) in metadata.row_groups().iter().enumerate() {
        stop.check()?;
        let count = u64::try_from(group.num_rows()).unwrap_or(0);
        let (here, later) = rest.split_at(rest.partition_point(|&row| row < first + count));
        rest = later;
        let from = first;
        first += count;
        let leaves_out = marks.is_none() && !here.is_empty();
        if leaves_out && here.len() as u64 == count {
            continue;
        }
        let mut target = writer.next_row_group().map_err(failed)?;
        if leaves_out {
            let left_out: Vec<u64> = here.iter().map(|row| row - from).collect();
            let source = reader.get_row_group(index).map_err(failed)?;
            filtered(&*source, &left_out, &mut target, stop).map_err(|error| filtering_failed(path, error))?;
        } else {
            let columns = group.num_columns() - earlier_marks(metadata, marks);
            copied(&chunks, group, columns, &mut target).map_err(failed)?;
            if let Some(marks) = marks {
                add_marks(marks, from..first, &mut target, path)?;
            }
        }
        target.close().map_err(failed)?;
    }
    let finished = writer.into_inner().map_err(failed)?;
    finished.flush().map_err(Error::io("write a copy of", path))
}

/// Fails as [`rewrite`] does if a column has the name of a mark.
pub(super) fn check_marks(path: &Path, marks: &Marks<'_>) -> Result<()> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let reader = SerializedFileReader::new(file).map_err(|error| failed(path, error))?;
    schema_of(reader.metadata(), Some(marks)).map(drop)
}

fn failed(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
            Ok(source) => Error::Io { action: "write a copy of", path: path.to_owned(), source: *source },
            Err(cause) => Error::Document(DocumentError::Undecodable { format: "Parquet", source: cause }),
        },
        error => Error::Document(DocumentError::Undecodable { format: "Parquet", source: error.into() }),
    }
}

fn filtering_failed(path: &Path, error: Filtering) -> Error {
    match error {
        Filtering::Stopped => Error::Stopped,
        Filtering::Failed(error) => failed(path, error),
    }
}

/// The schema of the copy.
fn schema_of(metadata: &ParquetMetaData, marks: Option<&Marks<'_>>) -> Result<TypePtr> {
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    let Some(marks) = marks else { return Ok(schema) };
    let mut fields = schema.get_fields().to_vec();
    fields.truncate(fields.len() - earlier_marks(metadata, Some(marks)));
    for name in marks.fields() {
        if fields.iter().any(|field| field.name() == name) {
            return Err(Error::FieldTaken { field: name });
        }
        let column = Type::primitive_type_builder(&name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(ConvertedType::UTF8)
            .with_logical_type(Some(LogicalType::String))
            .build();
        let column = column
            .map_err(|error| Error::Document(DocumentError::Undecodable { format: "Parquet", source: error.into() }))?;
        fields.push(Arc::new(column));
    }
    let built = Type::group_type_builder(schema.name()).with_fields(fields).build();
    built
        .map(Arc::new)
        .map_err(|error| Error::Document(DocumentError::Undecodable { format: "Parquet", source: error.into() }))
}

/// Number of mark columns of an earlier run. They are the last columns and are written anew.
fn earlier_marks(metadata: &ParquetMetaData, marks: Option<&Marks<'_>>) -> usize {
    let Some(names) = marks.filter(|marks| marks.replaces).map(Marks::fields) else { return 0 };
    let fields = metadata.file_metadata().schema_descr().root_schema().get_fields();
    let last = fields.len().checked_sub(names.len()).map(|first| &fields[first..]).unwrap_or_default();
    let are_marks = !last.is_empty() && last.iter().map(|field| field.name()).eq(&names);
    if are_marks { names.len() } else { 0 }
}

/// The settings with which this file was probably written.
fn properties_of(metadata: &ParquetMetaData, marks: Option<&Marks<'_>>) -> WriterProperties {
    let facts = metadata.file_metadata();
    let mut pairs = facts.key_value_metadata().cloned().unwrap_or_default();
    if let Some(marks) = marks {
        let columns = facts.schema_descr().root_schema().get_fields().len();
        let kept = columns - earlier_marks(metadata, Some(marks));
        // An entry that does not describe this table cannot describe the copy either.
        pairs.retain_mut(|pair| {
            if pair.key == "ARROW:schema" {
                let entry = pair.value.take();
                pair.value = entry.and_then(|entry| with_texts(&entry, columns, kept, &marks.fields()));
            }
            pair.key != "ARROW:schema" || pair.value.is_some()
        });
    }
    let version = if facts.version() >= 2 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
    let mut builder = WriterProperties::builder().set_key_value_metadata((!pairs.is_empty()).then_some(pairs));
    if uses_pages_v2(metadata) {
        builder = builder.set_writer_version(version);
    }
    if let Some(group) = metadata.row_groups().first() {
        builder = builder.set_sorting_columns(group.sorting_columns().cloned());
        for column in group.columns() {
            let path = column.column_path().clone();
            let statistics = match column.statistics() {
                None => EnabledStatistics::None,
                Some(_) if column.offset_index_offset().is_some() => EnabledStatistics::Page,
                Some(_) => EnabledStatistics::Chunk,
            };
            builder = builder
                .set_column_compression(path.clone(), writable(column.compression()))
                .set_column_dictionary_enabled(path.clone(), column.dictionary_page_offset().is_some())
                .set_column_statistics_enabled(path.clone(), statistics)
                .set_column_bloom_filter_enabled(path, column.bloom_filter_offset().is_some());
        }
        if let Some(column) = group.columns().first() {
            builder = builder.set_compression(writable(column.compression()));
        }
    }
    builder.build()
}

/// True if data pages have version 2, judged by their encodings.
fn uses_pages_v2(metadata: &ParquetMetaData) -> bool {
    let modern = [Encoding::DELTA_BINARY_PACKED, Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY];
    let columns = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    columns.into_iter().any(|column| column.encodings().any(|encoding| modern.contains(&encoding)))
}

/// A compression that all programs can read: not the deprecated kind of LZ4.
fn writable(compression: Compression) -> Compression {
    if compression == Compression::LZ4 { Compression::LZ4_RAW } else { compression }
}

/// Copies the first columns of a row group page for page.
fn copied<W: Write + Send>(
    chunks: &File,
    group: &RowGroupMetaData,
    columns: usize,
    target: &mut SerializedRowGroupWriter<'_, W>,
) -> parquet::errors::Result<()> {
    (0..columns).try_for_each(|number| copied_column(chunks, group, number, target))
}

/// Copies a column of a row group page for page.
fn copied_column<W: Write + Send>(
    chunks: &File,
    group: &RowGroupMetaData,
    number: usize,
    target: &mut SerializedRowGroupWriter<'_, W>,
) -> parquet::errors::Result<()> {
    let column = group.column(number);
    let close = ColumnCloseResult {
        bytes_written: column.compressed_size().unsigned_abs(),
        rows_written: group.num_rows().unsigned_abs(),
        metadata: column.clone(),
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    target.append_column(chunks, close)
}

/// The reason why filtering ended.
enum Filtering {
    Stopped,
    Failed(ParquetError),
}

impl From<ParquetError> for Filtering {
    fn from(error: ParquetError) -> Self {
        Self::Failed(error)
    }
}

/// Copies the values of a row group, except those of removed rows.
fn filtered<W: Write + Send>(
    source: &dyn RowGroupReader,
    left_out: &[u64],
    target: &mut SerializedRowGroupWriter<'_, W>,
    stop: &StopToken,
) -> std::result::Result<(), Filtering> {
    let mut index = 0;
    while let Some(mut column) = target.next_column()? {
        let reader = source.get_column_reader(index)?;
        index += 1;
        filter_column(reader, column.untyped(), left_out, stop)?;
        column.close()?;
    }
    Ok(())
}

/// Copies the values of a column, except those of removed rows.
fn filter_column(
    reader: ColumnReader,
    column: &mut ColumnWriter<'_>,
    left_out: &[u64],
    stop: &StopToken,
) -> std::result::Result<(), Filtering> {
    match (reader, column) {
        (ColumnReader::BoolColumnReader(from), ColumnWriter::BoolColumnWriter(to)) => filter(from, to, left_out, stop),
        (ColumnReader::Int32ColumnReader(from), ColumnWriter::Int32ColumnWriter(to)) => {
            filter(from, to, left_out, stop)
        }
        (ColumnReader::Int64ColumnReader(from), ColumnWriter::Int64ColumnWriter(to)) => {
            filter(from, to, left_out, stop)
        }
        (ColumnReader::Int96ColumnReader(from), ColumnWriter::Int96ColumnWriter(to)) => {
            filter(from, to, left_out, stop)
        }
        (ColumnReader::FloatColumnReader(from), ColumnWriter::FloatColumnWriter(to)) => {
            filter(from, to, left_out, stop)
        }
        (ColumnReader::DoubleColumnReader(from), ColumnWriter::DoubleColumnWriter(to)) => {
            filter(from, to, left_out, stop)
        }
        (ColumnReader::ByteArrayColumnReader(from), ColumnWriter::ByteArrayColumnWriter(to)) => {
            filter(from, to, left_out, stop)
        }
        (ColumnReader::FixedLenByteArrayColumnReader(from), ColumnWriter::FixedLenByteArrayColumnWriter(to)) => {
            filter(from, to, left_out, stop)
        }
        _ => Err(ParquetError::General("a column is read as another type than it is written".into()).into()),
    }
}

fn filter<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    left_out: &[u64],
    stop: &StopToken,
) -> std::result::Result<(), Filtering> {
    let (most_defined, most_repeated) = (to.get_descriptor().max_def_level(), to.get_descriptor().max_rep_level());
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    let mut row = 0u64;
    loop {
        if stop.is_stopped() {
            return Err(Filtering::Stopped);
        }
        values.clear();
        defined.clear();
        repeated.clear();
        let (records, _, levels) = from.read_records(BATCH, Some(&mut defined), Some(&mut repeated), &mut values)?;
        if records == 0 {
            return Ok(());
        }
        // The third number counts levels, even of absent values. If there are no levels, it counts values.
        let levels = if most_defined > 0 { defined.len() } else { levels.max(values.len()) };
        let mut kept_values = Vec::with_capacity(values.len());
        let (mut kept_defined, mut kept_repeated) = (Vec::new(), Vec::new());
        let mut next = values.drain(..);
        let mut goes = false;
        for level in 0..levels {
            if most_repeated == 0 || repeated[level] == 0 {
                goes = left_out.binary_search(&row).is_ok();
                row += 1;
            }
            let is_value = most_defined == 0 || defined[level] == most_defined;
            let value = if is_value { next.next() } else { None };
            if goes {
                continue;
            }
            kept_values.extend(value);
            if most_defined > 0 {
                kept_defined.push(defined[level]);
            }
            if most_repeated > 0 {
                kept_repeated.push(repeated[level]);
            }
        }
        drop(next);
        let levels_of = |kept: Vec<i16>, most: i16| (most > 0).then_some(kept);
        let (kept_defined, kept_repeated) =
            (levels_of(kept_defined, most_defined), levels_of(kept_repeated, most_repeated));
        if !kept_values.is_empty() || kept_defined.as_ref().is_some_and(|kept| !kept.is_empty()) {
            to.write_batch(&kept_values, kept_defined.as_deref(), kept_repeated.as_deref())?;
        }
    }
}

/// Adds the mark columns to a row group.
fn add_marks<W: Write + Send>(
    marks: &Marks<'_>,
    rows: std::ops::Range<u64>,
    target: &mut SerializedRowGroupWriter<'_, W>,
    path: &Path,
) -> Result<()> {
    let failed = |error| failed(path, error);
    let mut columns: Vec<Vec<Option<String>>> = vec![Vec::new(); marks.fields().len()];
    for row in rows {
        columns.iter_mut().zip(marks.values(row)?).for_each(|(column, value)| column.push(value));
    }
    for values in columns {
        let defined: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
        let values: Vec<ByteArray> = values.into_iter().flatten().map(|value| value.as_str().into()).collect();
        let column = target.next_column().map_err(failed)?;
        let Some(mut column) = column else {
            return Err(failed(ParquetError::General("the columns of marks are missing".into())));
        };
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&values, Some(&defined), None).map_err(failed)?;
        column.close().map_err(failed)?;
    }
    Ok(())
}

/// Writes a table in which some texts lose passages, and leaves out the rows whose texts lose all symbols.
/// Row groups without such texts are copied page for page. So are the other columns of a row group that keeps
/// all its rows.
pub(super) fn cut(path: &Path, texts: &Texts<'_>, output: &mut File, stop: &StopToken) -> Result<()> {
    let failed = |error| failed(path, error);
    let file = File::open(path).map_err(Error::io("read", path))?;
    let chunks = file.try_clone().map_err(Error::io("read", path))?;
    let reader = SerializedFileReader::new(file).map_err(failed)?;
    let metadata = reader.metadata();
    let descriptor = metadata.file_metadata().schema_descr();
    let is_text = |index: &usize| {
        let column = descriptor.column(*index);
        column.path().parts() == [texts.field] && column.physical_type() == Physical::BYTE_ARRAY
    };
    let text = (0..descriptor.num_columns()).find(is_text);
    let text = text.ok_or_else(|| Error::Document(DocumentError::NoField { field: texts.field.to_owned() }))?;
    let (schema, properties) = (schema_of(metadata, None)?, Arc::new(properties_of(metadata, None)));
    let mut writer = SerializedFileWriter::new(&mut *output, schema, properties).map_err(failed)?;
    let mut first = 0;
    for (index, group) in metadata.row_groups().iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let next = texts.cuts.partition_point(|cut| cut.start < first);
        let cuts = texts.cuts[next..].iter().take_while(|cut| cut.start < first + rows);
        let left_out: Vec<u64> =
            cuts.clone().filter(|cut| texts.leaves_out(cut)).map(|cut| cut.start - first).collect();
        if rows > 0 && left_out.len() as u64 == rows {
            first += rows;
            continue;
        }
        let changes = cuts.count() > 0;
        let mut target = writer.next_row_group().map_err(failed)?;
        if !changes {
            copied(&chunks, group, group.num_columns(), &mut target).map_err(failed)?;
        } else {
            let source = reader.get_row_group(index).map_err(failed)?;
            for number in 0..group.num_columns() {
                stop.check()?;
                if number != text && left_out.is_empty() {
                    copied_column(&chunks, group, number, &mut target).map_err(failed)?;
                    continue;
                }
                let reader = source.get_column_reader(number).map_err(failed)?;
                let column = target.next_column().map_err(failed)?;
                let Some(mut column) = column else {
                    return Err(failed(ParquetError::General("a column is missing".into())));
                };
                match reader {
                    ColumnReader::ByteArrayColumnReader(from) if number == text => {
                        cut_column(from, column.typed(), texts, (first, &left_out), (path, stop))?;
                    }
                    reader => filter_column(reader, column.untyped(), &left_out, stop)
                        .map_err(|error| filtering_failed(path, error))?,
                }
                column.close().map_err(failed)?;
            }
        }
        target.close().map_err(failed)?;
        first += rows;
    }
    let finished = writer.into_inner().map_err(failed)?;
    finished.flush().map_err(Error::io("write a copy of", path))
}

/// Writes the values of a column of texts, without the rows that are left out. The first value belongs to row
/// `first`.
fn cut_column(
    mut from: ColumnReaderImpl<ByteArrayType>,
    to: &mut ColumnWriterImpl<'_, ByteArrayType>,
    texts: &Texts<'_>,
    (first, left_out): (u64, &[u64]),
    (path, stop): (&Path, &StopToken),
) -> Result<()> {
    let failed = |error| failed(path, error);
    let most_defined = to.get_descriptor().max_def_level();
    let (mut values, mut defined) = (Vec::new(), Vec::new());
    let mut row = 0;
    loop {
        stop.check()?;
        values.clear();
        defined.clear();
        let levels = (most_defined > 0).then_some(&mut defined);
        let (records, ..) = from.read_records(BATCH, levels, None, &mut values).map_err(failed)?;
        if records == 0 {
            return Ok(());
        }
        let (mut kept, mut kept_defined) = (Vec::with_capacity(values.len()), Vec::new());
        let mut next = values.drain(..);
        for at in 0..records {
            // A row without a value is null.
            let is_value = most_defined == 0 || defined[at] == most_defined;
            let value = if is_value { next.next() } else { None };
            if left_out.binary_search(&(row + at as u64)).is_err() {
                if let Some(value) = value {
                    let left = texts.text(value.data(), first + row + at as u64)?;
                    kept.push(left.map_or(value, ByteArray::from));
                }
                kept_defined.extend(defined.get(at));
            }
        }
        drop(next);
        row += records as u64;
        if !kept.is_empty() || !kept_defined.is_empty() {
            to.write_batch(&kept, (most_defined > 0).then_some(&kept_defined[..]), None).map_err(failed)?;
        }
    }
}
