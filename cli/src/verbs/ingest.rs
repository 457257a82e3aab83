//! `fpdb ingest`: adds documents.

mod hints;
mod messages;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fpdb::{Database, IngestOptions, IngestSummary, MetadataTable, ReadAs, Source, StopToken, Task, Unit};
use fpdb_reading::input::{Reach, is_gone, resolved};

use super::query::tell_attachments;
use crate::interrupt;
use crate::line_list::LineList;
use crate::output::Output;
use crate::printer::Printer;
use crate::progress::IngestBar;
use crate::render::{NAMES_SHOWN, as_words, count, first_names, grouped, has, is, was};
use crate::resolved::ingest_target::{self, IngestTarget, Opened};
use crate::resolved::remembered::{self, Chosen, Replaced, Run};
use crate::resolved::{output, sources};
use crate::run_status::RunStatus;
use crate::typed::{Global, IngestArgs, OutputFormat};
use hints::{compaction_hint, hint_for, hint_to_rename, hint_to_rename_folder};
use messages::{Events, Messages, noted_sources};

pub(crate) fn run(global: &Global, args: &IngestArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let sources = sources::of(args)?;
    let metadata = args.metadata.as_deref().map(MetadataTable::read).transpose()?.map(Arc::new);
    args.options().check()?;
    output::check_ingest(global, args, &sources)?;
    let failures = args.failures.as_deref().map(LineList::begin).transpose()?;
    // From here on, an interrupted run must not leave an empty database.
    let stop = interrupt::graceful(interrupt::AT_COMMIT);
    let Some(opened) = ingest_target::open(global, args, &sources, printer)? else { return Ok(RunStatus::Incomplete) };
    let IngestTarget { database, created, _temporary } = opened;
    let created_here = created.is_some();
    let profile = *database.profile();
    let Prepared { runs, replaced } = match prepare(&database, args, &sources, metadata, (stop, printer)) {
        Ok(prepared) => prepared,
        Err(error) => {
            delete_if_empty(database, created, printer)?;
            return Err(error);
        }
    };
    if args.prune && !sources.iter().any(|source| source.path().is_some_and(|path| path.is_dir() || !path.exists())) {
        printer.note("no folder is named: --prune removes only members that archives no longer hold");
    }
    let events = Events { noted: noted_sources(&sources), failures, ..Events::default() };
    let options = &runs[0].options;
    let progress = IngestBar::start(printer, &sources, &without_written(options, global, args, &sources));
    let expects_programs = profile.unit() == Unit::Token && options.read.front_end == ReadAs::Auto;
    let awaited = replaced.paths().map(str::to_owned).collect();
    let watch = Messages { printer, progress, expects_programs, awaited, events: Mutex::new(events) };
    let task = Task::new().progress(&watch).stop(stop);
    let globs = if args.are_reading_flags_typed { Vec::new() } else { globs_of(&runs) };
    let read: Vec<IngestOptions> =
        runs.iter().map(|run| without_written(&run.options, global, args, &run.sources)).collect();
    let read: Vec<_> = runs.iter().map(|run| run.sources.as_slice()).zip(&read).collect();
    let ingested = match &database {
        Opened::Writer(database) => database.ingest_runs(&read, &task),
        Opened::Reader(database) => database.ingest_runs_dry_run(&read, &task),
    };
    watch.progress.end();
    let remembered = {
        let is_whole = ingested.as_ref().is_ok_and(|summary| !summary.interrupted);
        let writer = match &database {
            Opened::Writer(database) => Some(database),
            Opened::Reader(_) => None,
        };
        let read_from = std::mem::take(&mut watch.events().read_from);
        replaced.finish(writer, (options, is_whole), |path| read_from.contains(path), printer)
    };
    let compaction = match &database {
        Opened::Writer(database) if ingested.is_ok() && !args.dry_run => {
            Some(compaction_hint(database, &printer.suggested))
        }
        _ => None,
    };
    let boilerplate = match &ingested {
        Ok(summary) if !summary.dry_run => boilerplate_here(&database, &sources, args, summary),
        _ => Ok(Default::default()),
    };
    if !ingested.as_ref().is_ok_and(|summary| summary.added > 0) {
        delete_if_empty(database, created, printer)?;
    }
    let events = watch.events.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (programs, input_replaced) = (events.programs, events.input_replaced && !args.dry_run);
    let old_is_pruned = events.old_is_pruned && !args.dry_run;
    let (elsewhere, named_by_path, moved) = (events.elsewhere, events.named_by_path, events.moved);
    let Events { unread_kinds, no_program, without_text, too_short, same_name, removed, pruned, .. } = events;
    events.failures.map_or(Ok(()), LineList::finish)?;
    let summary = ingested?;
    remembered?;
    let include = &options.walk.include;
    if !include.is_empty() && summary.documents + summary.failures + summary.skips == 0 && !summary.interrupted {
        printer.warning(&format!("warning: no file or member matches {} (--include)", include.join(", ")));
    }
    tell_left_out(&summary, &globs, printer);
    if !summary.unmatched.is_empty() {
        let rows = summary.unmatched.len() as u64;
        printer.warning(&format!(
            "warning: {} of the metadata {} no document: {}",
            count(rows, "row"),
            if rows == 1 { "matches" } else { "match" },
            first_names(&summary.unmatched, rows)
        ));
    }
    for name in &summary.unmatched {
        printer.detail(&format!("no document matches the row {name} of the metadata"));
    }
    if !summary.absent_fields.is_empty() {
        printer.warning(&format!(
            "warning: no document that this run read has the field {} (--keep-fields, --id-field)",
            summary.absent_fields.join(", ")
        ));
    }
    if summary.failures > events.shown {
        let more = summary.failures - events.shown;
        let rest = if args.failures.is_none() { "; --failures FILE lists all" } else { "" };
        printer.note(&format!("{} could not be read{rest}", count(more, "more document")));
    }
    let unlisted = summary.skips - summary.skipped.len() as u64;
    if unlisted > 0 && global.format == OutputFormat::Json {
        let are = if unlisted == 1 { "is" } else { "are" };
        printer.note(&format!(
            "{} {are} not listed in the answer; --verbose names all",
            count(unlisted, "more skipped file")
        ));
    }
    if events.links > 0 {
        let (links, were) = (count(events.links, "symbolic link"), was(events.links));
        printer.note(&format!("{links} {were} not followed (--follow follows them)"));
    }
    unread_kinds.tell("ingest", printer);
    if no_program.number > 0 {
        let (documents, are) = (count(no_program.number, "document"), is(no_program.number));
        printer.note(&format!(
            "{documents} {are} in no programming language by name and compared as words: {} (--as LANGUAGE, such as python, reads them as programs)",
            no_program.shown()
        ));
    }
    tell_incomparable(&summary, &[without_text.first, too_short.first].concat(), printer);
    if same_name.number > 0 {
        let (parts, have) = (count(same_name.number, "member"), has(same_name.number));
        printer.warning(&format!(
            "warning: {parts} {have} the name of an earlier member of the same file and other contents: one of each name is stored \
             (--on-change both stores all): {}",
            same_name.shown()
        ));
    }
    // A dry run lists these documents on standard output.
    if !summary.dry_run {
        for (number, names, why_one, why) in [
            (
                summary.removed,
                removed,
                "its container no longer holds it or its new content is kept out",
                "their containers no longer hold them or their new contents are kept out",
            ),
            (summary.pruned, pruned, "its file no longer exists", "their files no longer exist"),
        ] {
            if number > 0 {
                let (were, why) = (was(number), if number == 1 { why_one } else { why });
                let (documents, first) = (count(number, "document"), first_names(&names.first, number));
                let said = format!("{documents} {were} removed, because {why}: {first}");
                // Without `--prune`, the user did not ask to remove documents.
                if args.prune { printer.note(&said) } else { printer.warning(&format!("warning: {said}")) }
            }
        }
    }
    tell_attachments(summary.attachments, printer);
    let [named, others] = boilerplate?;
    for (names, one, several) in [(named, "is", "are"), (others, "stays", "stay")] {
        let number = names.len() as u64;
        if number == 0 {
            continue;
        }
        let (documents, verb) = (count(number, "document"), if number == 1 { one } else { several });
        printer.note(&format!(
            "{documents} of these paths {verb} boilerplate: {}; to undo this, run `{}`, then ingest without --boilerplate",
            first_names(&names, number),
            printer.suggested.of("rm NAME")
        ));
        names.iter().for_each(|name| printer.detail(&format!("{name} is boilerplate")));
    }
    if input_replaced {
        printer.note("hint: the earlier text from standard input had the name - too, and was replaced: --name gives each its own");
    }
    if let Some((typed, name, (other, had_other_bytes))) = named_by_path {
        let (files, are) = (count(summary.named_by_path, "file"), is(summary.named_by_path));
        let is_gone = is_gone(Path::new(&other));
        let gone = match had_other_bytes {
            true => ", which is gone and had other bytes",
            false if is_gone => ", which is gone",
            false => "",
        };
        printer.note(&format!(
            "{files} {are} named by the whole path, because another file has the name: {typed} is {other}{gone}, so this one is {name}"
        ));
        let [mv, rm] = ["mv OLD NEW", "rm NAME"].map(|words| printer.suggested.of(words));
        let folders = hint_to_rename_folder(&typed, &name, args.dry_run, &printer.suggested);
        let names = format!("hint: `{mv}` gives other names (--verbose lists them)");
        printer.note(&match folders.filter(|_| had_other_bytes) {
            Some(folders) => folders,
            None if is_gone => names,
            None => format!("{names}; to replace a document, remove it first with `{rm}`"),
        });
    }
    if let Some((old, new)) = moved {
        let (documents, are) = (count(summary.moved, "document"), is(summary.moved));
        printer.note(&format!(
            "{documents} {are} new and the same as stored ones whose files no longer exist: {new} as {old}"
        ));
        // If `--prune` has removed the old document, there is nothing to remove or to rename. If the ingest
        // has renamed other documents, these may be in the new folder, and must stay.
        if !old_is_pruned && summary.renamed == 0 {
            printer.note(&hint_to_rename(&old, &new, args.dry_run, &printer.suggested));
        }
    }
    if let Some((name, source)) = elsewhere {
        let (documents, verb) =
            (count(summary.elsewhere, "document"), if summary.elsewhere == 1 { "stays" } else { "stay" });
        printer.note(&format!(
            "{documents} of these folders {verb}, read from another place where the files are gone: {name} from {source}"
        ));
        let rm = printer.suggested.of("rm NAME...");
        printer.note(&format!("hint: if the folder was moved, `{rm}` removes them (--verbose lists them)"));
    }
    let mut output = Output::of_changes(global)?;
    output.answer(&summary)?;
    output.finish()?;
    if let Some(hint) = hint_for(&profile, &summary, programs).filter(|_| created_here) {
        printer.note(&hint);
    }
    if let Some(hint) = compaction.transpose()?.flatten() {
        printer.note(&hint);
    }
    if summary.dry_run {
        let how = if summary.interrupted {
            "interrupted, and the numbers are of a part"
        } else {
            "without --dry-run it is done"
        };
        printer.note(&format!("a dry run: nothing was stored; {how}"));
        if summary.interrupted {
            return Ok(RunStatus::Interrupted);
        }
    }
    if summary.interrupted {
        let safe = summary.added + summary.replaced + summary.unchanged + summary.kept;
        printer.note(&format!(
            "interrupted: {} of this run {} committed and safe; run the same command to continue",
            count(safe, "document"),
            is(safe)
        ));
        return Ok(RunStatus::Interrupted);
    }
    Ok(if summary.failures == 0 { RunStatus::Done } else { RunStatus::Incomplete })
}

