//! Parquet: each row is a document, whose text is in one or more columns. Reads one row group at a time, and
//! only the needed columns.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, Length, RowGroupReader, SerializedFileReader};
use parquet::record::{Field, Row};
use parquet::schema::types::Type;

use super::parquet_memory::{BoundedGroup, PageHeaders, PageSizes, too_large};
use super::text_path::{TextPath, TextStep};
use super::{Member, MemberContent, Members, RecordFields};
use crate::input::decompress::meter::{self, Meter};
use crate::recognise::Hint;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::guarded::guarded;
use fpdb_host::skip_reason::SkipReason;

const FORMAT: &str = "Parquet";

/// Reads a table. `copy`: the file is a copy of a member of another container.
pub(super) fn read(
    file: File,
    copy: bool,
    fields: &RecordFields,
    meter: &Meter<'_>,
    members: &mut dyn Members,
) -> Result<()> {
    let size = file.metadata().map_err(|error| meter.error(FORMAT, error))?.len();
    let read = Arc::new(AtomicU64::new(0));
    let headers = PageHeaders::default();
    let chunks = FilePieces { file: Arc::new(file), size, read: Arc::clone(&read), headers: headers.clone() };
    let reader = SerializedFileReader::new(chunks).map_err(undecodable)?;
    let paths = fields.text_paths();
    let columns = columns_of(reader.metadata().file_metadata().schema(), fields, &paths)?;
    let (mut number, mut made) = (0u64, 0u64);
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index).map_err(undecodable)?;
        check_pages(&*group, &columns, &headers, meter)?;
        let group = BoundedGroup { group, limit: meter.limits.reading_memory };
        for row in group.get_row_iter(Some(columns.clone())).map_err(undecodable)? {
            // Bytes of a copy do not count as bytes of the file.
            let read = if copy { 0 } else { read.swap(0, Ordering::Relaxed) };
            meter.read(read).map_err(|error| meter.error(FORMAT, error))?;
            number += 1;
            let row = row.map_err(undecodable)?;
            // The file may store one value for many rows, so each row counts its own bytes.
            let bytes = row.get_column_iter().map(|(_, field)| bytes_of(field)).sum();
            made += bytes;
            meter.expand(bytes, made, size)?;
            take_row(row, number, &paths, meter, members)?;
        }
    }
    Ok(())
}

fn take_row(
    row: Row,
    number: u64,
    paths: &[(&str, TextPath)],
    meter: &Meter<'_>,
    members: &mut dyn Members,
) -> Result<()> {
    let suffix = format!(":{number}");
    let (mut text, mut metadata) = (None, Vec::new());
    for (field, path) in paths {
        let columns = row.get_column_iter().filter(|(name, _)| **name == path.root);
        for (_, value) in columns {
            if !add_texts(value, &path.steps, &mut text) {
                let error = Error::Document(DocumentError::NotText { field: (*field).to_owned(), place: None });
                return members.failed(suffix, error);
            }
        }
    }
    for (name, field) in row.into_columns() {
        match field {
            Field::Null => {}
            _ if paths.iter().any(|(_, path)| path.root == name) => {}
            Field::Str(value) => metadata.push((name, value)),
            other => metadata.push((name, plain(&other))),
        }
    }
    let limit = meter.limits.record_bytes;
    match text {
        None => members.skipped(suffix, SkipReason::NullText),
        Some(text) if text.len() as u64 > limit => {
            members.failed(suffix, Error::Document(DocumentError::RecordTooLarge { limit }))
        }
        Some(text) => {
            let (hint, content) = (Hint::of_record(&text), MemberContent::Record(text));
            members.member(Member { suffix, hint, modified: None, metadata, content })?;
            members.extent(number - 1..number);
            Ok(())
        }
    }
}

/// Adds the texts of a value. Returns false if the value does not have the shape of the path.
fn add_texts(value: &Field, steps: &[TextStep], texts: &mut Option<Vec<u8>>) -> bool {
    match (value, steps.split_first()) {
        (Field::Null, _) => true,
        (Field::Str(text), None) => {
            TextPath::join(texts, text.clone().into_bytes());
            true
        }
        (Field::Bytes(text), None) => {
            TextPath::join(texts, text.data().to_vec());
            true
        }
        (Field::ListInternal(list), Some((TextStep::Each, steps))) => {
            list.elements().iter().all(|element| add_texts(element, steps, texts))
        }
        (Field::Group(row), Some((TextStep::Field(wanted), steps))) => {
            row.get_column_iter().filter(|(name, _)| *name == wanted).all(|(_, value)| add_texts(value, steps, texts))
        }
        _ => false,
    }
}

fn bytes_of(field: &Field) -> u64 {
    match field {
        Field::Group(row) => row.get_column_iter().map(|(_, field)| bytes_of(field)).sum(),
        Field::ListInternal(list) => list.elements().iter().map(bytes_of).sum(),
        Field::Str(value) => value.len() as u64,
        Field::Bytes(value) => value.len() as u64,
        _ => 0,
    }
}

/// A value as metadata, in the format of the `parquet` crate. The crate panics on times that it cannot write
/// as a date.
fn plain(field: &Field) -> String {
    guarded(|| field.to_string()).unwrap_or_else(|_| match field {
        Field::TimestampMillis(time) | Field::TimestampMicros(time) => time.to_string(),
        Field::Date(days) => days.to_string(),
        _ => "?".into(),
    })
}

