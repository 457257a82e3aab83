//! Own text: the resemblance of two programs, names included.
//!
//! The fingerprints of source code describe its structure: all names are equal. Here documents that can be
//! read again are compared by their words and punctuation, comments included. All k-grams of [`K`] words and
//! marks are used. If there are too many, only the smallest hashes are kept. The bound is the same for all
//! documents, so the sample is uniform.

use std::collections::BTreeMap;

use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::documents::Documents;
use super::ranked::{PairCollector, PairRecord, SortedPairs};
use crate::query::{TextLimit, TextSequence, TextUnavailable};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::document::Format;
use fpdb_kernel::profile::{Profile, Selection, Unit, WordRule};
use fpdb_reading::fingerprint::Fingerprinter;
use fpdb_reading::input::InputLimits;
use fpdb_store::Store;

/// Words and punctuation marks in a k-gram.
const K: u32 = 4;

/// Maximum number of k-grams kept of all documents together. They take at most 1/`SKETCH_SHARE` of the
/// memory.
const MOST: u64 = 1 << 25;
const SKETCH_SHARE: u64 = 4;

/// Number of pairs compared at a time.
const AT_A_TIME: usize = 4096;

/// Size of the pieces, in bytes, in which a document is read.
const PIECE: usize = 64 << 10;

/// Checks that documents of this unit have text of their own that their fingerprints do not describe.
///
/// # Errors
/// [`Error::InvalidParameter`] for any unit except token.
pub(super) fn check(unit: Unit) -> Result<()> {
    match unit {
        Unit::Token => Ok(()),
        _ => Err(Error::InvalidParameter {
            name: "the unit of documents whose own text is compared",
            value: unit.to_string(),
            expected: "token: in other units fingerprints are those of the text",
        }),
    }
}

/// The k-grams of the text of the documents, or submissions, in pairs.
pub(super) struct OwnTexts {
    /// By document, or by first document of a submission, its hashes, ascending. `None` if a document cannot
    /// be read.
    sketches: BTreeMap<u32, Option<Vec<u64>>>,
    /// Number of documents that cannot be read again. Those that are too large to compare do not count.
    pub(super) unread: u64,
}

impl OwnTexts {
    /// Reads the documents in `in_pairs` again, and the documents of submissions in `in_pairs`.
    ///
    /// # Errors
    /// [`Error::Stopped`]; errors from reading the store.
    pub(super) fn read(
        store: &Store,
        documents: &Documents,
        in_pairs: &RoaringBitmap,
        limits: &InputLimits,
        task: &Task<'_>,
    ) -> Result<Self> {
        let mut order = Vec::new();
        store.for_each_document(|id, _| {
            if in_pairs.contains(documents.submission_of(id)) && !store.view().is_boilerplate(id) {
                order.push(id);
            }
            Ok(true)
        })?;
        let total = order.len() as u64;
        let mut texts = TextSequence::new(store, order.clone(), limits.clone());
        let mut kgrams = Kgrams::new(limits)?;
        let mut sketches = Sketches::new(most(store.memory()));
        let mut unread = 0;
        for (done, id) in (0..).zip(order) {
            task.step("documents read again", done, total)?;
            let original = texts.original(id, TextLimit::COMPARED)?;
            let is_too_large = matches!(original, Err(TextUnavailable::TooLarge));
            let hashes = original.ok().and_then(|(bytes, format)| kgrams.of(format, &bytes, sketches.largest));
            unread += u64::from(hashes.is_none() && !is_too_large);
            sketches.add(documents.submission_of(id), hashes);
        }
        task.step("documents read again", total, total)?;
        Ok(Self { sketches: sketches.by_document, unread })
    }

    /// Reorders the pairs. The score of a pair is the larger of its two resemblances.
    pub(super) fn rank<'a>(
        &self,
        pairs: SortedPairs<'_>,
        mut ranked: PairCollector<'a>,
        task: &Task<'_>,
    ) -> Result<SortedPairs<'a>> {
        let mut records = pairs.records;
        loop {
            task.token().check()?;
            let some = records.by_ref().take(AT_A_TIME).collect::<Result<Vec<PairRecord>>>()?;
            if some.is_empty() {
                return ranked.sorted();
            }
            let compared: Vec<PairRecord> = some.into_par_iter().map(|record| self.compare(record)).collect();
            compared.into_iter().try_for_each(|record| ranked.push(record))?;
        }
    }

    fn compare(&self, record: PairRecord) -> PairRecord {
        match [record.a, record.b].map(|id| self.sketches.get(&id)) {
            [Some(Some(a)), Some(Some(b))] => record.with_text(resemblance(a, b)),
            _ => record,
        }
    }
}

/// Maximum number of k-grams that the sketches may have together.
fn most(memory: u64) -> usize {
    usize::try_from((memory / SKETCH_SHARE / size_of::<u64>() as u64).min(MOST)).unwrap_or(usize::MAX)
}

/// The hashes kept of each document.
struct Sketches {
    by_document: BTreeMap<u32, Option<Vec<u64>>>,
    kept: usize,
    most: usize,
    /// The largest hash that is kept, for all documents.
    largest: u64,
}

