//! `fpdb apply`: acts on the report of a dedup.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use fpdb::apply::{Act, Action, ApplyOptions, ApplySummary, ProofOptions};
use fpdb::{Database, DocumentInfo, Error};
use fpdb_host::bounded::Lines;
use fpdb_reading::input::resolved;

use crate::interrupt;
use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{AppliedLine, ApplyTotals, FileGroups, count, grouped, has, is, names_and_more, was};
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::suggested::flag;
use crate::typed::{ApplyArgs, Global};

pub(crate) fn run(global: &Global, args: &ApplyArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let database = database::open_within(global, database::to_change(global, printer)?, args.memory)?;
    for list in [&args.report].into_iter().chain(&args.lists) {
        tell_if_empty(list, printer);
    }
    if let Some(options) = args.proof() {
        return check(global, &database, &args.report, &options, printer);
    }
    let mut options = ApplyOptions::new(args.action())
        .act(args.yes)
        .lists(args.lists.clone())
        .limits(args.limits.limits())
        .prune(args.prune);
    options.temp_dir = args.temp_dir.clone();
    let mut output = if args.yes { Output::of_changes(global)? } else { Output::open(global)? };
    let status = act(&database, &args.report, &options, &mut output, printer)?;
    output.finish()?;
    Ok(status)
}

/// Prints which documents of a report are missing together with their survivors.
fn check(
    global: &Global,
    database: &Database,
    report: &Path,
    options: &ProofOptions,
    printer: &Printer,
) -> anyhow::Result<RunStatus> {
    let mut output = Output::open(global)?;
    let stop = interrupt::graceful("stopping; press Ctrl-C again to stop at once");
    let bar = StepBar::start(printer, "reading the report");
    let outcome = database.prove_applied(report, options, &bar.task().stop(stop), |lost| output.answer(&lost));
    bar.end();
    let summary = interrupt::noted(outcome, "stopped; nothing was changed", printer)?;
    output.answer(&summary)?;
    output.finish()?;
    if summary.unjudged > 0 {
        let (is, it) = if summary.unjudged == 1 { ("is", "it") } else { ("are", "them") };
        printer.note(&format!(
            "{} in the copy {is} not in the database, and the report says nothing about {it}: ingest and dedup again, and write a new copy",
            count(summary.unjudged, "document")
        ));
        if !database.kept_out_from(&[0; 16], 1)?.is_empty() {
            printer.note(
                "contents that are kept out are such documents if they are in mails, or in containers that are copied whole: take them out of the copied files by hand",
            );
        }
    }
    if summary.lost == 0 {
        return Ok(if summary.unjudged == 0 { RunStatus::Done } else { RunStatus::Incomplete });
    }
    let mv = printer.suggested.of("mv OLD NEW");
    printer.note(&format!("hint: if their files were moved, `{mv}` tells the database their place; then check again"));
    Ok(RunStatus::Incomplete)
}

/// Acts on a report and prints the actions.
pub(crate) fn act(
    database: &Database,
    report: &Path,
    options: &ApplyOptions,
    output: &mut Output,
    printer: &Printer,
) -> anyhow::Result<RunStatus> {
    if let Some(folder) = options.action.copies_to() {
        tell_if_ingested(database, folder, printer)?;
    }
    let stop = interrupt::graceful(
        "stopping; press Ctrl-C again to stop at once (what is done is noted, and the same command goes on from there)",
    );
    let bar = StepBar::start(printer, "reading the report");
    let (mut files, mut groups, mut folders) = (0, FileGroups::default(), BTreeSet::new());
    let takes_files = matches!(options.action, Action::Move { .. } | Action::Remove);
    let outcome = database.apply(report, options, &bar.task().stop(stop), |applied| {
        files += u64::from(!matches!(applied.act, Act::Omit | Act::Leave));
        if takes_files && applied.done && applied.act != Act::Leave {
            folders.extend(Path::new(&applied.source).parent().map(Path::to_owned));
        }
        let in_group = !printer.verbose && groups.take(&applied);
        output.answer(&AppliedLine { applied: &applied, action: &options.action, in_group })
    });
    bar.end();
    let summary = interrupt::noted(outcome, interrupt::GOES_ON, printer)?;
    output.for_people(&groups.lines())?;
    output.answer(&ApplyTotals { summary: &summary, action: &options.action, files })?;
    if summary.done && matches!(options.action, Action::Write { .. } | Action::Cut { .. }) {
        printer.note(
            "files that ingest skipped, could not read or has not seen, and containers without documents, are not in the copy; \
             records that it skipped or could not read are copied as they are; such attachments stay or go with their mails",
        );
    }
    let is_empty = |folder: &&PathBuf| folder.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    if let Some(folder) = folders.iter().find(is_empty) {
        printer.note(&format!(
            "hint: {} is empty now, so `ingest --prune` keeps its documents in the database: `{}` removes those of this report",
            folder.display(),
            printer.suggested.with("rm", flag("--report", &report.display().to_string()), &[])
        ));
    }
    remarks(&summary, options, printer);
    // A list names documents that must leave, so it is a failure if one stays. A report names documents that
    // may leave, so it is a failure only if all stay.
    let stays_in_spite = summary.left > 0 && (summary.listed || summary.applied == 0);
    let kept_out = summary.kept_out_left + summary.kept_out_unsearched;
    let not_done = [summary.failed, summary.missing, summary.unjustified, kept_out];
    Ok(match stays_in_spite || not_done.iter().any(|&number| number > 0) {
        true => RunStatus::Incomplete,
        false => RunStatus::Done,
    })
}

