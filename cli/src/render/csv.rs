//! The columns and rows of tables: a row for each passage of a match or pair, or for each document.
//!
//! Fields are listed by hand: a row joins a match or pair with one of its passages, and the serde support of
//! the crate `csv` takes only flat structs.

use fpdb::dedup::{Removable, Superseded, Undecided};
use fpdb::pairs::Pair;
use fpdb::{DocumentInfo, Location, Passage, QueryAnswer};
use fpdb_kernel::hex;

/// The columns of [`query_rows`]. `by_submission` adds the column of submissions, `text` adds the columns of
/// the text as written, and `times` adds the column of the times of files. New columns are added at the end.
pub(crate) fn query_header(by_submission: bool, text: bool, times: bool) -> Vec<&'static str> {
    let mut header = vec![
        "query",
        "document",
        "id",
        "shared",
        "looked_up",
        "containment",
        "document_containment",
        "resemblance",
        "interval_low",
        "interval_high",
        "identical",
        "coverage",
        "query_start",
        "query_end",
        "query_first_line",
        "query_last_line",
        "document_start",
        "document_end",
        "document_first_line",
        "document_last_line",
        "symbols",
        "exact",
        "agreement",
        "same_names",
        "score",
        "inferred",
        "estimated",
    ];
    if by_submission {
        header.push("submission");
    }
    if text {
        header.extend(["text_shared", "text_looked_up"]);
        header.extend(["text_containment", "text_document_containment", "text_resemblance", "as_written"]);
    }
    header.push("metadata");
    header.extend(times.then_some("modified"));
    header.extend(["query_first_page", "query_last_page", "document_first_page", "document_last_page"]);
    header
}

/// Number of columns after those of passages, with one view: three of `tail`, metadata and four of pages.
const AFTER_PASSAGES: usize = 8;

/// One row for each passage. A match without passages has one row with empty passage columns. The rows of the
/// documents of a submission follow the row of the submission and have its name. If the query is a
/// submission, such a row has the name of one file of the query, and no `text_looked_up`.
pub(crate) fn query_rows(answer: &QueryAnswer, by_submission: bool, times: bool) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let with_files = answer.matches.iter().flat_map(|found| {
        std::iter::once((found, "")).chain(found.files.iter().map(|file| (file, found.document.as_str())))
    });
    for (found, submission) in with_files {
        let bound = |index: usize| found.interval.map_or(String::new(), |interval| interval[index].to_string());
        // In a pair of files, the measures are those of one file of the query.
        let query = found.query.as_deref();
        let head = vec![
            query.unwrap_or(&answer.query).name.clone(),
            found.document.clone(),
            found.id.to_string(),
            found.shared.to_string(),
            query.map_or(answer.looked_up, |query| query.fingerprints).to_string(),
            found.containment.to_string(),
            found.document_containment.to_string(),
            found.resemblance.to_string(),
            bound(0),
            bound(1),
            found.identical.to_string(),
            found.coverage.map_or(String::new(), |share| share.to_string()),
        ];
        let mut tail = vec![
            found.score.to_string(),
            found.inferred.as_deref().unwrap_or_default().to_owned(),
            // The names are separated by spaces.
            found.estimated.iter().map(|measure| measure.name()).collect::<Vec<_>>().join(" "),
        ];
        if by_submission {
            tail.push(submission.to_owned());
        }
        if let Some(text) = &answer.text {
            let shares = [found.text_containment, found.text_document_containment, found.text_resemblance];
            tail.push(found.text_shared.map_or(String::new(), |shared| shared.to_string()));
            tail.push(if query.is_some() { String::new() } else { text.looked_up.to_string() });
            tail.extend(shares.map(|share| share.map_or(String::new(), |share| share.to_string())));
        }
        let columns = query_header(by_submission, false, false).len() - usize::from(by_submission) - AFTER_PASSAGES;
        for (place, row) in with_passages(&head, &found.passages, columns).into_iter().enumerate() {
            let passage = found.passages.get(place);
            let as_written = passage.map(|passage| passage.as_written.to_string());
            let last = answer.text.as_ref().map(|_| as_written.unwrap_or_default());
            let modified = times.then(|| found.modified.map_or(String::new(), |time| time.to_string()));
            // Metadata is one cell of JSON, because the names differ between documents.
            let metadata = Some(serde_json::json!(found.metadata).to_string());
            let ends = last.into_iter().chain(metadata).chain(modified).chain(pages(passage));
            rows.push(row.into_iter().chain(tail.iter().cloned()).chain(ends).collect());
        }
    }
    rows
}

