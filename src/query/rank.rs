//! Ranking: turns the hashes each document shares into its measures, and orders the documents, best first.
//!
//! At a window above the database's, the containment is exact for the query's fingerprints at that window.
//! The other two measures are estimates: they follow from the containment and the sizes at the database's
//! window. If such an estimated resemblance ranks the matches, the score has an interval, as for a
//! resemblance from a sample. Weighted scores have none: Wilson's interval holds for hashes of equal weight.
//!
//! Source code in two views is measured in each view, and the larger score counts. A disguised copy still
//! agrees with its source in one of the views, and unrelated programs rarely agree in either.

use std::cmp::{Ordering, Reverse};

use rustc_hash::FxHashSet;

use super::answer::Measure;
use super::answering::containment_of;
use super::options::{Mode, QueryOptions};
use super::prepared::{PreparedQuery, ViewSize, distinct_kgrams};
use super::tally::{Shares, Tally};
use super::top_k::TopK;
use super::units::{SubmissionFacts, Units};
use super::weight::Weight;
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;
use fpdb_kernel::estimate::{Sizes, wilson_interval, with_edges};
use fpdb_kernel::profile::{Profile, Selection};
use fpdb_store::{DocumentRecord, Store, ViewCounts};

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

    /// The figures of each view: the structure, then the text as written.
    fn views(&self) -> [ViewCounts; 2] {
        match self {
            Self::Document(record) => [record.structure(), record.text().unwrap_or_default()],
            Self::Submission(facts) => facts.views,
        }
    }
}

/// A document or submission with its measures.
pub(super) struct Ranked {
    pub(super) id: u32,
    pub(super) holder: MatchSubject,
    /// True if the document, or a document of the submission, has exactly the query's bytes.
    pub(super) identical: bool,
    /// The larger of the scores of both views.
    pub(super) score: f64,
    /// The interval of the view with the larger score. `estimated` belongs to the same view.
    pub(super) interval: Option<[f64; 2]>,
    pub(super) estimated: Vec<Measure>,
    pub(super) structure: Measures,
    /// `None` if the profile has one view.
    pub(super) text: Option<Measures>,
}

/// The measures of a match in one view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measures {
    pub(super) shared: u64,
    score: f64,
    pub(super) containment: f64,
    pub(super) document_containment: f64,
    pub(super) resemblance: f64,
    /// The containment without the hashes that boilerplate holds. `None` if the database has no boilerplate.
    pub(super) own_containment: Option<f64>,
    interval: Option<[f64; 2]>,
}

/// The result of ranking.
pub(super) struct RankedMatches {
    pub(super) best: Vec<Ranked>,
    /// Number of documents that reach `min_score`. `below` is the number of the others that share a hash.
    pub(super) reaching: u64,
    pub(super) below: u64,
}

/// Maximum number of further documents that stay because they tie with the last of the best. The number is
/// limited, because a query of a few words has few fingerprints, and many documents hold all of them.
pub(super) const TIED: usize = 32;

