//! `fpdb show`: all that is known of documents.

use fpdb::Database;
use fpdb::report::{DocumentReport, document_header, document_page, document_row};

use super::Outcome;
use super::args::{Format, Global, ShowArgs};
use super::place;
use super::printer::{Output, Printer, only};

pub(crate) fn run(global: &Global, args: &ShowArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "show", &[Format::Human, Format::Json, Format::Csv])?;
    let database = Database::open(&place::existing(global)?)?;
    let mut output = Output::open(global)?;
    if global.format == Format::Csv {
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
        for document in documents {
            let identical_to = database.identical_to(&document)?;
            let report = DocumentReport { identical_to, ..DocumentReport::new(document) };
            match global.format {
                Format::Json => output.json(&report)?,
                Format::Csv => output.csv([document_row(&report)])?,
                _ => {
                    let page = document_page(&report, output.style);
                    output.text(&page)?;
                }
            }
        }
    }
    if found {
        output.finish()?;
    }
    Ok(if failed { Outcome::Incomplete } else { Outcome::Done })
}
