//! The columns and rows of tables: a row for each passage of a match or pair, or for each document.
//!
//! Columns are listed by hand: a row joins a match or pair with one of its passages, and the serde support of
//! the crate `csv` takes only flat structs.

use fpdb::dedup::DedupRow;
use fpdb::pairs::Pair;
use fpdb::{DocumentInfo, Location, Match, Passage, QueryAnswer};
use fpdb_kernel::hex;

use super::pairs::PairColumns;

/// A column of a table: its name, and its cell in a row.
pub(super) type Column<R> = (&'static str, fn(&R) -> String);

/// The names of these columns.
pub(super) fn names<R>(columns: &[Column<R>]) -> Vec<&'static str> {
    columns.iter().map(|&(name, _)| name).collect()
}

/// The cells of a row.
pub(super) fn cells<R>(columns: &[Column<R>], row: &R) -> Vec<String> {
    columns.iter().map(|(_, cell)| cell(row)).collect()
}

/// A cell that is empty without a value.
pub(super) fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A page of a passage.
fn page(at: Option<&Location>, index: usize) -> String {
    optional(at.and_then(|at| at.pages).map(|pages| pages[index]))
}

/// The passages of a match or pair, one for each row. `None`, for one row, if there is no passage.
fn rows_of(passages: &[Passage]) -> impl Iterator<Item = Option<&Passage>> {
    passages.iter().map(Some).chain(passages.is_empty().then_some(None))
}

/// A row of the table of a query.
struct QueryRow<'a> {
    answer: &'a QueryAnswer,
    /// A match, or a document of a matching submission.
    found: &'a Match,
    /// The name of this submission. Empty in the row of a match.
    submission: &'a str,
    passage: Option<&'a Passage>,
}

/// The columns of a query. `by_submission` adds the column of submissions, `text` adds the columns of the
/// text as written, and `times` adds the column of the times of files. New columns are added at the end.
fn query_columns<'a>(by_submission: bool, text: bool, times: bool) -> Vec<Column<QueryRow<'a>>> {
    let mut columns: Vec<Column<QueryRow<'a>>> = vec![
        // In a pair of files, the measures are of one file of the query.
        ("query", |row| row.found.query.as_deref().unwrap_or(&row.answer.query).name.clone()),
        ("document", |row| row.found.document.clone()),
        ("id", |row| row.found.id.to_string()),
        ("shared", |row| row.found.shared.to_string()),
        ("looked_up", |row| {
            row.found.query.as_deref().map_or(row.answer.looked_up, |query| query.fingerprints).to_string()
        }),
        ("containment", |row| row.found.containment.to_string()),
        ("document_containment", |row| row.found.document_containment.to_string()),
        ("resemblance", |row| row.found.resemblance.to_string()),
        ("interval_low", |row| optional(row.found.interval.map(|[low, _]| low))),
        ("interval_high", |row| optional(row.found.interval.map(|[_, high]| high))),
        ("identical", |row| row.found.identical.to_string()),
        ("coverage", |row| optional(row.found.coverage)),
        ("query_start", |row| optional(row.passage.map(|passage| passage.query.start))),
        ("query_end", |row| optional(row.passage.map(|passage| passage.query.end))),
        ("query_first_line", |row| optional(row.passage.map(|passage| passage.query.lines[0]))),
        ("query_last_line", |row| optional(row.passage.map(|passage| passage.query.lines[1]))),
        ("document_start", |row| optional(row.passage.map(|passage| passage.document.start))),
        ("document_end", |row| optional(row.passage.map(|passage| passage.document.end))),
        ("document_first_line", |row| optional(row.passage.map(|passage| passage.document.lines[0]))),
        ("document_last_line", |row| optional(row.passage.map(|passage| passage.document.lines[1]))),
        ("symbols", |row| optional(row.passage.map(|passage| passage.symbols))),
        ("exact", |row| optional(row.passage.map(|passage| passage.exact))),
        ("agreement", |row| optional(row.passage.and_then(|passage| passage.agreement))),
        ("same_names", |row| optional(row.passage.and_then(|passage| passage.same_names))),
        ("score", |row| row.found.score.to_string()),
        ("inferred", |row| row.found.inferred.as_deref().unwrap_or_default().to_owned()),
        // The names are separated by spaces.
        ("estimated", |row| row.found.estimated.iter().map(|measure| measure.name()).collect::<Vec<_>>().join(" ")),
    ];
    if by_submission {
        columns.push(("submission", |row| row.submission.to_owned()));
    }
    if text {
        columns.extend_from_slice(&[
            ("text_shared", |row| optional(row.found.text_shared)),
            ("text_looked_up", |row| {
                let of_answer = row.answer.text.as_ref().filter(|_| row.found.query.is_none());
                optional(of_answer.map(|text| text.looked_up))
            }),
            ("text_containment", |row| optional(row.found.text_containment)),
            ("text_document_containment", |row| optional(row.found.text_document_containment)),
            ("text_resemblance", |row| optional(row.found.text_resemblance)),
            ("as_written", |row| optional(row.passage.map(|passage| passage.as_written))),
        ]);
    }
    // Metadata is one cell of JSON, because the names differ between documents.
    columns.push(("metadata", |row| serde_json::json!(row.found.metadata).to_string()));
    if times {
        columns.push(("modified", |row| optional(row.found.modified)));
    }
    columns.extend_from_slice(&[
        ("query_first_page", |row| page(row.passage.map(|passage| &passage.query), 0)),
        ("query_last_page", |row| page(row.passage.map(|passage| &passage.query), 1)),
        ("document_first_page", |row| page(row.passage.map(|passage| &passage.document), 0)),
        ("document_last_page", |row| page(row.passage.map(|passage| &passage.document), 1)),
        ("containment_without_boilerplate", |row| {
            row.found.without_boilerplate.map_or(row.found.containment, |own| own.containment).to_string()
        }),
    ]);
    if text {
        columns.push(("text_containment_without_boilerplate", |row| {
            optional(row.found.without_boilerplate.map_or(row.found.text_containment, |own| own.text_containment))
        }));
    }
    columns
}

