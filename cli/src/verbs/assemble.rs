//! `fpdb assemble`: adds the documents of a distributed build.

use std::path::{Path, PathBuf};

use fpdb::DatabaseWriter;
use fpdb::staging::{Assembly, Staging};

use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{count, size};
use crate::resolved::{database, output};
use crate::run_status::RunStatus;
use crate::typed::{AssembleArgs, Global, OutputFormat};

pub(crate) fn run(global: &Global, args: &AssembleArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "assemble", &[OutputFormat::Human, OutputFormat::Json])?;
    let mut output = Output::open(global)?;
    let (database, created) = open(global, args, printer)?;
    let steps = StepBar::start(printer, "checking the build");
    let assembled = database.assemble(&args.staging, &steps.task());
    steps.end();
    // Remove a database that was made for a build that cannot be added.
    if created.is_some() && assembled.is_err() {
        database.delete_if_empty()?;
    }
    let assembled = assembled?;
    match global.format {
        OutputFormat::Json => output.json(&assembled)?,
        _ if global.quiet => {}
        _ => output.text(&page(&assembled))?,
    }
    output.finish()?;
    if let Some(path) = created {
        printer.note(&format!("created the database {}", path.display()));
    }
    for failure in &assembled.failed {
        printer.note(&format!("not read by the build: {}: {}", failure.name, failure.error));
    }
    Ok(if assembled.failures > 0 { RunStatus::Incomplete } else { RunStatus::Done })
}

/// The database that was named or found, or a new one of the build's profile; and the path of a new one.
fn open(global: &Global, args: &AssembleArgs, printer: &Printer) -> anyhow::Result<(DatabaseWriter, Option<PathBuf>)> {
    let builder = match args.memory {
        Some(memory) => database::builder(global).memory(memory),
        None => database::builder(global),
    };
    if let Some(path) = database::find(global)?.filter(|path| is_database(path)) {
        database::tell_if_above(global, &path, printer)?;
        return Ok((builder.open_writer(path)?, None));
    }
    let path = database::new(global);
    let profile = *Staging::open(&args.staging)?.profile();
    Ok((builder.create(&path, profile)?, Some(path)))
}

/// False where there is nothing, so that a database can be made; what else is there is refused as it is opened.
fn is_database(path: &Path) -> bool {
    !matches!(fpdb::Database::open(path), Err(fpdb::Error::NoDatabase { .. }))
}

fn page(assembly: &Assembly) -> String {
    let Assembly { documents, added, unchanged, replaced, failures, files, file_bytes, fingerprints, seconds, .. } =
        assembly;
    let mut page = format!("{} assembled: {added} added", count(*documents, "document"));
    for (number, what) in [(unchanged, "unchanged"), (replaced, "replaced"), (failures, "not read by the build")] {
        if *number > 0 {
            page += &format!(", {number} {what}");
        }
    }
    let (files, bytes) = (count(*files, "file"), size(*file_bytes));
    page + &format!("\n{fingerprints} fingerprints in {files} of {bytes}, in {seconds:.1} s\n")
}
