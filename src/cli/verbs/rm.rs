//! `fpdb rm`: removes documents.

use fpdb::report::RmReport;
use fpdb::{DocId, Error, Removal};

use crate::cli::output::summary;
use crate::cli::printer::Printer;
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
    let Removal { removed, unknown_ids: unknown, .. } = database.remove_numbers(&ids)?;
    if global.format == OutputFormat::Json {
        let names = unknown_names.iter().map(|(name, _)| (*name).clone()).collect();
        summary(global, &RmReport::new(removed, names, unknown.iter().map(|id| id.0).collect()))?;
    }
    if removed > 0 {
        let documents = if removed == 1 { "1 document".to_owned() } else { format!("{removed} documents") };
        printer.note(&format!("{documents} removed; `fpdb compact` frees the space"));
    }
    if args.ignore_missing {
        for name in
            unknown_names.iter().map(|(name, _)| name.to_string()).chain(unknown.iter().map(ToString::to_string))
        {
            printer.detail(&format!("{name}: no stored document, ignored"));
        }
        return Ok(RunStatus::Done);
    }
    for (name, error) in &unknown_names {
        printer.failure(name, error);
    }
    for id in &unknown {
        printer.failure(&id.to_string(), &Error::NoSuchNumber { number: id.0 });
    }
    Ok(if unknown_names.is_empty() && unknown.is_empty() { RunStatus::Done } else { RunStatus::Incomplete })
}
