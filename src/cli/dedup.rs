//! `fpdb dedup`: which documents may go, each with the survivor that justifies it.

use fpdb::report::{
    DedupReport, DedupSummaryReport, dedup_summary_line, removable_header, removable_line, removable_row,
};
use fpdb::{Database, DedupBy, DedupOptions};

use super::Outcome;
use super::args::{Format, Global};
use super::comparing::{By, DedupArgs, Keep};
use super::place;
use super::printer::{Output, Printer, only};
use super::progress::Steps;

pub(crate) fn run(global: &Global, args: &DedupArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "dedup", &[Format::Human, Format::Json, Format::Csv])?;
    if args.by == By::Exact && args.threshold.is_some() {
        anyhow::bail!(
            "--threshold is for --by resemblance and --by containment; without them only identical documents go"
        );
    }
    let database = Database::open(&place::existing(global)?)?;
    let default = DedupOptions::default();
    let options = DedupOptions {
        by: match args.by {
            By::Exact => DedupBy::Exact,
            By::Resemblance => DedupBy::Resemblance,
            By::Containment => DedupBy::Containment,
        },
        threshold: args.threshold.unwrap_or(default.threshold),
        keep: match args.keep {
            Keep::First => fpdb::Keep::First,
            Keep::Longest => fpdb::Keep::Longest,
            Keep::Newest => fpdb::Keep::Newest,
            Keep::Oldest => fpdb::Keep::Oldest,
        },
        protect: args.protect.clone(),
        max_df: (args.max_df > 0).then_some(args.max_df),
        memory: args.memory.unwrap_or(default.memory),
    };
    let bar = Steps::start(printer, "reading the postings");
    let answer = database.dedup_with_progress(&options, &|done, total| bar.show("documents compared", done, total));
    bar.end();
    let answer = answer?;
    let mut output = Output::open(global)?;
    if global.format == Format::Csv {
        output.csv([removable_header()])?;
    }
    for removable in &answer.removable {
        let report = DedupReport::new(removable);
        match global.format {
            Format::Json => output.json(&report)?,
            Format::Csv => output.csv([removable_row(&report)])?,
            _ => {
                let line = removable_line(&report, output.style);
                output.text(&line)?;
            }
        }
    }
    let summary = DedupSummaryReport::new(&answer);
    match global.format {
        Format::Json => output.json(&summary)?,
        Format::Csv => printer.note(dedup_summary_line(&summary).trim_end()),
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
    Ok(Outcome::Done)
}
