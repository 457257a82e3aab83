//! Pair list: the pairs of a report in order, with their evidence.

use super::data::{ReportDocument, ReportPair, TextMeasures};
use crate::archive::pairs::Pair;
use crate::query::Match;
use fpdb_kernel::document::DocId;

/// The pairs of a report. Pairs of documents in submissions come after all other pairs.
#[derive(Default)]
pub(super) struct PairList {
    pairs: Vec<ReportPair>,
    evidence: Vec<Option<Match>>,
    files: Vec<(ReportPair, Option<Match>)>,
}

impl PairList {
    pub(super) fn push(&mut self, pair: ReportPair, found: Option<Match>) {
        self.pairs.push(pair);
        self.evidence.push(found);
    }

    /// Adds a pair of submissions, with the pairs of their documents.
    pub(super) fn push_with_files(&mut self, pair: ReportPair, files: Vec<(ReportPair, Option<Match>)>) {
        let of = Some(self.pairs.len());
        let longest = files.iter().filter_map(|(file, _)| file.longest).max();
        self.push(ReportPair { longest, ..pair }, None);
        self.files.extend(files.into_iter().map(|(file, found)| (ReportPair { of, ..file }, found)));
    }

    pub(super) fn into_pairs(mut self) -> (Vec<ReportPair>, Vec<Option<Match>>) {
        for (file, found) in std::mem::take(&mut self.files) {
            let index = self.pairs.len();
            if let Some(pair) = file.of.and_then(|of| self.pairs.get_mut(of)) {
                pair.files.push(index);
            }
            self.push(file, found);
        }
        (self.pairs, self.evidence)
    }
}

/// Number of passages, shown or not.
pub(super) fn passages(found: &Match) -> u64 {
    found.passages.len() as u64 + found.passages_left_out
}

/// Symbols that count in the longest passage. `None` without passages.
pub(super) fn longest(found: &Match) -> Option<u64> {
    (!found.passages.is_empty()).then_some(found.longest)
}

pub(super) fn pair_of_match(a: usize, b: usize, found: &Match, with_passages: bool) -> ReportPair {
    ReportPair {
        a,
        b,
        shared: found.shared,
        resemblance: found.resemblance,
        containment_a: found.containment,
        containment_a_without_boilerplate: (found.without_boilerplate.map(|own| own.containment))
            .filter(|&own| own != found.containment),
        containment_b: found.document_containment,
        text: text_of_match(found),
        score: found.score,
        interval: found.interval,
        estimated: found.estimated.iter().map(|&measure| measure.into()).collect(),
        identical: found.identical,
        passages: with_passages.then(|| passages(found)),
        longest: longest(found),
        files_left_out: found.files_left_out,
        ..ReportPair::default()
    }
}

pub(super) fn pair_of(a: usize, b: usize, pair: &Pair, passages: Option<u64>) -> ReportPair {
    let measures = pair.measures();
    ReportPair {
        a,
        b,
        shared: pair.shared,
        resemblance: measures.resemblance,
        containment_a: measures.containment_a,
        containment_b: measures.containment_b,
        text: text_of(pair),
        score: pair.score,
        passages,
        files_left_out: pair.files_left_out,
        by_files: pair.by_files,
        ..ReportPair::default()
    }
}

fn text_of_match(found: &Match) -> Option<TextMeasures> {
    Some(TextMeasures {
        text_shared: found.text_shared?,
        text_resemblance: found.text_resemblance?,
        text_containment_a: found.text_containment?,
        text_containment_b: found.text_document_containment?,
    })
}

fn text_of(pair: &Pair) -> Option<TextMeasures> {
    let measures = pair.measures();
    Some(TextMeasures {
        text_shared: pair.text_shared?,
        text_resemblance: measures.text_resemblance?,
        text_containment_a: measures.text_containment_a?,
        text_containment_b: measures.text_containment_b?,
    })
}

/// The match of two documents of the same text, if none of their fingerprints counts.
pub(super) fn same_text(id: DocId, survivor: &ReportDocument, identical: bool) -> Match {
    Match {
        document: survivor.name.clone(),
        id,
        document_bytes: survivor.bytes,
        document_symbols: survivor.symbols.unwrap_or_default(),
        extracted: survivor.extracted,
        score: 1.0,
        containment: 1.0,
        document_containment: 1.0,
        resemblance: 1.0,
        identical,
        coverage: Some(0.0),
        metadata: survivor.metadata.clone(),
        ..Match::default()
    }
}