/// The columns of [`document_row`].
pub(crate) fn document_header() -> Vec<&'static str> {
    vec![
        "id",
        "name",
        "source",
        "bytes",
        "symbols",
        "lines",
        "fingerprints",
        "distinct",
        "encoding",
        "undecodable",
        "digest",
        "format",
        "boilerplate",
        "metadata",
        "ingested_at",
        "modified",
    ]
}

/// One document.
pub(crate) fn document_row(document: &DocumentInfo) -> Vec<String> {
    vec![
        document.id.to_string(),
        document.name.clone(),
        document.source.clone().unwrap_or_default(),
        document.bytes.to_string(),
        document.symbols.to_string(),
        document.lines.to_string(),
        document.fingerprints.to_string(),
        document.distinct.to_string(),
        document.encoding.clone(),
        document.undecodable.to_string(),
        hex::encode(&document.digest),
        document.format.clone(),
        document.boilerplate.to_string(),
        // Metadata is one cell of JSON, because the names differ between documents.
        serde_json::json!(document.metadata).to_string(),
        document.ingested_at.to_string(),
        document.modified.map_or(String::new(), |time| time.to_string()),
    ]
}

/// The way in which the own text of the documents in pairs was compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairText {
    /// The text was not compared.
    None,
    /// The text was read again to find its resemblance.
    Own,
    /// The text is a view of the database.
    View,
}

/// The columns of [`pair_rows`]. The arguments add the columns of passages, of the text, of the longest
/// passage, of submissions and of the times of files.
pub(crate) fn pair_header(
    passages: bool,
    text: PairText,
    longest: bool,
    by_submission: bool,
    times: bool,
) -> Vec<&'static str> {
    let mut header = vec!["a", "b", "shared", "resemblance", "containment_a", "containment_b", "a_id", "b_id", "score"];
    if passages {
        header.extend(["a_start", "a_end", "a_first_line", "a_last_line"]);
        header.extend(["b_start", "b_end", "b_first_line", "b_last_line", "symbols", "exact", "agreement"]);
        header.push("same_names");
    }
    header.extend(["a_metadata", "b_metadata"]);
    if text != PairText::None {
        header.push("text_resemblance");
    }
    if text == PairText::View {
        header.extend(["text_shared", "text_containment_a", "text_containment_b"]);
        header.extend(passages.then_some("as_written"));
    }
    if by_submission {
        header.extend(["a_submission", "b_submission", "a_file", "b_file", "by_files"]);
    }
    header.extend(longest.then_some("longest"));
    header.extend(times.then_some(["a_modified", "b_modified"]).into_iter().flatten());
    if passages {
        header.extend(["a_first_page", "a_last_page", "b_first_page", "b_last_page"]);
    }
    header
}

/// One row for a pair. If passages were searched: a row for each, or one row with empty passage columns.
/// `longest` is the length of the longest passage, for tables that have this column, and `submissions` are
/// the [`submission_cells`]. `times` are those of the two files, for tables that have these columns.
pub(crate) fn pair_rows(
    pair: &Pair,
    text: PairText,
    longest: Option<u64>,
    submissions: &[String],
    times: Option<[Option<i64>; 2]>,
) -> Vec<Vec<String>> {
    let head = vec![
        pair.a.to_string(),
        pair.b.to_string(),
        pair.shared.to_string(),
        pair.resemblance.to_string(),
        pair.containment_a.to_string(),
        pair.containment_b.to_string(),
        pair.a_id.to_string(),
        pair.b_id.to_string(),
        pair.score.to_string(),
    ];
    // Metadata is one cell of JSON, because the names differ between documents.
    let metadata = [&pair.a_metadata, &pair.b_metadata].map(|metadata| serde_json::json!(metadata).to_string());
    let mut rows = match &pair.passages {
        None => vec![head],
        Some(passages) => {
            let after = metadata.len() + pages(None).len();
            with_passages(&head, passages, pair_header(true, PairText::None, false, false, false).len() - after)
        }
    };
    let share = |share: Option<f64>| share.map_or(String::new(), |share| share.to_string());
    for (place, row) in rows.iter_mut().enumerate() {
        row.extend(metadata.iter().cloned());
        if text != PairText::None {
            row.push(share(pair.text_resemblance));
        }
        if text == PairText::View {
            row.push(pair.text_shared.map_or(String::new(), |shared| shared.to_string()));
            row.extend([pair.text_containment_a, pair.text_containment_b].map(share));
            row.extend(
                pair.passages.as_ref().map(|passages| {
                    passages.get(place).map_or(String::new(), |passage| passage.as_written.to_string())
                }),
            );
        }
        row.extend(submissions.iter().cloned());
        row.extend(longest.map(|symbols| symbols.to_string()));
        let times = times.into_iter().flatten();
        row.extend(times.map(|time| time.map_or(String::new(), |time| time.to_string())));
        if let Some(passages) = &pair.passages {
            row.extend(pages(passages.get(place)));
        }
    }
    rows
}

