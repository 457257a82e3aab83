//! `fpdb stats`: what the database holds and what it takes.

use fpdb::Database;
use fpdb::report::{StatsReport, stats_page};

use super::Outcome;
use super::args::{Format, Global, StatsArgs};
use super::place;
use super::printer::{Output, Printer, only};

pub(crate) fn run(global: &Global, args: &StatsArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "stats", &[Format::Human, Format::Json])?;
    let database = Database::open(&place::existing(global)?)?;
    let hashes = match args.hashes {
        true => {
            printer.detail("reading every posting");
            Some(database.count_hashes()?)
        }
        false => None,
    };
    let report = StatsReport::new(database.stats()?, hashes);
    let mut output = Output::open(global)?;
    match global.format {
        Format::Json => output.json(&report)?,
        _ => output.text(&stats_page(&report))?,
    }
    output.finish()?;
    Ok(Outcome::Done)
}
