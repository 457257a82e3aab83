//! `fpdb merge`: adds the documents of other databases.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use fpdb::report::IngestReport;
use fpdb::{Database, Error, IngestObserver, IngestOptions, IngestSummary};

use crate::cli::interrupt;
use crate::cli::output::Output;
use crate::cli::printer::Printer;
use crate::cli::progress::StepBar;
use crate::cli::render::ingest_page;
use crate::cli::resolved::{database, output};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Global, MergeArgs, OutputFormat};

pub(crate) fn run(global: &Global, args: &MergeArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "merge", &[OutputFormat::Human, OutputFormat::Json])?;
    let default = IngestOptions::default();
    let memory = args.memory.unwrap_or(default.memory);
    let options = IngestOptions { on_change: args.on_change, memory, ..default };
    options.check()?;
    let database = Database::open_writer(&database::to_change(global, printer)?)?;
    let mut output = Output::open(global)?;
    let stop = interrupt::graceful();
    let (mut failed, mut left) = (false, args.others.as_slice());
    while let Some((path, rest)) = left.split_first() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let started = Instant::now();
        let other = match open(path) {
            Ok(other) => other,
            // What is wrong with one of the others does not keep the rest from being merged.
            Err(error) => {
                printer.error(&error.into());
                (failed, left) = (true, rest);
                continue;
            }
        };
        let summary = match merge(&database, &other, &options, stop, printer) {
            Err(error @ Error::OtherProfile { .. }) => {
                printer.error(&error.into());
                (failed, left) = (true, rest);
                continue;
            }
            summary => summary?,
        };
        let report = IngestReport::new(&summary, started.elapsed().as_secs_f64());
        match global.format {
            OutputFormat::Json => output.json(&report)?,
            _ if global.quiet => {}
            _ => output.text(&ingest_page(&report))?,
        }
        if report.interrupted {
            break;
        }
        printer.note(&format!("merged {}", path.display()));
        failed |= report.failures > 0;
        left = rest;
    }
    output.finish()?;
    if let Some(path) = left.first() {
        printer.note(&format!(
            "interrupted: what was committed stays, {} is not merged whole; the same command goes on",
            path.display()
        ));
        return Ok(RunStatus::Interrupted);
    }
    Ok(if failed { RunStatus::Incomplete } else { RunStatus::Done })
}

/// A database that is to be merged.
fn open(path: &Path) -> fpdb::Result<Database> {
    Database::open(path).map_err(|error| match error {
        Error::NoDatabase { path } => Error::NoOther { path },
        error => error,
    })
}

/// Adds the documents of another database.
fn merge(
    database: &Database,
    other: &Database,
    options: &IngestOptions,
    stop: &AtomicBool,
    printer: &Printer,
) -> fpdb::Result<IngestSummary> {
    let steps = StepBar::start(printer, "opening the database");
    let watch = MergeProgress { steps, documents: other.stats()?.documents, done: AtomicU64::new(0) };
    let summary = database.merge(other, options, stop, &watch);
    watch.steps.end();
    summary
}

/// Shows how far the merging has come.
struct MergeProgress {
    steps: StepBar,
    documents: u64,
    done: AtomicU64,
}

impl IngestObserver for MergeProgress {
    fn read(&self, _: u64) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.steps.show("documents looked at", done, self.documents);
    }

    fn done(&self, _: &str, _: fpdb::Outcome, _: &str) {}
    fn skipped(&self, _: &str, _: &'static str) {}
    fn unchanged(&self, _: &str, _: u64) {}
    fn failed(&self, _: &str, _: &Error) {}
    fn committed(&self, _: u64) {}

    fn working(&self, what: &'static str, done: u64, total: u64) {
        self.steps.show(what, done, total);
    }
}