/// Warns if all lines of a file are blank, and then returns true. Such a list names no document, but a failed
/// command may have left it.
pub(super) fn tell_if_empty(list: &Path, printer: &Printer) -> bool {
    let is_blank = |file| {
        let mut lines = Lines::of(BufReader::new(file));
        while let Some((_, line)) = lines.next_line()? {
            if !line.is_empty() {
                return Ok(false);
            }
        }
        std::io::Result::Ok(true)
    };
    // A pipe can be read only once.
    let is_empty = list.is_file() && File::open(list).is_ok_and(|file| is_blank(file).unwrap_or(false));
    if is_empty {
        printer.warning(&format!("warning: {} is empty: as a list it names no document", list.display()));
    }
    is_empty
}

/// Warns if a copy is written into a folder with files that were ingested: the next ingest of that folder
/// would add the copy.
fn tell_if_ingested(database: &Database, folder: &Path, printer: &Printer) -> anyhow::Result<()> {
    let target = resolved(folder);
    // Many documents are in one folder, and documents of few folders alternate.
    const FOLDERS: usize = 1 << 12;
    let (mut looked_at, mut ingested) = (HashSet::<PathBuf>::new(), None);
    let looked = database.for_each_document(|document: DocumentInfo| {
        let Some(folder) = document.source.as_deref().and_then(|file| Path::new(file).parent()) else { return Ok(()) };
        if looked_at.contains(folder) {
            return Ok(());
        }
        if looked_at.len() == FOLDERS {
            looked_at.clear();
        }
        looked_at.insert(folder.to_owned());
        let real = resolved(folder);
        // Either the copy goes below the folder of an ingested file, or an ingested file lies in the folder
        // of the copy.
        ingested = match target.starts_with(&real) {
            true => Some(folder.to_owned()),
            false => real.starts_with(&target).then(|| target.clone()),
        };
        // Returning an error ends the search.
        if ingested.is_some() { Err(Error::Stopped) } else { Ok(()) }
    });
    match (looked, ingested) {
        (Err(Error::Stopped), Some(ingested)) => printer.warning(&format!(
            "warning: {} lies in {}, which holds files that were ingested: the next ingest of that folder adds the copies",
            folder.display(),
            ingested.display()
        )),
        (looked, _) => looked?,
    }
    Ok(())
}

