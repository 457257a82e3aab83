//! Inferred: passages inferred from shared fingerprints, if a text is not available.
//!
//! Two fingerprints of the same hash are a *seed*. Inside a shared run all seeds lie on one diagonal (query
//! position minus document position), each within a window of the one before. So seeds are first joined to
//! runs along diagonals. Runs are then joined to passages if one follows the other closely in both documents
//! (Schleimer et al. 2003, section 5.2, quoted in `join.rs`).
//!
//! An inferred passage covers the places of shared fingerprints only. So it can leave out parts of a shared
//! run of t symbols. A run that is hardly longer than t can have no passage. The guarantee for passages holds
//! only if texts are compared.

use std::collections::HashMap;

use super::super::answer::Passage;
use super::super::ignored::IgnoredText;
use super::super::location::Location;
use super::super::options::PassageOptions;
use super::super::prepared::PreparedQuery;
use super::views::{as_written, both_views};
use super::{DocumentPassages, SharedFingerprint};
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;
use fpdb_kernel::columns::Fingerprint;
use fpdb_kernel::document::Span;
use fpdb_kernel::profile::{Profile, Selection, View};
use fpdb_passages::{Covered, Extent, Uncounted};
use fpdb_store::FingerprintPlace;

/// Maximum number of seeds of one document, and of one hash in it. If repetitive text gives more, occurrences
/// are paired in order instead of each with each.
const SEEDS: usize = 1 << 18;
const SEEDS_OF_HASH: usize = 1 << 14;

/// Number of earlier passages among which a run finds a passage that it continues or lies in. Runs come in
/// order of the query, so such a passage is near, unless the text repeats itself more than this number of
/// times.
const LOOK_BACK: usize = 64;

/// A k-gram that both documents have, and its place in each.
#[derive(Clone, Copy)]
struct SharedKgram<'a> {
    query: &'a Fingerprint,
    document: &'a FingerprintPlace,
}

impl SharedKgram<'_> {
    fn diagonal(&self) -> i128 {
        i128::from(self.query.position) - i128::from(self.document.position)
    }
}

/// Consecutive seeds: the first and the last.
#[derive(Clone, Copy)]
struct SeedRun<'a> {
    first: SharedKgram<'a>,
    last: SharedKgram<'a>,
}

/// The passages of one document, inferred from the fingerprints that the document shares with the query.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(in crate::query) fn infer(
    subject: &PreparedQuery,
    marks: &[SharedFingerprint],
    places: &HashMap<u32, FingerprintPlace>,
    ignored: &IgnoredText,
    options: &PassageOptions,
    stop: &StopToken,
) -> Result<DocumentPassages> {
    let [ignored, ignored_text] = &ignored.all;
    let Some(text) = subject.profile.text_view() else {
        return Ok(infer_view(subject, &subject.profile, marks, places, ignored, options));
    };
    let (of_text, of_structure): (Vec<_>, Vec<_>) =
        marks.iter().copied().partition(|mark| subject.profile.view_of(mark.hash) == View::Text);
    let structure = infer_view(subject, &subject.profile.structure_view(), &of_structure, places, ignored, options);
    stop.check()?;
    let of_text = infer_view(subject, &text, &of_text, places, ignored_text, options);
    stop.check()?;
    both_views(structure, of_text, subject.symbols, &text, &subject.symbols_within(), options, stop)
}

/// Infers the passages of one view, from the marks of that view.
fn infer_view(
    subject: &PreparedQuery,
    profile: &Profile,
    marks: &[SharedFingerprint],
    places: &HashMap<u32, FingerprintPlace>,
    ignored: &Uncounted,
    options: &PassageOptions,
) -> DocumentPassages {
    let k = u64::from(profile.k());
    let reach = reach(profile);
    let (mut seeds, repeats) = seeds(subject, marks, places);
    seeds.sort_unstable_by_key(|seed| (seed.diagonal(), seed.query.position));
    let mut runs: Vec<SeedRun<'_>> = Vec::new();
    for seed in seeds {
        match runs.last_mut() {
            Some(run)
                if run.last.diagonal() == seed.diagonal() && seed.query.position - run.last.query.position <= reach =>
            {
                run.last = seed;
            }
            _ => runs.push(SeedRun { first: seed, last: seed }),
        }
    }
    let mut joined = join(runs, u64::from(options.widest_gap(profile)) + k);
    let place = |run: &SeedRun<'_>| run.first.query.position..run.last.query.position + k;
    joined.retain(|run| subject.uncounted.counted(&place(run)) >= options.least_inferred());
    if let Some(floor) = options.floor(profile) {
        let floor = floor.min(joined.iter().map(|run| length(run, k)).max().unwrap_or(0));
        joined.retain(|run| length(run, k) >= floor);
    }
    let longest = joined.iter().map(|run| ignored.counted(&place(run))).max().unwrap_or(0);
    let symbols = if profile.is_text_view() { subject.symbols_of_text } else { subject.symbols };
    let covered = Covered::new(joined.iter().map(place).collect(), symbols);
    // Ranks of positions, for choosing among passages: small numbers, however long the documents are.
    let ranks = [ranks(&joined, |seed| seed.query.position, k), ranks(&joined, |seed| seed.document.position, k)];
    let left_out = options.thin_out(&mut joined, profile, |run| {
        let range = |ranks: &[u64], position: fn(&SharedKgram<'_>) -> u64| {
            let rank = |at: u64| ranks.partition_point(|&end| end < at) as u32;
            rank(position(&run.first))..rank(position(&run.last) + k)
        };
        Extent {
            query: range(&ranks[0], |seed| seed.query.position),
            document: range(&ranks[1], |seed| seed.document.position),
            length: length(run, k),
        }
    });
    let passages = joined.iter().map(|run| passage(run, k));
    let passages: Vec<Passage> = match profile.is_text_view() {
        true => passages.map(as_written).collect(),
        false => passages.collect(),
    };
    DocumentPassages { longest, passages, left_out, covered, repeats }
}

