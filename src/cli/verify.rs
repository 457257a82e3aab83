//! `fpdb verify`: checks every posting, document and count against each other.

use fpdb::Database;
use fpdb::report::{VerifyReport, verify_page};

use super::Outcome;
use super::args::{Format, Global};
use super::place;
use super::printer::{Output, Printer, only};
use super::progress::Counter;

pub(crate) fn run(global: &Global, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "verify", &[Format::Human, Format::Json])?;
    let database = Database::open(&place::existing(global)?)?;
    let counter = Counter::start(printer);
    let found = database.verify(&mut |what, done| counter.show(what, done));
    counter.end();
    let report = VerifyReport::new(&found?);
    let mut output = Output::open(global)?;
    match global.format {
        Format::Json => output.json(&report)?,
        _ => output.text(&verify_page(&report))?,
    }
    output.finish()?;
    Ok(if report.problems.is_empty() { Outcome::Done } else { Outcome::Incomplete })
}
