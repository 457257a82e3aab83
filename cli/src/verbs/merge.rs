//! `fpdb merge`: adds the documents of other databases.

use std::path::Path;

use fpdb::{Database, DatabaseBuilder, DatabaseWriter, Error, IngestOptions, IngestSummary, StopToken};

use crate::interrupt;
use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{Global, MergeArgs};

pub(crate) fn run(global: &Global, args: &MergeArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let options = IngestOptions::default().on_change(args.on_change);
    let builder = database::builder(global);
    let writing = match args.memory {
        Some(memory) => builder.clone().memory(memory),
        None => builder.clone(),
    };
    let database = writing.open_writer(database::to_change(global, printer)?)?;
    database::tell_if_repaired(&database, printer);
    let mut output = Output::open(global)?;
    let stop = interrupt::graceful(interrupt::AT_COMMIT);
    let (mut failed, mut left) = (false, args.others.as_slice());
    while let Some((path, rest)) = left.split_first() {
        if stop.is_stopped() {
            break;
        }
        let other = match open(&builder, path) {
            Ok(other) => other,
            // After an error of one database the others are still merged.
            Err(error) => {
                printer.error(&error.into());
                (failed, left) = (true, rest);
                continue;
            }
        };
        let summary = match merge(&database, &other, &options, stop, printer) {
            Err(error @ Error::OtherProfile { .. }) => {
                printer.error(&error.into());
                (failed, left) = (true, rest);
                continue;
            }
            summary => summary?,
        };
        output.answer(&summary)?;
        if summary.interrupted {
            break;
        }
        printer.note(&format!("merged {}", path.display()));
        failed |= summary.failures > 0;
        left = rest;
    }
    output.finish()?;
    if let Some(path) = left.first() {
        printer.note(&format!(
            "interrupted: what was committed stays, {} is not merged whole; the same command goes on",
            path.display()
        ));
        return Ok(RunStatus::Interrupted);
    }
    Ok(if failed { RunStatus::Incomplete } else { RunStatus::Done })
}

/// A database to be merged.
fn open(builder: &DatabaseBuilder, path: &Path) -> fpdb::Result<Database> {
    builder.open(path).map_err(|error| match error {
        Error::NoDatabase { path } => Error::NoOther { path },
        error => error,
    })
}

/// Adds the documents of another database.
fn merge(
    database: &DatabaseWriter,
    other: &Database,
    options: &IngestOptions,
    stop: &StopToken,
    printer: &Printer,
) -> fpdb::Result<IngestSummary> {
    let steps = StepBar::start(printer, "opening the database");
    let summary = database.merge(other, options, &steps.task().stop(stop));
    steps.end();
    summary
}