/// The schema of the needed columns. It must contain the text column.
fn columns_of(schema: &Type, fields: &RecordFields, paths: &[(&str, TextPath)]) -> Result<Type> {
    let is_text = |column: &Type, path: &TextPath| column.name() == path.root && has_texts(column, &path.steps);
    let is_missing = |path: &TextPath| !schema.get_fields().iter().any(|column| is_text(column, path));
    if let Some((field, _)) = paths.iter().find(|(_, path)| is_missing(path)) {
        let columns = schema.get_fields();
        let mut of_bytes = columns.iter().filter(|column| {
            column.is_primitive() && column.get_physical_type() == Physical::BYTE_ARRAY && column.name() != fields.id
        });
        let only = of_bytes.next().filter(|_| of_bytes.next().is_none()).map(|column| column.name().to_owned());
        return Err(Error::Document(DocumentError::NoTextField {
            field: (*field).to_owned(),
            records: None,
            fields: columns.iter().map(|column| column.name().to_owned()).collect(),
            most_text: only
                .or_else(|| columns.iter().find_map(|column| texts_of_list(column)))
                .filter(|_| paths.len() == 1),
        }));
    }
    let wanted = |column: &&Arc<Type>| {
        let name = column.name();
        paths.iter().any(|(_, path)| path.root == name)
            || (column.is_primitive() && (name == fields.id || fields.keep.iter().any(|kept| kept == name)))
    };
    let columns = schema.get_fields().iter().filter(wanted).cloned().collect();
    Type::group_type_builder(schema.name()).with_fields(columns).build().map_err(undecodable)
}

/// True if a column has texts at the end of this path. Between a list and its elements, the schema has two
/// levels that are not steps of the path: a repeated group, and the element inside it.
fn has_texts(column: &Type, steps: &[TextStep]) -> bool {
    match steps.split_first() {
        None => column.is_primitive() && column.get_physical_type() == Physical::BYTE_ARRAY,
        Some((TextStep::Each, steps)) => {
            let group = |column: &Type| if column.is_group() { column.get_fields().to_vec() } else { Vec::new() };
            has_texts(column, steps)
                || group(column).iter().any(|repeated| {
                    has_texts(repeated, steps) || group(repeated).iter().any(|element| has_texts(element, steps))
                })
        }
        Some((TextStep::Field(name), steps)) => {
            column.is_group() && column.get_fields().iter().any(|field| field.name() == name && has_texts(field, steps))
        }
    }
}

/// The text field to use for a column that is a list of texts, or of messages in a common form. `None` for
/// any other column.
fn texts_of_list(column: &Type) -> Option<String> {
    let name = column.name();
    let places = [".content", ".value", ".text", ""].map(|field| format!("{name}[]{field}"));
    places.into_iter().find(|place| column.is_group() && has_texts(column, &TextPath::of(place).steps))
}

/// Checks the stated sizes of pages before they are decoded in memory.
fn check_pages(group: &dyn RowGroupReader, columns: &Type, headers: &PageHeaders, meter: &Meter<'_>) -> Result<()> {
    // The row reader holds a page of each column.
    let (mut held, limit) = (0u64, meter.limits.reading_memory);
    for (number, column) in group.metadata().columns().iter().enumerate() {
        // The library panics on such values.
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        if start < 0 || column.compressed_size() < 0 {
            return Err(undecodable(ParquetError::General("a column begins or ends before the file".to_owned())));
        }
        let wanted = columns
            .get_fields()
            .iter()
            .any(|field| column.column_path().parts().first().is_some_and(|part| part == field.name()));
        if wanted {
            let pages = group.get_column_page_reader(number).map_err(undecodable)?;
            let PageSizes { made, taken, largest, .. } = headers.sizes(pages).map_err(undecodable)?;
            // The bytes are counted later, when they are read.
            meter.expand(0, made, taken)?;
            held = held.saturating_add(largest);
            if held > limit {
                return Err(undecodable(too_large(limit)));
            }
        }
    }
    Ok(())
}

fn undecodable(error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>().map_err(|other| other.downcast()) {
            Ok(source) => meter::undecodable(FORMAT, *source),
            Err(Ok(source)) => *source,
            Err(Err(source)) => Error::Document(DocumentError::Undecodable { format: FORMAT, source }),
        },
        other => Error::Document(DocumentError::Undecodable { format: FORMAT, source: other.into() }),
    }
}

/// A file that is read in sections. Lengths come from the file's directory, so they are checked against the
/// file's size.
struct FilePieces {
    file: Arc<File>,
    size: u64,
    /// Bytes read since this was last reset.
    read: Arc<AtomicU64>,
    headers: PageHeaders,
}

impl FilePieces {
    fn section(&self, at: u64) -> FileSection {
        FileSection { file: Arc::clone(&self.file), at, read: Arc::clone(&self.read) }
    }
}

impl Length for FilePieces {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for FilePieces {
    type T = BufReader<FileSection>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let mut bytes = BufReader::new(self.section(start));
        // The library asks for a reader only at headers of pages, except for the end of the file.
        self.headers.note(&mut bytes)?;
        Ok(bytes)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.size) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are not in the file")));
        }
        let mut bytes = vec![0; length];
        self.section(start).read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// The file from offset `at` on.
struct FileSection {
    file: Arc<File>,
    at: u64,
    read: Arc<AtomicU64>,
}

impl Read for FileSection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
