//! `fpdb list`: lists the stored documents in order of arrival.

use fpdb::{DocumentInfo, Error};
use fpdb_reading::input::NamePrefix;

use crate::output::Output;
use crate::printer::Printer;
use crate::render::{DocumentLine, SharedFolder, count, document_header, document_header_line};
use crate::resolved::{database, query};
use crate::run_status::RunStatus;
use crate::typed::{Global, ListArgs};

pub(crate) fn run(global: &Global, args: &ListArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let database = database::open(global)?;
    let mut output = Output::open(global)?;
    let chosen = match query::chosen(&database, &args.fields) {
        Err(error @ Error::NothingFits { .. }) if global.output.is_some() => {
            // If the key exists, an empty list replaces the list of an earlier call in the file of `-o`, so
            // that nobody takes that list for the answer. A misspelt key is an error.
            output.heading(&document_header(), "")?;
            output.finish()?;
            return Err(error.into());
        }
        chosen => chosen?,
    };
    let prefixes: Vec<NamePrefix> = args.prefixes.iter().map(|prefix| NamePrefix::new(prefix)).collect();
    let is_chosen = |document: &DocumentInfo| {
        (prefixes.is_empty() || prefixes.iter().any(|prefix| prefix.fits(&document.name).is_some()))
            && (!args.too_short || document.fingerprints == 0)
            && chosen.as_ref().is_none_or(|ids| ids.binary_search(&document.id).is_ok())
    };
    let mut folder = SharedFolder::default();
    if output.style.width.is_some() {
        // For a terminal, names are shortened, which needs a first pass over all names.
        database.for_each_document(|document: DocumentInfo| {
            if is_chosen(&document) {
                folder.add(&document.name);
            }
            anyhow::Ok(())
        })?;
    }
    let folder = folder.into_folder();
    output.heading(&document_header(), &document_header_line(&folder))?;
    let mut listed = 0u64;
    database.for_each_document(|document: DocumentInfo| {
        if !is_chosen(&document) {
            return anyhow::Ok(());
        }
        listed += 1;
        output.answer(&DocumentLine { document: &document, folder: &folder })
    })?;
    output.finish()?;
    printer.detail(&count(listed, "document"));
    if listed == 0 {
        printer.note(&match &prefixes[..] {
            _ if args.too_short => "all these documents have enough text to compare".to_owned(),
            _ if !args.fields.is_empty() => "no document has such a name and such metadata".to_owned(),
            [] => "the database has no documents".to_owned(),
            _ => format!("no document's name begins with {}", args.prefixes.join(" or ")),
        });
    }
    Ok(RunStatus::Done)
}
