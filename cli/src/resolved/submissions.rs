//! Checks that a regular expression for submissions or groups matches some name.

use fpdb::{Database, DocumentInfo, Error};

use crate::printer::Printer;

/// Prints a note if the regular expression of a flag matches no name of a document.
pub(crate) fn tell_if_unmatched(
    database: &Database,
    (flag, typed, pattern): (&str, &str, &str),
    printer: &Printer,
) -> anyhow::Result<()> {
    // The library reports an invalid one.
    let Ok(pattern) = regex::Regex::new(pattern) else { return Ok(()) };
    let mut is_met = false;
    let looked = database.for_each_document(|document: DocumentInfo| {
        is_met = pattern.is_match(&document.name);
        // The error ends the search.
        if is_met { Err(Error::Stopped) } else { Ok(()) }
    });
    match looked {
        Err(Error::Stopped) => Ok(()),
        looked => {
            looked?;
            printer.note(&format!("no document's name matches {typed} ({flag})"));
            Ok(())
        }
    }
}
