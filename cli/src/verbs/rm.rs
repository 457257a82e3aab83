//! `fpdb rm`: removes documents.

mod kept_out;

use std::collections::BTreeSet;
use std::path::Path;

use fpdb::{Database, DatabaseWriter, DocId, DocumentInfo, Error, Removal, Task};

use crate::output::summary;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{count, escape_terminal, is, names_and_more, size};
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::suggested::{Suggested, flag};
use crate::typed::{Global, RmArgs};

pub(crate) fn run(global: &Global, args: &RmArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    if !(args.prefixes.is_empty() && args.fields.is_empty()) {
        return by_selection(global, args, printer);
    }
    if let Some(report) = &args.report {
        return by_report(global, report, args.keep_out, printer);
    }
    let database = database::open_writer(global, printer)?;
    if !args.readmit.is_empty() {
        return readmit(global, &database, args, printer);
    }
    let mut unknown_names = Vec::new();
    let mut ids: Vec<DocId> = args.ids.iter().copied().map(DocId).collect();
    let mut removed: Vec<DocumentInfo> = ids.iter().filter_map(|&id| database.document(id).ok()).collect();
    for name in &args.names {
        match database::documents_named(&database, name) {
            Ok(versions) => {
                if versions.len() > 1 {
                    printer.note(&format!("{name}: all {} documents of this name", versions.len()));
                }
                ids.extend(versions.iter().map(|document| document.id));
                removed.extend(versions);
            }
            Err(error @ Error::NoSuchDocument { .. }) => {
                let is_first = unknown_names.is_empty() && !args.ignore_missing;
                let error = if is_first { database::with_nearest(&database, error)? } else { error };
                unknown_names.push((name, error));
            }
            Err(error) => return Err(error.into()),
        }
    }
    if args.keep_out {
        database.keep_out(&ids)?;
    }
    let mut removal = database.remove_numbers(&ids)?;
    removal.unknown_names = unknown_names.iter().map(|(name, _)| (*name).clone()).collect();
    summary(global, &removal, "")?;
    if removal.removed > 0 {
        printer.note(&removed_line(removal.removed, args.keep_out, &printer.suggested));
    }
    if removed.len() <= SHOWN && !args.keep_out {
        kept_out::hint(&database, &removed, printer)?;
    }
    if removed.len() <= SHOWN || args.keep_out {
        note_copies(&database, &removed, printer)?;
    }
    note_attachments(&database, removed, args.keep_out, printer)?;
    if args.ignore_missing {
        let numbers = removal.unknown_ids.iter().map(ToString::to_string);
        for name in removal.unknown_names.iter().cloned().chain(numbers) {
            printer.detail(&format!("{name}: no stored document, ignored"));
        }
        return Ok(RunStatus::Done);
    }
    for (name, error) in &unknown_names {
        printer.failure(name, error);
    }
    for id in &removal.unknown_ids {
        printer.failure(&id.to_string(), &Error::NoSuchNumber { number: id.0 });
    }
    Ok(if unknown_names.is_empty() && removal.unknown_ids.is_empty() { RunStatus::Done } else { RunStatus::Incomplete })
}

/// Prints, for each removed document, the first of the documents that stay although they have the same bytes.
fn note_copies(database: &Database, removed: &[DocumentInfo], printer: &Printer) -> anyhow::Result<()> {
    let mut copies = BTreeSet::new();
    for document in removed {
        copies.extend(database.first_identical_to(document, 1)?);
    }
    if !copies.is_empty() {
        let copies: Vec<String> = copies.into_iter().collect();
        printer.note(&format!("the same bytes stay in {}", names_and_more(&copies, copies.len() as u64)));
    }
    Ok(())
}

/// The documents to remove whose copies or attachments may stay: one document for each content that other
/// documents also have, and mails whose attachments are documents. A large removal keeps only these documents
/// in memory.
fn that_may_leave_others(database: &Database, ids: &[DocId]) -> anyhow::Result<Vec<DocumentInfo>> {
    let (mut documents, mut contents) = (Vec::new(), BTreeSet::new());
    for &id in ids {
        let mut document = database.document(id)?;
        document.metadata.clear();
        let has_copies = !contents.contains(&document.digest) && !database.first_identical_to(&document, 1)?.is_empty();
        if has_copies {
            contents.insert(document.digest);
        }
        if has_copies || document.format == "mail" && !attachments_of(database, &document.name)?.is_empty() {
            documents.push(document);
        }
    }
    Ok(documents)
}