/// The runs of an ingest that is about to begin.
struct Prepared {
    runs: Vec<Run>,
    replaced: Replaced,
}

/// Chooses the options, and remembers those that were typed.
fn prepare(
    database: &Opened,
    args: &IngestArgs,
    sources: &[Source],
    metadata: Option<Arc<MetadataTable>>,
    (stop, printer): (&StopToken, &Printer),
) -> anyhow::Result<Prepared> {
    tell_of_copies(database, sources, printer)?;
    let Chosen { mut runs, moved } = remembered::choose(database, args, sources, stop, printer)?;
    for Run { options, .. } in &mut runs {
        let added = options.clone().boilerplate_sources(&sources::boilerplate(args));
        *options = added.metadata(metadata.clone());
        options.check()?;
    }
    let replaced = Replaced::of(database, args)?;
    if let Opened::Writer(database) = database {
        for (path, options) in moved {
            database.remember(&[path], &options)?;
        }
        replaced.remember_new(database, &runs[0].options)?;
    }
    Ok(Prepared { runs, replaced })
}

/// The names of the boilerplate documents at these paths: the documents that this run names as boilerplate,
/// if one of them is new, and the other documents.
fn boilerplate_here(
    database: &Database,
    sources: &[Source],
    args: &IngestArgs,
    summary: &IngestSummary,
) -> anyhow::Result<[Vec<String>; 2]> {
    let (reach, reach_named) = (Reach::new(sources), Reach::new(&sources::boilerplate(args)));
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for id in database.boilerplate() {
        let document = database.document(id)?;
        let is_of = |reach: &Reach| reach.is_of(&document.name, document.source.as_deref());
        match (is_of(&reach), is_of(&reach_named)) {
            (false, _) => {}
            (true, true) => named.push(document.name),
            (true, false) => others.push(document.name),
        }
    }
    if summary.boilerplate + summary.made_boilerplate == 0 {
        named.clear();
    }
    Ok([named, others])
}

