//! `fpdb backup`: copies the database to a folder.

use fpdb::maintenance::{BackupOptions, backups};

use std::path::Path;

use crate::output::{Output, summary};
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{count, size};
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{BackupArgs, Global};

pub(crate) fn run(global: &Global, args: &BackupArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    if args.list {
        return list(global, &args.folder);
    }
    let database = database::builder(global).open_writer(database::existing(global)?)?;
    database::tell_if_repaired(&database, printer);
    let steps = StepBar::start(printer, "looking at the backups");
    let options = BackupOptions::default().keep(args.keep.map(|keep| keep as usize)).quick(args.quick);
    let backup = database.backup(&args.folder, &options, &steps.task());
    steps.end();
    let backup = backup?;
    summary(global, &backup, "")?;
    printer.note(&format!(
        "backup {} made in {}: {}; {} in all",
        backup.number,
        args.folder.display(),
        size(backup.bytes),
        backup.kept
    ));
    if backup.mended > 0 {
        let were = if backup.mended == 1 { "was" } else { "were" };
        let files = count(backup.mended, "damaged file");
        printer.note(&format!("{files} of earlier backups {were} copied again"));
    }
    for number in &backup.damaged {
        printer.error(&anyhow::anyhow!("backup {number} is damaged and cannot be restored"));
    }
    Ok(if backup.damaged.is_empty() { RunStatus::Done } else { RunStatus::Incomplete })
}

fn list(global: &Global, folder: &Path) -> anyhow::Result<RunStatus> {
    let backups = backups(folder)?;
    let mut output = Output::open(global)?;
    for backup in &backups {
        output.answer(backup)?;
    }
    output.finish()?;
    Ok(RunStatus::Done)
}
