//! `fpdb backup` and `fpdb restore`.

use fpdb::Database;
use fpdb::report::{BackupReport, RestoreReport, count, size};

use super::Outcome;
use super::args::{BackupArgs, Format, Global, RestoreArgs};
use super::place;
use super::printer::{Printer, only, summary};
use super::progress::Steps;

pub(crate) fn backup(global: &Global, args: &BackupArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "backup", &[Format::Human, Format::Json])?;
    let database = Database::open_writer(&place::existing(global)?)?;
    let steps = Steps::start(printer, "looking at the backups");
    let progress = |what, done, total| steps.show(what, done, total);
    let keep = args.keep.map(|keep| keep as usize);
    let backup = database.backup_with_progress(&args.folder, keep, args.quick, &progress);
    steps.end();
    let backup = backup?;
    if global.format == Format::Json {
        summary(global, &BackupReport::new(args.folder.display().to_string(), &backup))?;
    }
    printer.note(&format!(
        "backup {} made in {}: {}; {} in all",
        backup.number,
        args.folder.display(),
        size(backup.bytes),
        backup.kept
    ));
    if backup.mended > 0 {
        let were = if backup.mended == 1 { "was" } else { "were" };
        let files = count(backup.mended as u64, "damaged file");
        printer.note(&format!("{files} of earlier backups {were} copied again"));
    }
    for number in &backup.damaged {
        printer.error(&anyhow::anyhow!("backup {number} is damaged and cannot be restored"));
    }
    Ok(if backup.damaged.is_empty() { Outcome::Done } else { Outcome::Incomplete })
}

pub(crate) fn restore(global: &Global, args: &RestoreArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "restore", &[Format::Human, Format::Json])?;
    let path = place::new(global);
    let database = Database::restore(&path, &args.folder, args.number)?;
    let documents = database.stats()?.documents;
    if global.format == Format::Json {
        let folder = args.folder.display().to_string();
        summary(global, &RestoreReport::new(path.display().to_string(), folder, documents))?;
    }
    let documents = count(documents, "document");
    printer.note(&format!("restored {} from {}: {documents}", path.display(), args.folder.display()));
    Ok(Outcome::Done)
}
