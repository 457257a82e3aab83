//! `fpdb dedup --passages`: lists passages that occur earlier.

use fpdb::repeats::RepeatOptions;

use crate::html_report::HtmlReport;
use crate::interrupt;
use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{count, repeat_header};
use crate::resolved::{database, output};
use crate::run_status::RunStatus;
use crate::typed::{DedupArgs, Global, OutputFormat};

pub(crate) fn run(global: &Global, args: &DedupArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "dedup --passages", OutputFormat::ROWS)?;
    HtmlReport::wanted(global, &args.report)?;
    let database = database::open_within(global, database::existing(global)?, args.memory)?;
    let mut options = RepeatOptions::of(database.profile()).limits(args.limits.limits());
    options.min_length = args.min_length.unwrap_or(options.min_length);
    options.temp_dir.clone_from(&args.temp_dir);
    let stop = interrupt::graceful("stopping; press Ctrl-C again to stop at once");
    let mut output = Output::open(global)?;
    output.heading(&repeat_header(), "")?;
    let bar = StepBar::start(printer, "reading the documents");
    let mut ended = false;
    let outcome = database.for_each_repeat(&options, &bar.task().stop(stop), |row| {
        if !std::mem::replace(&mut ended, true) {
            bar.end();
        }
        output.answer(&row)
    });
    bar.end();
    let summary = interrupt::noted(outcome, "stopped; the same command begins again", printer)?;
    output.totals(&summary, printer)?;
    output.finish()?;
    if summary.documents == 0 {
        database::tell_if_all_boilerplate(&database, printer)?;
    }
    if summary.uncompared == 0 {
        return Ok(RunStatus::Done);
    }
    printer.note(&format!(
        "{} not compared, as the text cannot be had: nothing of them is listed (--store-text keeps texts)",
        count(summary.uncompared, "document")
    ));
    Ok(RunStatus::Incomplete)
}
