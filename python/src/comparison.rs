//! Comparison of two documents without a database.

use std::path::PathBuf;

use fpdb::{DiffOptions, QueryOptions, QuerySource, Task};
use pyo3::prelude::*;

use crate::asked::{Asked, FileState, Query};
use crate::feed::bytes_of;
use crate::options::{Given, profile_of};
use crate::report::{Making, Origin};
use crate::rows::{Answers, Rows};
use crate::waiting::{Caller, wait};

/// A document that Python gives: a path, a name with a text or bytes, or a text alone.
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

/// The name of a query.
pub(crate) fn name_of(source: &QuerySource) -> String {
    match source {
        QuerySource::File(path) => path.display().to_string(),
        QuerySource::Bytes { name, .. } | QuerySource::Text { name, .. } | QuerySource::Stored(name) => name.clone(),
        QuerySource::Number(id) => id.to_string(),
        _ => String::new(),
    }
}

/// Compares two documents. Each is a tuple (kind, name, content), as in `boilerplate`.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    boilerplate: Vec<Bound<'_, PyAny>>,
    profile: &str,
    options: Given,
    caller: Caller,
) -> PyResult<Rows> {
    let (a, b, profile) = (source(a)?, source(b)?, profile_of(profile)?);
    let QueryOptions { read, phrases, joining, .. } = options.query(&profile)?;
    let files = [&a, &b].map(FileState::of);
    let boilerplate = boilerplate.iter().map(source).collect::<PyResult<Vec<_>>>()?;
    let options = DiffOptions::default().read(read.clone()).phrases(phrases).boilerplate(boilerplate).joining(joining);
    let compare = |task: &Task<'_>, _| fpdb::diff(&a, &b, &profile, &options, task);
    let answer = wait(py, &caller, &mut (), compare).whole()?;
    let queries = [a, b].into_iter().zip(files).map(|(source, file)| Query::new(source, file)).collect();
    let asked = Asked { profile, read: read.clone(), queries };
    let making = Making { weighted: false, evidence: None, read };
    Ok(Rows::new(Answers::Query(vec![answer])).of(Origin::Asked(asked), making))
}
