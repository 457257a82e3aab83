//! `fpdb show`: prints all facts about documents, or their texts.

use fpdb::Error;

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
    let (mut failed, mut found) = (false, false);
    for name in &args.names {
        let mut documents = match database.documents_named(name) {
            Ok(documents) => documents,
            Err(error @ Error::NoSuchDocument { .. }) => {
                let error = if failed { error } else { database::with_nearest(&database, error)? };
                failed = true;
                printer.failure(name, &error);
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
                    let absent = "its text is not stored (ingest --store-text), and its file is gone, has changed or cannot be read, \
                                  or its archive is too large to be searched";
                    printer.error(&anyhow::anyhow!("{name}: {absent}"));
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
