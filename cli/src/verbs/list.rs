//! `fpdb list`: the stored documents, in order of arrival.

use fpdb::DocumentInfo;
use fpdb_reading::input::NamePrefix;

use crate::output::Output;
use crate::printer::Printer;
use crate::render::{SharedFolder, count, document_header, document_header_line, document_line, document_row};
use crate::resolved::{database, output};
use crate::run_status::RunStatus;
use crate::typed::{Global, ListArgs, OutputFormat};

pub(crate) fn run(global: &Global, args: &ListArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "list", &[OutputFormat::Human, OutputFormat::Json, OutputFormat::Csv])?;
    let database = database::open(global)?;
    let mut output = Output::open(global)?;
    if global.format == OutputFormat::Csv {
        output.csv([document_header()])?;
    }
    let prefixes: Vec<NamePrefix> = args.prefixes.iter().map(|prefix| NamePrefix::new(prefix)).collect();
    let is_chosen = |document: &DocumentInfo| {
        prefixes.is_empty() || prefixes.iter().any(|prefix| prefix.fits(&document.name).is_some())
    };
    let mut folder = SharedFolder::default();
    if global.format == OutputFormat::Human && output.style.width.is_some() {
        // On a terminal names are shortened, which takes a look at all of them first.
        database.for_each_document(|document: DocumentInfo| {
            if is_chosen(&document) {
                folder.add(&document.name);
            }
            anyhow::Ok(())
        })?;
    }
    let folder = folder.into_folder();
    if !folder.is_empty() {
        output.text(&document_header_line(&folder))?;
    }
    let mut listed = 0u64;
    database.for_each_document(|document: DocumentInfo| {
        if !is_chosen(&document) {
            return anyhow::Ok(());
        }
        listed += 1;
        match global.format {
            OutputFormat::Json => output.json(&document),
            OutputFormat::Csv => output.csv([document_row(&document)]),
            _ => {
                let line = document_line(&document, document_folder(&document, &folder), output.style);
                output.text(&line)
            }
        }
    })?;
    output.finish()?;
    printer.detail(&count(listed, "document"));
    if listed == 0 {
        printer.note(&match &prefixes[..] {
            [] => "the database has no documents".to_owned(),
            _ => format!("no document's name begins with {}", args.prefixes.join(" or ")),
        });
    }
    Ok(RunStatus::Done)
}

/// The part of a document's name that is not shown; a document that has come meanwhile may lie elsewhere.
fn document_folder<'a>(document: &DocumentInfo, folder: &'a str) -> &'a str {
    if document.name.starts_with(folder) { folder } else { "" }
}
