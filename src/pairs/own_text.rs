//! Own text: how alike two programs are whose names count too.
//!
//! The fingerprints of source code are those of its structure, in which a name is a name. Documents that can be read again
//! are compared here by their words and marks as they stand, comments included, with all k-grams of [`K`]: as `--as text -k 4
//! -w 1` would. Of very many k-grams the smallest are kept, of each document by the same bound: a uniform sample.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rayon::prelude::*;

use super::answer::Pair;
use super::documents::Documents;
use super::options::PairsOptions;
use crate::columns::Fingerprints;
use crate::document::Format;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::input::InputLimits;
use crate::profile::{Profile, Selection, Unit, WordRule};
use crate::progress::Task;
use crate::query::{COMPARED_BYTES, TextSequence};
use crate::store::Store;

/// Words and marks in a k-gram.
const K: u32 = 4;

/// k-grams kept of all documents together, at most: 256 MiB.
const MOST: usize = 1 << 25;

/// How much of a document is read before its k-grams are taken.
const PIECE: usize = 64 << 10;

/// Compares the own text of pairs, and ranks each by the larger of its two resemblances. Returns how many documents cannot be
/// read again, with whose pairs this is not done. `options` are those the pairs were found with.
///
/// # Errors
/// [`Error::InvalidParameter`] in another unit than token; [`Error::Stopped`]; a failure to read the store.
pub(crate) fn add_own_text(
    store: &Store,
    pairs: &mut [Pair],
    options: &PairsOptions,
    limits: &InputLimits,
    task: &Task<'_>,
) -> Result<u64> {
    let unit = store.profile().unit;
    if unit != Unit::Token {
        return Err(Error::InvalidParameter {
            name: "the unit of documents whose own text is compared",
            value: unit.to_string(),
            expected: "token: in other units fingerprints are those of the text",
        });
    }
    let documents = Documents::load(store, options)?;
    let mut sketches: BTreeMap<u32, Option<Vec<u64>>> =
        pairs.iter().flat_map(|pair| [pair.a_id.0, pair.b_id.0]).map(|id| (id, Some(Vec::new()))).collect();
    let mut order = Vec::new();
    store.for_each_document(|id, _| {
        if sketches.contains_key(&documents.submission_of(id)) && !store.view().is_boilerplate(id) {
            order.push(id);
        }
        Ok(true)
    })?;
    let total = order.len() as u64;
    let mut texts = TextSequence::new(store, order.clone(), limits.clone());
    let mut kgrams = Kgrams::new(limits)?;
    let (mut kept, mut unavailable) = (0, 0);
    for (done, id) in (0..).zip(order) {
        task.step("documents read again", done, total)?;
        let Some(sketch) = sketches.get_mut(&documents.submission_of(id)) else { continue };
        let hashes = texts.original(id, COMPARED_BYTES)?.ok().and_then(|(bytes, format)| kgrams.of(format, &bytes));
        let before = sketch.as_ref().map_or(0, Vec::len);
        match (hashes, &mut *sketch) {
            (Some(hashes), Some(sketch)) => {
                sketch.extend(hashes);
                // Two ascending runs: the stable sort merges them.
                sketch.sort();
                sketch.dedup();
            }
            (Some(_), None) => {}
            // A part of a submission tells nothing of the whole.
            (None, _) => (unavailable, *sketch) = (unavailable + 1, None),
        }
        kept = kept + sketch.as_ref().map_or(0, Vec::len) - before;
        while kept > MOST {
            kgrams.most /= 2;
            for sketch in sketches.values_mut().flatten() {
                sketch.truncate(sketch.partition_point(|&hash| hash <= kgrams.most));
            }
            kept = sketches.values().flatten().map(Vec::len).sum();
        }
    }
    task.step("documents read again", total, total)?;
    pairs.par_iter_mut().for_each(|pair| {
        if let [Some(Some(a)), Some(Some(b))] = [pair.a_id, pair.b_id].map(|id| sketches.get(&id.0)) {
            let resemblance = resemblance(a, b);
            pair.text_resemblance = Some(resemblance);
            pair.score = pair.score.max(resemblance);
        }
    });
    pairs.sort_unstable_by(by_score);
    Ok(unavailable)
}

/// The better pair first, then by name. Versions of one name are told apart by their numbers.
fn by_score(x: &Pair, y: &Pair) -> Ordering {
    let names = || (&x.a, &x.b, x.a_id, x.b_id).cmp(&(&y.a, &y.b, y.a_id, y.b_id));
    y.score.total_cmp(&x.score).then_with(names)
}

/// Makes k-grams of the text of documents.
struct Kgrams {
    fingerprinter: Fingerprinter,
    found: Fingerprints,
    /// The largest hash that is kept.
    most: u64,
}

impl Kgrams {
    fn new(limits: &InputLimits) -> Result<Self> {
        let profile = Profile::new(Unit::Token, WordRule::Letters, K, 1, Selection::All)?;
        let fingerprinter = Fingerprinter::new(&profile).with_limits(limits);
        Ok(Self { fingerprinter, found: Fingerprints::new(), most: u64::MAX })
    }

    /// The hashes of a document, ascending, each once; `None` where it is not of its format.
    fn of(&mut self, format: Format, bytes: &[u8]) -> Option<Vec<u64>> {
        let mut hashes = Vec::new();
        let Self { fingerprinter, found, most } = self;
        let mut take = |found: &mut Fingerprints| {
            hashes.extend(found.iter().map(|fingerprint| fingerprint.hash).filter(|hash| hash <= most));
            found.clear();
        };
        fingerprinter.begin(if format.language().is_some() { Format::Text } else { format });
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

/// The share of their hashes that two lists, ascending, have in common; 0 of none.
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

    use super::resemblance;

    proptest! {
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