/// The attachments of a mail that are documents.
fn attachments_of(database: &Database, mail: &str) -> anyhow::Result<Vec<DocId>> {
    Ok(database.select(&[format!("{mail}!")], &[], &Task::new())?.ids)
}

/// Prints the number of attachments of removed mails that stay.
fn note_attachments(
    database: &Database,
    removed: Vec<DocumentInfo>,
    keep_out: bool,
    printer: &Printer,
) -> anyhow::Result<()> {
    let mails = removed.into_iter().filter(|document| document.format == "mail").map(|mail| mail.name);
    let (mut attachments, mut prefixes) = (0, Vec::new());
    for mail in mails.collect::<BTreeSet<String>>() {
        match database.documents_named(&mail) {
            Err(Error::NoSuchDocument { .. }) => {}
            // Another version of the mail has these attachments.
            Ok(_) => continue,
            Err(error) => return Err(error.into()),
        }
        let inside = attachments_of(database, &mail)?.len() as u64;
        attachments += inside;
        prefixes.extend((inside > 0).then(|| flag("--prefix", &format!("{mail}!"))));
    }
    if attachments > 0 {
        let stay = if attachments == 1 { "stays" } else { "stay" };
        let of = match prefixes.len() {
            mails @ 0..=SHOWN => count(mails as u64, "removed mail"),
            mails => format!("{mails} removed mails (the command names {SHOWN})"),
        };
        prefixes.truncate(SHOWN);
        let mut flags = prefixes.concat();
        flags.extend(keep_out.then(|| "--keep-out".to_owned()));
        flags.push("--yes".to_owned());
        printer.note(&format!(
            "{} of {of} {stay}: `{}` removes such documents",
            count(attachments, "attachment"),
            printer.suggested.with("rm", flags, &[])
        ));
    }
    Ok(())
}

/// Lets later ingests again add contents that were removed with `--keep-out`. The user gives names or
/// digests.
fn readmit(global: &Global, database: &DatabaseWriter, args: &RmArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let removal = database.readmit(&args.readmit)?;
    summary(global, &removal, "")?;
    printer.note(&format!("{} let in again", count(removal.readmitted.unwrap_or_default(), "content")));
    let mut status = RunStatus::Done;
    for name in &removal.unknown_names {
        let told = format!("no content with the name or digest {name} is kept out");
        if args.ignore_missing {
            printer.detail(&told);
        } else {
            printer.error(&anyhow::anyhow!(told));
            status = RunStatus::Incomplete;
        }
    }
    if status == RunStatus::Incomplete {
        printer.note(&format!("hint: `{}` lists names and digests", printer.suggested.of("stats --format json")));
    }
    Ok(status)
}

/// The number of removed documents, and how to add them again.
fn removed_line(documents: u64, keep_out: bool, on: &Suggested) -> String {
    let compact = on.of("compact");
    if keep_out {
        let them = if documents == 1 { "it" } else { "them" };
        return format!(
            "{} removed and kept out; `{compact}` frees the space, and `{}` lets {them} in again",
            count(documents, "document"),
            on.of("rm --readmit NAME")
        );
    }
    let (them, files) = if documents == 1 { ("it", "its file is") } else { ("them", "their files are") };
    format!(
        "{} removed; `{compact}` frees the space, and an ingest adds {them} again while {files} there",
        count(documents, "document")
    )
}

/// Keeps out the contents of documents that are to be removed. Returns the documents whose copies or
/// attachments may stay.
fn keep_out(database: &DatabaseWriter, ids: &[DocId]) -> anyhow::Result<Vec<DocumentInfo>> {
    let removed = that_may_leave_others(database, ids)?;
    database.keep_out(ids)?;
    Ok(removed)
}

/// Prints which copies and attachments of removed documents stay.
fn note_kept_out(
    database: &Database,
    removed: Vec<DocumentInfo>,
    keeps_out: bool,
    printer: &Printer,
) -> anyhow::Result<()> {
    note_copies(database, &removed, printer)?;
    note_attachments(database, removed, keeps_out, printer)
}

