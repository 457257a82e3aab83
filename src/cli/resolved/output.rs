//! Checks that results can be written as the user wants them, and where.

use std::path::{Path, PathBuf};

use super::database;
use crate::cli::typed::{Global, OutputFormat};

/// Refuses formats a command does not have.
pub(crate) fn only(global: &Global, command: &str, formats: &[OutputFormat]) -> anyhow::Result<()> {
    if formats.contains(&global.format) {
        return Ok(());
    }
    let name = |format: OutputFormat| format!("{format:?}").to_lowercase();
    let has: Vec<String> = formats.iter().map(|&format| name(format)).collect();
    anyhow::bail!("`fpdb {command}` has no {} format; it has {}", name(global.format), has.join(", "))
}

/// Refuses to write results over a file that is read for them.
pub(crate) fn not_over<'a>(global: &Global, read: impl IntoIterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    let Some(output) = &global.output else { return Ok(()) };
    let read: Vec<&PathBuf> = read.into_iter().collect();
    // The new file would be read with the folder while it is written.
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let holds = |folder: &Path, parent: &Path| folder.canonicalize().is_ok_and(|folder| parent.starts_with(folder));
    if let Ok(parent) = parent.canonicalize()
        && let Some(folder) = read.iter().find(|path| path.is_dir() && holds(path, &parent))
    {
        anyhow::bail!("-o would write into {}, which is to be read: name a file elsewhere", folder.display());
    }
    let Ok(target) = output.canonicalize() else { return Ok(()) };
    let is_target = |path: &&PathBuf| target.is_file() && path.canonicalize().is_ok_and(|path| path == target);
    match read.into_iter().find(is_target) {
        Some(path) => anyhow::bail!("-o would write over {}, which is to be read: name another file", path.display()),
        None => Ok(()),
    }
}

/// Refuses to write results into a database, this command's own or another, or among backups.
pub(crate) fn not_inside_a_database(global: &Global) -> anyhow::Result<()> {
    let Some(path) = &global.output else { return Ok(()) };
    let own = database::find(global)?.unwrap_or_else(|| database::new(global));
    match fpdb::enclosing_database(path, Some(&own)) {
        Some(database) => Err(fpdb::Error::InsideDatabase { path: path.clone(), database }.into()),
        None => Ok(()),
    }
}
