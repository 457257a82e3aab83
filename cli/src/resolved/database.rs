//! The database of a command: `--db`, otherwise `$FPDB_DB`, otherwise the nearest `.fpdb/` in the current
//! folder or above it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fpdb::{Database, DatabaseBuilder, DatabaseWriter, DocumentInfo, Error};
use fpdb_reading::input::absolute_name;

use crate::printer::Printer;
use crate::render::as_words;
use crate::typed::Global;

/// The name of a database folder that needs no `--db`.
const FOLDER: &str = ".fpdb";

/// The path of an existing database.
///
/// # Errors
/// [`Error::NoDatabase`] with the path that was searched.
pub(crate) fn existing(global: &Global) -> anyhow::Result<PathBuf> {
    match find(global)? {
        Some(path) => Ok(path),
        None => Err(Error::NoDatabase { path: here()?.join(FOLDER) }.into()),
    }
}

/// The path of the database for a command that changes it, or writes or deletes files because of it, also in
/// a dry run. Prints the path if the database was found above the current folder, because the user may mean
/// another database.
///
/// # Errors
/// The same as those of [`existing`].
pub(crate) fn to_change(global: &Global, printer: &Printer) -> anyhow::Result<PathBuf> {
    let path = existing(global)?;
    tell_if_above(global, &path, printer)?;
    Ok(path)
}

/// A builder that raises the limit on open files, and has the typed number of threads.
pub(crate) fn builder(global: &Global) -> DatabaseBuilder {
    let builder = Database::builder().raise_open_files(true);
    match global.threads {
        Some(threads) => builder.threads(threads.into()),
        None => builder,
    }
}

/// Opens a database for reading.
///
/// # Errors
/// The errors of [`existing`], and a failure to open the database.
pub(crate) fn open(global: &Global) -> anyhow::Result<Database> {
    Ok(builder(global).open(existing(global)?)?)
}

/// The default of --memory for commands that compare all documents.
const COMPARING_MEMORY: u64 = 1 << 30;

/// Opens the database at a path for a command that compares all documents, with this memory.
///
/// # Errors
/// A failure to open the database.
pub(crate) fn open_within(global: &Global, path: impl AsRef<Path>, memory: Option<u64>) -> anyhow::Result<Database> {
    Ok(builder(global).memory(memory.unwrap_or(COMPARING_MEMORY)).open(path)?)
}

/// Opens a database for writing.
///
/// # Errors
/// The errors of [`to_change`], and a failure to open the database.
pub(crate) fn open_writer(global: &Global, printer: &Printer) -> anyhow::Result<DatabaseWriter> {
    Ok(open_writer_at(&builder(global), to_change(global, printer)?, printer)?)
}

/// Opens the database at a path for writing. If opening finishes a killed repair, prints the folder in which
/// the repair kept the damaged store, as `verify --repair` does.
///
/// # Errors
/// A failure to open the database.
pub(crate) fn open_writer_at(
    builder: &DatabaseBuilder,
    path: impl AsRef<Path>,
    printer: &Printer,
) -> fpdb::Result<DatabaseWriter> {
    let database = builder.open_writer(path)?;
    if let Some(path) = database.finished_repair() {
        let path = as_words(&[path.display().to_string()]);
        printer.warning(&format!(
            "finished a repair that was interrupted; it has kept the damaged files: once nothing is missing, remove them: rm -r {path}"
        ));
    }
    Ok(database)
}

/// Prints the path of a database that was found above the current folder, even with --quiet: the user may
/// mean another database.
pub(crate) fn tell_if_above(global: &Global, path: &Path, printer: &Printer) -> anyhow::Result<()> {
    if global.db.is_none() && path.parent() != Some(&here()?) {
        printer.warning(&format!("the database is {}, above this folder (--db names another)", path.display()));
    }
    Ok(())
}

/// Prints a note if all documents are boilerplate, so that nothing can match.
pub(crate) fn tell_if_all_boilerplate(database: &Database, printer: &Printer) -> anyhow::Result<()> {
    let stats = database.stats_without_lists()?;
    if stats.documents > 0 && stats.boilerplate == stats.documents {
        printer.warning(
            "all stored documents are boilerplate, which never matches: to undo it, `fpdb rm` them and ingest them without --boilerplate",
        );
    }
    Ok(())
}

/// The path of the database that was named or found, if any.
pub(crate) fn find(global: &Global) -> anyhow::Result<Option<PathBuf>> {
    nearest(global.db.as_ref())
}

/// The named database, otherwise the nearest one.
pub(crate) fn nearest(named: Option<&PathBuf>) -> anyhow::Result<Option<PathBuf>> {
    if let Some(path) = named {
        return Ok(Some(path.clone()));
    }
    let here = here()?;
    Ok(here.ancestors().map(|folder| folder.join(FOLDER)).find(|path| path.is_dir()))
}

/// The path of a database for people: relative if it lies in the current folder.
pub(crate) fn display_path(path: &Path) -> String {
    let here = here().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// The path of a new database.
pub(crate) fn new(global: &Global) -> PathBuf {
    global.db.clone().unwrap_or_else(|| Path::new(".").join(FOLDER))
}

fn here() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("cannot tell the current folder")
}

/// The documents with a name. The absolute path of a file stands for the documents that have its name and
/// were read from it, not for those of this name that were read from other files.
///
/// # Errors
/// [`Error::NoSuchDocument`] if there is none; a failure to read the store.
pub(crate) fn documents_named(database: &Database, name: &str) -> fpdb::Result<Vec<DocumentInfo>> {
    let unknown = match database.documents_named(name) {
        Err(error @ Error::NoSuchDocument { .. }) if Path::new(name).is_absolute() => error,
        found => return found,
    };
    // A path through a folder that is gone is the path of no file.
    let Ok(path) = absolute_name(Path::new(name)) else { return Err(unknown) };
    let Some(name) = database.name_of_file(&path)? else { return Err(unknown) };
    let mut documents = match database.documents_named(&name) {
        // The name is that of a container.
        Err(Error::NoSuchDocument { .. }) => Vec::new(),
        found => found?,
    };
    documents.retain(|document| document.source.as_deref() == Some(&path));
    if documents.is_empty() { Err(unknown) } else { Ok(documents) }
}

/// The error for an unknown document, with the most similar stored name. This function may read many names,
/// so a run calls it for one error only.
///
/// # Errors
/// Fails if the names cannot be read.
pub(crate) fn with_nearest(database: &Database, error: Error) -> anyhow::Result<Error> {
    Ok(match error {
        Error::NoSuchDocument { name, nearest: None } => {
            let nearest = database.nearest_name(&name)?;
            Error::NoSuchDocument { name, nearest }
        }
        error => error,
    })
}
