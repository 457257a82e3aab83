//! `fpdb show`: prints all facts about documents.

use fpdb::Error;

use crate::output::Output;
use crate::printer::Printer;
use crate::render::document_header;
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{Global, ShowArgs};

pub(crate) fn run(global: &Global, args: &ShowArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let database = database::open(global)?;
    let mut output = Output::open(global)?;
    output.heading(&document_header(), "")?;
    let (mut failed, mut found) = (false, false);
    for name in &args.names {
        let documents = match database.documents_named(name) {
            Ok(documents) => documents,
            Err(error @ Error::NoSuchDocument { .. }) => {
                let error = if failed { error } else { database::with_nearest(&database, error)? };
                failed = true;
                printer.failure(name, &error);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
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
