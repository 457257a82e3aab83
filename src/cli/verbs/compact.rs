//! `fpdb compact`: folds all postings into one run and frees the space of deleted documents.

use fpdb::report::CompactReport;

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
    let before = database.stats()?.stored_bytes();
    let steps = StepBar::start(printer, "compacting");
    let compacted = database.compact(&steps.task());
    steps.end();
    compacted?;
    let after = database.stats()?.stored_bytes();
    if global.format == OutputFormat::Json {
        summary(global, &CompactReport::new(before, after))?;
    }
    printer.note(&format!("compacted: {} before, {} after", size(before), size(after)));
    Ok(RunStatus::Done)
}
