//! CSV: one row a match and passage, or one row a document, with a header.

use super::wire::{DedupReport, DocumentReport, PairReport, QueryReport};

/// The columns of [`query_rows`].
#[must_use]
pub fn query_header() -> Vec<&'static str> {
    vec![
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
    ]
}

/// One row for each passage; one with empty passage columns for a match that has none.
#[must_use]
pub fn query_rows(report: &QueryReport) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for found in &report.matches {
        let bound = |index: usize| found.interval.map_or(String::new(), |interval| interval[index].to_string());
        let head = vec![
            report.query.name.clone(),
            found.document.clone(),
            found.id.to_string(),
            found.shared.to_string(),
            report.looked_up.to_string(),
            found.containment.to_string(),
            found.document_containment.to_string(),
            found.resemblance.to_string(),
            bound(0),
            bound(1),
            found.identical.to_string(),
            found.coverage.to_string(),
        ];
        for passage in &found.passages {
            let (q, d) = (&passage.query, &passage.document);
            let numbers =
                [q.start, q.end, q.lines[0], q.lines[1], d.start, d.end, d.lines[0], d.lines[1], passage.symbols];
            let mut row = head.clone();
            row.extend(numbers.map(|number| number.to_string()));
            row.push(passage.exact.to_string());
            rows.push(row);
        }
        if found.passages.is_empty() {
            let mut row = head;
            row.resize(query_header().len(), String::new());
            rows.push(row);
        }
    }
    rows
}

/// The columns of [`document_row`].
#[must_use]
pub fn document_header() -> Vec<&'static str> {
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
        "ingested_at",
    ]
}

/// One document.
#[must_use]
pub fn document_row(report: &DocumentReport) -> Vec<String> {
    vec![
        report.id.to_string(),
        report.name.clone(),
        report.source.clone().unwrap_or_default(),
        report.bytes.to_string(),
        report.symbols.to_string(),
        report.lines.to_string(),
        report.fingerprints.to_string(),
        report.distinct.to_string(),
        report.encoding.clone(),
        report.undecodable.to_string(),
        report.digest.clone(),
        report.ingested_at.to_string(),
    ]
}

/// The columns of [`pair_row`].
#[must_use]
pub fn pair_header() -> Vec<&'static str> {
    vec!["a", "b", "shared", "resemblance", "containment_a", "containment_b"]
}

/// One pair.
#[must_use]
pub fn pair_row(report: &PairReport) -> Vec<String> {
    vec![
        report.a.clone(),
        report.b.clone(),
        report.shared.to_string(),
        report.resemblance.to_string(),
        report.containment_a.to_string(),
        report.containment_b.to_string(),
    ]
}

/// The columns of [`removable_row`].
#[must_use]
pub fn removable_header() -> Vec<&'static str> {
    vec!["remove", "keep", "because", "score", "shared"]
}

/// One removable document.
#[must_use]
pub fn removable_row(report: &DedupReport) -> Vec<String> {
    vec![
        report.remove.clone(),
        report.keep.clone(),
        report.because.clone(),
        report.score.to_string(),
        report.shared.to_string(),
    ]
}
