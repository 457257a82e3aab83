//! Prints the actions of `fpdb apply`: each file, and the totals.

use std::fmt::Write;

use fpdb::apply::{Act, Action, Applied, ApplySummary, Lost, ProofSummary};

use super::escape::escape_terminal;
use super::numbers::{count, grouped, size};

/// The action on one file. `copies` is true if the job copies files to a folder.
pub(crate) fn applied_line(applied: &Applied, copies: bool) -> String {
    let source = escape_terminal(&applied.source);
    let documents = count(applied.documents, "document");
    let target = applied.target.as_deref().map(escape_terminal).unwrap_or_default();
    let unchanged = copies && applied.done_before;
    let to = if unchanged { "in" } else { "to" };
    let verb = match (applied.act, applied.done) {
        _ if unchanged => "unchanged",
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
        _ if copies && target.is_empty() => "not in the copy",
        _ if copies => "its copy stays",
        _ => "left alone",
    };
    let mut line = format!("{source}: {verb}");
    let _ = match applied.act {
        Act::Write if applied.documents == 0 => write!(line, " {to} {target}"),
        Act::Write => write!(line, " {to} {target} without {documents}"),
        Act::Cut => write!(line, " {to} {target} without repeated passages of {documents}"),
        Act::Mark if target.is_empty() => write!(line, ", with {documents} of the report"),
        Act::Mark => write!(line, " in {target}, with {documents} of the report"),
        Act::Leave if !target.is_empty() => write!(line, " in {target}"),
        Act::Copy | Act::Link | Act::Move if !target.is_empty() => write!(line, " {to} {target}"),
        _ => Ok(()),
    };
    if applied.kept_out > 0 {
        let and = if applied.act == Act::Write && applied.documents > 0 { " and" } else { ", without" };
        let _ = write!(line, "{and} {} whose contents are kept out", count(applied.kept_out, "record"));
    }
    if let Some(reason) = &applied.reason {
        let _ = write!(line, " ({})", escape_terminal(reason));
    }
    line.push('\n');
    line
}

/// A document that is missing together with its survivor.
pub(crate) fn lost_line(lost: &Lost) -> String {
    let (document, survivor) = (escape_terminal(&lost.document), escape_terminal(&lost.survivor));
    format!("{document}: gone, as is its survivor {survivor} ({})\n", escape_terminal(&lost.reason))
}

/// The totals of a check.
pub(crate) fn proof_summary_line(summary: &ProofSummary) -> String {
    let of = count(summary.documents, "removable document");
    let have = if summary.documents == 1 { "has its" } else { "have their" };
    let mut line = format!("{} of {of} {have} survivor", grouped(summary.survived));
    let _ = write!(line, ", {} of the same bytes", grouped(summary.identical));
    if summary.in_place > 0 {
        let _ = write!(line, "; {} without it, and still in place", grouped(summary.in_place));
    }
    let _ = writeln!(line, "; {} lost", grouped(summary.lost));
    line
}

/// The totals of all actions. `files`: number of files that were written, removed, linked or moved, or would
/// be in a dry run.
pub(crate) fn apply_summary_line(summary: &ApplySummary, action: &Action, files: u64) -> String {
    let (documents, to_files) = match action {
        Action::Write { mark: None, .. } => ("left out", "written"),
        Action::Cut { .. } => ("cut", "written"),
        Action::Write { .. } | Action::Mark { .. } => ("marked", "written"),
        Action::Link(_) => ("replaced", "linked"),
        Action::Move { .. } => ("taken away", "moved"),
        _ => ("removed", "removed"),
    };
    let of = match (summary.passages, summary.listed) {
        (true, _) => format!("{} with repeated passages", count(summary.documents, "document")),
        (_, true) => count(summary.documents, "listed document"),
        _ => count(summary.documents, "removable document"),
    };
    let to_be = if summary.done { "" } else { "to be " };
    let left = if summary.left > 0 { format!(", {} kept", grouped(summary.left)) } else { String::new() };
    let bytes = if summary.bytes > 0 { format!(", {}", size(summary.bytes)) } else { String::new() };
    let before = match summary.done_before {
        0 => String::new(),
        before if !summary.done && action.copies_to().is_some() => format!(", {} of them unchanged", grouped(before)),
        before => format!(", {} of them before", grouped(before)),
    };
    let (applied, files) = (grouped(summary.applied), count(files, "file"));
    format!("{applied} of {of} {to_be}{documents}{left}; {files} {to_be}{to_files}{before}{bytes}\n")
}