/// Prints notes and warnings about unusual parts of the answer.
fn remarks(summary: &ApplySummary, options: &ApplyOptions, printer: &Printer) {
    let action = &options.action;
    if summary.parts_not_compared > 0 {
        printer.warning(&format!(
            "warning: {} may hold attachments or pictures that no survivor has (mail, PDF, DOCX, ODT, EPUB): only the texts were compared",
            count(summary.parts_not_compared, "removable document")
        ));
    }
    if summary.missing > 0 {
        let (are, were) = (is(summary.missing), was(summary.missing));
        let of = if summary.listed { "list" } else { "report" };
        let names = match &summary.unknown_names[..] {
            [] => String::new(),
            names => format!(": {}", names_and_more(names, summary.missing)),
        };
        printer.note(&format!(
            "{} of the {of} {are} not in the database, or {were} read from no file, and {were} left alone{names}",
            count(summary.missing, "document")
        ));
        if summary.listed && action.copies_to().is_some() {
            printer.note(
                "hint: a copy keeps listed records that are not in the database: run `apply` before `rm`, or ingest their files again",
            );
        }
    }
    if summary.unjustified > 0 {
        printer.note(&format!(
            "{} kept: their survivors have changed, are missing or listed, or are not in files that are copied",
            count(summary.unjustified, "document")
        ));
    }
    if summary.inseparable > 0 && matches!(action, Action::Write { mark: None, .. }) {
        let number = summary.inseparable;
        printer.warning(&format!(
            "warning: {} {} in the copy, for the reasons told with the files",
            count(number, if summary.listed { "listed document" } else { "removable document" }),
            if summary.done { is(number) } else { "will be" }
        ));
    }
    if summary.kept_out > 0 {
        let records = count(summary.kept_out, "record");
        printer.note(&match (action.copies_to(), summary.done) {
            (Some(_), true) => format!("the copy lacks {records} whose contents are kept out"),
            (Some(_), false) => format!("the copy will lack {records} whose contents are kept out"),
            (None, true) => format!("{records} whose contents are kept out {} marked too", is(summary.kept_out)),
            (None, false) => format!("{records} whose contents are kept out will be marked too"),
        });
    }
    if summary.kept_out_left > 0 {
        printer.warning(&format!(
            "warning: {} {} in the {} although the contents are kept out, as parts of mails, of containers that stay whole, or of \
             copies that stay as they were; the files are named above",
            count(summary.kept_out_left, "record"),
            is(summary.kept_out_left),
            if action.copies_to().is_some() { "copy" } else { "files" }
        ));
    }
    if summary.kept_out_unsearched > 0 {
        printer.warning(&format!(
            "warning: {} of the files named above cannot be searched for contents that are kept out, and {} in the {}",
            count(summary.kept_out_unsearched, "part"),
            is(summary.kept_out_unsearched),
            if action.copies_to().is_some() { "copy" } else { "files" }
        ));
    }
    if summary.unplaced > 0 {
        let cannot = if summary.done { format!("{} not", was(summary.unplaced)) } else { "cannot be".to_owned() };
        let done = match action {
            Action::Move { .. } => "moved: the target exists; name an empty folder",
            _ => "written, for want of a place in the copy; `fpdb mv` gives documents another name",
        };
        printer.note(&format!("{} {cannot} {done}", count(summary.unplaced, "file")));
    }
    if summary.refused > 0 {
        printer.note(&format!(
            "{} left alone for the reason given; put that right and run the same command again",
            count(summary.refused, "file")
        ));
    }
    if summary.field_taken > 0 {
        printer.note(&format!(
            "{} left alone: the records have this field already, maybe from an earlier report; name another field with --mark, or \
             mark a copy (--write DIR), which later reports bring up to date",
            count(summary.field_taken, "file")
        ));
    }
    if summary.whole > 0 {
        let copy = printer.suggested.of("apply REPORT --write DIR");
        let why = match action {
            Action::Cut { .. } => {
                "passages are cut out of plain text, Markdown, source code, JSON lines and Parquet, and not out of texts that \
                 are joined of several values, such as chats"
                    .to_owned()
            }
            _ if summary.passages => "only records of JSON lines and Parquet take a field".to_owned(),
            Action::Write { .. } | Action::Mark { .. } => format!(
                "only records of JSON lines and Parquet take a field; `{copy}` copies all files without the removable documents"
            ),
            _ => format!(
                "a file with several documents is not changed in its place; `{copy}` copies all files without the removable \
                 documents"
            ),
        };
        printer.note(&format!("{} left whole: {why}", count(summary.whole, "file")));
    }
    if summary.without_text > 0 {
        let (have, are) = (has(summary.without_text), is(summary.without_text));
        printer.note(&format!(
            "{} {have} no text left without the passages and {are} not in the copy",
            count(summary.without_text, "document")
        ));
    }
    let changed = summary.failed - summary.unplaced - summary.refused - summary.field_taken;
    if changed > 0 {
        let left = match action.copies_to() {
            None => "left alone".to_owned(),
            Some(_) => format!("{} not in the copy", is(changed)),
        };
        printer.note(&format!(
            "{} {left} for the reason given: if a file has changed, ingest and dedup again; if it is damaged, first repair \
             it, replace it or take it out of the database (`fpdb rm`)",
            count(changed, "file")
        ));
    }
    let pruned = if options.prune { "" } else { "; --prune removes those whose files are no longer stored" };
    match summary.stale {
        0 => {}
        1 => printer.warning(&format!(
            "warning: 1 copy of an earlier run stays as it was and can hold duplicates and what is kept out; remove it if it is not wanted{pruned}"
        )),
        copies => printer.warning(&format!(
            "warning: {} copies of earlier runs stay as they were and can hold duplicates and what is kept out; remove them if they are not wanted{pruned}",
            grouped(copies)
        )),
    }
    match summary.emptied {
        0 => {}
        1 => printer.warning("warning: 1 copy holds no document, because all documents of its file are removable"),
        copies => printer.warning(&format!(
            "warning: {} copies hold no document, because all documents of their files are removable",
            grouped(copies)
        )),
    }
    if !summary.done {
        printer.note("a dry run: nothing was changed; --yes does it");
    }
}
