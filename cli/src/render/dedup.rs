//! Prints the answers of dedup for people.

use std::fmt::Write;

use fpdb::DocId;
use fpdb::dedup::{Because, DedupPlan, DedupSummary, LatestRun, Removable, Superseded, Undecided};
use fpdb_host::free_space::free_bytes;

use super::folder::name_in;
use super::numbers::{count, grouped, percent, size};
use super::style::Style;

/// One removable document.
pub(crate) fn removable_line(removable: &Removable, folder: &str, style: Style) -> String {
    let because = because(removable.because, removable.score);
    // Two versions of one document have the same name, so their numbers are shown.
    let number = |id: DocId| numbered(id, removable.remove == removable.keep);
    format!(
        "{}{}  {because}  {}{}\n",
        style.strong(&name_in(&removable.remove, folder)),
        number(removable.remove_id),
        name_in(&removable.keep, folder),
        number(removable.keep_id)
    )
}

/// The number of a document, after its name, if `is_shown`.
pub(super) fn numbered(id: DocId, is_shown: bool) -> String {
    if is_shown { format!(" (number {id})") } else { String::new() }
}

/// One undecided document.
pub(crate) fn undecided_line(undecided: &Undecided, folder: &str, style: Style) -> String {
    format!("{}  is undecided\n", style.strong(&name_in(&undecided.document, folder)))
}

/// The relation of a document to its survivor.
fn because(because: Because, score: f64) -> String {
    match because {
        Because::Identical => "is identical to".to_owned(),
        Because::SameText => "has the text of".to_owned(),
        Because::Contained => format!("is contained ({}) in", percent(score)),
        _ => format!("resembles ({})", percent(score)),
    }
}

/// One survivor that a later document could replace.
pub(crate) fn superseded_line(superseded: &Superseded, folder: &str, style: Style) -> String {
    let because = because(superseded.because, superseded.score);
    format!(
        "{}  is kept, and {because}  {}, which came later\n",
        style.strong(&name_in(&superseded.document, folder)),
        name_in(&superseded.by, folder)
    )
}

/// The cost of a dedup.
pub(crate) fn dedup_plan_page(plan: &DedupPlan) -> String {
    let mut page = String::new();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(page, "{name:<10} {value}");
    };
    row("documents", format!("{}, {} of them to be decided", grouped(plan.documents), grouped(plan.open)));
    let postings = count(plan.postings, "posting");
    row(
        "passes",
        match plan.passes {
            0 => "none over the postings".into(),
            _ => format!("one over {postings}; then the documents that may be removable are compared"),
        },
    );
    row("memory", format!("{} allowed, {} needed at least", size(plan.memory), size(plan.least_memory)));
    let folder = plan.temp_dir.display();
    row(
        "disk",
        match plan.disk {
            0 => "none".into(),
            bytes => {
                let free = free_bytes(&plan.temp_dir).filter(|free| *free < bytes);
                let free = free.map_or_else(String::new, |free| format!(" (only {} free)", size(free)));
                format!("at most {} of temporary files in {folder}{free}", size(bytes))
            }
        },
    );
    if plan.interrupted {
        row("state", format!("an interrupted job is in {folder}; it goes on if the documents are the same"));
    }
    page
}

/// The decisions of the last run.
pub(crate) fn latest_run_line(latest: &LatestRun) -> String {
    let superseded = match latest.superseded {
        0 => String::new(),
        more => format!("; {} that a newer document could replace", count(more, "survivor")),
    };
    let (decided, removable) = (count(latest.decided, "document"), grouped(latest.removable));
    let (nothing, which) = if latest.is_earlier { ("nothing new was decided after ", ", which") } else { ("", "") };
    format!("{nothing}run {}{which} decided {decided}: {removable} removable{superseded}", latest.run)
}

/// The totals of removable documents.
pub(crate) fn dedup_summary_line(summary: &DedupSummary) -> String {
    let because = match summary.groups {
        0 => String::new(),
        1 => "; 1 survivor justifies them".to_owned(),
        groups => format!("; {} justify them", count(groups, "survivor")),
    };
    let (removable, kept) = (grouped(summary.removable), grouped(summary.kept));
    let bytes = if summary.removable > 0 { format!(" ({})", size(summary.bytes)) } else { String::new() };
    format!("{removable} of {} removable{bytes}, {kept} kept{because}\n", count(summary.documents, "document"))
}
