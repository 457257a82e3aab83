//! Rows of `query --by-corpus`: the share of each query that the archive holds.

use fpdb::CorpusAnswer;

use super::Style;
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
    let longest = answer.places.iter().max_by_key(|place| place.symbols);
    let place = longest.map_or(String::new(), |place| {
        let (symbols, document) = (count(place.symbols, "symbol"), escape_terminal(&place.document));
        format!("; {symbols} in {document} ({})", human::place(&place.location))
    });
    format!("{name}  {} in {documents}{identical}{place}\n", percent(answer.corpus_containment))
}

/// The columns of [`corpus_row`].
pub(crate) fn corpus_header() -> Vec<&'static str> {
    vec![
        "query",
        "bytes",
        "looked_up",
        "found",
        "corpus_containment",
        "coverage",
        "identical",
        "documents",
        "best",
        "start",
        "end",
    ]
}

/// One query as a row of a table. The last columns give the place of its longest passage.
pub(crate) fn corpus_row(answer: &CorpusAnswer) -> Vec<String> {
    let longest = answer.places.iter().max_by_key(|place| place.symbols);
    let of = |value: Option<String>| value.unwrap_or_default();
    vec![
        answer.query.name.clone(),
        answer.query.bytes.to_string(),
        answer.looked_up.to_string(),
        answer.found.to_string(),
        answer.corpus_containment.to_string(),
        of(answer.coverage.map(|share| share.to_string())),
        answer.identical.to_string(),
        answer.documents.to_string(),
        of(longest.map(|place| place.document.clone())),
        of(longest.map(|place| place.location.start.to_string())),
        of(longest.map(|place| place.location.end.to_string())),
    ]
}
