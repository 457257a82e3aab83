//! `fpdb ingest`: adds documents.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fpdb::report::IngestReport;
use fpdb::{Database, Error, IngestObserver, IngestOptions, MetadataTable, Source, WalkOptions};

use crate::cli::interrupt;
use crate::cli::output::Output;
use crate::cli::printer::Printer;
use crate::cli::progress::IngestBar;
use crate::cli::render::ingest_page;
use crate::cli::resolved::{database, output, sources};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Global, IngestArgs, OutputFormat};

pub(crate) fn run(global: &Global, args: &IngestArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "ingest", &[OutputFormat::Human, OutputFormat::Json])?;
    let sources = sources::of(args)?;
    let metadata = args.metadata.as_deref().map(MetadataTable::read).transpose()?.map(Arc::new);
    let mut options = IngestOptions {
        on_change: args.on_change,
        store_text: args.store_text,
        walk: WalkOptions { skip_hidden: args.skip_hidden, follow: args.follow, exclude: args.exclude.clone() },
        read: args.read_options(),
        boilerplate: args.boilerplate,
        metadata,
        ..IngestOptions::default()
    };
    options.threads = global.threads.map_or(options.threads, usize::from);
    options.memory = args.memory.unwrap_or(options.memory);
    options.check()?;
    // Whether results can be written is known before the work; their file is made after it, or it would be ingested.
    let output = Output::open(global)?.unless_file();
    let Some(database) = open(global, args, &sources, printer)? else { return Ok(RunStatus::Incomplete) };
    let started = Instant::now();
    let stop = interrupt::graceful();
    let watch = Messages { printer, progress: IngestBar::start(printer, &sources, &options) };
    let summary = database.ingest(&sources, &options, stop, &watch);
    watch.progress.end();
    let mut summary = summary?;
    // The paths that were typed come first.
    let (typed, listed) = sources.split_at(args.paths.len());
    let names =
        |sources: &[Source]| sources.iter().filter_map(|source| source.name().ok()).collect::<HashSet<String>>();
    // What is met in a folder or a list may be no document; what is asked for by its name could not be read.
    let (mut asked_for, listed) = (names(typed), names(listed));
    let mut unread = |name: &String| !Path::new(name).is_dir() && asked_for.remove(name);
    for (name, reason) in summary.skipped.extract_if(.., |(name, _)| unread(name)) {
        let error = Error::Binary { reason };
        printer.failure(&name, &error);
        summary.failed.push((name, error));
    }
    let is_named = |name: &String| asked_for.contains(name) || listed.contains(name);
    for (name, reason) in summary.skipped.iter().filter(|(name, _)| is_named(name)) {
        printer.note(&format!("skipped {name}: {reason}"));
    }
    let report = IngestReport::new(&summary, started.elapsed().as_secs_f64());
    for name in &report.unmatched {
        printer.detail(&format!("no document matches the row {name} of the metadata"));
    }
    let links = report.skipped.iter().filter(|skipped| skipped.reason.contains("symbolic link")).count();
    if links > 0 {
        printer.note(&format!("{links} symbolic links were not followed (--follow follows them)"));
    }
    let mut output = match output {
        Some(output) => output,
        None => Output::open(global)?,
    };
    match global.format {
        OutputFormat::Json => output.json(&report)?,
        _ if global.quiet => {}
        _ => output.text(&ingest_page(&report))?,
    }
    output.finish()?;
    if report.interrupted {
        let safe = report.added + report.replaced + report.unchanged + report.kept;
        printer.note(&format!(
            "interrupted: {safe} documents of this run are committed and safe; run the same command to continue"
        ));
        return Ok(RunStatus::Interrupted);
    }
    Ok(if report.failed.is_empty() { RunStatus::Done } else { RunStatus::Incomplete })
}

/// Opens the database to write to, or makes one where there is none; unless nothing that was named is there, of which it
/// tells.
fn open(global: &Global, args: &IngestArgs, sources: &[Source], printer: &Printer) -> anyhow::Result<Option<Database>> {
    let existing = match database::find(global)? {
        Some(path) => match Database::open_writer(&path) {
            Err(Error::NoDatabase { .. }) => None,
            opened => Some((opened?, path)),
        },
        None => None,
    };
    if let Some((database, path)) = existing {
        args.profile.check(database.profile())?;
        database::tell_if_above(global, &path, printer)?;
        return Ok(Some(database));
    }
    let profile = args.profile.for_new()?;
    let missing: Vec<(&PathBuf, std::io::Error)> = sources.iter().map_while(sources::missing).collect();
    if missing.len() == sources.len() && !missing.is_empty() {
        for (path, source) in missing {
            let error = Error::Io { action: "read", path: path.clone(), source };
            printer.failure(&path.display().to_string(), &error);
        }
        printer.note("no database was made: there is nothing to ingest");
        return Ok(None);
    }
    let path = database::new(global);
    let database = Database::create(&path, &profile)?;
    printer.note(&format!("created the database {}: {}", path.display(), database.profile()));
    Ok(Some(database))
}

/// Says what happens.
struct Messages<'a> {
    printer: &'a Printer,
    progress: IngestBar,
}

impl IngestObserver for Messages<'_> {
    fn read(&self, bytes: u64) {
        self.progress.read(bytes);
    }

    fn done(&self, name: &str, outcome: fpdb::Outcome, format: &str) {
        self.progress.documents(1);
        let outcome = match outcome {
            fpdb::Outcome::Added => "added",
            fpdb::Outcome::Replaced => "replaced",
            fpdb::Outcome::Unchanged => "unchanged",
            fpdb::Outcome::Kept => "kept as stored",
        };
        self.progress.suspend(|| self.printer.detail(&format!("{outcome} {name} ({format})")));
    }

    fn skipped(&self, name: &str, reason: &'static str) {
        self.progress.suspend(|| self.printer.detail(&format!("skipped {name}: {reason}")));
    }

    fn unchanged(&self, name: &str, documents: u64) {
        self.progress.documents(documents);
        self.progress.suspend(|| self.printer.detail(&format!("unchanged {name}, with {documents} documents")));
    }

    fn removed(&self, name: &str) {
        self.progress.suspend(|| self.printer.detail(&format!("removed {name}: its container no longer holds it")));
    }

    fn failed(&self, name: &str, error: &Error) {
        self.progress.suspend(|| self.printer.failure(name, error));
    }

    fn committed(&self, _: u64) {}
}
