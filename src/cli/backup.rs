//! `fpdb backup` and `fpdb restore`.

use fpdb::Database;

use super::Outcome;
use super::args::{BackupArgs, Format, Global, RestoreArgs};
use super::place;
use super::printer::{Printer, only};

pub(crate) fn backup(global: &Global, args: &BackupArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "backup", &[Format::Human])?;
    let database = Database::open_writer(&place::existing(global)?)?;
    let backup = database.backup(&args.folder, args.keep.map(std::num::NonZero::get), args.quick)?;
    printer.note(&format!(
        "backup {} made in {}: {} bytes; {} in all",
        backup.number,
        args.folder.display(),
        backup.bytes,
        backup.kept
    ));
    if backup.mended > 0 {
        printer.note(&format!("{} damaged files of earlier backups were copied again", backup.mended));
    }
    for number in &backup.damaged {
        printer.error(&anyhow::anyhow!("backup {number} is damaged and cannot be restored"));
    }
    Ok(if backup.damaged.is_empty() { Outcome::Done } else { Outcome::Incomplete })
}

pub(crate) fn restore(global: &Global, args: &RestoreArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "restore", &[Format::Human])?;
    let path = place::new(global);
    let database = Database::restore(&path, &args.folder, args.number)?;
    let documents = database.stats()?.documents;
    printer.note(&format!("restored {} from {}: {documents} documents", path.display(), args.folder.display()));
    Ok(Outcome::Done)
}
