//! Prints the actions of `fpdb apply`: each file, and the totals.

use std::fmt::Write;

use fpdb::apply::{Act, Action, Applied, ApplySummary, Lost, ProofSummary};

use super::escape::escape_terminal;
use super::human::{NAMES_SHOWN, first_names};
use super::numbers::{count, grouped, size, was};

/// The action on one file. `copies` is true if the job copies files to a folder.
pub(crate) fn applied_line(applied: &Applied, copies: bool) -> String {
    let source = escape_terminal(&applied.source);
    let documents = count(applied.documents, "document");
    let target = applied.target.as_deref().map(escape_terminal).unwrap_or_default();
    let is_old = !target.is_empty() && matches!(applied.act, Act::Omit | Act::Leave);
    let unchanged = copies && applied.done_before && !is_old;
    let to = if unchanged { "in" } else { "to" };
    let verb = match (applied.act, applied.done) {
        _ if unchanged => "unchanged",
        (Act::Copy, true) => "copied",
        (Act::Copy, false) => "to be copied",
        (Act::Write, true) => "written",
        (Act::Write, false) => "to be written",
        (Act::Cut, true) => "written",
        (Act::Cut, false) => "to be written",
        (Act::Omit, true) if is_old => "its copy removed",
        (Act::Omit, false) if is_old => "its copy to be removed",
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
        Act::Leave if is_old => write!(line, " in {target}"),
        Act::Omit if is_old => write!(line, ", {target}"),
        Act::Copy | Act::Link | Act::Move if !target.is_empty() => write!(line, " {to} {target}"),
        _ => Ok(()),
    };
    if applied.kept_out > 0 {
        let is_marked = applied.act == Act::Mark && target.is_empty();
        let and = match applied.act {
            Act::Omit => ", with",
            Act::Write if applied.documents > 0 => " and",
            _ if is_marked => " and",
            _ => ", without",
        };
        let _ = write!(line, "{and} {} whose contents are kept out", count(applied.kept_out, "record"));
    }
    if let Some(reason) = &applied.reason {
        let _ = write!(line, " ({})", escape_terminal(reason));
    }
    line.push('\n');
    line
}

/// Groups of files. Each group gets one line, because its files can be many and are the same in each daily
/// run.
#[derive(Default)]
pub(crate) struct FileGroups {
    left_out: FileGroup,
    pruned: FileGroup,
    stale: FileGroup,
}

#[derive(Default)]
struct FileGroup {
    first: Vec<String>,
    files: u64,
}

impl FileGroups {
    /// Adds a file that is left out. Also adds a copy of an earlier run that is removed, or stays, because
    /// the database no longer has its file. Returns false for any other file, and in a dry run.
    pub(crate) fn take(&mut self, applied: &Applied) -> bool {
        let (group, name) = match (applied.act, &applied.target, &applied.reason) {
            (Act::Omit, Some(copy), _) if applied.done => (&mut self.pruned, copy),
            (Act::Omit, None, None) if applied.done => (&mut self.left_out, &applied.source),
            (Act::Leave, Some(copy), _) if applied.done_before => (&mut self.stale, copy),
            _ => return false,
        };
        group.files += 1;
        if group.first.len() < NAMES_SHOWN {
            group.first.push(name.clone());
        }
        true
    }

    /// A line for each kind.
    pub(crate) fn lines(&self) -> String {
        let line = |group: &FileGroup, text: String| match group.files {
            0 => String::new(),
            files => format!("{text}: {}\n", first_names(&group.first, files)),
        };
        let copies = |group: &FileGroup, verb: &str| {
            let whose = if group.files == 1 { "file" } else { "files" };
            let copies = if group.files == 1 { "copy" } else { "copies" };
            format!("{} {copies} {verb}, as the database no longer has the {whose}", grouped(group.files))
        };
        [
            line(&self.left_out, format!("{} left out", count(self.left_out.files, "file"))),
            line(&self.pruned, copies(&self.pruned, "removed")),
            line(&self.stale, copies(&self.stale, if self.stale.files == 1 { "stays" } else { "stay" })),
        ]
        .concat()
    }
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
    let _ = write!(line, "; {} lost", grouped(summary.lost));
    if summary.renamed > 0 {
        let documents = count(summary.renamed, "document");
        let _ = write!(line, "; {documents} of the report {} renamed since", was(summary.renamed));
    }
    line.push('\n');
    line
}

/// The numbers of documents that are kept, by reason.
fn why_kept(summary: &ApplySummary) -> String {
    let ApplySummary { left, unjustified, inseparable, .. } = *summary;
    let told = unjustified + inseparable;
    if summary.passages || told > left {
        return String::new();
    }
    let reasons = [
        (unjustified, "no sound survivor"),
        (inseparable, "cannot leave their files"),
        (left - told, "in files left alone"),
    ];
    let reasons = reasons.iter().filter(|(number, _)| *number > 0);
    let reasons: Vec<String> = reasons.map(|(number, why)| format!("{why}: {}", grouped(*number))).collect();
    format!(" ({})", reasons.join(", "))
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
    let left =
        if summary.left > 0 { format!(", {} kept{}", grouped(summary.left), why_kept(summary)) } else { String::new() };
    let bytes = if summary.bytes > 0 { format!(", {}", size(summary.bytes)) } else { String::new() };
    let before = match summary.done_before {
        0 => String::new(),
        before if !summary.done && action.copies_to().is_some() => format!(", {} of them unchanged", grouped(before)),
        before => format!(", {} of them before", grouped(before)),
    };
    let pruned = match summary.pruned {
        0 => String::new(),
        1 => format!("; 1 old copy {to_be}removed"),
        copies => format!("; {} old copies {to_be}removed", grouped(copies)),
    };
    let (applied, files) = (grouped(summary.applied), count(files, "file"));
    format!("{applied} of {of} {to_be}{documents}{left}; {files} {to_be}{to_files}{before}{bytes}{pruned}\n")
}
