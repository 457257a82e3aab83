//! `fpdb compact`: folds all postings into one run and frees the space of deleted documents.

use fpdb::Database;
use fpdb::report::{CompactReport, size};

use super::Outcome;
use super::args::{Format, Global};
use super::place;
use super::printer::{Printer, only, summary};
use super::progress::Steps;

pub(crate) fn run(global: &Global, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "compact", &[Format::Human, Format::Json])?;
    let database = Database::open_writer(&place::to_change(global, printer)?)?;
    let stored = |database: &Database| -> anyhow::Result<u64> {
        // Without logs, which come and go by themselves.
        let parts = database.stats()?.stored_bytes;
        Ok(parts.iter().filter(|(part, _)| *part != fpdb::LOGS).map(|&(_, bytes)| bytes).sum())
    };
    let before = stored(&database)?;
    let steps = Steps::start(printer, "compacting");
    let compacted = database.compact_with_progress(&|what, done, total| steps.show(what, done, total));
    steps.end();
    compacted?;
    let after = stored(&database)?;
    if global.format == Format::Json {
        summary(global, &CompactReport::new(before, after))?;
    }
    printer.note(&format!("compacted: {} before, {} after", size(before), size(after)));
    Ok(Outcome::Done)
}
