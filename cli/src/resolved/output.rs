//! Checks the format and the place of results.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use fpdb::{Failure, Source};
use fpdb_reading::input::{PARTS, resolved};

use super::database;
use crate::output::check_place;
use crate::typed::{ApplyArgs, Global, IngestArgs, OutputFormat, Verb};

/// Fails if a command does not support the format.
pub(crate) fn only(global: &Global, command: &str, formats: &[OutputFormat]) -> anyhow::Result<()> {
    if formats.contains(&global.format) {
        return Ok(());
    }
    let name = |format: OutputFormat| format!("{format:?}").to_lowercase();
    let has: Vec<String> = formats.iter().map(|&format| name(format)).collect();
    anyhow::bail!("`fpdb {command}` has no {} format; it has {}", name(global.format), has.join(", "))
}

/// Fails before the work of a command if the file of `-o` cannot be written, or would hold nothing. Also
/// fails if it would overwrite a database, the file of a stored document, or a file that the command reads.
pub(crate) fn check(global: &Global, verb: &Verb, name: &str) -> anyhow::Result<()> {
    let Some(output) = &global.output else { return Ok(()) };
    outside_databases(global, output)?;
    if global.format.is_for_people() && !verb.writes_text() {
        let json = if matches!(verb, Verb::Man(_)) { "" } else { "; with --format json it writes its answer" };
        anyhow::bail!("this form of `fpdb {name}` prints its messages on standard error and has nothing for -o{json}");
    }
    let read = verb.inputs();
    // A command that reads the folder of the new file would read this file too.
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let holds = |folder: &Path, parent: &Path| folder.canonicalize().is_ok_and(|folder| parent.starts_with(folder));
    // A report may lie in the current folder even if the command reads that folder: no other place would be
    // near.
    let here = (global.format == OutputFormat::Html).then(|| Path::new(".").canonicalize().ok()).flatten();
    let is_here = |path: &Path| here.is_some() && path.canonicalize().ok() == here;
    if let Ok(parent) = parent.canonicalize()
        && let Some(folder) = read.iter().find(|path| path.is_dir() && holds(path, &parent) && !is_here(path))
    {
        anyhow::bail!("-o would write into {}, which is to be read: name a file elsewhere", folder.display());
    }
    not_read("-o", output, read.iter().copied())?;
    match verb {
        // An ingest checks this itself.
        Verb::Ingest(_) => {}
        // `verify` must run on a damaged database too, so it ignores errors of this search.
        Verb::Verify(_) => not_stored(global, "-o", output, |_| Ok(()))?,
        _ => not_stored(global, "-o", output, Err)?,
    }
    if let Verb::Apply(args) = verb {
        outside_copy(args, output)?;
    }
    // A report for a browser is a folder, and has a check of its own.
    if global.format == OutputFormat::Html { Ok(()) } else { check_place(output) }
}

/// Fails if the file named with `flag` is among the files to be read.
fn not_read<'a>(flag: &str, target: &Path, read: impl IntoIterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    let Some(real) = file_at(target) else { return Ok(()) };
    if let Some(path) = read.into_iter().find(|path| file_of(path).canonicalize().is_ok_and(|path| path == real)) {
        anyhow::bail!("{flag} would write over {}, which is to be read: name another file", path.display());
    }
    Ok(())
}

/// Fails if a stored document was read from the file named with `flag`. If the search in the database fails,
/// `unknown` decides whether the error of the search counts.
fn not_stored(
    global: &Global,
    flag: &str,
    target: &Path,
    unknown: impl Fn(fpdb::Error) -> Result<(), fpdb::Error>,
) -> anyhow::Result<()> {
    let Some(real) = file_at(target) else { return Ok(()) };
    let Some(database) = database::find(global)? else { return Ok(()) };
    // If the database cannot be opened, the command itself reports the reason later.
    let Ok(database) = database::builder(global).open(database) else { return Ok(()) };
    for path in [target, &real] {
        match database.name_of_file(path) {
            Ok(None) => {}
            Ok(Some(name)) => {
                anyhow::bail!("{flag} would write over the file of {name}, which is stored: name another file")
            }
            Err(error) => unknown(error)?,
        }
    }
    Ok(())
}