impl Sketches {
    fn new(most: usize) -> Self {
        Self { by_document: BTreeMap::new(), kept: 0, most, largest: u64::MAX }
    }

    /// Adds hashes up to `largest`, ascending, of a document or of a part of a submission. `None` if it
    /// cannot be read.
    fn add(&mut self, document: u32, hashes: Option<Vec<u64>>) {
        let sketch = self.by_document.entry(document).or_insert_with(|| Some(Vec::new()));
        let before = sketch.as_ref().map_or(0, Vec::len);
        match (hashes, &mut *sketch) {
            (Some(hashes), Some(sketch)) => {
                sketch.extend(hashes);
                // Two ascending runs: the stable sort merges them.
                sketch.sort();
                sketch.dedup();
                sketch.shrink_to_fit();
            }
            (Some(_), None) => {}
            // A part of a submission does not describe all of it.
            (None, _) => *sketch = None,
        }
        self.kept = self.kept + sketch.as_ref().map_or(0, Vec::len) - before;
        while self.kept > self.most && self.largest > 0 {
            self.largest /= 2;
            self.kept = 0;
            for sketch in self.by_document.values_mut().flatten() {
                sketch.truncate(sketch.partition_point(|&hash| hash <= self.largest));
                sketch.shrink_to_fit();
                self.kept += sketch.len();
            }
        }
    }
}

/// Makes k-grams from the text of documents.
struct Kgrams {
    fingerprinter: Fingerprinter,
    found: Fingerprints,
}

impl Kgrams {
    fn new(limits: &InputLimits) -> Result<Self> {
        let profile = Profile::new(Unit::Token, WordRule::Letters, K, 1, Selection::All)?;
        let fingerprinter = Fingerprinter::new(&profile).with_limits(limits).without_languages();
        Ok(Self { fingerprinter, found: Fingerprints::new() })
    }

    /// The hashes of a document up to `largest`, ascending, without duplicates. `None` if its bytes do not
    /// parse in its format.
    fn of(&mut self, format: Format, bytes: &[u8], largest: u64) -> Option<Vec<u64>> {
        let mut hashes = Vec::new();
        let Self { fingerprinter, found } = self;
        let mut take = |found: &mut Fingerprints| {
            hashes.extend(found.iter().map(|fingerprint| fingerprint.hash).filter(|&hash| hash <= largest));
            found.clear();
        };
        fingerprinter.begin(format);
        for piece in bytes.chunks(PIECE) {
            fingerprinter.feed(piece, found);
            take(found);
        }
        let finished = fingerprinter.finish(found);
        take(found);
        hashes.sort_unstable();
        hashes.dedup();
        finished.ok().map(|_| hashes)
    }
}

/// The resemblance of two ascending lists of hashes; 0 if both are empty.
fn resemblance(a: &[u64], b: &[u64]) -> f64 {
    let (mut rest, mut both) = (b, 0);
    for hash in a {
        rest = &rest[rest.iter().position(|other| other >= hash).unwrap_or(rest.len())..];
        both += usize::from(rest.first() == Some(hash));
    }
    let all = a.len() + b.len() - both;
    if all == 0 { 0.0 } else { both as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Sketches, most, resemblance};

    #[test]
    fn kgrams_keep_to_a_quarter_of_the_memory() {
        assert_eq!(most(1 << 30), 1 << 25);
        assert_eq!(most(1 << 40), 1 << 25);
        assert_eq!(8 * 4 * most(1 << 20), 1 << 20);
    }

    proptest! {
        #[test]
        fn sketches_are_samples_by_one_bound_and_no_larger_than_allowed(
            parts in prop::collection::vec((0u32..5, prop::option::weighted(0.9, prop::collection::btree_set(1u64.., 0..30))), 0..20),
            most in 0usize..120,
        ) {
            let mut sketches = Sketches::new(most);
            let mut all = std::collections::BTreeMap::<u32, Option<BTreeSet<u64>>>::new();
            for (document, hashes) in parts {
                let largest = sketches.largest;
                let sampled = |set: &BTreeSet<u64>| set.iter().copied().filter(|&hash| hash <= largest).collect();
                sketches.add(document, hashes.as_ref().map(sampled));
                let whole = all.entry(document).or_insert_with(|| Some(BTreeSet::new()));
                *whole = whole.take().zip(hashes).map(|(whole, hashes)| &whole | &hashes);
                prop_assert!(sketches.by_document.values().flatten().map(Vec::len).sum::<usize>() <= most);
            }
            let largest = sketches.largest;
            let kept = all.into_iter().map(|(document, whole)| {
                (document, whole.map(|whole| whole.into_iter().filter(|&hash| hash <= largest).collect()))
            });
            prop_assert_eq!(sketches.by_document, kept.collect());
        }

        #[test]
        fn the_resemblance_is_that_of_the_sets(
            [a, b] in prop::array::uniform2(prop::collection::btree_set(0u64..40, 0..30)),
        ) {
            let lists: [Vec<u64>; 2] = [&a, &b].map(|set: &BTreeSet<u64>| set.iter().copied().collect());
            let union = a.union(&b).count().max(1);
            prop_assert_eq!(resemblance(&lists[0], &lists[1]), a.intersection(&b).count() as f64 / union as f64);
        }
    }
}
