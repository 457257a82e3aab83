//! Care: checks, backups and merges of databases.

use std::path::PathBuf;
use std::sync::Arc;

use fpdb::maintenance::BackupOptions;
use pyo3::prelude::*;

use crate::database::{Ingested, NativeDatabase, ingested};
use crate::errors::raise;
use crate::opened::{Handle, Opened, Room, builder};
use crate::options::{Given, json};
use crate::waiting::{Caller, wait};

/// Checks a database. Returns the report as JSON.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, database: &NativeDatabase, caller: Caller) -> PyResult<String> {
    let handle = database.0.unchanged()?;
    json(&wait(py, &caller, &mut (), |task, _| handle.database().verify(task)).whole()?)
}

/// Adds the documents of another database. Returns the summary as JSON.
#[pyfunction]
pub(crate) fn merge(
    py: Python<'_>,
    database: &NativeDatabase,
    other: &NativeDatabase,
    options: Given,
    reread: bool,
    caller: Caller,
) -> PyResult<Ingested> {
    let (writer, other) = (database.writer()?, other.0.unchanged()?);
    let options = options.ingest()?;
    let merged = wait(py, &caller, &mut (), |task, _| match reread {
        true => writer.reread(other.database(), &options, task),
        false => writer.merge(other.database(), &options, task),
    });
    ingested(py, merged)
}

/// Copies a database to a folder. Returns the summary as JSON.
#[pyfunction]
pub(crate) fn backup(
    py: Python<'_>,
    database: &NativeDatabase,
    folder: PathBuf,
    keep: Option<usize>,
    quick: bool,
    caller: Caller,
) -> PyResult<String> {
    let writer = database.writer()?;
    let options = BackupOptions::default().keep(keep).quick(quick);
    json(&wait(py, &caller, &mut (), |task, _| writer.backup(&folder, &options, task)).whole()?)
}

/// The JSON of the backups in a folder, oldest first.
#[pyfunction]
pub(crate) fn backups(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<String>> {
    let listed = py.detach(|| fpdb::maintenance::backups(&folder)).map_err(raise)?;
    listed.iter().map(json).collect()
}

/// Creates a database from a backup, and opens it for writing.
#[pyfunction]
pub(crate) fn restore(
    py: Python<'_>,
    path: PathBuf,
    folder: PathBuf,
    number: Option<u32>,
    room: Room,
) -> PyResult<NativeDatabase> {
    let builder = builder(room);
    let writer = py.detach(|| builder.restore(&path, &folder, number)).map_err(raise)?;
    Ok(NativeDatabase(Arc::new(Opened::new(Handle::Writer(Arc::new(writer)), path))))
}
