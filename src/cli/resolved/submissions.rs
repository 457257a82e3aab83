//! Submissions: which documents count as one.

use fpdb::{Database, DocumentInfo, Error};

use crate::cli::printer::Printer;

/// Signs that only a regular expression has.
const SIGNS: [char; 13] = ['^', '$', '(', ')', '[', ']', '{', '}', '*', '+', '?', '|', '\\'];

/// The regular expression for `--submission-by`: the one that was typed, or one for the folders and archives directly in the
/// folder that was typed.
pub(crate) fn submission_pattern(typed: &str) -> String {
    if typed.contains(SIGNS) {
        return typed.to_owned();
    }
    let parts: Vec<&str> = typed.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let root = if typed.starts_with('/') { "/" } else { "" };
    let folder: String = parts.iter().map(|part| format!("{part}/")).collect();
    format!("^({root}{}[^/!]+)[/!]", regex::escape(&folder))
}

/// Says so if a regular expression, typed as the value of a flag, matches the name of no document.
pub(crate) fn tell_if_unmatched(
    database: &Database,
    (flag, typed, pattern): (&str, &str, &str),
    printer: &Printer,
) -> anyhow::Result<()> {
    // The library refuses one that is not valid.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_pattern_and_a_pattern_stays() {
        for (typed, pattern) in [
            (".", "^([^/!]+)[/!]"),
            ("./", "^([^/!]+)[/!]"),
            ("in", "^(in/[^/!]+)[/!]"),
            ("./in/a.b//", "^(in/a\\.b/[^/!]+)[/!]"),
            ("/in", "^(/in/[^/!]+)[/!]"),
            ("^([a-z]*)_", "^([a-z]*)_"),
        ] {
            assert_eq!(submission_pattern(typed), pattern);
        }
    }
}