/// Deletes a database that this run has created and that has no documents: it would bind the next ingest to
/// its profile.
fn delete_if_empty(database: Opened, created: Option<PathBuf>, printer: &Printer) -> anyhow::Result<()> {
    if let (Opened::Writer(database), Some(path)) = (database, created)
        && database.delete_if_empty()?
    {
        printer.note(&format!("nothing was added: the database {} was not kept", path.display()));
    }
    Ok(())
}

/// Returns these options, changed so that this run does not read the files that it writes. The database
/// remembers the options without this change.
fn without_written(options: &IngestOptions, global: &Global, args: &IngestArgs, sources: &[Source]) -> IngestOptions {
    let mut walk = options.walk.clone();
    for (_, path) in output::written(global, args) {
        let target = resolved(path);
        walk.leave_out.extend(sources.iter().filter_map(|source| {
            let folder = source.path()?;
            Some(folder.join(target.strip_prefix(folder.canonicalize().ok()?).ok()?))
        }));
        walk.leave_out.push(target);
    }
    options.clone().walk(walk)
}

/// Warns about each copy that `apply` made of this database's files, if a source is the copy or lies inside
/// it.
fn tell_of_copies(database: &Database, sources: &[Source], printer: &Printer) -> anyhow::Result<()> {
    let mut folders = BTreeSet::new();
    for path in sources.iter().filter_map(Source::path) {
        folders.extend(resolved(path).ancestors().skip(usize::from(!path.is_dir())).map(Path::to_owned));
    }
    for folder in folders {
        if database.is_copy(&folder)? {
            printer.warning(&format!(
                "warning: {} holds copies that `fpdb apply` made of files of this database: an ingest adds them as duplicates",
                folder.display()
            ));
        }
    }
    Ok(())
}

