//! Feed: passes documents from Python to an ingest. The ingest requests each portion before it needs it, and
//! the channel has room for every requested portion. So the calling thread never waits for the ingest while
//! this thread holds documents.

use std::borrow::Cow;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use fpdb::{Document, SkipReason, TextPath};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyIterator, PyString};

use crate::arrow_input::{Arrays, Values, is_plain};
use crate::errors::parameter;
use crate::path_texts::PathTexts;
use crate::waiting::{Event, Feed};

/// Maximum number of portions that are requested or waiting.
const PORTIONS: usize = 3;

/// The limits of a portion of an iterable: documents, bytes, and time spent waiting. A portion has at least
/// one document, unless the iterable has ended. The last document of a portion may exceed the limit of bytes.
const PORTION: (usize, usize, Duration) = (256, 1 << 20, Duration::from_millis(50));

/// Maximum number of bytes of a text of a table that is copied as a whole.
const SMALL: usize = 64 << 10;

/// A portion of documents, in the order of the source.
type Portion = Box<dyn Iterator<Item = Document> + Send>;

/// The end of the channel that the ingest reads.
pub(crate) struct Fed {
    wants: Sender<Event>,
    portions: Receiver<Portion>,
    now: Option<Portion>,
    started: bool,
}

impl Fed {
    fn want(&self) {
        // If the feeding thread no longer waits for requests, it has closed its end of the channel, so the
        // portions end.
        let _ = self.wants.send(Event::Want);
    }
}

impl Iterator for Fed {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        if !std::mem::replace(&mut self.started, true) {
            (0..PORTIONS).for_each(|_| self.want());
        }
        loop {
            if let Some(document) = self.now.as_mut().and_then(Iterator::next) {
                return Some(document);
            }
            if self.now.take().is_some() {
                self.want();
            }
            self.now = Some(self.portions.recv().ok()?);
        }
    }
}

/// The end of the channel that the calling thread writes.
pub(crate) struct Feeder<S> {
    source: S,
    portions: Option<SyncSender<Portion>>,
}

/// A source of portions.
pub(crate) trait Portions: Send {
    fn next(&mut self) -> PyResult<Option<Portion>>;
}

/// Makes both ends of the channel. The second value is a function that makes the end for the ingest from the
/// sender of its requests.
pub(crate) fn feed<S: Portions>(source: S) -> (Feeder<S>, impl FnOnce(Sender<Event>) -> Fed + Send) {
    let (sender, portions) = sync_channel(PORTIONS);
    let fed = move |wants| Fed { wants, portions, now: None, started: false };
    (Feeder { source, portions: Some(sender) }, fed)
}

impl<S: Portions> Feed for Feeder<S> {
    fn feed(&mut self) -> PyResult<()> {
        let Some(portions) = &self.portions else { return Ok(()) };
        match self.source.next()? {
            // This never waits, because there is room for each requested portion. An ingest that has ended
            // takes no portion.
            Some(portion) => drop(portions.send(portion)),
            None => self.close(),
        }
        Ok(())
    }

    fn close(&mut self) {
        self.portions = None;
    }
}

/// A Python iterator of tuples (name, text, metadata or None).
pub(crate) struct Items {
    items: Py<PyIterator>,
    /// An exception of the iterable. It is raised after the documents that came before it are handed over.
    raised: Option<PyErr>,
}

impl Items {
    pub(crate) fn of(items: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { items: items.try_iter()?.unbind(), raised: None })
    }
}

impl Portions for Items {
    fn next(&mut self) -> PyResult<Option<Portion>> {
        let (most, most_bytes, patience) = PORTION;
        let (mut documents, mut bytes) = (Vec::new(), 0);
        if let Some(raised) = self.raised.take() {
            return Err(raised);
        }
        Python::attach(|py| {
            // The time begins here. So it excludes the wait for the interpreter's lock, which may be longer
            // than the limit.
            let started = Instant::now();
            for item in self.items.bind(py).clone() {
                match item.and_then(|item| document(&item)) {
                    Ok((document, length)) => {
                        documents.push(document);
                        bytes += length;
                    }
                    Err(raised) => {
                        self.raised = Some(raised);
                        break;
                    }
                }
                if documents.len() >= most || bytes >= most_bytes || started.elapsed() >= patience {
                    break;
                }
            }
        });
        if documents.is_empty()
            && let Some(raised) = self.raised.take()
        {
            return Err(raised);
        }
        Ok((!documents.is_empty()).then(|| Box::new(documents.into_iter()) as Portion))
    }
}

