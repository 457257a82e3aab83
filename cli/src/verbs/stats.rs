//! `fpdb stats`: what the database holds and what it takes.

use fpdb::Task;

use crate::output::Output;
use crate::printer::Printer;
use crate::render::stats_page;
use crate::resolved::{database, output};
use crate::run_status::RunStatus;
use crate::typed::{Global, OutputFormat, StatsArgs};

pub(crate) fn run(global: &Global, args: &StatsArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "stats", &[OutputFormat::Human, OutputFormat::Json])?;
    let database = database::open(global)?;
    let stats = if args.hashes {
        printer.detail("reading every posting");
        database.stats_with_hashes(&Task::new())?
    } else {
        database.stats()?
    };
    let mut output = Output::open(global)?;
    match global.format {
        OutputFormat::Json => output.json(&stats)?,
        _ => output.text(&stats_page(&stats, global.verbose))?,
    }
    output.finish()?;
    Ok(RunStatus::Done)
}