/// The names of the columns of [`query_rows`].
pub(crate) fn query_header(by_submission: bool, text: bool, times: bool) -> Vec<&'static str> {
    names(&query_columns(by_submission, text, times))
}

/// One row for each passage. A match without passages has one row with empty passage columns. The rows of the
/// documents of a submission follow the row of the submission and have its name. If the query is a
/// submission, the row of a document has the name of one file of the query, and no `text_looked_up`.
pub(crate) fn query_rows(answer: &QueryAnswer, by_submission: bool, times: bool) -> Vec<Vec<String>> {
    let columns = query_columns(by_submission, answer.text.is_some(), times);
    let with_files = answer.matches.iter().flat_map(|found| {
        std::iter::once((found, "")).chain(found.files.iter().map(|file| (file, found.document.as_str())))
    });
    let rows = with_files.flat_map(|(found, submission)| {
        rows_of(&found.passages).map(move |passage| QueryRow { answer, found, submission, passage })
    });
    rows.map(|row| cells(&columns, &row)).collect()
}

const DOCUMENT: &[Column<DocumentInfo>] = &[
    ("id", |document| document.id.to_string()),
    ("name", |document| document.name.clone()),
    ("source", |document| document.source.clone().unwrap_or_default()),
    ("bytes", |document| document.bytes.to_string()),
    ("symbols", |document| document.symbols.to_string()),
    ("lines", |document| document.lines.to_string()),
    ("fingerprints", |document| document.fingerprints.to_string()),
    ("distinct", |document| document.distinct.to_string()),
    ("encoding", |document| document.encoding.clone()),
    ("undecodable", |document| document.undecodable.to_string()),
    ("digest", |document| hex::encode(&document.digest)),
    ("format", |document| document.format.clone()),
    ("boilerplate", |document| document.boilerplate.to_string()),
    // Metadata is one cell of JSON, because the names differ between documents.
    ("metadata", |document| serde_json::json!(document.metadata).to_string()),
    ("ingested_at", |document| document.ingested_at.to_string()),
    ("modified", |document| optional(document.modified)),
];

/// The names of the columns of [`document_row`].
pub(crate) fn document_header() -> Vec<&'static str> {
    names(DOCUMENT)
}

/// One document.
pub(crate) fn document_row(document: &DocumentInfo) -> Vec<String> {
    cells(DOCUMENT, document)
}

/// A row of the table of pairs.
struct PairRow<'a> {
    /// The pair that was found: of documents, or of submissions.
    found: &'a Pair,
    /// The pair whose measures the row has: the found pair, or a pair of files of its submissions.
    measured: &'a Pair,
    /// The pair of files that the row names. `None` for two documents outside any submission.
    files: Option<&'a Pair>,
    passage: Option<&'a Passage>,
}

