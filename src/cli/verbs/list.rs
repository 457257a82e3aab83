//! `fpdb list`: the stored documents, in order of arrival.

use fpdb::{DocumentInfo, NamePrefix};

use crate::cli::output::Output;
use crate::cli::printer::Printer;
use crate::cli::render::{document_header, document_line, document_row};
use crate::cli::resolved::{database, output};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Global, ListArgs, OutputFormat};

pub(crate) fn run(global: &Global, args: &ListArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "list", &[OutputFormat::Human, OutputFormat::Json, OutputFormat::Csv])?;
    let database = database::open(global)?;
    let mut output = Output::open(global)?;
    if global.format == OutputFormat::Csv {
        output.csv([document_header()])?;
    }
    let prefixes: Vec<NamePrefix> = args.prefixes.iter().map(|prefix| NamePrefix::new(prefix)).collect();
    let mut listed = 0u64;
    database.for_each_document(|document: DocumentInfo| {
        let chosen = prefixes.is_empty() || prefixes.iter().any(|prefix| prefix.fits(&document.name).is_some());
        if !chosen {
            return anyhow::Ok(());
        }
        listed += 1;
        match global.format {
            OutputFormat::Json => output.json(&document),
            OutputFormat::Csv => output.csv([document_row(&document)]),
            _ => {
                let line = document_line(&document, output.style);
                output.text(&line)
            }
        }
    })?;
    output.finish()?;
    printer.detail(&format!("{listed} documents"));
    Ok(RunStatus::Done)
}
