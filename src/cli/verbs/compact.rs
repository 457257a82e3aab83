//! `fpdb compact`: folds all postings into one run and frees the space of deleted documents.

use fpdb::Error;
use fpdb::maintenance::CompactionPlan;

use crate::cli::interrupt;
use crate::cli::output::summary;
use crate::cli::printer::Printer;
use crate::cli::progress::StepBar;
use crate::cli::render::{duration, grouped, size};
use crate::cli::resolved::{database, output};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Global, OutputFormat};

pub(crate) fn run(global: &Global, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "compact", &[OutputFormat::Human, OutputFormat::Json])?;
    let database = database::open_writer(global, printer)?;
    let plan = database.compaction_plan()?;
    if plan.runs > 0 {
        printer.note(&plan_line(&plan));
    }
    let stop = interrupt::graceful("stopping; press Ctrl-C again to stop at once (what is folded stays)");
    let steps = StepBar::start(printer, "compacting");
    let compacted = database.compact(&steps.task().stop(stop));
    steps.end();
    let compacted = match compacted {
        Err(Error::Stopped) => {
            printer.note("stopped; the same command goes on from here, if nothing else changes the database before");
            return Ok(RunStatus::Interrupted);
        }
        compacted => compacted?,
    };
    if global.format == OutputFormat::Json {
        summary(global, &compacted)?;
    }
    printer.note(&format!("compacted: {} before, {} after", size(compacted.before), size(compacted.after)));
    Ok(RunStatus::Done)
}

/// What is about to be done, how long it takes, and how much disk.
fn plan_line(plan: &CompactionPlan) -> String {
    let short = match plan.free {
        Some(free) if free < plan.bytes => format!(", of which only {} are free", size(free)),
        _ => String::new(),
    };
    format!(
        "making one run of {} ({} postings): about {}, and {} of disk until it is done{short}",
        grouped(plan.runs),
        grouped(plan.postings),
        duration(plan.seconds as f64),
        size(plan.bytes)
    )
}
