//! `fpdb merge`: adds the documents of other databases.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use fpdb::{Database, DatabaseBuilder, Error, IngestOptions, IngestSummary, InputLimits, ReadOptions, Task};

use crate::interrupt;
use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{count, was};
use crate::resolved::database;
use crate::resolved::ingest_target::Opened;
use crate::run_status::RunStatus;
use crate::suggested::Suggested;
use crate::typed::{Global, MergeArgs, reader_process};

pub(crate) fn run(global: &Global, args: &MergeArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let limits = InputLimits::default().process(Some(reader_process()));
    let options = IngestOptions::default().on_change(args.on_change).read(ReadOptions::default().limits(limits));
    let builder = database::builder(global);
    let writing = match args.memory {
        Some(memory) => builder.clone().memory(memory),
        None => builder.clone(),
    };
    let database = match args.dry_run {
        true => Opened::Reader(writing.open(database::to_change(global, printer)?)?),
        false => Opened::Writer(database::open_writer_at(&writing, database::to_change(global, printer)?, printer)?),
    };
    let mut output = Output::of_changes(global)?;
    let stop = interrupt::graceful(interrupt::AT_COMMIT);
    let (mut failed, mut left) = (false, args.others.as_slice());
    while let Some((path, rest)) = left.split_first() {
        if stop.is_stopped() {
            break;
        }
        let other = match open(&builder, path) {
            Ok(other) => other,
            // If one database fails, the others are still merged.
            Err(error) => {
                printer.error_of(&error.into(), &Suggested::new(Some(path)));
                (failed, left) = (true, rest);
                continue;
            }
        };
        let steps = StepBar::start(printer, "opening the database");
        let progress = Merging { printer, steps, first: Mutex::default(), failures: AtomicU64::new(0) };
        let task = Task::new().progress(&progress).stop(stop);
        let merged = match &database {
            Opened::Writer(database) if args.reread => database.reread(&other, &options, &task),
            Opened::Writer(database) => database.merge(&other, &options, &task),
            Opened::Reader(database) if args.reread => database.reread_dry_run(&other, &options, &task),
            Opened::Reader(database) => database.merge_dry_run(&other, &options, &task),
        };
        progress.steps.end();
        let summary = match merged {
            Err(error @ Error::OtherProfile { .. }) => {
                printer.error(&error.into());
                (failed, left) = (true, rest);
                continue;
            }
            summary => summary?,
        };
        output.answer(&summary)?;
        if summary.failures > IngestSummary::LISTED as u64 {
            let more = summary.failures - IngestSummary::LISTED as u64;
            printer.note(&format!("{} could not be read", count(more, "more document")));
        }
        if summary.interrupted {
            break;
        }
        if !args.dry_run {
            printer.note(&format!("merged {}", path.display()));
        }
        if summary.not_kept_out > 0 {
            let (is, stay) = if summary.not_kept_out == 1 { ("is", "stays") } else { ("are", "stay") };
            printer.note(&format!(
                "{} that {} keeps out {is} stored here and {stay}: `{}` removes a document, `{}` lists the names there",
                count(summary.not_kept_out, "content"),
                path.display(),
                printer.suggested.of("rm --keep-out NAME"),
                Suggested::new(Some(path)).of("stats --format json")
            ));
        }
        let first = progress.first.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(Replaced { name, old, new }) = first {
            let documents = count(summary.replaced_from_other_places, "document");
            let verb = if args.dry_run { "would be" } else { was(summary.replaced_from_other_places) };
            printer.note(&format!(
                "{documents} {verb} replaced by one of the same name from another place: {name} of {old} by that of {new}"
            ));
            printer.note(&format!(
                "hint: to keep both, give those of the other database names of their own before a merge (`{}`), or \
                 merge with --on-change both; an ingest of their files brings the replaced ones back",
                Suggested::new(Some(path)).of("mv . NAME")
            ));
        }
        failed |= summary.failures > 0;
        left = rest;
    }
    output.finish()?;
    if args.dry_run {
        let how = if left.is_empty() {
            "without --dry-run it is done"
        } else {
            "interrupted, and the last numbers are of a part"
        };
        printer.note(&format!("a dry run: nothing was stored; {how}"));
        if !left.is_empty() {
            return Ok(RunStatus::Interrupted);
        }
    } else if let Some(path) = left.first() {
        printer.note(&format!(
            "interrupted: what was committed stays, {} is not merged whole; the same command goes on",
            path.display()
        ));
        return Ok(RunStatus::Interrupted);
    }
    Ok(if failed { RunStatus::Incomplete } else { RunStatus::Done })
}

/// A database to be merged.
fn open(builder: &DatabaseBuilder, path: &Path) -> fpdb::Result<Database> {
    builder.open(path).map_err(|error| match error {
        Error::NoDatabase { path } => Error::NoOther { path },
        error => error,
    })
}

/// Shows the steps of a merge and the first failures. Also notes the first document that a document from
/// another place replaced.
struct Merging<'a> {
    printer: &'a Printer,
    steps: StepBar,
    failures: AtomicU64,
    first: Mutex<Option<Replaced>>,
}

/// A document that was replaced: its name, the path of its file, and the path of the new file.
struct Replaced {
    name: String,
    old: String,
    new: String,
}

impl fpdb::Progress for Merging<'_> {
    fn step(&self, step: &'static str, done: u64, total: u64) {
        self.steps.show(step, done, total);
    }

    fn failed(&self, name: &str, error: &Error) {
        if self.failures.fetch_add(1, Ordering::Relaxed) < IngestSummary::LISTED as u64 {
            self.steps.suspend(|| self.printer.failure(name, error));
        }
    }

    fn replaced_from(&self, name: &str, old: &str, new: &str) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| Replaced { name: name.to_owned(), old: old.to_owned(), new: new.to_owned() });
    }
}
