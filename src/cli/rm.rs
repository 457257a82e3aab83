//! `fpdb rm`: deletes documents.

use fpdb::{Database, Error};

use super::Outcome;
use super::args::{Format, Global, RmArgs};
use super::place;
use super::printer::{Printer, only};

pub(crate) fn run(global: &Global, args: &RmArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "rm", &[Format::Human])?;
    let database = Database::open_writer(&place::existing(global)?)?;
    let (removed, unknown) = database.remove(&args.names)?;
    let documents = if removed == 1 { "1 document".to_owned() } else { format!("{removed} documents") };
    printer.note(&format!("{documents} deleted; `fpdb compact` frees the space"));
    for name in &unknown {
        printer.failure(name, &Error::NoSuchDocument { name: name.clone() });
    }
    Ok(if unknown.is_empty() { Outcome::Done } else { Outcome::Incomplete })
}
