//! `fpdb compact`: folds all postings into one run and frees the space of deleted documents.

use fpdb::Database;

use super::Outcome;
use super::args::{Format, Global};
use super::place;
use super::printer::{Printer, only};

pub(crate) fn run(global: &Global, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "compact", &[Format::Human])?;
    let database = Database::open_writer(&place::existing(global)?)?;
    let stored = |database: &Database| -> anyhow::Result<u64> {
        // Without logs, which come and go by themselves.
        let parts = database.stats()?.stored_bytes;
        Ok(parts.iter().filter(|(part, _)| *part != fpdb::LOGS).map(|&(_, bytes)| bytes).sum())
    };
    let before = stored(&database)?;
    database.compact()?;
    let after = stored(&database)?;
    printer.note(&format!("compacted: {before} bytes before, {after} after"));
    Ok(Outcome::Done)
}
