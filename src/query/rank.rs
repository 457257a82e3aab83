//! Ranking: turns the hashes each document shares into its measures, and orders the documents, best first.
//!
//! At a window above the database's, the containment is exact for the query's fingerprints at that window.
//! The other two measures are estimates: they follow from the containment and the sizes at the database's
//! window. If matches are ranked by such a resemblance, it has an interval, as a sampled one has. Weighted
//! scores have none: Wilson's interval holds for hashes of equal weight.

use std::cmp::{Ordering, Reverse};

use super::answer::Measure;
use super::estimate::{Sizes, wilson_interval, with_edges};
use super::options::{Mode, QueryOptions};
use super::prepared::{PreparedQuery, distinct_kgrams};
use super::tally::{Shares, Tally};
use super::top_k::TopK;
use super::units::{SubmissionFacts, Units};
use super::weight::Weight;
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;
use fpdb_kernel::profile::Selection;
use fpdb_store::{DocumentRecord, Store};

/// A document or submission in the ranking.
pub(super) enum MatchSubject {
    Document(Box<DocumentRecord>),
    Submission(SubmissionFacts),
}

impl MatchSubject {
    fn new(store: &Store, units: &Units, id: u32) -> Result<Self> {
        match units.facts(id) {
            Some(facts) => Ok(Self::Submission(facts.clone())),
            None => Ok(Self::Document(Box::new(store.document(id)?))),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Document(record) => &record.name,
            Self::Submission(facts) => &facts.name,
        }
    }

    fn distinct(&self) -> u64 {
        match self {
            Self::Document(record) => record.distinct,
            Self::Submission(facts) => facts.distinct,
        }
    }

    fn distinct_kgrams(&self) -> f64 {
        match self {
            Self::Document(record) => distinct_kgrams(record.kgrams, record.fingerprints, record.distinct),
            Self::Submission(facts) => distinct_kgrams(facts.kgrams, facts.fingerprints, facts.distinct),
        }
    }
}

/// A document or submission with its measures.
pub(super) struct Ranked {
    pub(super) id: u32,
    pub(super) holder: MatchSubject,
    pub(super) shared: u64,
    pub(super) score: f64,
    pub(super) containment: f64,
    pub(super) document_containment: f64,
    pub(super) resemblance: f64,
    pub(super) interval: Option<[f64; 2]>,
    pub(super) estimated: Vec<Measure>,
}

/// The result of ranking.
pub(super) struct RankedMatches {
    pub(super) best: Vec<Ranked>,
    /// Number of documents that reach `min_score`; `below`: number of documents that share a hash and do not.
    pub(super) reaching: u64,
    pub(super) below: u64,
}

/// Maximum number of documents considered beyond the best, if they tie with the last of these. A query of a
/// few words has few fingerprints, and many documents hold all of them.
const TIED: usize = 32;

/// The best documents by the mode's score, then name, then age; also some that tie with the last. The
/// `identical` documents, ascending, are included at any score.
pub(super) fn rank(
    store: &Store,
    subject: &PreparedQuery,
    tally: &Tally<'_>,
    identical: &[u32],
    options: &QueryOptions,
    stop: &StopToken,
) -> Result<RankedMatches> {
    let looked_up = &tally.looked_up;
    let mut candidates: Vec<(u32, &Shares)> = tally.shared.iter().map(|(&id, shares)| (id, shares)).collect();
    // No score exceeds the containment. So in descending order of weight, the rest can be skipped once the
    // best are certain.
    candidates.sort_unstable_by(|(id, a), (other, b)| b.weight.total_cmp(&a.weight).then(id.cmp(other)));
    let coarser = subject.profile.w() != store.profile().w();
    let top = options.top.unwrap_or(usize::MAX);
    // Passages decide between documents of equal score, also across the cut-off.
    let tied = if options.passages { TIED } else { 0 };
    let all = candidates.len() as u64;
    let mut best = TopK::new(top.saturating_add(tied));
    let mut reaching = 0;
    for (id, shares) in candidates {
        stop.check()?;
        let bound = containment(shares.weight, looked_up.weight);
        let is_identical = || identical.binary_search(&id).is_ok();
        if bound < options.min_score && !is_identical() {
            continue;
        }
        let beaten = best.is_full() && best.last().is_none_or(|last: &Ranked| bound < last.score);
        let reaches = options.mode == Mode::Containment || options.min_score <= 0.0 || is_identical();
        if beaten && reaches {
            // Not among the best: counted without reading its record.
            reaching += 1;
            continue;
        }
        let holder = MatchSubject::new(store, tally.units, id)?;
        let ranked = measure(subject, looked_up, id, shares, holder, options, coarser);
        if ranked.score < options.min_score && !is_identical() {
            continue;
        }
        reaching += 1;
        best.add(ranked);
    }
    let mut best = best.into_sorted();
    let cut = top.checked_sub(1).and_then(|last| best.get(last)).map(|last| last.score);
    let kept = best.iter().take(top).count();
    let ties = best[kept..].iter().take_while(|ranked| Some(ranked.score) == cut).count();
    best.truncate(kept + ties);
    Ok(RankedMatches { best, reaching, below: all - reaching })
}

