//! Anonymous: removes the names from a report. Documents are numbered in the order of the report's list.
//! Everything else that could identify them (paths, prefixes, messages) is left out. Texts stay, unless they
//! are turned off.

use std::collections::BTreeMap;

use super::ReportContent;
use super::data::DocumentRole;
use crate::query::Match;
use fpdb_kernel::document::DocId;

/// Replaces a reason, which could contain a path.
pub(super) const REASON: &str = "it could not be read";

/// Removes the names from a report.
pub(super) fn anonymise(report: &mut ReportContent) {
    let overview = &mut report.overview;
    overview.anonymous = true;
    overview.boilerplate_documents.clear();
    overview.too_short_names.clear();
    for (number, document) in (1..).zip(&mut overview.documents) {
        let what = if document.role == DocumentRole::Submission { "Submission" } else { "Document" };
        document.name = format!("{what} {number}");
        document.metadata.clear();
        document.dated = None;
        document.modified = None;
        document.disguised.iter_mut().for_each(|disguised| disguised.file = None);
    }
    if let Some(dedup) = &mut overview.dedup {
        dedup.sources.clear();
    }
    overview.pairs.iter_mut().filter_map(|pair| pair.removal.as_mut()).for_each(|removal| removal.id = None);
    for (pair, found) in overview.pairs.iter().zip(&mut report.evidence) {
        if let Some(found) = found {
            *found = nameless(found, overview.documents[pair.b].name.clone());
        }
    }
    if let Some(database) = &mut overview.database {
        database.path = None;
    }
    for (number, failure) in (1..).zip(&mut overview.failures) {
        failure.name = format!("Unreadable document {number}");
        failure.error = REASON.into();
    }
}

/// The match without names, paths, ids, metadata and file times. Each field is listed, so that a new field
/// cannot be forgotten.
fn nameless(found: &mut Match, document: String) -> Match {
    Match {
        document,
        // The owner of the database could look up the name by id.
        id: DocId(0),
        document_bytes: found.document_bytes,
        document_symbols: found.document_symbols,
        extracted: found.extracted,
        shared: found.shared,
        score: found.score,
        containment: found.containment,
        document_containment: found.document_containment,
        resemblance: found.resemblance,
        text_shared: found.text_shared,
        text_containment: found.text_containment,
        text_document_containment: found.text_document_containment,
        text_resemblance: found.text_resemblance,
        without_boilerplate: found.without_boilerplate,
        interval: found.interval,
        estimated: std::mem::take(&mut found.estimated),
        identical: found.identical,
        coverage: found.coverage,
        passages: std::mem::take(&mut found.passages),
        passages_left_out: found.passages_left_out,
        longest: found.longest,
        metadata: BTreeMap::new(),
        modified: None,
        inferred: found.inferred.take(),
        repeats: found.repeats,
        // The files of submissions have their own pairs in the report.
        files: Vec::new(),
        files_left_out: found.files_left_out,
        query: None,
    }
}