/// The starts and ends of runs in one of the documents, ascending.
fn ranks(runs: &[SeedRun<'_>], position: fn(&SharedKgram<'_>) -> u64, k: u64) -> Vec<u64> {
    let mut ends: Vec<u64> = runs.iter().flat_map(|run| [position(&run.first), position(&run.last) + k]).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Largest distance between two neighbouring fingerprints of a shared run, in symbols.
fn reach(profile: &Profile) -> u64 {
    match profile.selection() {
        // The distance has no upper bound. It exceeds eight times the expected distance once in 3,000 cases.
        Selection::Mod(p) => p.saturating_mul(8),
        _ => u64::from(profile.w()),
    }
}

/// Returns the seeds, and the number of seeds left out.
fn seeds<'a>(
    subject: &'a PreparedQuery,
    marks: &[SharedFingerprint],
    places: &'a HashMap<u32, FingerprintPlace>,
) -> (Vec<SharedKgram<'a>>, u64) {
    let mut seeds = Vec::new();
    let mut all = 0u64;
    for same in marks.chunk_by(|a, b| a.hash == b.hash) {
        let in_query = subject.with_hash(same[0].hash);
        let in_document = || same.iter().filter_map(|mark| places.get(&mark.ordinal));
        let pairs = in_query.len().saturating_mul(same.len());
        all = all.saturating_add(pairs as u64);
        if pairs <= SEEDS_OF_HASH && seeds.len() + pairs <= SEEDS {
            for query in in_query {
                seeds.extend(in_document().map(|document| SharedKgram { query, document }));
            }
        } else {
            seeds.extend(in_query.iter().zip(in_document()).map(|(query, document)| SharedKgram { query, document }));
        }
    }
    let left_out = all - seeds.len() as u64;
    (seeds, left_out)
}

/// Joins runs that follow each other within `gap` symbols in both documents. Drops runs that lie in another
/// run.
fn join(mut runs: Vec<SeedRun<'_>>, gap: u64) -> Vec<SeedRun<'_>> {
    runs.sort_unstable_by_key(|run| {
        (run.first.query.position, std::cmp::Reverse(run.last.query.position), run.first.document.position)
    });
    let mut joined: Vec<SeedRun<'_>> = Vec::new();
    for run in runs {
        let near = joined.len().saturating_sub(LOOK_BACK);
        if joined[near..].iter().any(|passage| lies_in(&run, passage)) {
            continue;
        }
        match joined[near..].iter_mut().rev().find(|passage| follows(&run, passage, gap)) {
            Some(passage) => passage.last = run.last,
            None => joined.push(run),
        }
    }
    joined
}

fn lies_in(inner: &SeedRun<'_>, outer: &SeedRun<'_>) -> bool {
    inner.first.query.position >= outer.first.query.position
        && inner.last.query.position <= outer.last.query.position
        && inner.first.document.position >= outer.first.document.position
        && inner.last.document.position <= outer.last.document.position
}

fn follows(next: &SeedRun<'_>, passage: &SeedRun<'_>, gap: u64) -> bool {
    let close = |from: u64, to: u64| to > from && to - from <= gap;
    close(passage.last.query.position, next.first.query.position)
        && close(passage.last.document.position, next.first.document.position)
}

fn passage(run: &SeedRun<'_>, k: u64) -> Passage {
    let SeedRun { first, last } = run;
    Passage {
        query: Location::new(
            Span { start: first.query.span.start, end: last.query.span.end },
            [first.query.first_line, last.query.last_line],
        ),
        document: Location::new(
            Span { start: first.document.start, end: last.document.end },
            [first.document.first_line, last.document.last_line],
        ),
        symbols: length(run, k),
        agreement: None,
        same_names: None,
        exact: false,
        as_written: false,
    }
}

/// The length of a run, in symbols of the query.
fn length(run: &SeedRun<'_>, k: u64) -> u64 {
    run.last.query.position + k - run.first.query.position
}
