//! Prints the actions of `fpdb apply`, file by file and in all.

use std::fmt::Write;

use fpdb::apply::{Act, Applied, ApplySummary};

use super::escape::escape_terminal;
use super::numbers::{count, size};

/// The action on one file.
pub(crate) fn applied_line(applied: &Applied) -> String {
    let source = escape_terminal(&applied.source);
    let documents = count(applied.documents, "document");
    let target = applied.target.as_deref().map(escape_terminal).unwrap_or_default();
    let verb = match (applied.act, applied.done) {
        (Act::Copy, true) => "copied",
        (Act::Copy, false) => "to be copied",
        (Act::Write, true) => "written",
        (Act::Write, false) => "to be written",
        (Act::Cut, true) => "written",
        (Act::Cut, false) => "to be written",
        (Act::Omit, _) => "left out",
        (Act::Mark, true) => "marked",
        (Act::Mark, false) => "to be marked",
        (Act::Remove, true) => "removed",
        (Act::Remove, false) => "to be removed",
        (Act::Link, true) => "linked",
        (Act::Link, false) => "to be linked",
        (Act::Move, true) => "moved",
        (Act::Move, false) => "to be moved",
        _ => "left alone",
    };
    let mut line = format!("{source}: {verb}");
    let _ = match applied.act {
        Act::Write => write!(line, " to {target} without {documents}"),
        Act::Cut => write!(line, " to {target} without repeated passages of {documents}"),
        Act::Mark if target.is_empty() => write!(line, ", {documents} of it concerned"),
        Act::Mark => write!(line, " in {target}, {documents} of it concerned"),
        Act::Copy | Act::Link | Act::Move if !target.is_empty() => write!(line, " to {target}"),
        _ => Ok(()),
    };
    if let Some(reason) = &applied.reason {
        let _ = write!(line, " ({})", escape_terminal(reason));
    }
    line.push('\n');
    line
}

/// The totals of all actions.
pub(crate) fn apply_summary_line(summary: &ApplySummary) -> String {
    let (done, stay) = (if summary.done { "done" } else { "would be done" }, count(summary.left, "document"));
    let bytes = if summary.bytes > 0 { format!(", {}", size(summary.bytes)) } else { String::new() };
    let before = match summary.done_before {
        0 => String::new(),
        before => format!("; {} done before", count(before, "file")),
    };
    format!(
        "{} of {} {done}{bytes}; {stay} left alone; {} in all{before}\n",
        summary.applied,
        match summary.passages {
            true => format!("{} with repeated passages", count(summary.documents, "document")),
            false => count(summary.documents, "removable document"),
        },
        count(summary.sources, "file")
    )
}
