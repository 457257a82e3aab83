//! CSV: a header, then one record for each row.

use std::io::{self, Write};

use super::format::{Format, Sink};
use crate::render::{Answer, Style, escape_terminal};

pub(super) struct Csv;

impl Format for Csv {
    fn heading(&mut self, columns: &[&str], _: &str, to: &mut Sink) -> io::Result<()> {
        write(&[columns], to)
    }

    fn answer(&mut self, answer: &dyn Answer, to: &mut Sink) -> io::Result<()> {
        write(&answer.rows(), to)
    }

    /// A table has no place for totals.
    fn totals(&mut self, totals: &dyn Answer, _: &mut Sink) -> io::Result<Option<String>> {
        Ok(Some(totals.human(Style::default()).lines().next().unwrap_or_default().to_owned()))
    }
}

/// Writes records. On a terminal control characters are shown as symbols; elsewhere cells stay as they are.
fn write<R: AsRef<[C]>, C: AsRef<str>>(rows: &[R], to: &mut Sink) -> io::Result<()> {
    // A CSV writer would flush `to` after each answer, so the records are first collected in memory.
    let mut records = csv::Writer::from_writer(Vec::new());
    for row in rows {
        let cells = row.as_ref().iter().map(AsRef::as_ref);
        if to.terminal {
            records.write_record(cells.map(|cell| escape_terminal(cell).into_owned()))?;
        } else {
            records.write_record(cells)?;
        }
    }
    to.lines.write_all(&records.into_inner().map_err(csv::IntoInnerError::into_error)?)
}