/// A document of a tuple, and its length in bytes.
fn document(item: &Bound<'_, PyAny>) -> PyResult<(Document, usize)> {
    let (name, text, metadata): (Bound<'_, PyAny>, Bound<'_, PyAny>, Option<Bound<'_, PyDict>>) = item.extract()?;
    let Ok(name) = name.cast::<PyString>() else {
        return Err(PyTypeError::new_err(format!("the name of a document is str, not {}", name.get_type().name()?)));
    };
    let Ok(name) = name.extract::<String>() else {
        let name = String::from_utf8_lossy(bytes_of(name)?.as_ref()).into_owned();
        return Ok((
            Document::skipped(name, SkipReason::Other("its name has a lone surrogate, which is no character".into())),
            0,
        ));
    };
    if text.is_none() {
        return Ok((Document::skipped(name, SkipReason::NullText), 0));
    }
    let bytes = bytes_of(&text)?;
    let length = bytes.as_ref().len();
    let mut document = Document::from_reader(name, Cursor::new(bytes));
    if text.is_instance_of::<PyString>() {
        document = document.as_text();
    }
    for (name, value) in metadata.iter().flat_map(|metadata| metadata.iter()) {
        // A value None is left out, as in a table.
        if !value.is_none() {
            document = document.with(string_of(&name)?, string_of(&value)?);
        }
    }
    Ok((document, length))
}

/// An object as a string of metadata.
fn string_of(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(String::from_utf8_lossy(bytes_of(object.str()?.as_any())?.as_ref()).into_owned())
}

/// The bytes of a Python `str` or `bytes`, without a copy if possible.
pub(crate) enum Bytes {
    Text(PyBackedStr),
    Given(PyBackedBytes),
    Made(Vec<u8>),
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Given(bytes) => bytes,
            Self::Made(bytes) => bytes,
        }
    }
}

/// The UTF-8 of a `str`, or bytes as they are. UTF-8 cannot represent a lone surrogate, so it becomes U+FFFD,
/// which takes as many bytes.
pub(crate) fn bytes_of(text: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if let Ok(text) = text.cast::<PyString>() {
        return match text.extract::<PyBackedStr>() {
            Ok(text) => Ok(Bytes::Text(text)),
            Err(_) => {
                let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
                Ok(Bytes::Made(without_surrogates(bytes.cast::<PyBytes>()?.as_bytes().to_vec())))
            }
        };
    }
    match text.extract::<PyBackedBytes>() {
        Ok(bytes) => Ok(Bytes::Given(bytes)),
        Err(_) => Err(PyTypeError::new_err(format!("a text is str or bytes, not {}", text.get_type().name()?))),
    }
}

/// Replaces surrogates in bytes that are UTF-8 otherwise. A surrogate begins with ED and a second byte that
/// no other character has after ED.
fn without_surrogates(mut bytes: Vec<u8>) -> Vec<u8> {
    for at in 0..bytes.len().saturating_sub(2) {
        if bytes[at] == 0xED && bytes[at + 1] >= 0xA0 {
            bytes[at..at + 3].copy_from_slice("\u{fffd}".as_bytes());
        }
    }
    bytes
}

/// The columns of a table that hold the texts. `text` has one path on each line.
#[pyfunction]
pub(crate) fn text_columns(text: &str) -> Vec<String> {
    TextPath::all_of(text).into_iter().map(|path| path.root).collect()
}

/// The columns of a table by their roles: text, name, metadata.
pub(crate) struct Columns {
    text: Vec<(usize, TextPath)>,
    id: Option<(usize, String)>,
    keep: Vec<(usize, String)>,
    /// Precedes every name.
    prefix: String,
}

