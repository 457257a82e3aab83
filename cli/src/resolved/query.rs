//! The options of a query.

use fpdb::{Database, DocId, QueryOptions, Task};

use crate::typed::QueryArgs;

/// The options of a query from the command line, without the phrases to ignore. A match has at most
/// `most_passages` passages.
pub(crate) fn options(args: &QueryArgs, most_passages: Option<usize>) -> QueryOptions {
    // With --by-corpus all matches count, and --min-score applies to the share of a row, not to the score of
    // a match.
    let (top, min_score) = if args.by_corpus { (0, 0.0) } else { (args.top, args.min_score) };
    QueryOptions::default()
        .mode(args.mode)
        .window(args.window)
        .n(args.n)
        .top((top > 0).then(|| usize::try_from(top).unwrap_or(usize::MAX)))
        .min_score(min_score)
        .max_df(args.max_df.filter(|&most| most > 0))
        .passages(!args.no_passages)
        .joining(args.joining.options(most_passages))
        .weight(args.weight)
        .submission_by(args.submission_by.clone())
        .submission_files(args.submission_files)
        .join_submissions(!args.by_corpus)
        .file_times(args.shows_times())
        .read(args.records.set(args.read.options()))
}

/// The documents with these values in their metadata; `None` if no values are given.
///
/// # Errors
/// Fails if no document has one of the values, or the database cannot be read.
pub(crate) fn chosen(database: &Database, fields: &[(String, String)]) -> fpdb::Result<Option<Vec<DocId>>> {
    if fields.is_empty() {
        return Ok(None);
    }
    let selected = database.select(&[], fields, &Task::new())?;
    match selected.unmatched_fields.first().map(|&field| &fields[field]) {
        Some((name, value)) => Err(database.no_such_value(name, value, &Task::new())?),
        None => Ok(Some(selected.ids)),
    }
}
