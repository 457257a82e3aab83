//! Repeats: handles text that both documents repeat so often that pairing all places would take quadratic
//! time.
//!
//! Each place of either document is matched with one place of the other instead of all. For this, the runs of
//! t symbols around the frequent hashes are hashed, and each common run is handled once in each text. So
//! every symbol in a shared run of t symbols still lies in a match, in linear time. The same holds for every
//! occurrence of the hashes.
//!
//! A hash found 64 times in both texts has 4,096 seeds. The places of a hash with more seeds are not paired
//! with each other, but handled by this method. If all hashes together have more than 2^20 seeds, the most
//! frequent hashes are handled by this method too. Each place that no match covers yet is matched with the
//! longest of up to 16 candidates, including the nearest to the last diagonal. The run across the end of a
//! match can be one of other repeats, and cover what follows; so the text after the end is matched near its
//! diagonal too. Two texts of 200,000 equal symbols have 4 x 10^10 seeds and take some milliseconds. The
//! answer counts the pairs that were not compared (`repeats`).

use std::cmp::Reverse;
use std::ops::Range;

use super::occurrences::KgramHashes;
use super::runs::{IndexedText, MaximalMatch, Settings, extend};

/// Maximum number of places that one place is compared with; the longest match is taken.
const CANDIDATES: usize = 16;

/// Number of symbols compared before a candidate is chosen.
const LOOK_AHEAD: usize = 1 << 12;

/// Matches through occurrences of the hashes `hard`. Together they cover all shared runs of t symbols around
/// these hashes, and every occurrence of these hashes.
pub fn matches(
    query: IndexedText<'_>,
    document: IndexedText<'_>,
    hard: &[usize],
    settings: &Settings,
) -> Vec<MaximalMatch> {
    let t = settings.guarantee();
    let (in_query, in_document) = (starts(query, hard, settings.w, t), starts(document, hard, settings.w, t));
    let (query_runs, document_runs) = (runs(query.values, &in_query, t), runs(document.values, &in_document, t));
    let mut found = Vec::new();
    cover(query.values, document.values, &in_query, &document_runs, t, &mut found);
    let mut mirrored = Vec::new();
    cover(document.values, query.values, &in_document, &query_runs, t, &mut mirrored);
    found.extend(mirrored.into_iter().map(mirror));
    found.extend(rest(query, document, hard, &found, settings.k));
    let mirrored: Vec<MaximalMatch> = found.iter().copied().map(mirror).collect();
    found.extend(rest(document, query, hard, &mirrored, settings.k).into_iter().map(mirror));
    found
}

fn mirror(found: MaximalMatch) -> MaximalMatch {
    MaximalMatch { query: found.document, document: found.query, ..found }
}

/// Matches for the occurrences in `here` that lie in no match found. These occurrences lie in runs shorter
/// than t. Each is matched with the first occurrence of the same k-gram in `there`.
fn rest(
    here: IndexedText<'_>,
    there: IndexedText<'_>,
    hard: &[usize],
    found: &[MaximalMatch],
    k: usize,
) -> Vec<MaximalMatch> {
    let mut spans: Vec<(u32, u32)> = found.iter().map(|found| (found.query, found.query_end())).collect();
    spans.sort_unstable();
    let mut spans = spans.into_iter().peekable();
    let places = hard.iter().flat_map(|&index| here.occurrences.of(index).iter().map(move |&place| (place, index)));
    let mut places: Vec<(u32, usize)> = places.collect();
    places.sort_unstable();
    let mut rest = Vec::new();
    // The furthest end of the matches that begin at or before the current place.
    let mut covered = 0;
    for (place, index) in places {
        while let Some((_, end)) = spans.next_if(|span| span.0 <= place) {
            covered = covered.max(end);
        }
        if place + k as u32 <= covered {
            continue;
        }
        // The first candidate suffices, unless its hash is a collision.
        let candidates = there.occurrences.of(index).iter().take(CANDIDATES);
        let extended = candidates.filter_map(|&other| extend(here.values, there.values, place, other, k)).next();
        if let Some(run) = extended {
            covered = covered.max(run.query_end());
            rest.push(run);
        }
    }
    rest
}

/// The starts, as ranges, of the runs of t symbols whose window holds an occurrence of one of the hashes.
fn starts(text: IndexedText<'_>, hard: &[usize], w: usize, t: usize) -> Vec<Range<usize>> {
    let mut positions: Vec<u32> = hard.iter().flat_map(|&index| text.occurrences.of(index)).copied().collect();
    positions.sort_unstable();
    let last = (text.values.len() + 1).saturating_sub(t);
    let mut starts: Vec<Range<usize>> = Vec::new();
    for position in positions {
        let (from, to) = ((position as usize + 1).saturating_sub(w), (position as usize + 1).min(last));
        match starts.last_mut() {
            Some(range) if from <= range.end => range.end = range.end.max(to),
            _ if from < to => starts.push(from..to),
            _ => {}
        }
    }
    starts
}

