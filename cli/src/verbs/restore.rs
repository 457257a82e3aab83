//! `fpdb restore`: makes a database of a backup.

use serde::Serialize;

use crate::output::summary;
use crate::printer::Printer;
use crate::render::count;
use crate::resolved::{database, output};
use crate::run_status::RunStatus;
use crate::typed::{Global, OutputFormat, RestoreArgs};

/// A database that was made of a backup, as JSON.
#[derive(Serialize)]
struct Restored {
    schema: &'static str,
    /// The database's folder.
    path: String,
    /// The folder of backups, as it was given.
    folder: String,
    /// Documents it holds.
    documents: u64,
}

pub(crate) fn run(global: &Global, args: &RestoreArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "restore", &[OutputFormat::Human, OutputFormat::Json])?;
    let path = database::new(global);
    let database = database::builder(global).restore(&path, &args.folder, args.number)?;
    let documents = database.stats()?.documents;
    if global.format == OutputFormat::Json {
        let (path, folder) = (path.display().to_string(), args.folder.display().to_string());
        summary(global, &Restored { schema: "fpdb.restore/1", path, folder, documents })?;
    }
    let documents = count(documents, "document");
    printer.note(&format!("restored {} from {}: {documents}", path.display(), args.folder.display()));
    Ok(RunStatus::Done)
}
