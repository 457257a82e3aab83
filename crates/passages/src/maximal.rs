//! Maximal matches: runs of equal symbols that cannot be extended in either direction.
//!
//! Each pair of occurrences of one hash is a *seed*. A seed is compared symbol by symbol, which rejects hash
//! collisions, and then extended in both directions. Seeds are handled in order of their diagonal (query
//! position minus document position). A seed inside a match already found is skipped, so each symbol of a
//! match is compared once. Hashes that both texts repeat too often to pair all occurrences go to
//! [`super::repeats`].

use super::occurrences::Occurrences;
use super::repeats;
use super::runs::{IndexedText, MaximalMatch, Settings, extend};

/// Number of the diagonal of equal positions. All positions are below it, because texts above 32 MiB are not
/// compared.
const MIDDLE: u32 = 1 << 31;

/// Returns the maximal matches through the hashes at the indexes `shared`, in order of the query, longer ones
/// first. Also returns the number of pairs of occurrences that were not compared one by one.
pub fn maximal_matches(
    query: IndexedText<'_>,
    document: IndexedText<'_>,
    shared: &[usize],
    settings: &Settings,
) -> (Vec<MaximalMatch>, u64) {
    let (easy, hard) = divide(query.occurrences, document.occurrences, shared, settings);
    // Each seed: its diagonal and query position as one number, which halves the time to sort; and the number
    // of pairs of its hash.
    let mut seeds: Vec<(u64, u32)> = Vec::new();
    for &index in &easy {
        let pairs = u32::try_from(pairs(query.occurrences, document.occurrences, index)).unwrap_or(u32::MAX);
        for &here in query.occurrences.of(index) {
            let others = document.occurrences.of(index).iter();
            seeds.extend(others.map(|&there| (u64::from(here + (MIDDLE - there)) << 32 | u64::from(here), pairs)));
        }
    }
    seeds.sort_unstable_by_key(|&(place, _)| place);
    let mut matches: Vec<MaximalMatch> = Vec::new();
    for (place, pairs) in seeds {
        let here = place as u32;
        let diagonal = i64::from((place >> 32) as u32) - i64::from(MIDDLE);
        let there = (i64::from(here) - diagonal) as u32;
        let covers = |last: &&mut MaximalMatch| {
            i64::from(last.query) - i64::from(last.document) == diagonal && here < last.query_end()
        };
        match matches.last_mut().filter(covers) {
            Some(last) => last.rarest = last.rarest.min(pairs),
            None => {
                let found = extend(query.values, document.values, here, there, settings.k);
                matches.extend(found.map(|found| MaximalMatch { rarest: pairs, ..found }));
            }
        }
    }
    let mut left_out = 0u64;
    if !hard.is_empty() {
        for &index in &hard {
            left_out = left_out.saturating_add(pairs(query.occurrences, document.occurrences, index));
        }
        matches.extend(repeats::matches(query, document, &hard, settings));
        left_out = left_out.saturating_sub(matches.len() as u64);
    }
    // Order by query, descending length, document and rarest. These are compared as one number, without a
    // branch.
    let order = |found: &MaximalMatch| {
        [found.query, !found.length, found.document, found.rarest]
            .into_iter()
            .fold(0, |all, part| all << 32 | u128::from(part))
    };
    matches.sort_unstable_by_key(order);
    matches.dedup_by_key(|found| (found.query, found.document, found.length));
    (matches, left_out)
}

/// Divides the hashes at the indexes `shared`, which both texts have, into two lists. The occurrences of a
/// hash in the first list are all paired with each other. This list has the rarest hash first. The second
/// list has the other hashes.
fn divide(
    query: &Occurrences,
    document: &Occurrences,
    shared: &[usize],
    settings: &Settings,
) -> (Vec<usize>, Vec<usize>) {
    let mut shared: Vec<(u64, usize)> =
        shared.iter().map(|&index| (pairs(query, document, index), index)).filter(|&(pairs, _)| pairs > 0).collect();
    shared.sort_unstable();
    let easy = shared.partition_point(|&(pairs, _)| pairs <= settings.pairs_of_hash);
    let mut total = 0u64;
    let affordable = shared[..easy].iter().take_while(|&&(pairs, _)| {
        total += pairs;
        total <= settings.pairs
    });
    let easy = affordable.count();
    let index = |&(_, index): &(u64, usize)| index;
    (shared[..easy].iter().map(index).collect(), shared[easy..].iter().map(index).collect())
}

fn pairs(query: &Occurrences, document: &Occurrences, index: usize) -> u64 {
    query.of(index).len() as u64 * document.of(index).len() as u64
}