impl PairRow<'_> {
    /// The pair from which the row takes the times of files.
    fn timed(&self) -> &Pair {
        self.files.unwrap_or(self.measured)
    }
}

/// The columns of pairs. New columns are added at the end.
fn pair_columns<'a>(shown: PairColumns) -> Vec<Column<PairRow<'a>>> {
    let mut columns: Vec<Column<PairRow<'a>>> = vec![
        ("a", |row| row.measured.a.to_string()),
        ("b", |row| row.measured.b.to_string()),
        ("shared", |row| row.measured.shared.to_string()),
        ("resemblance", |row| row.measured.resemblance.to_string()),
        ("containment_a", |row| row.measured.containment_a.to_string()),
        ("containment_b", |row| row.measured.containment_b.to_string()),
        ("a_id", |row| row.measured.a_id.to_string()),
        ("b_id", |row| row.measured.b_id.to_string()),
        ("score", |row| row.measured.score.to_string()),
    ];
    if shown.passages {
        columns.extend_from_slice(&[
            ("a_start", |row| optional(row.passage.map(|passage| passage.query.start))),
            ("a_end", |row| optional(row.passage.map(|passage| passage.query.end))),
            ("a_first_line", |row| optional(row.passage.map(|passage| passage.query.lines[0]))),
            ("a_last_line", |row| optional(row.passage.map(|passage| passage.query.lines[1]))),
            ("b_start", |row| optional(row.passage.map(|passage| passage.document.start))),
            ("b_end", |row| optional(row.passage.map(|passage| passage.document.end))),
            ("b_first_line", |row| optional(row.passage.map(|passage| passage.document.lines[0]))),
            ("b_last_line", |row| optional(row.passage.map(|passage| passage.document.lines[1]))),
            ("symbols", |row| optional(row.passage.map(|passage| passage.symbols))),
            ("exact", |row| optional(row.passage.map(|passage| passage.exact))),
            ("agreement", |row| optional(row.passage.and_then(|passage| passage.agreement))),
            ("same_names", |row| optional(row.passage.and_then(|passage| passage.same_names))),
        ]);
    }
    // Metadata is one cell of JSON, because the names differ between documents.
    columns.extend_from_slice(&[
        ("a_metadata", |row| serde_json::json!(row.measured.a_metadata).to_string()),
        ("b_metadata", |row| serde_json::json!(row.measured.b_metadata).to_string()),
    ]);
    if shown.text {
        columns.extend_from_slice(&[
            ("text_resemblance", |row| optional(row.measured.text_resemblance)),
            ("text_shared", |row| optional(row.measured.text_shared)),
            ("text_containment_a", |row| optional(row.measured.text_containment_a)),
            ("text_containment_b", |row| optional(row.measured.text_containment_b)),
        ]);
        if shown.passages {
            columns.push(("as_written", |row| optional(row.passage.map(|passage| passage.as_written))));
        }
    }
    if shown.by_submission {
        columns.extend_from_slice(&[
            ("a_submission", |row| row.found.a.to_string()),
            ("b_submission", |row| row.found.b.to_string()),
            ("a_file", |row| optional(row.files.map(|files| &files.a))),
            ("b_file", |row| optional(row.files.map(|files| &files.b))),
            ("by_files", |row| row.found.by_files.to_string()),
        ]);
    }
    if shown.longest {
        // Rows of files repeat the longest passage of their submissions, because rows are sorted by its
        // length.
        columns.push(("longest", |row| row.found.longest.unwrap_or(0).to_string()));
    }
    if shown.times {
        columns.extend_from_slice(&[
            ("a_modified", |row| optional(row.timed().a_modified)),
            ("b_modified", |row| optional(row.timed().b_modified)),
        ]);
    }
    if shown.passages {
        columns.extend_from_slice(&[
            ("a_first_page", |row| page(row.passage.map(|passage| &passage.query), 0)),
            ("a_last_page", |row| page(row.passage.map(|passage| &passage.query), 1)),
            ("b_first_page", |row| page(row.passage.map(|passage| &passage.document), 0)),
            ("b_last_page", |row| page(row.passage.map(|passage| &passage.document), 1)),
        ]);
    }
    // The measures that text for people shows.
    columns.extend_from_slice(&[
        ("resemblance_without_boilerplate", |row| row.measured.measures().resemblance.to_string()),
        ("containment_a_without_boilerplate", |row| row.measured.measures().containment_a.to_string()),
        ("containment_b_without_boilerplate", |row| row.measured.measures().containment_b.to_string()),
    ]);
    if shown.text {
        columns.extend_from_slice(&[
            ("text_resemblance_without_boilerplate", |row| optional(row.measured.measures().text_resemblance)),
            ("text_containment_a_without_boilerplate", |row| optional(row.measured.measures().text_containment_a)),
            ("text_containment_b_without_boilerplate", |row| optional(row.measured.measures().text_containment_b)),
        ]);
    }
    if shown.divided {
        columns.extend_from_slice(&[
            ("a_old", |row| row.found.a_old.to_string()),
            ("b_old", |row| row.found.b_old.to_string()),
        ]);
    }
    columns
}

