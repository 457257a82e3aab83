//! `fpdb stats`: prints the size and the figures of the database.

use fpdb::Task;

use crate::output::Output;
use crate::printer::Printer;
use crate::render::StatsPage;
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{Global, StatsArgs};

pub(crate) fn run(global: &Global, args: &StatsArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let database = database::open(global)?;
    let stats = if args.hashes {
        printer.detail("reading every posting");
        database.stats_with_hashes(&Task::new())?
    } else {
        database.stats()?
    };
    let mut output = Output::open(global)?;
    output.answer(&StatsPage { stats: &stats, verbose: global.verbose })?;
    output.finish()?;
    Ok(RunStatus::Done)
}
