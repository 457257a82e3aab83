//! `fpdb mv`: renames documents.

use crate::output::summary;
use crate::printer::Printer;
use crate::render::count;
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{Global, MvArgs};

pub(crate) fn run(global: &Global, args: &MvArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let renaming = database::open_writer(global, printer)?.rename(&args.old, &args.new)?;
    summary(global, &renaming, "")?;
    let read = match renaming.moved {
        0 => String::new(),
        moved if moved == renaming.renamed => ", and read at their new place from now on".into(),
        moved => format!(", {moved} of them read at their new place from now on"),
    };
    printer.note(&format!("{} renamed{read}", count(renaming.renamed, "document")));
    Ok(RunStatus::Done)
}
