//! Asked: keeps queries with their answers, so that Python can show the text to which offsets refer.

use std::path::Path;
use std::time::SystemTime;

use fpdb::{Profile, QuerySource, ReadOptions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The bytes to which offsets refer, and their encoding.
pub(crate) type Counted<'py> = (Bound<'py, PyBytes>, &'static str);

/// The queries of answers, and the options with which they were read.
pub(crate) struct Asked {
    pub(crate) profile: Profile,
    pub(crate) read: ReadOptions,
    pub(crate) queries: Vec<Query>,
}

/// The length of a regular file, and the time of its last change. Both are read before the query is answered,
/// and are compared with the file when the caller asks for the text.
#[derive(PartialEq)]
pub(crate) struct FileState(u64, SystemTime);

impl FileState {
    /// The state of a query's file, if it can be read again.
    pub(crate) fn of(source: &QuerySource) -> Option<Self> {
        let QuerySource::File(path) = source else { return None };
        let metadata = std::fs::metadata(path).ok()?;
        // The path `-` is standard input.
        let again = metadata.is_file() && path != Path::new("-");
        again.then(|| Some(Self(metadata.len(), metadata.modified().ok()?))).flatten()
    }
}

/// A query, and the state of its file before it was answered.
pub(crate) struct Query {
    source: QuerySource,
    file: Option<FileState>,
}

impl Query {
    pub(crate) fn new(source: QuerySource, file: Option<FileState>) -> Self {
        Self { source, file }
    }

    pub(crate) fn source(&self) -> &QuerySource {
        &self.source
    }

    /// True if the document can be read again, unchanged.
    fn is_there(&self) -> bool {
        match self.source {
            QuerySource::File(_) => self.file.is_some() && FileState::of(&self.source) == self.file,
            QuerySource::Bytes { .. } | QuerySource::Text { .. } => true,
            _ => false,
        }
    }
}

impl Asked {
    /// The text of a query; `None` if it is no longer available.
    pub(crate) fn text<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Option<Counted<'py>>> {
        let Some(query) = self.queries.get(index) else { return Ok(None) };
        let read = || query.source.document_text(&self.profile, &self.read).ok().flatten();
        let text = py.detach(|| query.is_there().then(read).flatten().filter(|_| query.is_there()));
        Ok(text.map(|text| (PyBytes::new(py, &text.bytes), text.encoding)))
    }
}
