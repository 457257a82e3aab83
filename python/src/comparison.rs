//! Comparison of two documents without a database.

use std::path::PathBuf;

use fpdb::QuerySource;
use pyo3::prelude::*;

use crate::asked::{Asked, FileState, Query};
use crate::feed::bytes_of;
use crate::options::{Reading, passages, profile_of};
use crate::rows::{Answers, Rows};
use crate::waiting::{Caller, wait};

/// A document of Python: a path, a name and its text or bytes, or a text as it is.
pub(crate) fn source(given: &Bound<'_, PyAny>) -> PyResult<QuerySource> {
    let (kind, name, content): (String, String, Bound<'_, PyAny>) = given.extract()?;
    Ok(match kind.as_str() {
        "file" => QuerySource::File(content.extract::<PathBuf>()?),
        "stored" => QuerySource::Stored(content.extract()?),
        "text" => QuerySource::Text { name, text: String::from_utf8_lossy(bytes_of(&content)?.as_ref()).into_owned() },
        "number" => QuerySource::Number(fpdb::DocId(content.extract()?)),
        _ => QuerySource::Bytes { name, bytes: bytes_of(&content)?.as_ref().to_vec() },
    })
}

/// Compares two documents. Each is a tuple (kind, name, content).
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    profile: &str,
    reading: Reading,
    rewritten: bool,
    caller: Caller,
) -> PyResult<Rows> {
    let (a, b, profile, read) = (source(a)?, source(b)?, profile_of(profile)?, reading.options()?);
    let files = [&a, &b].map(FileState::of);
    let waited =
        wait(py, &caller, &mut (), |task, _| fpdb::diff(&a, &b, &profile, &read, None, &passages(rewritten), task));
    let answer = waited.whole()?;
    let queries = [a, b].into_iter().zip(files).map(|(source, file)| Query::new(source, file)).collect();
    let asked = Asked { profile, reading, queries };
    Ok(Rows::new(Answers::Query(vec![answer])).of(asked))
}
