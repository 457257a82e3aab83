//! Ingest target: the database that an ingest writes to, creates, or in a dry run compares with.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use fpdb::{Database, DatabaseWriter, Error, Source};
use tempfile::TempDir;

use super::{database, sources};
use crate::printer::Printer;
use crate::typed::{Global, IngestArgs};

/// The database to write to, or to compare with in a dry run.
pub(crate) struct IngestTarget {
    pub(crate) database: Opened,
    /// The path of the database, if this run has created it.
    pub(crate) created: Option<PathBuf>,
    /// The folder of an empty database for a dry run without a database.
    pub(crate) _temporary: Option<TempDir>,
}

pub(crate) enum Opened {
    Writer(DatabaseWriter),
    Reader(Database),
}

impl Deref for Opened {
    type Target = Database;

    fn deref(&self) -> &Database {
        match self {
            Self::Writer(database) => database,
            Self::Reader(database) => database,
        }
    }
}

/// Opens the database for writing, or creates it. Returns `None`, with a message, if none of the sources
/// exists.
pub(crate) fn open(
    global: &Global,
    args: &IngestArgs,
    sources: &[Source],
    printer: &Printer,
) -> anyhow::Result<Option<IngestTarget>> {
    let builder = database::builder(global);
    let builder = match args.memory {
        Some(memory) => builder.memory(memory),
        None => builder,
    };
    let existing = |database: Opened, path: &Path| {
        args.profile.check(database.profile())?;
        database::tell_if_above(global, path, printer)?;
        Ok(Some(IngestTarget { database, created: None, _temporary: None }))
    };
    if let Some(path) = database::find(global)? {
        let opened = match args.dry_run {
            true => builder.open(&path).map(Opened::Reader),
            false => database::open_writer_at(&builder, &path, printer).map(Opened::Writer),
        };
        match opened {
            Err(Error::NoDatabase { .. }) => {}
            opened => return existing(opened?, &path),
        }
    }
    let profile = args.profile.for_new()?;
    let missing: Vec<(&PathBuf, std::io::Error)> = sources.iter().map_while(sources::missing).collect();
    if missing.len() == sources.len() && !missing.is_empty() {
        for (path, source) in missing {
            let error = Error::Io { action: "read", path: path.clone(), source };
            printer.failure(&path.display().to_string(), &error);
        }
        printer.note("no database was created: there is nothing to ingest");
        return Ok(None);
    }
    if args.dry_run {
        let folder = tempfile::tempdir()?;
        let database = Opened::Writer(builder.create(folder.path().join("empty"), profile)?);
        return Ok(Some(IngestTarget { database, created: None, _temporary: Some(folder) }));
    }
    let path = database::new(global);
    let database = match builder.create(&path, profile) {
        // Another process has created the database meanwhile.
        Err(Error::DatabaseExists { .. }) => {
            let database = database::open_writer_at(&builder, &path, printer)?;
            return existing(Opened::Writer(database), &path);
        }
        created => created?,
    };
    printer.note(&format!("created the database {}: {}", path.display(), database.profile()));
    Ok(Some(IngestTarget { database: Opened::Writer(database), created: Some(path), _temporary: None }))
}
