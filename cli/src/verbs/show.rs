//! `fpdb show`: prints all facts about documents, or their texts.

use fpdb::{DocId, Error};

use crate::output::Output;
use crate::printer::Printer;
use crate::render::document_header;
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{Global, ShowArgs};

pub(crate) fn run(global: &Global, args: &ShowArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    if args.text && !global.format.is_for_people() {
        anyhow::bail!("--text writes the text as it is: leave out --format");
    }
    let database = database::open(global)?;
    let mut output = Output::open(global)?;
    if !args.text {
        output.heading(&document_header(), "")?;
    }
    let by_name = args.names.iter().map(|name| (name.clone(), database::documents_named(&database, name)));
    let by_number = args.ids.iter().map(|&id| (id.to_string(), database.document(DocId(id)).map(|found| vec![found])));
    let (mut failed, mut found) = (false, false);
    for (name, documents) in by_name.chain(by_number) {
        let mut documents = match documents {
            Ok(documents) => documents,
            Err(error @ (Error::NoSuchDocument { .. } | Error::NoSuchNumber { .. })) => {
                let error = if failed { error } else { database::with_nearest(&database, error)? };
                failed = true;
                printer.failure(&name, &error);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if args.text
            && let Some(document) = documents.pop()
        {
            match database.text_of(document.id)? {
                Some(text) => {
                    output.text(text.bytes)?;
                    found = true;
                }
                None => {
                    let absent = match document.source {
                        Some(_) => {
                            "its file is gone, has changed or cannot be read, or its archive is too large to be searched"
                        }
                        None => "it was read from no file",
                    };
                    printer
                        .error(&anyhow::anyhow!("{name}: its text is not stored (ingest --store-text), and {absent}"));
                    failed = true;
                }
            }
            continue;
        }
        found = true;
        for mut document in documents {
            document.identical_to = database.identical_to(&document)?;
            output.answer(&document)?;
        }
    }
    if found {
        output.finish()?;
    }
    Ok(if failed { RunStatus::Incomplete } else { RunStatus::Done })
}