impl Columns {
    /// Finds the columns of a table. `text` may lead into lists and structs, and may have several lines, like
    /// the text field of a record.
    pub(crate) fn find(
        table: &DataType,
        text: &str,
        id: Option<&str>,
        keep: Vec<String>,
        prefix: String,
    ) -> PyResult<Self> {
        let DataType::Struct(fields) = table else {
            return Err(parameter(&format!(
                "a table is expected, with a column {text}, and this is a column of {table}"
            )));
        };
        let names = || fields.iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ");
        let find = |name: &str, role: &str, fits: &dyn Fn(&DataType) -> bool| match fields.find(name) {
            None => Err(parameter(&format!("the table has no column {name} ({role}); it has {}", names()))),
            Some((_, field)) if !fits(field.data_type()) => {
                Err(parameter(&format!("the column {name} ({role}) is of type {}: cast it to text", field.data_type())))
            }
            Some((index, _)) => Ok((index, name.to_owned())),
        };
        let column = |(text, path): (&str, TextPath)| match fields.find(&path.root) {
            Some((_, field)) if !path.steps.is_empty() && !PathTexts::fit(field.data_type(), &path.steps) => {
                let kind = field.data_type();
                Err(parameter(&format!("{text} (text) leads to no text: {} is of type {kind}", path.root)))
            }
            _ => Ok((find(&path.root, "text", &|kind| PathTexts::fit(kind, &path.steps))?.0, path)),
        };
        Ok(Self {
            text: text.split('\n').zip(TextPath::all_of(text)).map(column).collect::<PyResult<_>>()?,
            id: id.map(|id| find(id, "id", &is_plain)).transpose()?,
            keep: keep.iter().map(|name| find(name, "keep", &is_plain)).collect::<PyResult<_>>()?,
            prefix,
        })
    }

    /// The documents of a part of a table that begins at row `before`.
    fn documents(&self, rows: &ArrayRef, before: usize) -> impl Iterator<Item = Document> + Send + use<> {
        let rows = rows.as_struct();
        let column = |(index, name): &(usize, String)| (name.clone(), Values::new(rows.column(*index)));
        let paths = self.text.iter().map(|(text, path)| PathTexts::new(rows.column(*text), &path.steps));
        let texts = Arc::new(PathTexts::all(paths.collect()));
        let id = self.id.as_ref().map(column);
        let keep: Vec<_> = self.keep.iter().map(column).collect();
        let (prefix, nulls) = (self.prefix.clone(), rows.nulls().cloned());
        (0..rows.len()).map(move |row| {
            // A null row of a struct also has values, but these mean nothing.
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                return Document::skipped(
                    format!("{prefix}:{}", before + row + 1),
                    SkipReason::Other("its row is null".into()),
                );
            }
            let id = id.as_ref().and_then(|(name, ids)| Some((name, ids.get(row)?)));
            let name = match &id {
                Some((_, id)) => format!("{prefix}{id}"),
                // The same name as for a row of a Parquet file.
                None => format!("{prefix}:{}", before + row + 1),
            };
            let text = texts.get(row);
            // A column of bytes may hold strings or files.
            let is_text = text.as_ref().is_some_and(|text| std::str::from_utf8(text).is_ok());
            let document = match text {
                None => return Document::skipped(name, SkipReason::NullText),
                Some(Cow::Owned(joined)) => Document::from_reader(name, Cursor::new(joined)),
                // A small text is copied once. A large text is read in place, piece by piece.
                Some(text) if text.len() <= SMALL => Document::new(name, text),
                Some(_) => Document::from_reader(name, Cell { texts: Arc::clone(&texts), row, read: 0 }),
            };
            // The name of a row is its number or its id, not a path, so it shows no format.
            let mut document = document.like("");
            if is_text {
                document = document.as_text();
            }
            let kept = keep.iter().filter_map(|(name, values)| Some((name, values.get(row)?)));
            for (name, value) in id.into_iter().chain(kept) {
                document = document.with(name, value);
            }
            document
        })
    }
}

/// The text of a row, read in place.
struct Cell {
    texts: Arc<PathTexts>,
    row: usize,
    read: usize,
}

impl Read for Cell {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let text = self.texts.get(self.row).unwrap_or_default();
        let mut rest = &text[self.read.min(text.len())..];
        let read = rest.read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

/// The rows of a table.
pub(crate) struct Table {
    pub(crate) arrays: Arrays,
    pub(crate) columns: Columns,
    pub(crate) rows: usize,
}

impl Portions for Table {
    fn next(&mut self) -> PyResult<Option<Portion>> {
        let Some(array) = self.arrays.next()? else { return Ok(None) };
        let documents = self.columns.documents(&array, self.rows);
        self.rows += array.len();
        Ok(Some(Box::new(documents)))
    }
}
