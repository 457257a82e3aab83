//! `fpdb assemble`: adds the documents of a distributed build.

use std::path::{Path, PathBuf};

use fpdb::DatabaseWriter;
use fpdb::staging::Staging;

use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{AssembleArgs, Global};

pub(crate) fn run(global: &Global, args: &AssembleArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let mut output = Output::of_changes(global)?;
    let (database, created) = open(global, args, printer)?;
    let steps = StepBar::start(printer, "checking the build");
    let assembled = database.assemble(&args.staging, &steps.task());
    steps.end();
    // If the build cannot be added, the database that was created for it is removed.
    if created.is_some() && assembled.is_err() {
        database.delete_if_empty()?;
    }
    let assembled = assembled?;
    output.answer(&assembled)?;
    output.finish()?;
    if let Some(path) = created {
        printer.note(&format!("created the database {}", path.display()));
    }
    for failure in &assembled.failed {
        printer.note(&format!("not read by the build: {}: {}", failure.name, failure.error));
    }
    Ok(if assembled.failures > 0 { RunStatus::Incomplete } else { RunStatus::Done })
}

/// Opens the database, or creates one with the profile of the build. Also returns the path of a new one.
fn open(global: &Global, args: &AssembleArgs, printer: &Printer) -> anyhow::Result<(DatabaseWriter, Option<PathBuf>)> {
    let builder = match args.memory {
        Some(memory) => database::builder(global).memory(memory),
        None => database::builder(global),
    };
    if let Some(path) = database::find(global)?.filter(|path| is_database(path)) {
        database::tell_if_above(global, &path, printer)?;
        return Ok((database::open_writer_at(&builder, path, printer)?, None));
    }
    let path = database::new(global);
    let profile = *Staging::open(&args.staging)?.profile();
    Ok((builder.create(&path, profile)?, Some(path)))
}

/// False if there is no database at a path. If the path has other content, opening it fails later.
fn is_database(path: &Path) -> bool {
    !matches!(fpdb::Database::open(path), Err(fpdb::Error::NoDatabase { .. }))
}
