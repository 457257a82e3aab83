//! `fpdb restore`: creates a database from a backup.

use std::collections::BTreeSet;
use std::path::Path;

use fpdb::maintenance::{ListedBackup, backups, kept_out_since};
use fpdb_host::schema::{Answer, Schema};
use serde::Serialize;

use super::backup::warn_of_space;
use crate::output::summary;
use crate::printer::Printer;
use crate::render::{count, moment};
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{Global, RestoreArgs};

/// A database that was made from a backup. Also its JSON (`fpdb.restore/1`).
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Restored {
    schema: Schema<Self>,
    /// The database's folder.
    path: String,
    /// The folder of backups, as the user gave it.
    folder: String,
    /// The number of the backup in the folder.
    number: u32,
    /// The time of the backup, in seconds since 1970.
    made_at: i64,
    /// Number of documents in the database.
    documents: u64,
    /// Number of contents that the restored database does not keep out, but that a newer backup in the folder
    /// keeps out, or the database that was backed up, if that database still exists.
    #[serde(skip_serializing_if = "is_zero")]
    kept_out_since: u64,
}

impl Answer for Restored {
    const SCHEMA: &'static str = "fpdb.restore/1";
}

pub(crate) fn run(global: &Global, args: &RestoreArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let path = database::new(global);
    let listed = backups(&args.folder)?;
    let number = match args.at {
        Some(time) => Some(newest_until(&args.folder, &listed, time)?),
        None => args.number.or_else(|| whole(&listed).last().map(|backup| backup.number)),
    };
    let backup = listed.iter().find(|backup| Some(backup.number) == number);
    if let Some(backup) = backup.filter(|_| !path.exists()) {
        warn_of_space(backup.bytes, &path, printer);
    }
    let database = database::builder(global).restore(&path, &args.folder, number)?;
    let (number, made_at) = backup.map_or((0, 0), |backup| (backup.number, backup.made_at));
    let kept_out: BTreeSet<_> = database.kept_out()?.into_iter().map(|content| content.digest).collect();
    let since = kept_out_since(&args.folder, number)?.into_iter().filter(|digest| !kept_out.contains(digest));
    let (documents, kept_out_since) = (database.document_count(), since.count() as u64);
    let (path, folder) = (path.display().to_string(), args.folder.display().to_string());
    let of_backup = format!("backup {number} of {}", moment(made_at));
    let restored = format!("restored {path} from {folder}, {of_backup}: {}", count(documents, "document"));
    let answer = Restored { schema: Schema::new(), path, folder, number, made_at, documents, kept_out_since };
    summary(global, &answer, "")?;
    printer.note(&restored);
    for newer in listed.iter().filter(|newer| newer.number > number && newer.damaged.is_some()) {
        printer.warning(&format!("warning: backup {} is newer, but damaged, and cannot be restored", newer.number));
    }
    for newer in listed.iter().filter(|newer| newer.number > number) {
        if let Some(file) = &newer.damaged_record {
            printer.warning(&format!(
                "warning: {file} of a newer backup is damaged: that backup may keep out more contents than are said here"
            ));
        }
    }
    if kept_out_since > 0 {
        let contents = count(kept_out_since, "content");
        printer.warning(&format!(
            "warning: {contents} that a newer backup or the database itself keeps out: not kept out here; remove \
             such documents again with `{}` before an ingest or a query",
            printer.suggested.of("rm --keep-out NAME")
        ));
    }
    Ok(RunStatus::Done)
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The backups that lack no file.
fn whole(backups: &[ListedBackup]) -> impl DoubleEndedIterator<Item = &ListedBackup> {
    backups.iter().filter(|backup| backup.damaged.is_none())
}

/// The number of the newest backup that was made at this time or earlier.
fn newest_until(folder: &Path, backups: &[ListedBackup], time: i64) -> anyhow::Result<u32> {
    match (whole(backups).rfind(|backup| backup.made_at <= time), whole(backups).next()) {
        (Some(backup), _) => Ok(backup.number),
        (None, Some(first)) => {
            anyhow::bail!("{}: the first backup was made later, at {}", folder.display(), moment(first.made_at))
        }
        (None, None) => Err(fpdb::Error::NotABackup { path: folder.to_owned() }.into()),
    }
}
