//! `fpdb merge`: adds the documents of other databases.

use std::time::Instant;

use fpdb::report::{IngestReport, ingest_page};
use fpdb::{Database, IngestOptions, Silent};

use super::Outcome;
use super::args::{Format, Global, MergeArgs};
use super::printer::{Output, Printer, only};
use super::{interrupt, place};

pub(crate) fn run(global: &Global, args: &MergeArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "merge", &[Format::Human, Format::Json])?;
    let database = Database::open_writer(&place::existing(global)?)?;
    let default = IngestOptions::default();
    let memory = args.memory.unwrap_or(default.memory);
    let options = IngestOptions { on_change: args.on_change.into(), memory, ..default };
    let mut output = Output::open(global)?;
    let stop = interrupt::graceful();
    for path in &args.others {
        let started = Instant::now();
        let other = Database::open(path)?;
        let summary = match database.merge(&other, &options, stop, &Silent) {
            Err(fpdb::Error::Interrupted) => {
                printer.note(&format!(
                    "interrupted: what was committed of {} stays, and the same command goes on",
                    path.display()
                ));
                output.finish()?;
                return Ok(Outcome::Interrupted);
            }
            summary => summary?,
        };
        printer.note(&format!("merged {}", path.display()));
        let report = IngestReport::new(&summary, started.elapsed().as_secs_f64());
        match global.format {
            Format::Json => output.json(&report)?,
            _ => output.text(&ingest_page(&report))?,
        }
    }
    output.finish()?;
    Ok(Outcome::Done)
}
