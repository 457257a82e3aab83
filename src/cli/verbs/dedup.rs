//! `fpdb dedup`: which documents may go, each with the survivor that justifies it.

use fpdb::report::{DedupReport, DedupSummaryReport};
use fpdb::{DedupBy, DedupOptions};

use crate::cli::output::Output;
use crate::cli::printer::Printer;
use crate::cli::progress::StepBar;
use crate::cli::render::{dedup_summary_line, removable_header, removable_line, removable_row};
use crate::cli::resolved::{database, output};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{DedupArgs, Global, OutputFormat};

pub(crate) fn run(global: &Global, args: &DedupArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "dedup", &[OutputFormat::Human, OutputFormat::Json, OutputFormat::Csv])?;
    if args.by == DedupBy::Exact && args.threshold.is_some() {
        anyhow::bail!(
            "--threshold is for --by resemblance and --by containment; without them only identical documents go"
        );
    }
    let database = database::open(global)?;
    let default = DedupOptions::default();
    let options = DedupOptions {
        by: args.by,
        threshold: args.threshold.unwrap_or(default.threshold),
        keep: args.keep,
        protect: args.protect.clone(),
        max_df: (args.max_df > 0).then_some(args.max_df),
        memory: args.memory.unwrap_or(default.memory),
    };
    let bar = StepBar::start(printer, "reading the postings");
    let answer = database.dedup(&options, &bar.task());
    bar.end();
    let answer = answer?;
    let mut output = Output::open(global)?;
    if global.format == OutputFormat::Csv {
        output.csv([removable_header()])?;
    }
    for removable in &answer.removable {
        let report = DedupReport::new(removable);
        match global.format {
            OutputFormat::Json => output.json(&report)?,
            OutputFormat::Csv => output.csv([removable_row(&report)])?,
            _ => {
                let line = removable_line(&report, output.style);
                output.text(&line)?;
            }
        }
    }
    let summary = DedupSummaryReport::new(&answer);
    match global.format {
        OutputFormat::Json => output.json(&summary)?,
        OutputFormat::Csv => printer.note(dedup_summary_line(&summary).trim_end()),
        _ => output.text(&dedup_summary_line(&summary))?,
    }
    output.finish()?;
    for prefix in &answer.unmatched {
        printer.note(&format!("no document's name begins with {prefix} (--protect)"));
    }
    if answer.boilerplate > 0 {
        printer.note(&format!("{} fingerprints are held by boilerplate and were not counted", answer.boilerplate));
    }
    if answer.common > 0 {
        printer.note(&format!(
            "{} fingerprints are held by more than {} documents each and were not counted (--max-df): \
             documents that share only those stay",
            answer.common, args.max_df
        ));
    }
    Ok(RunStatus::Done)
}
