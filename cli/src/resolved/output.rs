//! Checks the format and the place of results.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use fpdb::{Failure, Source};

use super::database;
use crate::typed::{Global, IngestArgs, OutputFormat};

/// Fails if a command does not support the format.
pub(crate) fn only(global: &Global, command: &str, formats: &[OutputFormat]) -> anyhow::Result<()> {
    if formats.contains(&global.format) {
        return Ok(());
    }
    let name = |format: OutputFormat| format!("{format:?}").to_lowercase();
    let has: Vec<String> = formats.iter().map(|&format| name(format)).collect();
    anyhow::bail!("`fpdb {command}` has no {} format; it has {}", name(global.format), has.join(", "))
}

/// Fails if results would overwrite a file that the command reads.
pub(crate) fn not_over<'a>(global: &Global, read: impl IntoIterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    let Some(output) = &global.output else { return Ok(()) };
    let read: Vec<&PathBuf> = read.into_iter().collect();
    // A command that reads the folder would read the new file too.
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let holds = |folder: &Path, parent: &Path| folder.canonicalize().is_ok_and(|folder| parent.starts_with(folder));
    if let Ok(parent) = parent.canonicalize()
        && let Some(folder) = read.iter().find(|path| path.is_dir() && holds(path, &parent))
    {
        anyhow::bail!("-o would write into {}, which is to be read: name a file elsewhere", folder.display());
    }
    not_over_file("-o", output, read)
}

/// Fails if the file named with `flag` is among the files to be read.
fn not_over_file<'a>(flag: &str, target: &Path, read: impl IntoIterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    let Ok(target) = target.canonicalize() else { return Ok(()) };
    let is_target = |path: &&PathBuf| target.is_file() && path.canonicalize().is_ok_and(|path| path == target);
    match read.into_iter().find(is_target) {
        Some(path) => {
            anyhow::bail!("{flag} would write over {}, which is to be read: name another file", path.display())
        }
        None => Ok(()),
    }
}

/// Fails if the results of an ingest would overwrite a file that it reads, or if its list of failures would
/// lie in a database. The list may replace the list of an earlier ingest, even in a folder to be read.
pub(crate) fn over_no_source(global: &Global, args: &IngestArgs, sources: &[Source]) -> anyhow::Result<()> {
    let read: Vec<&PathBuf> =
        sources.iter().filter_map(Source::path).chain(&args.metadata).chain(&args.files_from).collect();
    if let Some(output) = &global.output {
        not_over_file("-o", output, read.iter().copied())?;
    }
    let Some(path) = &args.failures else { return Ok(()) };
    outside_databases(global, path)?;
    not_over_file("--failures", path, read.iter().copied())?;
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let holds = |folder: &Path| folder.canonicalize().is_ok_and(|folder| target.starts_with(folder));
    if target.is_file()
        && let Some(folder) = read.iter().find(|path| path.is_dir() && holds(path))
        && !is_list(&target)
    {
        let (path, folder) = (path.display(), folder.display());
        anyhow::bail!("--failures would write over {path} in {folder}, which is to be read: name another file");
    }
    Ok(())
}

/// True if a file is empty or begins like a list of failures.
fn is_list(path: &Path) -> bool {
    const LONGEST: u64 = 1 << 16;
    let mut line = Vec::new();
    let read = File::open(path).and_then(|file| BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line));
    read.is_ok() && (line.is_empty() || serde_json::from_slice::<Failure>(&line).is_ok())
}

/// Fails if results would be written into a database or among backups.
pub(crate) fn not_inside_a_database(global: &Global) -> anyhow::Result<()> {
    global.output.as_ref().map_or(Ok(()), |path| outside_databases(global, path))
}

fn outside_databases(global: &Global, path: &Path) -> anyhow::Result<()> {
    let own = database::find(global)?.unwrap_or_else(|| database::new(global));
    match fpdb_reading::input::enclosing_database(path, Some(&own)) {
        Some(database) => Err(fpdb::Error::InsideDatabase { path: path.to_owned(), database }.into()),
        None => Ok(()),
    }
}
