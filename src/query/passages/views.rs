//! Views: combines the passages of the structure with those of the text as written.
//!
//! A passage of one view is left out if it lies within a passage of the other view, in both documents. The
//! passage around it shows the same text. Passages that overlap only in part all stay.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::answer::Passage;
use super::super::options::PassageOptions;
use super::{DocumentPassages, IDIOM, IDIOM_AS_WRITTEN, expected_run};
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::Span;
use fpdb_kernel::profile::Profile;
use fpdb_passages::Covered;

/// Marks a passage as one of the text as written. If its text is the same in both documents, so are all of
/// its names.
pub(super) fn as_written(passage: Passage) -> Passage {
    Passage { same_names: passage.agreement.filter(|&agreement| agreement >= 1.0), as_written: true, ..passage }
}

/// The passages of both views, in order of the query. `symbols` is the number of symbols in the structure of
/// the query, 0 if none can be compared. `view` is the profile of the text as written. `within` returns the
/// symbols of the structure in a span.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn both_views(
    structure: DocumentPassages,
    text: DocumentPassages,
    symbols: u64,
    view: &Profile,
    within: &dyn Fn(Span) -> Range<u64>,
    options: &PassageOptions,
    stop: &StopToken,
) -> Result<DocumentPassages> {
    let mut passages = structure.passages;
    let (mut of_text, mut longest_of_text) = (text.passages, text.longest);
    // An idiom is a short passage that unrelated programs share too. If the structure has a longer passage,
    // an idiom of the text adds nothing. If the structure has only an idiom, a text passage needs the length
    // from which runs are always found: a shorter passage may be chance.
    if let (0, Some(longest)) = (options.least, passages.iter().map(|passage| passage.symbols).max()) {
        let least = if longest >= IDIOM { IDIOM_AS_WRITTEN } else { u64::from(expected_run(view)) };
        of_text.retain(|passage| passage.symbols >= least);
        if longest_of_text < least {
            longest_of_text = 0;
        }
    }
    drop_contained(&mut of_text, &passages, stop)?;
    drop_contained(&mut passages, &of_text, stop)?;
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
    Ok(DocumentPassages {
        passages,
        left_out: structure.left_out + text.left_out,
        longest: structure.longest.max(longest_of_text),
        covered,
        repeats: structure.repeats + text.repeats,
    })
}

/// Drops the passages that lie within one of `others`.
fn drop_contained(passages: &mut Vec<Passage>, others: &[Passage], stop: &StopToken) -> Result<()> {
    let others = PassagesByPlace::new(others);
    let mut checked = Ok(());
    passages.retain(|inner| {
        if checked.is_ok() {
            checked = stop.check();
        }
        checked.is_err() || !others.contain(inner)
    });
    checked
}

/// Passages by place, to find a passage that contains another. An idiom can have one place in one document
/// and very many in the other. So the search uses the document in which fewer passages are near.
struct PassagesByPlace<'a> {
    /// By the binary logarithm of the length in the query.
    levels: BTreeMap<u32, PassagesOfLength<'a>>,
}

/// Passages of similar length in the query.
#[derive(Default)]
struct PassagesOfLength<'a> {
    /// In order of their start in the query, and in the document.
    by_start: [Vec<&'a Passage>; 2],
    /// Maximum length in bytes in the query, and in the document.
    longest: [u64; 2],
}

/// The spans of a passage: in the query, and in the document.
const SIDES: [fn(&Passage) -> Span; 2] = [|passage| passage.query.span(), |passage| passage.document.span()];

impl<'a> PassagesByPlace<'a> {
    fn new(passages: &'a [Passage]) -> Self {
        let mut levels = BTreeMap::<u32, PassagesOfLength<'_>>::new();
        for passage in passages {
            let level = levels.entry(level(passage)).or_default();
            for ((by_start, longest), side) in level.by_start.iter_mut().zip(&mut level.longest).zip(SIDES) {
                by_start.push(passage);
                *longest = (*longest).max(length(side(passage)));
            }
        }
        for level in levels.values_mut() {
            for (by_start, side) in level.by_start.iter_mut().zip(SIDES) {
                by_start.sort_by_key(|passage| side(passage).start);
            }
        }
        Self { levels }
    }

    /// True if `inner` lies within one of the passages, in both documents.
    fn contain(&self, inner: &Passage) -> bool {
        self.levels.range(level(inner)..).any(|(_, level)| {
            let near = |side: usize| {
                let (passages, longest, place) = (&level.by_start[side], level.longest[side], SIDES[side](inner));
                let start = |passage: &&Passage| SIDES[side](passage).start;
                let from = passages.partition_point(|passage| start(passage).saturating_add(longest) < place.end);
                let end = passages.partition_point(|passage| start(passage) <= place.start);
                passages.get(from..end).unwrap_or_default()
            };
            let [of_query, of_document] = [near(0), near(1)];
            let near = if of_query.len() <= of_document.len() { of_query } else { of_document };
            near.iter().any(|outer| lies_in(inner, outer))
        })
    }
}

fn length(span: Span) -> u64 {
    span.end - span.start
}

fn level(passage: &Passage) -> u32 {
    length(passage.query.span()).max(1).ilog2()
}

fn lies_in(inner: &Passage, outer: &Passage) -> bool {
    let within = |inner: Span, outer: Span| outer.start <= inner.start && inner.end <= outer.end;
    within(inner.query.span(), outer.query.span()) && within(inner.document.span(), outer.document.span())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::location::Location;
    use super::*;

    fn passage((query, query_length, document, document_length): (u64, u64, u64, u64)) -> Passage {
        let place = |start, length| Location::new(Span { start, end: start + length }, [1, 1]);
        Passage {
            query: place(query, query_length),
            document: place(document, document_length),
            symbols: query_length,
            agreement: None,
            same_names: None,
            exact: true,
            as_written: false,
        }
    }

    proptest! {
        #[test]
        fn those_that_lie_within_others_are_dropped(
            [passages, others] in prop::array::uniform2(prop::collection::vec((0u64..40, 1u64..20, 0u64..40, 1u64..20), 0..40)),
        ) {
            let [mut passages, others] = [passages, others].map(|list| list.into_iter().map(passage).collect::<Vec<_>>());
            let mut expected = passages.clone();
            expected.retain(|inner| !others.iter().any(|outer| lies_in(inner, outer)));
            drop_contained(&mut passages, &others, &StopToken::new()).unwrap();
            prop_assert_eq!(passages, expected);
        }
    }

    #[test]
    fn dropping_can_be_stopped() {
        let stop = StopToken::new();
        stop.stop();
        let others = [passage((0, 9, 0, 9))];
        assert!(drop_contained(&mut others.to_vec(), &others, &stop).is_err());
    }

    /// Comparing each with each would take minutes.
    #[test]
    fn very_many_passages_take_no_long_time() {
        let count = 200_000;
        let long = [passage((0, 90 * count, 0, 50 * count))];
        for place in [|at: u64| (at * 50, at * 50), |at| (7, at * 50), |at| (at * 50, 7)] {
            let passages =
                |length| (0..count).map(place).map(move |(query, document)| (query, length, document, length));
            let others: Vec<Passage> = passages(40).map(passage).collect();
            let mut inner: Vec<Passage> = passages(41).map(passage).chain(others.clone()).collect();
            drop_contained(&mut inner, &others, &StopToken::new()).unwrap();
            assert_eq!(inner.len() as u64, count);
            drop_contained(&mut inner, &long, &StopToken::new()).unwrap();
        }
    }
}