/// The flags of these runs that leave out files by their names.
fn globs_of(runs: &[Run]) -> Vec<String> {
    let with = |flag: &'static str, globs: &[String]| -> Vec<String> {
        globs.iter().map(|glob| format!("{flag}={glob}")).collect()
    };
    let walks = runs.iter().map(|run| &run.options.walk);
    let flags = walks.flat_map(|walk| [with("--include", &walk.include), with("--exclude", &walk.exclude)].concat());
    flags.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Prints how many files and members the remembered globs have left out.
fn tell_left_out(summary: &IngestSummary, globs: &[String], printer: &Printer) {
    if summary.left_out > 0 && !globs.is_empty() {
        let files = match summary.left_out {
            1 => "1 file or member was".to_owned(),
            all => format!("{} files and members were", grouped(all)),
        };
        printer.note(&format!("{files} left out by the remembered {}", as_words(globs)));
    }
}

/// Prints which documents have no fingerprint. `first` has the first documents without text, then the first
/// documents with too little text.
fn tell_incomparable(summary: &IngestSummary, first: &[String], printer: &Printer) {
    const NO_TEXT: &str = "no text to compare, such as scanned pages, empty records and punctuation";
    let (textless, short) = (summary.without_text, summary.too_short);
    let documents = count(textless + short, "document");
    let what = match (textless, short) {
        (0, 0) => return,
        (_, 0) => format!("{documents} {} {NO_TEXT}", has(textless)),
        (0, _) => format!("{documents} {} too little text to compare", has(short)),
        _ => format!(
            "{documents} cannot be compared: {} {} {NO_TEXT}, and {} {} too little",
            grouped(textless),
            has(textless),
            grouped(short),
            has(short)
        ),
    };
    let names = match textless + short {
        all if all > NAMES_SHOWN as u64 && !summary.dry_run => {
            format!("{}, ... (`fpdb list --too-short` lists them)", first_names(first, NAMES_SHOWN as u64))
        }
        all => first_names(first, all),
    };
    printer.note(&format!("{what}: {names}"));
}
