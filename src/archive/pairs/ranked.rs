//! Ranked: orders pairs, best first, in bounded memory. All pairs are sorted, on disk if they do not fit. If
//! only the best few are wanted, at most twice that number is held.

use std::cmp::{Ordering, Reverse};

use bytemuck::{Pod, Zeroable};

use fpdb_host::error::Result;
use fpdb_host::spill::{Sorter, TempSpace};

/// The sorter of pairs takes 1/`SORTER_SHARE` of the memory.
pub(super) const SORTER_SHARE: u64 = 8;

/// A pair by ids, with the score that orders pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) a: u32,
    pub(super) b: u32,
    /// Number of shared hashes by view: the structure, then the text as written.
    pub(super) shared: [u32; 2],
    pub(super) score: f64,
    /// True if the pair itself reaches the thresholds.
    pub(super) reaches: bool,
}

/// The sort record of a pair. The better pair comes first. A pair is better if its score is higher, then if
/// it shares more hashes. Then the two names, sorted, decide, so that it does not matter which document was
/// ingested first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PairRecord {
    /// The bits of the score, inverted. Scores are not negative, so the best come first.
    worth: u64,
    /// The places of both names in the sorted names. Two versions of one document have the same name and are
    /// ordered by id.
    a_name: u32,
    b_name: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    /// Number of shared hashes by view: the structure, then the text as written.
    pub(super) shared: [u32; 2],
    /// 1 if the pair itself is below the thresholds. It is a number so that the record has no padding.
    by_files: u64,
}

impl PairRecord {
    /// `places` has the place of each document in the order of names. It may be empty if no order is wanted.
    pub(super) fn of(pair: &Measured, places: &[u32]) -> Self {
        let Measured { a, b, shared, score, reaches } = *pair;
        let [a_name, b_name] = [a, b].map(|id| places.get(id as usize).copied().unwrap_or(0));
        Self { worth: !score.to_bits(), a_name, b_name, a, b, shared, by_files: u64::from(!reaches) }
    }

    pub(super) fn score(&self) -> f64 {
        f64::from_bits(!self.worth)
    }

    fn order(&self) -> impl Ord + use<> {
        let shared = u64::from(self.shared[0]) + u64::from(self.shared[1]);
        let names = [self.a_name.min(self.b_name), self.a_name.max(self.b_name)];
        (self.worth, Reverse(shared), names, self.a, self.b)
    }

    /// True if the submissions are below the thresholds, and only two of their files reach them.
    pub(super) fn by_files(&self) -> bool {
        self.by_files == 1
    }
}

impl Ord for PairRecord {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for PairRecord {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Collects pairs.
pub(super) struct PairCollector<'a> {
    kept: KeptPairs<'a>,
    most: u64,
    /// Number of pairs pushed.
    found: u64,
    /// The first and the last document in the order of names, each with its place.
    ends: Option<[(u32, u32); 2]>,
}

/// Pairs in order.
pub(super) struct SortedPairs<'a> {
    pub(super) records: Box<dyn Iterator<Item = Result<PairRecord>> + Send + 'a>,
    /// Number of pairs found.
    pub(super) found: u64,
    /// The first and the last document in the order of names.
    pub(super) ends: Option<[u32; 2]>,
}

enum KeptPairs<'a> {
    All(Sorter<'a, PairRecord>),
    Best { most: usize, records: Vec<PairRecord> },
}

impl<'a> PairCollector<'a> {
    /// Keeps the best `most` pairs in about `memory` bytes. `None`: all pairs.
    pub(super) fn new(most: Option<u64>, temp: &'a TempSpace, memory: u64) -> Self {
        // Twice the wanted number is collected before the worse half is dropped.
        let fits = |&most: &u64| most.saturating_mul(2 * size_of::<PairRecord>() as u64) <= memory;
        let kept = match most.filter(fits).map(usize::try_from) {
            Some(Ok(most)) => KeptPairs::Best { most: most.max(1), records: Vec::new() },
            _ => KeptPairs::All(Sorter::shared(temp, memory)),
        };
        Self { kept, most: most.unwrap_or(u64::MAX), found: 0, ends: None }
    }