/// Fails if a path is in the folder to which an apply copies or moves files, or is the log of the apply.
fn outside_copy(args: &ApplyArgs, output: &Path) -> anyhow::Result<()> {
    let (output, folder) = (resolved(output), args.folder());
    if let Some(folder) = folder.filter(|folder| output.starts_with(resolved(folder))) {
        anyhow::bail!(
            "-o would write into {}, to which this command writes files: name a file elsewhere",
            folder.display()
        );
    }
    // The log lies beside the folder or the report: `clean.write.log`.
    let is_log_of = |path: &Path| {
        let (path, name) = (resolved(path), output.file_name().unwrap_or_default().to_string_lossy());
        let rest = name.strip_prefix(&*path.file_name().unwrap_or_default().to_string_lossy());
        output.parent() == path.parent() && rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".log"))
    };
    if folder.into_iter().chain([&*args.report]).any(is_log_of) {
        anyhow::bail!("-o would write over {}, a log of this command: name another file", output.display());
    }
    Ok(())
}

/// The regular file at a path, with the links in the path resolved.
fn file_at(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|real| real.is_file())
}

/// The file of a path. A path can name a document inside a file, such as `all.zip!a.c`.
fn file_of(path: &Path) -> &Path {
    let text = path.to_str().filter(|_| !path.exists()).unwrap_or_default();
    let mut files = text.rmatch_indices(PARTS).map(|(at, _)| Path::new(&text[..at]));
    files.find(|file| file.is_file()).unwrap_or(path)
}

/// Fails if the results of an ingest or its list of failures would overwrite a file that must stay. Both may
/// replace the same files of an earlier ingest, even in a folder to be read, and even if those files were
/// stored once. The ingest does not read these files.
pub(crate) fn check_ingest(global: &Global, args: &IngestArgs, sources: &[Source]) -> anyhow::Result<()> {
    let read: Vec<&PathBuf> =
        sources.iter().filter_map(Source::path).chain(&args.metadata).chain(&args.files_from).collect();
    if let Some(path) = &args.failures {
        if path == Path::new("-") {
            anyhow::bail!("--failures names a file, and standard output has the results");
        }
        outside_databases(global, path)?;
        if let Some(output) = &global.output
            && resolved(output) == resolved(path)
        {
            anyhow::bail!("-o and --failures name the same file");
        }
    }
    for (flag, path) in written(global, args) {
        not_read(flag, path, read.iter().copied())?;
        let Some(target) = file_at(path).filter(|target| !is_of_ingest(target)) else { continue };
        not_stored(global, flag, path, Err)?;
        let holds = |folder: &Path| folder.canonicalize().is_ok_and(|folder| target.starts_with(folder));
        if let Some(folder) = read.iter().find(|path| path.is_dir() && holds(path)) {
            let (path, folder) = (path.display(), folder.display());
            anyhow::bail!("{flag} would write over {path} in {folder}, which is to be read: name another file");
        }
    }
    Ok(())
}

/// The files that an ingest writes, with their flags.
pub(crate) fn written<'a>(global: &'a Global, args: &'a IngestArgs) -> impl Iterator<Item = (&'static str, &'a Path)> {
    let output = global.output.as_deref().map(|path| ("-o", path));
    output.into_iter().chain(args.failures.as_deref().map(|path| ("--failures", path)))
}

/// True if a file is empty, or begins like the results or the list of failures of an ingest.
fn is_of_ingest(path: &Path) -> bool {
    const LONGEST: u64 = 1 << 16;
    let mut line = Vec::new();
    let read = File::open(path).and_then(|file| BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line));
    let text = String::from_utf8_lossy(&line);
    let words: Vec<&str> = text.trim_start_matches("dry run: ").split_whitespace().collect();
    let is_summary = matches!(words[..], [_, "document" | "documents", "added" | "added,", ..])
        || line.starts_with(br#"{"schema":"fpdb.ingest/"#);
    read.is_ok() && (line.is_empty() || is_summary || serde_json::from_slice::<Failure>(&line).is_ok())
}

/// Fails if a path is in a database or among backups.
fn outside_databases(global: &Global, path: &Path) -> anyhow::Result<()> {
    let own = database::find(global)?.unwrap_or_else(|| database::new(global));
    match fpdb_reading::input::enclosing_database(path, Some(&own)) {
        Some(database) => Err(fpdb::Error::InsideDatabase { path: path.to_owned(), database }.into()),
        None => Ok(()),
    }
}