/// The names of the columns of [`pair_rows`].
pub(crate) fn pair_header(shown: PairColumns) -> Vec<&'static str> {
    names(&pair_columns(shown))
}

/// The rows of a pair: one row if no passages were searched for. Otherwise one row for each passage, or one
/// row with empty passage columns. A pair of submissions then has such rows for each listed pair of its
/// files.
pub(crate) fn pair_rows(found: &Pair, shown: PairColumns) -> Vec<Vec<String>> {
    let columns = pair_columns(shown);
    let measured: Vec<(&Pair, Option<&Pair>)> = match shown.passages && !found.files.is_empty() {
        true => found.files.iter().map(|files| (files, Some(files))).collect(),
        false => vec![(found, found.files.first())],
    };
    let rows = measured.into_iter().flat_map(|(measured, files)| {
        let passages = measured.passages.as_deref().unwrap_or_default();
        rows_of(passages).map(move |passage| PairRow { found, measured, files, passage })
    });
    rows.map(|row| cells(&columns, &row)).collect()
}

/// The columns of [`dedup_row`].
pub(crate) const DEDUP: [&str; 12] = [
    "remove",
    "keep",
    "because",
    "score",
    "shared",
    "remove_id",
    "keep_id",
    "novel",
    "bytes",
    "id",
    "metadata",
    "keep_metadata",
];

/// The row of one document. The document is removable; or it is undecided and has no survivor; or it stays
/// although a later document would justify its removal.
pub(crate) fn dedup_row(row: &DedupRow) -> [String; DEDUP.len()] {
    match row {
        DedupRow::Removable(removable) => [
            removable.remove.clone(),
            removable.keep.clone(),
            removable.because.name().to_owned(),
            removable.score.to_string(),
            removable.shared.to_string(),
            removable.remove_id.to_string(),
            removable.keep_id.to_string(),
            removable.novel.to_string(),
            removable.bytes.to_string(),
            own_id(&removable.metadata),
            fields(&removable.metadata),
            fields(&removable.keep_metadata),
        ],
        DedupRow::Undecided(undecided) => [
            undecided.document.clone(),
            String::new(),
            "undecided".to_owned(),
            String::new(),
            String::new(),
            undecided.id.to_string(),
            String::new(),
            String::new(),
            String::new(),
            own_id(&undecided.metadata),
            fields(&undecided.metadata),
            String::new(),
        ],
        DedupRow::Superseded(superseded) => [
            superseded.document.clone(),
            superseded.by.clone(),
            "superseded".to_owned(),
            superseded.score.to_string(),
            superseded.shared.to_string(),
            superseded.id.to_string(),
            superseded.by_id.to_string(),
            superseded.novel.to_string(),
            superseded.bytes.to_string(),
            own_id(&superseded.metadata),
            fields(&superseded.metadata),
            fields(&superseded.by_metadata),
        ],
    }
}

/// All metadata as one JSON object; empty without metadata.
fn fields(metadata: &[(String, String)]) -> String {
    let object: serde_json::Map<String, serde_json::Value> =
        metadata.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    if object.is_empty() { String::new() } else { serde_json::Value::Object(object).to_string() }
}

/// The record's own field `id`.
fn own_id(metadata: &[(String, String)]) -> String {
    metadata.iter().find(|(name, _)| name == "id").map_or_else(String::new, |(_, value)| value.clone())
}