/// The first and the last page of a passage in both documents. A cell is empty without a page.
fn pages(passage: Option<&Passage>) -> [String; 4] {
    let of = |at: Option<&Location>| {
        at.and_then(|at| at.pages).map_or([const { String::new() }; 2], |pages| pages.map(|page| page.to_string()))
    };
    let [[a, b], [c, d]] = [of(passage.map(|passage| &passage.query)), of(passage.map(|passage| &passage.document))];
    [a, b, c, d]
}

/// For each passage a row that begins with `head`. Without passages one row, filled with empty cells to
/// `columns`.
fn with_passages(head: &[String], passages: &[Passage], columns: usize) -> Vec<Vec<String>> {
    if passages.is_empty() {
        let mut row = head.to_vec();
        row.resize(columns, String::new());
        return vec![row];
    }
    let row = |passage: &Passage| {
        let (q, d) = (&passage.query, &passage.document);
        let numbers = [q.start, q.end, q.lines[0], q.lines[1], d.start, d.end, d.lines[0], d.lines[1], passage.symbols];
        let mut row = head.to_vec();
        row.extend(numbers.map(|number| number.to_string()));
        row.push(passage.exact.to_string());
        row.extend(
            [passage.agreement, passage.same_names].map(|it| it.map_or(String::new(), |share| share.to_string())),
        );
        row
    };
    passages.iter().map(row).collect()
}

/// The cells of a row of two submissions: their names, the names of two files, and whether only files reach
/// the thresholds.
pub(crate) fn submission_cells(pair: &Pair, files: Option<&Pair>) -> Vec<String> {
    let [a, b] = files.map_or_else(Default::default, |files| [files.a.to_string(), files.b.to_string()]);
    vec![pair.a.to_string(), pair.b.to_string(), a, b, pair.by_files.to_string()]
}

/// The columns of [`removable_row`].
pub(crate) fn removable_header() -> Vec<&'static str> {
    vec![
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
    ]
}

/// All metadata as one JSON object; empty without metadata.
fn fields(metadata: &[(String, String)]) -> String {
    let object: serde_json::Map<String, serde_json::Value> =
        metadata.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    if object.is_empty() { String::new() } else { serde_json::Value::Object(object).to_string() }
}

/// One removable document.
pub(crate) fn removable_row(removable: &Removable) -> Vec<String> {
    vec![
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
    ]
}

/// One undecided document, in the same columns, without a survivor.
pub(crate) fn undecided_row(undecided: &Undecided) -> Vec<String> {
    let mut row = vec![String::new(); removable_header().len()];
    row[0] = undecided.document.clone();
    row[2] = "undecided".to_owned();
    row[5] = undecided.id.to_string();
    row[9] = own_id(&undecided.metadata);
    row[10] = fields(&undecided.metadata);
    row
}

/// One document that stays although a later one would justify its removal, in the same columns.
pub(crate) fn superseded_row(superseded: &Superseded) -> Vec<String> {
    vec![
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
    ]
}

/// The record's own field `id`.
fn own_id(metadata: &[(String, String)]) -> String {
    metadata.iter().find(|(name, _)| name == "id").map_or_else(String::new, |(_, value)| value.clone())
}
