//! Rows of `query --by-corpus`: the share of each query that the archive holds.

use fpdb::{CorpusAnswer, Location};

use super::Style;
use super::csv::{Column, cells, names, optional};
use super::escape::escape_terminal;
use super::human;
use super::numbers::{count, percent};

/// One query, for people.
pub(crate) fn corpus_line(answer: &CorpusAnswer, style: Style) -> String {
    let name = style.strong(&escape_terminal(&answer.query.name));
    if answer.documents == 0 {
        let too_short = if answer.query.fingerprints == 0 { ": too short for a fingerprint" } else { "" };
        return format!("{name}  {}{too_short}\n", percent(answer.corpus_containment));
    }
    let documents = count(answer.documents, "document");
    let identical = if answer.identical { ", one identical" } else { "" };
    let place = longest(answer).map_or(String::new(), |(symbols, document, location)| {
        let (symbols, document) = (count(symbols, "symbol"), escape_terminal(document));
        format!("; {symbols} in {document} ({})", human::place(location))
    });
    format!("{name}  {} in {documents}{identical}{place}\n", percent(answer.corpus_containment))
}

const CORPUS: &[Column<CorpusAnswer>] = &[
    ("query", |answer| answer.query.name.clone()),
    ("bytes", |answer| answer.query.bytes.to_string()),
    ("looked_up", |answer| answer.looked_up.to_string()),
    ("found", |answer| answer.found.to_string()),
    ("corpus_containment", |answer| answer.corpus_containment.to_string()),
    ("coverage", |answer| optional(answer.coverage)),
    ("identical", |answer| answer.identical.to_string()),
    ("documents", |answer| answer.documents.to_string()),
    ("best", |answer| optional(longest(answer).map(|(_, document, _)| document))),
    ("start", |answer| optional(longest(answer).map(|(.., location)| location.start))),
    ("end", |answer| optional(longest(answer).map(|(.., location)| location.end))),
];

/// The length of the longest passage in symbols, its document and its place there.
fn longest(answer: &CorpusAnswer) -> Option<(u64, &str, &Location)> {
    let place = answer.places.iter().max_by_key(|place| place.symbols)?;
    Some((place.symbols, &place.document, &place.location))
}

/// The names of the columns of [`corpus_row`].
pub(crate) fn corpus_header() -> Vec<&'static str> {
    names(CORPUS)
}

/// One query as a row of a table. The last columns give the place of its longest passage.
pub(crate) fn corpus_row(answer: &CorpusAnswer) -> Vec<String> {
    cells(CORPUS, answer)
}
