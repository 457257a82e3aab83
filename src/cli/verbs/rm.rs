//! `fpdb rm`: removes documents.

use fpdb::{DocId, Error};

use crate::cli::output::summary;
use crate::cli::printer::Printer;
use crate::cli::render::count;
use crate::cli::resolved::{database, output};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Global, OutputFormat, RmArgs};

pub(crate) fn run(global: &Global, args: &RmArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "rm", &[OutputFormat::Human, OutputFormat::Json])?;
    let database = database::open_writer(global, printer)?;
    let mut unknown_names = Vec::new();
    let mut ids: Vec<DocId> = args.ids.iter().copied().map(DocId).collect();
    for name in &args.names {
        match database.documents_named(name) {
            Ok(versions) => {
                if versions.len() > 1 {
                    printer.note(&format!("{name}: all {} documents of this name", versions.len()));
                }
                ids.extend(versions.iter().map(|document| document.id));
            }
            Err(error @ Error::NoSuchDocument { .. }) => unknown_names.push((name, error)),
            Err(error) => return Err(error.into()),
        }
    }
    let mut removal = database.remove_numbers(&ids)?;
    removal.unknown_names = unknown_names.iter().map(|(name, _)| (*name).clone()).collect();
    if global.format == OutputFormat::Json {
        summary(global, &removal)?;
    }
    if removal.removed > 0 {
        printer.note(&format!("{} removed; `fpdb compact` frees the space", count(removal.removed, "document")));
    }
    if args.ignore_missing {
        let numbers = removal.unknown_ids.iter().map(ToString::to_string);
        for name in removal.unknown_names.iter().cloned().chain(numbers) {
            printer.detail(&format!("{name}: no stored document, ignored"));
        }
        return Ok(RunStatus::Done);
    }
    for (name, error) in &unknown_names {
        printer.failure(name, error);
    }
    for id in &removal.unknown_ids {
        printer.failure(&id.to_string(), &Error::NoSuchNumber { number: id.0 });
    }
    Ok(if unknown_names.is_empty() && removal.unknown_ids.is_empty() { RunStatus::Done } else { RunStatus::Incomplete })
}
