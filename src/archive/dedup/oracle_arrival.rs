//! Oracle of arrivals: compares each document with the stored ones before it, by brute force.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::arrival::{ArrivalWitness, Arrivals, StoredHashes};
use super::oracle::{K, model, options};
use super::{DedupBy, DedupOptions};
use fpdb_host::error::Result;

/// Documents by id, in a map. It returns holders unordered, and some twice.
#[derive(Default)]
struct Stored {
    sets: BTreeMap<u32, BTreeSet<u64>>,
    boilerplate: BTreeSet<u64>,
}

impl StoredHashes for Stored {
    fn holders(&mut self, hash: u64, into: &mut Vec<u32>) -> Result<()> {
        if !self.boilerplate.contains(&hash) {
            let holders = self.sets.iter().filter(|(_, set)| set.contains(&hash)).map(|(&id, _)| id);
            into.extend(holders.rev().flat_map(|id| if id % 3 == 0 { vec![id, id] } else { vec![id] }));
        }
        Ok(())
    }

    fn size(&mut self, document: u32) -> Result<u32> {
        Ok(self.sets[&document].len() as u32)
    }
}

/// The rule, by its definition.
fn expected(stored: &Stored, hashes: &[u64], options: &DedupOptions) -> Option<ArrivalWitness> {
    let set: BTreeSet<u64> = hashes.iter().copied().collect();
    stored.sets.iter().find_map(|(&document, other)| {
        let shared: BTreeSet<u64> = set.intersection(other).copied().collect();
        let shared: BTreeSet<u64> = shared.difference(&stored.boilerplate).copied().collect();
        let union = set.len() + other.len() - shared.len();
        let of = if options.by == DedupBy::Resemblance { union } else { set.len() };
        if shared.is_empty() || (shared.len() as f64 / of as f64) < options.threshold {
            return None;
        }
        let symbols = 2 * (hashes.len() as u64 - 1) + K;
        // The start of each stretch, and whether it holds a fingerprint that is not shared.
        let (mut novel, mut open) = (0, (0, false));
        for (place, hash) in (0u64..).zip(hashes) {
            if shared.contains(hash) {
                novel = novel.max(if open.1 { (2 * place).saturating_sub(open.0) } else { 0 });
                open = (2 * place + K, false);
            } else {
                open.1 = true;
            }
        }
        novel = novel.max(if open.1 { symbols.saturating_sub(open.0) } else { 0 });
        let enough = options.max_novel.is_none_or(|most| novel <= most);
        enough.then_some(ArrivalWitness { document, shared: shared.len() as u32, size: set.len() as u32, novel })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn arrivals_are_decided_as_the_definition_does(
        model in model(), options in options(), repeats in 1usize..9, frequent in prop::collection::btree_set(0u64..34, 0..20),
    ) {
        let mut stored = Stored::default();
        let boilerplate = model.boilerplate.iter().map(|&id| &model.documents[id as usize]);
        stored.boilerplate = boilerplate.flat_map(|document| document.set()).collect();
        let mut arrivals = Arrivals::new(&options, K as u32);
        // Guesses of frequent hashes must not change a decision.
        arrivals.think_frequent(frequent);
        let documents = model.documents.iter().cycle().take(model.documents.len() * repeats);
        for (id, document) in (0..).zip(documents) {
            let fingerprints: Vec<(u64, u64)> =
                document.hashes.iter().zip(0u64..).map(|(&hash, place)| (hash, 2 * place)).collect();
            let symbols = if fingerprints.is_empty() { 0 } else { 2 * (fingerprints.len() as u64 - 1) + K };
            let witness = arrivals.witness(&fingerprints, symbols, &mut stored, &mut |_| Ok(true)).unwrap();
            prop_assert_eq!(witness, expected(&stored, &document.hashes, &options), "document {} by {:?}", id, options);
            if witness.is_none() {
                stored.sets.insert(id, document.set());
            }
        }
    }
}
