//! The result of a verification and of a repair, as text.

use std::fmt::Write;

use fpdb::maintenance::{DamagedStore, Repair, Verification};

use super::escape::{as_words, escape_terminal};
use super::numbers::{count, grouped, is, size};

/// Least possible number of removed documents that are in the database again, because a repair could not read
/// the commit that removed them.
pub(crate) fn restored_documents(found: &Verification) -> u64 {
    let last = found.repair.as_ref().and_then(|repair| repair.last_commit_documents);
    last.map_or(0, |last| found.documents.saturating_sub(last))
}

/// The result of a verification.
pub(crate) fn verify_page(found: &Verification) -> String {
    let mut page = format!(
        "checked {}, {}, {}",
        count(found.documents, "document"),
        count(found.postings, "posting"),
        count(found.positions, "position")
    );
    if found.texts > 0 {
        let _ = write!(page, ", {}", count(found.texts, "stored text"));
    }
    page.push_str(": ");
    if found.problems.is_empty() {
        page.push_str("all is well\n");
        page.push_str(&damaged_stores(&found.damaged_stores));
        return page;
    }
    let _ = writeln!(page, "{}", count(found.problems.len() as u64, "problem"));
    for problem in &found.problems {
        let detail = if problem.detail.is_empty() { String::new() } else { format!(": {}", problem.detail) };
        let _ = writeln!(page, "  {}{detail}", problem.what);
    }
    let Some(repair) = &found.repair else { return page + &damaged_stores(&found.damaged_stores) };
    let _ = write!(page, "repaired; {} read again", count(repair.read_again.len() as u64, "document"));
    if repair.is_complete() {
        page.push_str(", nothing is lost\n");
    } else {
        losses(found, repair, &mut page);
    }
    if !repair.kept_out_again.is_empty() {
        let removed = repair.kept_out_again.len() as u64;
        let rest = if removed == 1 { "is removed: its content is" } else { "are removed: their contents are" };
        let _ = writeln!(page, "  {} had or may have come back, and {rest} kept out", count(removed, "document"));
    }
    if let [first, rest @ ..] = &*repair.kept_out_copies {
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!(" and of {}", count(rest.len() as u64, "other document"))
        };
        let _ = writeln!(
            page,
            "  the bytes of {}{more} are kept out, but stored: `fpdb rm --keep-out NAME` removes a document",
            escape_terminal(first)
        );
    }
    page + &damaged_stores(&found.damaged_stores)
}

/// The damaged stores that repairs have put aside, and how to remove them; empty if there are none.
pub(super) fn damaged_stores(stores: &[DamagedStore]) -> String {
    let line = |store: &DamagedStore| {
        let (bytes, path) = (size(store.bytes), as_words(std::slice::from_ref(&store.path)));
        format!("a repair has kept {bytes} of damaged files; once nothing is missing, remove them: rm -r {path}\n")
    };
    stores.iter().map(line).collect()
}

/// Lists the documents, texts and commits that a repair could not bring back.
fn losses(found: &Verification, repair: &Repair, page: &mut String) {
    if !repair.lost.is_empty() {
        let _ = write!(page, ", {} could not be rebuilt", count(repair.lost.len() as u64, "document"));
    }
    if !repair.texts_lost.is_empty() {
        let _ = write!(page, ", {} lost", count(repair.texts_lost.len() as u64, "stored text"));
    }
    page.push('\n');
    if repair.commits_lost > 0 {
        let commits = count(repair.commits_lost, "commit");
        let _ = writeln!(page, "  the last {commits}: what was added or removed then may be lost");
        if let Some(documents) = repair.last_commit_documents {
            let (had, has) = (count(documents, "document"), grouped(found.documents));
            let _ = writeln!(page, "  the last commit had {had}; the database has {has} now");
            let unnamed = documents.saturating_sub(found.documents + repair.lost.len() as u64);
            if unnamed > 0 {
                let names = if unnamed == 1 { "its name is lost too" } else { "their names are lost too" };
                let _ = writeln!(page, "  so at least {} {} lost; {names}", count(unnamed, "document"), is(unnamed));
            }
            if restored_documents(found) > 0 {
                let restored = count(restored_documents(found), "removed document");
                let _ = writeln!(page, "  so at least {restored} came back; the commit that could name them is lost");
            }
        }
    }
    if repair.records_may_be_older {
        page.push_str(
            "  a part of the documents' records is lost: names, metadata and marks of boilerplate may be those of an earlier commit\n",
        );
    }
    if let Some(salvaged) = repair.kept_out_salvaged {
        let contents = count(salvaged, "content");
        let _ = writeln!(page, "  the list of what is kept out may be incomplete: {contents} salvaged");
    }
    if let Some(salvaged) = repair.sources_salvaged {
        let sources = count(salvaged, "source");
        let _ = writeln!(page, "  remembered flags may be lost: those of {sources} salvaged");
    }
    if let Some(salvaged) = repair.assembled_salvaged {
        let builds = count(salvaged, "build");
        let _ = writeln!(page, "  which builds were assembled may be forgotten: {builds} salvaged");
    }
    for lost in &repair.lost {
        let _ = writeln!(
            page,
            "  {}: {}",
            lost.name.as_deref().map_or("(its name is lost)".into(), escape_terminal),
            lost.reason
        );
    }
    for name in &repair.texts_lost {
        let _ = writeln!(page, "  {}: its stored text is lost; its fingerprints are not", escape_terminal(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_whose_names_are_lost_are_counted() {
        let (mut found, mut repair) = (Verification::default(), Repair::default());
        (found.documents, repair.commits_lost, repair.last_commit_documents) = (2640, 1, Some(4720));
        let mut page = String::new();
        losses(&found, &repair, &mut page);
        let said = "  the last commit had 4,720 documents; the database has 2,640 now\n  so at least 2,080 documents are lost; their \
                    names are lost too\n";
        assert!(page.ends_with(said), "{page}");
    }
}
