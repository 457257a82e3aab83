//! `fpdb show`: all that is known of documents.

use crate::output::Output;
use crate::printer::Printer;
use crate::render::{document_header, document_page, document_row};
use crate::resolved::{database, output};
use crate::run_status::RunStatus;
use crate::typed::{Global, OutputFormat, ShowArgs};

pub(crate) fn run(global: &Global, args: &ShowArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "show", &[OutputFormat::Human, OutputFormat::Json, OutputFormat::Csv])?;
    let database = database::open(global)?;
    let mut output = Output::open(global)?;
    if global.format == OutputFormat::Csv {
        output.csv([document_header()])?;
    }
    let (mut failed, mut found) = (false, false);
    for name in &args.names {
        let documents = match database.documents_named(name) {
            Ok(documents) => documents,
            Err(error @ fpdb::Error::NoSuchDocument { .. }) => {
                failed = true;
                printer.failure(name, &error);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        found = true;
        for mut document in documents {
            document.identical_to = database.identical_to(&document)?;
            match global.format {
                OutputFormat::Json => output.json(&document)?,
                OutputFormat::Csv => output.csv([document_row(&document)])?,
                _ => {
                    let page = document_page(&document, output.style);
                    output.text(&page)?;
                }
            }
        }
    }
    if found {
        output.finish()?;
    }
    Ok(if failed { RunStatus::Incomplete } else { RunStatus::Done })
}
