//! `fpdb init`: creates an empty database.

use crate::output::Output;
use crate::printer::Printer;
use crate::resolved::{database, output};
use crate::run_status::RunStatus;
use crate::typed::{Global, InitArgs, OutputFormat};

pub(crate) fn run(global: &Global, args: &InitArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "init", &[OutputFormat::Human, OutputFormat::Json])?;
    let path = database::new(global);
    let database = database::builder(global).create(&path, args.profile.for_new()?)?;
    if global.format == OutputFormat::Json {
        let mut output = Output::open(global)?;
        output.json(&database.stats()?)?;
        output.finish()?;
    }
    printer.note(&format!("created the database {}: {}", path.display(), database.profile()));
    Ok(RunStatus::Done)
}