/// The hash and the place of each run of t symbols that begins in one of the ranges, ascending.
fn runs(values: &[u64], starts: &[Range<usize>], t: usize) -> Vec<(u64, u32)> {
    let mut runs = Vec::new();
    let mut hashes = KgramHashes::new(t);
    for range in starts {
        hashes.for_each(&values[range.start..range.end + t - 1], |position, hash| {
            runs.push((hash, range.start as u32 + position));
        });
    }
    runs.sort_unstable();
    runs
}

/// Matches that together cover every run of t symbols that begins in `starts` and is also in `runs`, the runs
/// of the other text.
fn cover(
    values: &[u64],
    others: &[u64],
    starts: &[Range<usize>],
    runs: &[(u64, u32)],
    t: usize,
    found: &mut Vec<MaximalMatch>,
) {
    // The last match ends at `covered`, so it contains each run of t symbols that ends there or before. The
    // next run is compared near the diagonal of that match too.
    let mut covered = 0;
    let mut diagonal = 0;
    // The end and the diagonal of a match, if the match after it lies across its end.
    let mut ended: Option<(usize, i64)> = None;
    let mut hashes = KgramHashes::new(t);
    for range in starts {
        hashes.for_each(&values[range.start..range.end + t - 1], |position, hash| {
            let here = range.start + position as usize;
            ended = ended.filter(|(end, _)| here < end + t);
            let resumed = ended.filter(|(end, _)| here >= *end);
            if here + t <= covered && resumed.is_none() {
                return;
            }
            let first = runs.partition_point(|run| run.0 < hash);
            let same = &runs[first..first + runs[first..].partition_point(|run| run.0 == hash)];
            // The texts at a place in `same` can differ, as the hash can be a collision.
            let extended = |there: u32| extend(values, others, here as u32, there, t);
            let near = resumed.and_then(|(_, diagonal)| {
                let expected = here as i64 - diagonal;
                let is_near = |there: &u32| expected.abs_diff((*there).into()) <= t as u64;
                nearest(same, expected).filter(is_near).find_map(extended)
            });
            let any = || best(values, others, here, same, here as i64 - diagonal).and_then(extended);
            if let Some(run) = near.or_else(|| (here + t > covered).then(any).flatten()) {
                ended = (near.is_none() && here < covered).then_some((covered, diagonal));
                covered = covered.max(run.query_end() as usize);
                diagonal = i64::from(run.query) - i64::from(run.document);
                found.push(run);
            }
        });
    }
}

/// The place in `same` with the longest equal run, within the look-ahead. Of several such places, the nearest
/// to the expected one.
fn best(values: &[u64], others: &[u64], here: usize, same: &[(u64, u32)], expected: i64) -> Option<u32> {
    let step = same.len().div_ceil(CANDIDATES - 2).max(1);
    let spread = same.iter().step_by(step).map(|run| run.1);
    let equal = |there: u32| {
        let ahead = others[there as usize..].iter().take(LOOK_AHEAD);
        values[here..].iter().zip(ahead).take_while(|(a, b)| a == b).count()
    };
    let candidates = nearest(same, expected).chain(spread);
    let distance = |there: u32| Reverse(expected.abs_diff(there.into()));
    candidates.map(|there| (equal(there), distance(there), there)).max().map(|(.., there)| there)
}

/// The places in `same` that are the nearest after and before the expected one.
fn nearest(same: &[(u64, u32)], expected: i64) -> impl Iterator<Item = u32> {
    let after = same.partition_point(|run| i64::from(run.1) < expected);
    [Some(after), after.checked_sub(1)].into_iter().flatten().filter_map(|index| Some(same.get(index)?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with the hash of another, at the place where the text is expected to go on, hides no match.
    #[test]
    fn a_collision_near_the_diagonal_hides_no_match() {
        let t = 4;
        let values: Vec<u64> = (0..13).collect();
        // The parts 0..8, 5..12 and 9..13 of the values, with other symbols between.
        let mut others: Vec<u64> = (100..150).collect();
        for (place, part) in [(0, 0..8), (20, 5..12), (40, 9..13)] {
            others.splice(place..place + part.len(), part.map(|symbol| symbol as u64));
        }
        let mut runs = runs(&others, std::slice::from_ref(&(0..others.len() - t + 1)), t);
        let hash = runs.iter().find(|run| run.1 == 40).unwrap().0;
        runs.iter_mut().find(|run| run.1 == 9).unwrap().0 = hash;
        runs.sort_unstable();
        let mut found = Vec::new();
        cover(&values, &others, std::slice::from_ref(&(0..values.len() - t + 1)), &runs, t, &mut found);
        let places: Vec<_> = found.iter().map(|found| (found.query, found.document, found.length)).collect();
        assert_eq!(places, [(0, 0, 8), (5, 20, 7), (9, 40, 4)]);
    }
}
