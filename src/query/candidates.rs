//! Candidates: chooses the documents to compare for rewritten text, by the places of the shared k-grams. The
//! choice reads no text.
//!
//! A passage has about 20 words in common, near each other in both documents, and rare words count more. So
//! the *evidence* for a document is the greatest weight of shared k-grams in a square of 128 by 128 symbols
//! of both texts. A k-gram weighs more the fewer postings it has. In a shared run each further k-gram adds
//! only one word, so it counts 1/k. So many short runs weigh more than one long phrase. Documents are
//! compared in descending order of evidence, until 128 in a row have no passage.
//!
//! Common k-grams have most of the postings and distinguish documents least. So each 64 symbols of the query
//! contribute their rarest k-grams, up to a number of postings, and at least one k-gram. So text that many
//! documents share has evidence too. Documents without evidence come last.
//!
//! Rejected: windows of one text in place of squares, and evidence from all shared k-grams. Neither chooses
//! better. A limit on the number of holders was rejected too: it misses text that many documents share.
//!
//! docs/measurements.md has the figures behind the constants.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::options::QueryOptions;
use super::prepared::PreparedQuery;
use super::tally::Tally;
use super::weight::Weight;
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;
use fpdb_kernel::profile::{Profile, Selection};
use fpdb_store::{Holders, Lookup};

/// Side of a cell, in symbols. Evidence is the weight in a square of two by two cells.
const CELL: u64 = 64;

/// The comparison ends after this number of documents in a row without a passage.
pub(super) const MISSES: usize = 128;

/// Maximum number of postings that a cell of the query contributes: one for each 8 documents, but at least
/// 4,096.
const POSTINGS_SHARE: u64 = 8;
const POSTINGS_AT_LEAST: u64 = 4096;

/// Maximum number of postings that all cells contribute, unless each contributes one k-gram only. A posting
/// takes 16 bytes for each of its places in the query.
const POSTINGS_OF_ALL: u64 = 1 << 22;

/// Maximum number of places of a k-gram in the query, and in a document, that count. A k-gram with more
/// places is a phrase that the text repeats.
const PLACES_IN_QUERY: usize = 4;
const PLACES_IN_DOCUMENT: usize = 16;

/// Weights are integers, so their sum does not depend on the order of the postings.
const UNIT_OF_WEIGHT: f64 = 256.0;

/// A shared k-gram at a place of the query and one of a document.
#[derive(Clone, Copy)]
struct SharedPlace {
    document: u32,
    /// The place in the query, and the approximate place in the document, in symbols.
    here: u32,
    there: u32,
    weight: u32,
}

/// The documents to compare, in descending order of evidence.
pub(super) struct Candidates {
    /// The shared places, in order of document.
    places: Vec<SharedPlace>,
    k: u32,
    waiting: BinaryHeap<Candidate>,
    /// The weight in each square of one document. Empty between calls.
    squares: FxHashMap<u64, u64>,
}

/// A document with its evidence, or an upper bound of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    evidence: u64,
    document: Reverse<u32>,
    is_bound: bool,
    /// The document's shared places, as a range of `places`.
    first: usize,
    end: usize,
}

impl Candidates {
    /// The documents that share a k-gram that counts.
    ///
    /// # Errors
    /// [`Error::Stopped`](fpdb_host::error::Error::Stopped); errors from reading the store.
    pub(super) fn find(
        lookup: &mut Lookup<'_>,
        subject: &PreparedQuery,
        stored: &Profile,
        tally: &Tally<'_>,
        options: &QueryOptions,
        stop: &StopToken,
    ) -> Result<Self> {
        let mut places = Vec::new();
        let spacing = spacing(stored);
        let documents = lookup.view().state().documents;
        for (hash, of_query) in telling_hashes(lookup, subject, documents, stop)? {
            stop.check()?;
            let Holders::Documents(postings) = lookup.holders(hash)? else { continue };
            if options.max_df.is_some_and(|most| tally.units_of(postings) > most) {
                continue;
            }
            let weight = (Weight::Idf.of(postings.len() as u64, documents) * UNIT_OF_WEIGHT) as u32;
            let of_documents = postings.chunk_by(|a, b| a.document == b.document);
            for posting in of_documents.flat_map(|same| same.iter().take(PLACES_IN_DOCUMENT)) {
                let there = u64::from(posting.ordinal).saturating_mul(spacing).min(u64::from(u32::MAX)) as u32;
                let place = |&here: &u32| SharedPlace { document: posting.document, here, there, weight };
                places.extend(of_query.iter().map(place));
            }
        }
        places.sort_unstable_by_key(|place| place.document);
        let mut waiting = Vec::new();
        let mut first = 0;
        // By cell of the query, the weight of the current document; 0 between documents.
        let cell = |place: &SharedPlace| (u64::from(place.here) / CELL) as usize;
        let mut weights: Vec<u64> = vec![0; places.iter().map(cell).max().unwrap_or(0) + 2];
        for same in places.chunk_by(|a, b| a.document == b.document) {
            let end = first + same.len();
            same.iter().for_each(|place| weights[cell(place)] += u64::from(place.weight));
            let of_two_cells = |place| weights[cell(place)] + weights[cell(place) + 1];
            let evidence = same.iter().map(of_two_cells).max().unwrap_or(0);
            same.iter().for_each(|place| weights[cell(place)] = 0);
            waiting.push(Candidate { evidence, document: Reverse(same[0].document), is_bound: true, first, end });
            first = end;
        }
        Ok(Self { places, k: stored.k(), waiting: waiting.into(), squares: FxHashMap::default() })
    }

