//! `fpdb init`: creates an empty database.

use fpdb::Database;
use fpdb::report::StatsReport;

use super::Outcome;
use super::args::{Format, Global, InitArgs};
use super::place;
use super::printer::{Output, Printer, only};

pub(crate) fn run(global: &Global, args: &InitArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "init", &[Format::Human, Format::Json])?;
    let path = place::new(global);
    let database = Database::create(&path, &args.profile.for_new()?)?;
    if global.format == Format::Json {
        let mut output = Output::open(global)?;
        output.json(&StatsReport::new(database.stats()?, None))?;
        output.finish()?;
    }
    printer.note(&format!("created the database {}: {}", path.display(), database.profile()));
    Ok(Outcome::Done)
}