/// Maximum number of documents listed with a submission.
const FILES: usize = 10;

/// The documents of a submission that share a hash with the query.
#[derive(Default)]
pub(super) struct MatchFiles {
    /// The documents that share most, best first.
    pub(super) best: Vec<Ranked>,
    /// All others, which are not listed.
    pub(super) unlisted: Vec<u32>,
}

/// The documents of a submission, best first: by shared hashes, then by score and name. Empty for a document.
pub(super) fn files(
    store: &Store,
    subject: &PreparedQuery,
    tally: &Tally<'_>,
    ranked: &Ranked,
    options: &QueryOptions,
) -> Result<MatchFiles> {
    let coarser = subject.profile.w() != store.profile().w();
    let of_submission = tally.files.range((ranked.id, 0)..=(ranked.id, u32::MAX));
    let mut files: Vec<(u32, &Shares)> = of_submission.map(|(&(_, document), shares)| (document, shares)).collect();
    files.sort_by_key(|&(document, shares)| (Reverse(shares.hashes), document));
    let unlisted = files.split_off(files.len().min(FILES)).into_iter().map(|(document, _)| document).collect();
    let measured = files.into_iter().map(|(document, shares)| {
        let holder = MatchSubject::Document(Box::new(store.document(document)?));
        Ok(measure(subject, &tally.looked_up, document, shares, holder, options, coarser))
    });
    let mut best = measured.collect::<Result<Vec<_>>>()?;
    best.sort_by(|a, b| b.shared.cmp(&a.shared).then_with(|| a.cmp(b)));
    Ok(MatchFiles { best, unlisted })
}

/// The share of the looked-up hashes that a document holds. If none were looked up, only documents of the
/// same bytes are compared, so it is 1.
fn containment(shared: f64, looked_up: f64) -> f64 {
    if looked_up == 0.0 { 1.0 } else { shared / looked_up }
}

/// The better one comes first.
impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_name = || self.holder.name().cmp(other.holder.name());
        other.score.total_cmp(&self.score).then_with(by_name).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

fn measure(
    subject: &PreparedQuery,
    all: &Shares,
    id: u32,
    shares: &Shares,
    holder: MatchSubject,
    options: &QueryOptions,
    coarser: bool,
) -> Ranked {
    let (looked_up, shared) = (all.hashes, shares.hashes);
    let weighted = containment(shares.weight, all.weight);
    let fingerprints = subject.hashes.len() as u64;
    let estimated = estimated(looked_up, fingerprints, coarser, options);
    let is_estimated = estimated.contains(&Measure::Score);
    let sizes = if looked_up < fingerprints || (is_estimated && coarser) {
        // The sample is a sample of k-grams.
        Sizes { query: subject.distinct_kgrams, document: holder.distinct_kgrams() }
    } else {
        Sizes { query: subject.size as f64, document: holder.distinct() as f64 }
    };
    let (score, containment, document_containment, resemblance, interval) = if looked_up == 0 {
        // Too short for a fingerprint: such a query is compared with documents of the same bytes only.
        (1.0, 1.0, 1.0, 1.0, None)
    } else {
        let (found, sampled) = (shared as f64, looked_up as f64);
        let containment = found / sampled;
        let document_containment = sizes.document_containment(found, sampled);
        let resemblance = sizes.resemblance(found, sampled);
        let selection = subject.profile.selection();
        let winnowed = matches!(selection, Selection::Robust | Selection::Plain) && subject.profile.w() > 1;
        let (low, high) = wilson_interval(shared, looked_up);
        let high = if winnowed { with_edges(high, sampled / fingerprints as f64) } else { high };
        let (score, interval) = match (options.mode, options.weight) {
            (Mode::Containment, _) => (weighted, [low, high]),
            (Mode::Resemblance, Weight::None) => {
                (resemblance, [sizes.resemblance(low, 1.0), sizes.resemblance(high, 1.0)])
            }
            // Assumes that the hashes of both documents have the same mean weight.
            (Mode::Resemblance, Weight::Idf) => (sizes.resemblance(weighted, 1.0), [low, high]),
        };
        let interval = (is_estimated && options.weight == Weight::None).then_some(interval);
        (score, containment, document_containment, resemblance, interval)
    };
    Ranked { id, shared, score, containment, document_containment, resemblance, interval, estimated, holder }
}

/// The measures that are estimates: all of them if a sample was looked up. At a window above the database's,
/// the fingerprints are a sample of the stored ones, so measures that use the document's own number are
/// estimates.
fn estimated(looked_up: u64, fingerprints: u64, coarser: bool, options: &QueryOptions) -> Vec<Measure> {
    let sampled = looked_up < fingerprints;
    let coarser = coarser && looked_up > 0;
    let resembles = options.mode == Mode::Resemblance;
    // The weight of the document's other hashes is not known.
    let weighed = options.weight != Weight::None && looked_up > 0;
    let measures = [
        (Measure::Score, sampled || (resembles && (coarser || weighed))),
        (Measure::Containment, sampled),
        (Measure::DocumentContainment, sampled || coarser),
        (Measure::Resemblance, sampled || coarser),
    ];
    measures.into_iter().filter_map(|(measure, is_estimated)| is_estimated.then_some(measure)).collect()
}