    /// Returns the evidence for a document: the greatest weight in a square of two by two cells.
    fn evidence(&mut self, candidate: &Candidate) -> u64 {
        let places = &mut self.places[candidate.first..candidate.end];
        let diagonal = |place: &SharedPlace| i64::from(place.here) - i64::from(place.there);
        places.sort_unstable_by_key(|place| (diagonal(place), place.here));
        let mut last: Option<(i64, u32)> = None;
        for place in places.iter() {
            let at = (diagonal(place), place.here);
            let new = last.filter(|last| last.0 == at.0).map_or(self.k, |last| (at.1 - last.1).min(self.k));
            last = Some(at);
            let weight = u64::from(place.weight) * u64::from(new) / u64::from(self.k);
            let [here, there] = [place.here, place.there].map(|place| u64::from(place) / CELL);
            // A cell lies in four squares.
            for (here, there) in [(here, there), (here + 1, there), (here, there + 1), (here + 1, there + 1)] {
                *self.squares.entry(here << 32 | there).or_default() += weight;
            }
        }
        let most = self.squares.values().copied().max().unwrap_or(0);
        // To clear a large table takes long, for each further document again.
        if self.squares.capacity() > 1024 + 8 * self.squares.len() {
            self.squares = FxHashMap::default();
        }
        self.squares.clear();
        most
    }
}

impl Iterator for Candidates {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            let next = self.waiting.pop()?;
            if !next.is_bound {
                return Some(next.document.0);
            }
            let evidence = self.evidence(&next);
            self.waiting.push(Candidate { evidence, is_bound: false, ..next });
        }
    }
}

/// The documents that may match: first the candidates, then the other documents that share a hash, in
/// descending order of weight. Documents below `min_score` are left out, unless their unit is in `identical`.
pub(super) fn comparable<'a>(
    candidates: Candidates,
    tally: &'a Tally<'_>,
    identical: &'a [u32],
    options: &'a QueryOptions,
) -> impl Iterator<Item = u32> + 'a {
    let may_match = move |&document: &u32| {
        let unit = tally.units.of(document);
        tally.shares_of(document).is_some()
            && (identical.binary_search(&unit).is_ok()
                || tally.shared.get(&unit).is_some_and(|shares| tally.largest_containment(shares) >= options.min_score))
    };
    let mut seen = FxHashSet::default();
    let mut candidates = candidates.filter(may_match);
    let mut others: Option<std::vec::IntoIter<u32>> = None;
    std::iter::from_fn(move || {
        if others.is_none()
            && let Some(next) = candidates.next()
        {
            seen.insert(next);
            return Some(next);
        }
        let rest = || {
            let mut rest: Vec<(f64, u32)> = tally.sharing().filter(|(_, document)| !seen.contains(document)).collect();
            rest.retain(|(_, document)| may_match(document));
            rest.sort_unstable_by(|(a, document), (b, other)| b.total_cmp(a).then(document.cmp(other)));
            rest.into_iter().map(|(_, document)| document).collect::<Vec<_>>().into_iter()
        };
        others.get_or_insert_with(rest).next()
    })
}

/// Mean distance of two fingerprints of a stored document, in symbols.
fn spacing(stored: &Profile) -> u64 {
    match stored.selection() {
        Selection::Robust | Selection::Plain => (u64::from(stored.w()) + 1).div_ceil(2),
        Selection::Mod(p) | Selection::SafeMod(p) => p,
        Selection::All => 1,
    }
}

/// The hashes that choose candidates, ascending, each with its places in the query.
fn telling_hashes(
    lookup: &mut Lookup<'_>,
    subject: &PreparedQuery,
    documents: u64,
    stop: &StopToken,
) -> Result<Vec<(u64, Vec<u32>)>> {
    // Cell of the query, number of postings, hash, place in the query.
    let mut places: Vec<(u32, u64, u64, u32)> = Vec::new();
    for hash in subject.hashes.iter().filter(|hash| hash.skipped.is_none()) {
        stop.check()?;
        let postings = lookup.postings_of_hash(hash.hash)? as u64;
        if postings > 0 {
            let of_query = subject.with_hash(hash.hash).iter().take(PLACES_IN_QUERY);
            let place = |at: u64| ((at / CELL) as u32, postings, hash.hash, at as u32);
            places.extend(of_query.map(|fingerprint| place(fingerprint.position)));
        }
    }
    places.sort_unstable();
    let cells = places.chunk_by(|a, b| a.0 == b.0).count() as u64;
    let most = (documents / POSTINGS_SHARE).max(POSTINGS_AT_LEAST).min(POSTINGS_OF_ALL / cells.max(1));
    let mut telling: Vec<(u64, u32)> = Vec::new();
    for cell in places.chunk_by(|a, b| a.0 == b.0) {
        let mut total = 0;
        let affordable = cell.iter().enumerate().take_while(|&(number, &(_, postings, ..))| {
            total += postings;
            number == 0 || total <= most
        });
        telling.extend(affordable.map(|(_, &(.., hash, at))| (hash, at)));
    }
    telling.sort_unstable();
    let of_query = |same: &[(u64, u32)]| (same[0].0, same.iter().map(|&(_, at)| at).collect());
    Ok(telling.chunk_by(|a, b| a.0 == b.0).map(of_query).collect())
}
