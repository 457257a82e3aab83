//! `fpdb restore`: creates a database from a backup.

use std::path::Path;

use fpdb::maintenance::backups;
use fpdb_host::schema::{Answer, Schema};
use serde::Serialize;

use crate::output::summary;
use crate::printer::Printer;
use crate::render::{count, moment};
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{Global, RestoreArgs};

/// A database that was made of a backup. Also its JSON (`fpdb.restore/1`).
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Restored {
    schema: Schema<Self>,
    /// The database's folder.
    path: String,
    /// The folder of backups, as it was given.
    folder: String,
    /// Number of documents in it.
    documents: u64,
}

impl Answer for Restored {
    const SCHEMA: &'static str = "fpdb.restore/1";
}

pub(crate) fn run(global: &Global, args: &RestoreArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let path = database::new(global);
    let number = match args.at {
        Some(time) => Some(newest_until(&args.folder, time)?),
        None => args.number,
    };
    let database = database::builder(global).restore(&path, &args.folder, number)?;
    let documents = database.document_count();
    let (path, folder) = (path.display().to_string(), args.folder.display().to_string());
    let restored = format!("restored {path} from {folder}: {}", count(documents, "document"));
    summary(global, &Restored { schema: Schema::new(), path, folder, documents }, "")?;
    printer.note(&restored);
    Ok(RunStatus::Done)
}

/// The number of the newest backup that was made at this time or earlier.
fn newest_until(folder: &Path, time: i64) -> anyhow::Result<u32> {
    let backups = backups(folder)?;
    match (backups.iter().rfind(|backup| backup.made_at <= time), backups.first()) {
        (Some(backup), _) => Ok(backup.number),
        (None, Some(first)) => {
            anyhow::bail!("{}: the first backup was made later, at {}", folder.display(), moment(first.made_at))
        }
        (None, None) => Err(fpdb::Error::NotABackup { path: folder.to_owned() }.into()),
    }
}
