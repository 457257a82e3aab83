//! Format: writes answers in one output format. Each format has a file beside this one.

use std::io::{self, BufWriter, Write};

use super::csv::Csv;
use super::human::Human;
use super::json::Json;
use crate::render::{Answer, Style};
use crate::typed::{Global, OutputFormat};

/// The output that a format writes to.
pub(super) struct Sink {
    pub(super) lines: BufWriter<Box<dyn Write>>,
    /// True if the output is a terminal. A format must then escape control characters.
    pub(super) terminal: bool,
}

/// Writes answers in one format.
pub(super) trait Format {
    /// Writes the heading before the first row: the names of columns, or lines for people.
    fn heading(&mut self, _columns: &[&str], _lines: &str, _to: &mut Sink) -> io::Result<()> {
        Ok(())
    }

    /// Writes an answer, or one row of it.
    fn answer(&mut self, answer: &dyn Answer, to: &mut Sink) -> io::Result<()>;

    /// Writes the totals below the rows. A format without a place for them returns a line for standard error.
    fn totals(&mut self, totals: &dyn Answer, to: &mut Sink) -> io::Result<Option<String>> {
        self.answer(totals, to).map(|()| None)
    }

    /// Writes lines that only people need.
    fn for_people(&mut self, _lines: &str, _to: &mut Sink) -> io::Result<()> {
        Ok(())
    }
}

/// The format that the user chose.
pub(super) fn of(global: &Global, style: Style) -> Box<dyn Format> {
    match global.format {
        // `HtmlReport` writes the report for a browser, which is a separate folder.
        OutputFormat::Human | OutputFormat::Html => Box::new(Human { style, quiet: global.quiet }),
        OutputFormat::Json => Box::new(Json),
        OutputFormat::Csv => Box::new(Csv),
    }
}
