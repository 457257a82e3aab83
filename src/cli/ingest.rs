//! `fpdb ingest`: adds documents.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use fpdb::report::{IngestReport, ingest_page};
use fpdb::{Database, Error, IngestObserver, IngestOptions, MetadataTable, Source, WalkOptions};

use super::Outcome;
use super::args::{Format, Global, IngestArgs};
use super::printer::{Output, Printer, only};
use super::progress::Progress;
use super::{interrupt, place};

pub(crate) fn run(global: &Global, args: &IngestArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "ingest", &[Format::Human, Format::Json])?;
    let sources = sources(args)?;
    let metadata = args.metadata.as_deref().map(MetadataTable::read).transpose()?.map(Arc::new);
    let mut options = IngestOptions {
        on_change: args.on_change.into(),
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
    let Some(database) = open(global, args, &sources, printer)? else { return Ok(Outcome::Incomplete) };
    let started = Instant::now();
    let stop = interrupt::graceful();
    let watch = Watch { printer, progress: Progress::start(printer, &sources, &options) };
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
        Format::Json => output.json(&report)?,
        _ if global.quiet => {}
        _ => output.text(&ingest_page(&report))?,
    }
    output.finish()?;
    if report.interrupted {
        let safe = report.added + report.replaced + report.unchanged + report.kept;
        printer.note(&format!(
            "interrupted: {safe} documents of this run are committed and safe; run the same command to continue"
        ));
        return Ok(Outcome::Interrupted);
    }
    Ok(if report.failed.is_empty() { Outcome::Done } else { Outcome::Incomplete })
}

fn sources(args: &IngestArgs) -> anyhow::Result<Vec<Source>> {
    let source = |path: PathBuf| {
        if path == Path::new("-") { Source::StandardInput { name: args.name.clone() } } else { Source::Path(path) }
    };
    let mut sources: Vec<Source> = args.paths.iter().cloned().map(source).collect();
    if let Some(list) = &args.files_from {
        let text = read_list(list)?;
        let standard_input = list == Path::new("-");
        for line in paths_in(&text) {
            if standard_input && line == b"-" {
                anyhow::bail!(
                    "`--files-from -` reads paths from standard input, so standard input cannot be a document too"
                );
            }
            sources.push(source(path_of(line)?));
        }
    }
    let from_input = sources.iter().filter(|source| matches!(source, Source::StandardInput { .. })).count();
    if from_input > 1 || (from_input == 1 && args.files_from.as_deref() == Some(Path::new("-"))) {
        anyhow::bail!("standard input can be read only once");
    }
    Ok(sources)
}

fn read_list(list: &Path) -> anyhow::Result<Vec<u8>> {
    if list == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().lock().read_to_end(&mut text).context("cannot read the list of files from standard input")?;
        return Ok(text);
    }
    Ok(std::fs::read(list).map_err(|source| Error::Io {
        action: "read the list of files",
        path: list.into(),
        source,
    })?)
}

/// The paths in a list: a line each, unless it has a NUL character, which no path can hold; then that ends each.
fn paths_in(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = !list.contains(&0);
    let paths = list.split(move |&byte| byte == if lines { b'\n' } else { 0 });
    let paths = paths.map(move |path| if lines { path.strip_suffix(b"\r").unwrap_or(path) } else { path });
    paths.filter(|path| !path.is_empty())
}

#[cfg(unix)]
fn path_of(line: &[u8]) -> anyhow::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(line).into())
}

#[cfg(not(unix))]
fn path_of(line: &[u8]) -> anyhow::Result<PathBuf> {
    Ok(std::str::from_utf8(line).context("the list of files is not UTF-8")?.into())
}

/// Opens the database to write to, or makes one where there is none; unless nothing that was named is there, of which it
/// tells.
fn open(global: &Global, args: &IngestArgs, sources: &[Source], printer: &Printer) -> anyhow::Result<Option<Database>> {
    let existing = match place::find(global)? {
        Some(path) => match Database::open_writer(&path) {
            Err(Error::NoDatabase { .. }) => None,
            opened => Some((opened?, path)),
        },
        None => None,
    };
    if let Some((database, path)) = existing {
        args.profile.check(database.profile())?;
        place::tell_if_above(global, &path, printer)?;
        return Ok(Some(database));
    }
    let profile = args.profile.for_new()?;
    let missing: Vec<(&PathBuf, std::io::Error)> = sources.iter().map_while(missing).collect();
    if missing.len() == sources.len() && !missing.is_empty() {
        for (path, source) in missing {
            let error = Error::Io { action: "read", path: path.clone(), source };
            printer.failure(&path.display().to_string(), &error);
        }
        printer.note("no database was made: there is nothing to ingest");
        return Ok(None);
    }
    let path = place::new(global);
    let database = Database::create(&path, &profile)?;
    printer.note(&format!("created the database {}: {}", path.display(), database.profile()));
    Ok(Some(database))
}

/// A source that is not there, and what the system says.
fn missing(source: &Source) -> Option<(&PathBuf, std::io::Error)> {
    match source {
        Source::Path(path) => Some((path, path.symlink_metadata().err()?)),
        Source::StandardInput { .. } => None,
    }
}

/// Says what happens.
struct Watch<'a> {
    printer: &'a Printer,
    progress: Progress,
}

impl IngestObserver for Watch<'_> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_a_path_a_line_or_one_before_each_nul() {
        let paths = |list: &'static [u8]| paths_in(list).collect::<Vec<_>>();
        assert_eq!(paths(b"a b\r\n\nc\n"), [&b"a b"[..], b"c"]);
        assert_eq!(paths(b"a\nb\0c\r\0"), [&b"a\nb"[..], b"c\r"]);
        assert_eq!(paths(b""), [b""; 0]);
    }
}