/// The best documents in the order of [`Ranked`]; also up to [`TIED`] that tie with the last by score, if
/// passages are requested. The `identical` documents, ascending, are included at any score. With `chosen`,
/// returns exactly the documents of `chosen` that reach `min_score`.
pub(super) fn rank<'a>(
    store: &Store,
    subject: &PreparedQuery,
    tally: &'a Tally<'_>,
    identical: &[u32],
    chosen: Option<&FxHashSet<u32>>,
    options: &QueryOptions,
    stop: &StopToken,
) -> Result<RankedMatches> {
    let is_chosen = |id: &u32| chosen.is_none_or(|chosen| chosen.contains(id));
    let wanted = tally.shared.iter().filter(|(id, _)| is_chosen(id));
    // No score exceeds the larger of the containments in both views. So candidates come in descending order
    // of that containment, and the rest is skipped once the best are certain.
    let bounded = |(&id, shares): (&u32, &'a [Shares; 2])| (id, tally.largest_containment(shares), shares);
    let mut candidates: Vec<(u32, f64, &[Shares; 2])> = wanted.map(bounded).collect();
    candidates.sort_unstable_by(|(id, a, _), (other, b, _)| b.total_cmp(a).then(id.cmp(other)));
    let top = options.top.filter(|_| chosen.is_none()).unwrap_or(usize::MAX);
    // Passages decide between documents of equal score, so some that tie with the last of the best stay too.
    let tied = if options.passages { TIED } else { 0 };
    let all = candidates.len() as u64;
    let mut best = TopK::new(top.saturating_add(tied));
    let mut reaching = 0;
    for (id, bound, shares) in candidates {
        stop.check()?;
        let is_identical = || identical.binary_search(&id).is_ok();
        if bound < options.min_score && !is_identical() {
            continue;
        }
        let beaten = best.is_full() && best.last().is_none_or(|last: &Ranked| bound < last.score);
        let reaches = options.mode == Mode::Containment || options.min_score <= 0.0 || is_identical();
        if beaten && reaches {
            // The document is not among the best, so it is counted without reading its record.
            reaching += 1;
            continue;
        }
        let holder = MatchSubject::new(store, tally.units, id)?;
        let ranked = measure(store, subject, tally, (id, shares), (holder, is_identical()), options);
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

/// The documents of a submission that share a hash with the query.
#[derive(Default)]
pub(super) struct MatchFiles {
    /// The documents that share most, best first.
    pub(super) best: Vec<Ranked>,
    /// All other documents, which are not listed.
    pub(super) unlisted: Vec<u32>,
}

/// The documents of a submission, best first: by shared hashes, then in the order of [`Ranked`]. Empty for a
/// document. The documents in `identical`, ascending, have the bytes of the query or of one of its documents.
/// With `chosen`, only documents of `chosen`.
pub(super) fn files(
    store: &Store,
    subject: &PreparedQuery,
    tally: &Tally<'_>,
    ranked: &Ranked,
    identical: &[u32],
    chosen: Option<&FxHashSet<u32>>,
    options: &QueryOptions,
) -> Result<MatchFiles> {
    let of_submission = tally.files.range((ranked.id, 0)..=(ranked.id, u32::MAX));
    let mut files: Vec<(u32, &[Shares; 2])> =
        of_submission.map(|(&(_, document), shares)| (document, shares)).collect();
    files.retain(|(document, _)| chosen.is_none_or(|chosen| chosen.contains(document)));
    files.sort_by_cached_key(|&(document, shares)| {
        let is_identical = identical.binary_search(&document).is_ok();
        (Reverse(shares[0].hashes + shares[1].hashes), !is_identical, document)
    });
    let unlisted =
        files.split_off(files.len().min(options.submission_files)).into_iter().map(|(document, _)| document).collect();
    let measured = files.into_iter().map(|(document, shares)| {
        let record = store.document(document)?;
        let is_identical = Some(record.digest) == subject.digest;
        let holder = (MatchSubject::Document(Box::new(record)), is_identical);
        Ok(measure(store, subject, tally, (document, shares), holder, options))
    });
    let mut best = measured.collect::<Result<Vec<_>>>()?;
    best.sort_by(|a, b| b.shared().cmp(&a.shared()).then_with(|| a.cmp(b)));
    Ok(MatchFiles { best, unlisted })
}

impl Ranked {
    /// Number of looked-up hashes that the match holds, in all views.
    fn shared(&self) -> u64 {
        self.structure.shared + self.text.map_or(0, |text| text.shared)
    }

    /// The larger of the resemblances in both views.
    fn resemblance(&self) -> f64 {
        self.text.map_or(0.0, |text| text.resemblance).max(self.structure.resemblance)
    }
}

/// The better match comes first: by score, then identical ones, then by resemblance, name and age. Most
/// documents that hold all of a short query are far longer than the query. Resemblance puts shorter documents
/// before them.
impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = other.score.total_cmp(&self.score).then(other.identical.cmp(&self.identical));
        let by_name = || self.holder.name().cmp(other.holder.name());
        let by_resemblance = || other.resemblance().total_cmp(&self.resemblance());
        by_score.then_with(by_resemblance).then_with(by_name).then(self.id.cmp(&other.id))
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

/// Measures a document or submission in each view. Its score is the larger of both scores.
fn measure(
    store: &Store,
    subject: &PreparedQuery,
    tally: &Tally<'_>,
    (id, shares): (u32, &[Shares; 2]),
    (holder, identical): (MatchSubject, bool),
    options: &QueryOptions,
) -> Ranked {
    let counts = holder.views();
    let has_boilerplate = store.view().boilerplate_count() > 0;
    let of_view = |view: usize| {
        let profiles = [&subject.profile, store.profile()].map(|profile| profile.views().nth(view));
        let [Some(profile), Some(stored)] = profiles else { return None };
        let of_view = MeasuredView {
            sizes: &subject.sizes[view],
            counts: counts[view],
            looked_up: &tally.views[view].looked_up,
            boilerplate: has_boilerplate.then_some(tally.views[view].boilerplate),
            is_whole: subject.digest.is_some() && tally.views.iter().all(|view| view.looked_up.hashes == 0),
            weighted: tally.containment(view, shares[view].weight),
            coarser: profile.w() != stored.w(),
        };
        Some(of_view.measure(&profile, &shares[view], options))
    };
    // This value is never used, because every profile has a first view.
    let none = || (Measures::of(0.0), Vec::new());
    let (structure, of_structure) = of_view(0).unwrap_or_else(none);
    let (text, of_text) = of_view(1).unzip();
    let (best, estimated) = match (&text, of_text) {
        (Some(text), Some(of_text)) if text.score > structure.score => (text, of_text),
        _ => (&structure, of_structure),
    };
    Ranked { id, identical, score: best.score, interval: best.interval, estimated, structure, text, holder }
}

/// The figures from which the measures of one view are computed.
struct MeasuredView<'a> {
    sizes: &'a ViewSize,
    counts: ViewCounts,
    looked_up: &'a Shares,
    /// Number of looked-up hashes that boilerplate holds. `None` if the database has no boilerplate.
    boilerplate: Option<u64>,
    /// True if no hash was looked up in any view. Then the document has all bytes of the query, or of one
    /// file of a query that is a submission.
    is_whole: bool,
    /// The weighted containment.
    weighted: f64,
    coarser: bool,
}

impl MeasuredView<'_> {
    /// The measures, and which of them are estimates. `profile` is the profile of the view, at the query's
    /// window.
    fn measure(&self, profile: &Profile, shares: &Shares, options: &QueryOptions) -> (Measures, Vec<Measure>) {
        let (looked_up, shared) = (self.looked_up.hashes, shares.hashes);
        let Self { sizes: of_query, counts, coarser, weighted, .. } = *self;
        let fingerprints = of_query.hashes;
        let estimated = estimated(looked_up, fingerprints, coarser, options);
        let is_estimated = estimated.contains(&Measure::Score);
        let sizes = if looked_up < fingerprints || (is_estimated && coarser) {
            // The looked-up hashes are a sample of k-grams, so the sizes are numbers of k-grams.
            let document = distinct_kgrams(counts.kgrams, counts.fingerprints, counts.distinct);
            Sizes { query: of_query.distinct_kgrams, document }
        } else {
            Sizes { query: of_query.stored as f64, document: counts.distinct as f64 }
        };
        let own_containment =
            self.boilerplate.map(|boilerplate| containment_of(shared, looked_up - boilerplate, self.is_whole));
        if looked_up == 0 {
            // The query is too short for a fingerprint in this view. The query is compared only with
            // documents of the same bytes. If the query has fingerprints in the other view, the scores of
            // that view decide.
            let all = if self.is_whole { 1.0 } else { 0.0 };
            return (Measures { shared, own_containment, ..Measures::of(all) }, estimated);
        }
        let (found, sampled) = (shared as f64, looked_up as f64);
        let containment = found / sampled;
        let document_containment = sizes.document_containment(found, sampled);
        let resemblance = sizes.resemblance(found, sampled);
        let winnowed = matches!(profile.selection(), Selection::Robust | Selection::Plain) && profile.w() > 1;
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
        let measures =
            Measures { shared, score, containment, document_containment, resemblance, own_containment, interval };
        (measures, estimated)
    }
}

impl Measures {
    /// Measures that are all equal to `share`.
    fn of(share: f64) -> Self {
        Self {
            shared: 0,
            score: share,
            containment: share,
            document_containment: share,
            resemblance: share,
            own_containment: None,
            interval: None,
        }
    }
}

/// The measures that are estimates: all of them if a sample was looked up. At a window above the database's,
/// the fingerprints are a sample of the stored fingerprints. Measures that use the document's own number of
/// fingerprints are then estimates.
fn estimated(looked_up: u64, fingerprints: u64, coarser: bool, options: &QueryOptions) -> Vec<Measure> {
    let sampled = looked_up < fingerprints;
    let coarser = coarser && looked_up > 0;
    let resembles = options.mode == Mode::Resemblance;
    // The weight of the document's other hashes is unknown, so a weighted resemblance is an estimate.
    let weighed = options.weight != Weight::None && looked_up > 0;
    let measures = [
        (Measure::Score, sampled || (resembles && (coarser || weighed))),
        (Measure::Containment, sampled),
        (Measure::DocumentContainment, sampled || coarser),
        (Measure::Resemblance, sampled || coarser),
    ];
    measures.into_iter().filter_map(|(measure, is_estimated)| is_estimated.then_some(measure)).collect()
}
