//! `fpdb backup`: copies the database to a folder.

use std::path::Path;

use fpdb::maintenance::{BackupOptions, ListedBackup, backups, verify_backups};
use fpdb_host::free_space::free_bytes;

use crate::interrupt;
use crate::output::{Output, summary};
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{count, size, was};
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::suggested::flag;
use crate::typed::{BackupArgs, Global};

pub(crate) fn run(global: &Global, args: &BackupArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    if args.list {
        return list(global, &args.folder, &backups(&args.folder)?, printer);
    }
    if args.verify {
        let steps = StepBar::start(printer, "reading the backups");
        let stop = interrupt::graceful("stopping; press Ctrl-C again to stop at once");
        let verified = verify_backups(&args.folder, &steps.task().stop(stop));
        steps.end();
        let verified = verified?;
        if verified.is_empty() {
            // A first backup that failed leaves a folder without a backup.
            printer.error(&anyhow::anyhow!("{}: there is no complete backup", args.folder.display()));
            let make = printer.suggested.with("backup", Vec::new(), &[&args.folder.display().to_string()]);
            printer.note(&format!("hint: make one: `{make}`"));
            return Ok(RunStatus::Incomplete);
        }
        let status = list(global, &args.folder, &verified, printer)?;
        if status == RunStatus::Done {
            printer.note(&format!("{}: all files are as they were written", count(verified.len() as u64, "backup")));
        }
        return Ok(status);
    }
    let database =
        database::open_writer_at(&database::builder(global), database::to_change(global, printer)?, printer)?;
    // Only the first backup needs this space: later backups share most files with earlier ones.
    if backups(&args.folder).map_or(true, |backups| backups.is_empty()) {
        warn_of_space(database.stats()?.stored_bytes(), &args.folder, printer);
    }
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
        let (files, were) = (count(backup.mended, "damaged file"), was(backup.mended));
        printer.note(&format!("{files} of earlier backups {were} copied again"));
    }
    // Some damage shows only when all bytes are compared. A backup without its list of files is not listed.
    let listed = backups(&args.folder)?;
    let is_told = |number: &u32| listed.iter().any(|known| known.number == *number && known.damaged.is_some());
    for number in backup.damaged.iter().filter(|number| !is_told(number)) {
        printer.error(&anyhow::anyhow!("backup {number} is damaged and cannot be restored"));
    }
    let status = told_damage(&listed, printer);
    if backup.damaged.is_empty() {
        return Ok(status);
    }
    removal_hint(&args.folder, printer);
    Ok(RunStatus::Incomplete)
}

/// Warns if a copy of `needed` bytes has no room on the disk of `path`.
pub(super) fn warn_of_space(needed: u64, path: &Path, printer: &Printer) {
    if let Some(free) = free_bytes(path).filter(|free| *free < needed) {
        let (needed, free) = (size(needed), size(free));
        printer.warning(&format!("warning: this needs {needed}, and the disk of {} has {free} free", path.display()));
    }
}

/// Prints how to remove damaged backups.
fn removal_hint(folder: &Path, printer: &Printer) {
    let again = printer.suggested.with("backup", flag("--keep", "N"), &[&folder.display().to_string()]);
    printer.note(&format!(
        "hint: damaged backups stay until `{again}` makes a new one and keeps N, the damaged ones last"
    ));
}

fn list(global: &Global, folder: &Path, backups: &[ListedBackup], printer: &Printer) -> anyhow::Result<RunStatus> {
    let mut output = Output::open(global)?;
    for backup in backups {
        output.answer(backup)?;
    }
    output.finish()?;
    let status = told_damage(backups, printer);
    if backups.iter().any(|backup| backup.damaged.is_some()) {
        removal_hint(folder, printer);
    }
    Ok(status)
}

/// Prints which backups are damaged. Returns the status for that.
fn told_damage(backups: &[ListedBackup], printer: &Printer) -> RunStatus {
    for ListedBackup { number, damaged, damaged_record, .. } in backups {
        if let Some(file) = damaged {
            printer.error(&anyhow::anyhow!("backup {number} is damaged and cannot be restored: {file}"));
        } else if let Some(file) = damaged_record {
            printer.error(&anyhow::anyhow!("backup {number} can be restored, but its record {file} is damaged"));
        }
    }
    let is_whole = |backup: &ListedBackup| backup.damaged.is_none() && backup.damaged_record.is_none();
    if backups.iter().all(is_whole) { RunStatus::Done } else { RunStatus::Incomplete }
}
