//! Prints repeated passages for people and as CSV.

use std::fmt::Write;

use fpdb::repeats::{Repeat, RepeatSummary, Uncompared};

use super::escape::escape_terminal;
use super::human::of_text;
use super::numbers::{count, grouped, percent, size};
use super::style::Style;

/// One span that repeats.
pub(crate) fn repeat_line(repeat: &Repeat, style: Style) -> String {
    let Repeat { document, start, end, symbols, of, .. } = repeat;
    let source = if of.id == repeat.id { "itself".to_owned() } else { escape_terminal(&of.document).into_owned() };
    format!(
        "{}  {start}-{end}{}  {} of  {source}  {}-{}{}\n",
        style.strong(&escape_terminal(document)),
        of_text(repeat.extracted),
        count(*symbols, "symbol"),
        of.start,
        of.end,
        of_text(of.extracted)
    )
}

/// One document that was not compared.
pub(crate) fn uncompared_line(uncompared: &Uncompared, style: Style) -> String {
    format!("{}  is not compared: {}\n", style.strong(&escape_terminal(&uncompared.document)), uncompared.why)
}

/// The totals of repeats, and the sources with the most repeats.
pub(crate) fn repeat_summary_lines(summary: &RepeatSummary) -> String {
    let RepeatSummary { documents, affected, repeats, repeated_symbols, symbols, share, repeated_bytes, .. } = summary;
    let mut lines = format!(
        "{} in {} of {}: {} of {} ({}), {}\n",
        count(*repeats, "passage"),
        grouped(*affected),
        count(*documents, "document"),
        grouped(*repeated_symbols),
        count(*symbols, "symbol"),
        percent(*share),
        size(*repeated_bytes)
    );
    // The line of a source with all documents would only repeat the totals.
    for totals in summary.sources.iter().filter(|totals| totals.documents < *documents) {
        let source = if totals.source.is_empty() { "(current folder)" } else { &totals.source };
        let share = if totals.bytes > 0 { totals.repeated_bytes as f64 / totals.bytes as f64 } else { 0.0 };
        let _ = writeln!(
            lines,
            "  {}  {} of {} ({})",
            escape_terminal(source),
            size(totals.repeated_bytes),
            size(totals.bytes),
            percent(share)
        );
    }
    lines
}

/// The columns of [`repeat_row`].
pub(crate) fn repeat_header() -> Vec<&'static str> {
    vec!["document", "start", "end", "symbols", "of", "of_start", "of_end", "id", "of_id", "exact", "why"]
}

/// One span that repeats.
pub(crate) fn repeat_row(repeat: &Repeat) -> Vec<String> {
    let of = &repeat.of;
    vec![
        repeat.document.clone(),
        repeat.start.to_string(),
        repeat.end.to_string(),
        repeat.symbols.to_string(),
        of.document.clone(),
        of.start.to_string(),
        of.end.to_string(),
        repeat.id.to_string(),
        of.id.to_string(),
        repeat.exact.to_string(),
        String::new(),
    ]
}

/// The row of a document that was not compared, in the columns of the other rows. Its span is empty.
pub(crate) fn uncompared_row(uncompared: &Uncompared) -> Vec<String> {
    let mut row = vec![String::new(); repeat_header().len()];
    row[0].clone_from(&uncompared.document);
    row[7] = uncompared.id.to_string();
    row[10].clone_from(&uncompared.why);
    row
}
