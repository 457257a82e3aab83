//! Views: brings the passages of the structure and of the text as written together.
//!
//! A passage of one view is left out if it lies within a passage of the other view, in both documents. The
//! larger passage shows the same text. Passages that overlap only in part all stay.

use std::ops::Range;

use super::super::answer::Passage;
use super::super::options::PassageOptions;
use super::{DocumentPassages, IDIOM_AS_WRITTEN};
use fpdb_kernel::document::Span;
use fpdb_passages::Covered;

/// Marks a passage as one of the text as written. If its text is the same in both documents, so are all of
/// its names.
pub(super) fn as_written(passage: Passage) -> Passage {
    Passage { same_names: passage.agreement.filter(|&agreement| agreement >= 1.0), as_written: true, ..passage }
}

/// The passages of both views, in order of the query. `symbols` is the number of symbols in the structure of
/// the query, 0 if none can be compared. `within` returns the symbols in a span.
pub(super) fn both_views(
    structure: DocumentPassages,
    text: DocumentPassages,
    symbols: u64,
    within: &dyn Fn(Span) -> Range<u64>,
    options: &PassageOptions,
) -> DocumentPassages {
    let mut passages = structure.passages;
    let mut of_text = text.passages;
    // A short idiom of the text adds nothing to a passage of structure.
    if !passages.is_empty() && options.least == 0 {
        of_text.retain(|passage| passage.symbols >= IDIOM_AS_WRITTEN);
    }
    of_text.retain(|inner| !passages.iter().any(|outer| lies_in(inner, outer)));
    passages.retain(|inner| !of_text.iter().any(|outer| lies_in(inner, outer)));
    // A text without tokens is covered by its words and marks.
    let covered = match symbols {
        0 => text.covered,
        _ => {
            let ranges = of_text.iter().map(|passage| within(passage.query.span())).filter(|range| !range.is_empty());
            Covered::union([&structure.covered, &Covered::new(ranges.collect(), symbols)].into_iter())
        }
    };
    passages.append(&mut of_text);
    passages.sort_by_key(|passage| (passage.query.span(), passage.document.span(), passage.as_written));
    DocumentPassages {
        passages,
        left_out: structure.left_out + text.left_out,
        covered,
        repeats: structure.repeats + text.repeats,
    }
}

fn lies_in(inner: &Passage, outer: &Passage) -> bool {
    let within = |inner: Span, outer: Span| outer.start <= inner.start && inner.end <= outer.end;
    within(inner.query.span(), outer.query.span()) && within(inner.document.span(), outer.document.span())
}
