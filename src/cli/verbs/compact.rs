//! `fpdb compact`: folds all postings into one run and frees the space of deleted documents.

use crate::cli::output::summary;
use crate::cli::printer::Printer;
use crate::cli::progress::StepBar;
use crate::cli::render::size;
use crate::cli::resolved::{database, output};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Global, OutputFormat};

pub(crate) fn run(global: &Global, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "compact", &[OutputFormat::Human, OutputFormat::Json])?;
    let database = database::open_writer(global, printer)?;
    let steps = StepBar::start(printer, "compacting");
    let compacted = database.compact(&steps.task());
    steps.end();
    let compacted = compacted?;
    if global.format == OutputFormat::Json {
        summary(global, &compacted)?;
    }
    printer.note(&format!("compacted: {} before, {} after", size(compacted.before), size(compacted.after)));
    Ok(RunStatus::Done)
}