    pub(super) fn push(&mut self, record: PairRecord) -> Result<()> {
        self.found += 1;
        self.ends = with(self.ends, &record);
        match &mut self.kept {
            KeptPairs::All(sorter) => sorter.push(record),
            KeptPairs::Best { most, records } => {
                if records.len() == 2 * *most {
                    records.select_nth_unstable(*most - 1);
                    records.truncate(*most);
                }
                records.push(record);
                Ok(())
            }
        }
    }

    pub(super) fn sorted(self) -> Result<SortedPairs<'a>> {
        let Self { kept, most, found, ends } = self;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let records: Box<dyn Iterator<Item = Result<PairRecord>> + Send + 'a> = match kept {
            KeptPairs::All(sorter) => Box::new(sorter.sorted()?.take(most)),
            KeptPairs::Best { mut records, .. } => {
                records.sort_unstable();
                records.truncate(most);
                Box::new(records.into_iter().map(Ok))
            }
        };
        Ok(SortedPairs { records, found, ends: ends.map(|ends| ends.map(|(_, id)| id)) })
    }
}

/// The first and the last document, after one more pair.
fn with(ends: Option<[(u32, u32); 2]>, record: &PairRecord) -> Option<[(u32, u32); 2]> {
    let pair = [(record.a_name, record.a), (record.b_name, record.b)];
    let [first, last] = ends.unwrap_or([pair[0]; 2]);
    Some([first.min(pair[0]).min(pair[1]), last.max(pair[0]).max(pair[1])])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_come_first_and_as_many_as_wanted(
            pairs in prop::collection::vec((0u32..40, 0u32..40, 0u8..5, prop::array::uniform2(0u32..3)), 0..3000),
            most in prop_oneof![Just(None), (0u64..50).prop_map(Some), (0u64..4000).prop_map(Some)],
            memory in prop_oneof![Just(0u64), 0u64..200_000],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let temp = TempSpace::new(folder.path()).unwrap();
            let names: Vec<u32> = (0..80).map(|id| (id * 7) % 40).collect();
            let mut ranked = PairCollector::new(most, &temp, memory);
            let mut expected = Vec::new();
            for &(a, b, score, shared) in &pairs {
                let (b, score) = (b + 40, f64::from(score) / 4.0);
                ranked.push(PairRecord::of(&Measured { a, b, shared, score, reaches: true }, &names)).unwrap();
                let mut of_names = [names[a as usize], names[b as usize]];
                of_names.sort_unstable();
                expected.push((score, shared[0] + shared[1], of_names, a, b));
            }
            expected.sort_by(|x, y| {
                y.0.total_cmp(&x.0).then(y.1.cmp(&x.1)).then((x.2, x.3, x.4).cmp(&(y.2, y.3, y.4)))
            });
            expected.truncate(most.map_or(usize::MAX, |most| most as usize));
            let SortedPairs { records, found, ends } = ranked.sorted().unwrap();
            prop_assert_eq!(found, pairs.len() as u64);
            let places = pairs.iter().flat_map(|&(a, b, ..)| [a, b + 40]).map(|id| (names[id as usize], id));
            let expected_ends = places.clone().min().zip(places.max()).map(|(first, last)| [first.1, last.1]);
            prop_assert_eq!(ends, expected_ends);
            let sorted: Vec<_> = records
                .map(Result::unwrap)
                .map(|record| {
                    let mut of_names = [record.a, record.b].map(|id| names[id as usize]);
                    of_names.sort_unstable();
                    (record.score(), record.shared[0] + record.shared[1], of_names, record.a, record.b)
                })
                .collect();
            prop_assert_eq!(sorted, expected);
        }
    }
}
