//! `fpdb init`: creates an empty database.

use crate::output::summary;
use crate::printer::Printer;
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{Global, InitArgs};

pub(crate) fn run(global: &Global, args: &InitArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let path = database::new(global);
    let database = database::builder(global).create(&path, args.profile.for_new()?)?;
    summary(global, &database.stats()?, "")?;
    printer.note(&format!("created the database {}: {}", path.display(), database.profile()));
    Ok(RunStatus::Done)
}
