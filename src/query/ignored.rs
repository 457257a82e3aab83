//! Ignored: the long stretches of a query that do not count. No match lies in a stretch of boilerplate, a
//! quotation or a phrase, if it is long.

use std::ops::Range;

use super::prepared::{PreparedQuery, view_index};
use fpdb_kernel::columns::Fingerprint;
use fpdb_kernel::profile::{Profile, Selection};
use fpdb_passages::{Uncounted, union};

/// The long stretches of a query that do not count, in each view.
#[derive(Clone, Default)]
pub(super) struct IgnoredText {
    /// The stretches in which no match lies, ascending and disjoint: boilerplate, quotations and phrases.
    pub(super) excluded: [Vec<Range<u32>>; 2],
    /// The symbols of all stretches, and those in quotations and phrases.
    pub(super) all: [Uncounted; 2],
}

impl IgnoredText {
    /// `boilerplate` are the hashes that boilerplate holds, `all` these and the common hashes; both ascend.
    pub(super) fn of(subject: &PreparedQuery, boilerplate: &[u64], all: &[u64]) -> Self {
        // Only prose has quotations and phrases, and prose has one view.
        let all = stretches_of(subject, all).map(|stretches| subject.uncounted.with(&stretches));
        let mut excluded = stretches_of(subject, boilerplate);
        excluded[0] = union(excluded[0].iter().chain(&subject.excluded));
        Self { excluded, all }
    }
}

/// For each view of a query, the stretches in which every fingerprint has one of these `hashes`, which must
/// ascend.
fn stretches_of(subject: &PreparedQuery, hashes: &[u64]) -> [Vec<Range<u32>>; 2] {
    let mut of_views = <[Vec<Range<u32>>; 2]>::default();
    if hashes.is_empty() {
        return of_views;
    }
    for (view, profile) in subject.profile.views().enumerate() {
        let of_view = |found: &&Fingerprint| view_index(&subject.profile, found.hash) == view;
        let fingerprints = subject.fingerprints.iter().filter(of_view).copied();
        of_views[view] = stretches(&profile, fingerprints, hashes);
    }
    of_views
}

/// The stretches of one view of a query in which every fingerprint has one of these `hashes`, which must
/// ascend. Short stretches are left out. `fingerprints` are the fingerprints of the view, in any order.
///
/// Between two neighbouring fingerprints no window selects another, so the text between them belongs to the
/// stretch.
fn stretches(profile: &Profile, fingerprints: impl Iterator<Item = Fingerprint>, hashes: &[u64]) -> Vec<Range<u32>> {
    let (k, w) = (profile.k(), profile.w());
    let reach = u64::from(if matches!(profile.selection(), Selection::Mod(_)) { k } else { k.max(w) });
    let mut places: Vec<(u64, bool)> =
        fingerprints.map(|found| (found.position, hashes.binary_search(&found.hash).is_ok())).collect();
    places.sort_unstable();
    let together = |a: &(u64, bool), b: &(u64, bool)| a.1 && b.1 && b.0 - a.0 <= reach;
    places
        .chunk_by(together)
        .filter(|run| run[0].1)
        .map(|run| run[0].0 as u32..(run[run.len() - 1].0 as u32).saturating_add(k))
        .filter(|stretch| is_long(profile, stretch))
        .collect()
}

/// True if a stretch is longer than t, the guarantee. A shorter one can be part of a passage around it.
pub(super) fn is_long(profile: &Profile, stretch: &Range<u32>) -> bool {
    stretch.len() as u64 >= u64::from(profile.k()) + u64::from(profile.w())
}