/// Removes the documents that a report lists.
fn by_report(global: &Global, report: &Path, keeps_out: bool, printer: &Printer) -> anyhow::Result<RunStatus> {
    let database = database::open_writer(global, printer)?;
    let steps = StepBar::start(printer, "removing");
    let kept_out = match keeps_out {
        true => keep_out(&database, &database.select_reported(report, &steps.task())?)?,
        false => Default::default(),
    };
    let removal = database.remove_reported(report, &steps.task());
    steps.end();
    let removal = removal?;
    summary(global, &removal, "")?;
    let gone = removal.reported.unwrap_or_default().saturating_sub(removal.removed + removal.left);
    if gone > 0 {
        let (documents, is) = (count(gone, "document"), is(gone));
        // Only a list names documents that were never stored.
        let (of, names) = match &removal.unknown_names[..] {
            [] => ("report", String::new()),
            names => ("list", format!(": {}", names_and_more(names, gone))),
        };
        printer.note(&format!("{documents} of the {of} {is} not stored, or no longer{names}"));
    }
    if !super::apply::tell_if_empty(report, printer) && removal.reported == Some(0) {
        printer.note("the report or list names no document: there is nothing to remove");
    }
    if removal.removed > 0 {
        printer.note(&removed_line(removal.removed, keeps_out, &printer.suggested));
    }
    note_kept_out(&database, kept_out, keeps_out, printer)?;
    for name in &removal.left_names {
        printer.error(&anyhow::anyhow!("{name} stays: it or its survivor is not stored as the report says, or the survivor's file is gone while its own exists"));
    }
    let more = removal.left.saturating_sub(removal.left_names.len() as u64);
    if more > 0 {
        printer.note(&format!("{} more stay", count(more, "document")));
    }
    if removal.left > 0 {
        let [prune, rm, dedup] = ["ingest --prune", "rm", "dedup"].map(|words| printer.suggested.of(words));
        printer.note(&format!(
            "hint: remove documents whose files are gone (`{prune}`, `{rm}`), run `{dedup}` again and use its new report"
        ));
    }
    Ok(if removal.left == 0 { RunStatus::Done } else { RunStatus::Incomplete })
}

/// Maximum number of names that a dry run shows.
const SHOWN: usize = 10;

/// Removes the documents that prefixes and values select, or counts them without --yes.
fn by_selection(global: &Global, args: &RmArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let mut removal = Removal::default();
    if args.yes {
        let database = database::open_writer(global, printer)?;
        let steps = StepBar::start(printer, "removing");
        let kept_out = match args.keep_out {
            true => keep_out(&database, &database.select(&args.prefixes, &args.fields, &steps.task())?.ids)?,
            false => Default::default(),
        };
        let removed = database.remove_selected(&args.prefixes, &args.fields, &steps.task());
        steps.end();
        removal = removed?;
        summary(global, &removal, "")?;
        if removal.removed > 0 {
            printer.note(&removed_line(removal.removed, args.keep_out, &printer.suggested));
        }
        note_kept_out(&database, kept_out, args.keep_out, printer)?;
    } else {
        let database = database::builder(global).open(database::to_change(global, printer)?)?;
        let selected = database.select(&args.prefixes, &args.fields, &Task::new())?;
        let (documents, mut names) = (selected.ids.len(), String::new());
        for &id in selected.ids.iter().take(SHOWN) {
            names += &format!("{}\n", escape_terminal(&database.document(id)?.name));
        }
        if documents > SHOWN {
            names += &format!("... and {} more\n", documents - SHOWN);
        }
        removal.selected = Some(documents as u64);
        removal.unmatched = selected.unmatched;
        if documents > 0 {
            names += &format!("{}, {}\n", count(documents as u64, "document"), size(selected.bytes));
        }
        summary(global, &removal, &names)?;
        if documents > 0 {
            printer.note("a dry run: nothing was removed; --yes does it");
        }
    }
    for unmatched in &removal.unmatched {
        let field = args.fields.iter().find(|(name, value)| *unmatched == format!("{name}={value}"));
        match field {
            _ if args.ignore_missing => printer.detail(&format!("no stored document has {unmatched}")),
            Some((name, value)) => {
                printer.error(&database::open(global)?.no_such_value(name, value, &Task::new())?.into())
            }
            None => {
                printer.error(&anyhow::anyhow!("no stored document has {unmatched}"));
                printer.note(&format!("hint: `{}` shows the names", printer.suggested.of("list")));
            }
        }
    }
    Ok(if removal.unmatched.is_empty() || args.ignore_missing { RunStatus::Done } else { RunStatus::Incomplete })
}
