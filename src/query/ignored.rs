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
    /// The stretches in which no match lies, ascending: boilerplate, quotations and phrases. In source code
    /// they may overlap, and two short ones are no long one.
    pub(super) excluded: [Vec<Range<u32>>; 2],
    /// The symbols of all stretches, and those in quotations and phrases.
    pub(super) all: [Uncounted; 2],
}

impl IgnoredText {
    /// `boilerplate` are the hashes that boilerplate holds, `all` these and the common hashes; both ascend.
    pub(super) fn of(subject: &PreparedQuery, boilerplate: &[u64], all: &[u64]) -> Self {
        // Only prose has quotations and phrases, and prose has one view.
        let all = stretches_of(subject, all, &subject.uncounted).map(|stretches| subject.uncounted.with(&stretches));
        let mut excluded = stretches_of(subject, boilerplate, &Uncounted::default());
        if !subject.excluded.is_empty() {
            excluded[0] = union(excluded[0].iter().chain(&subject.excluded));
        }
        Self { excluded, all }
    }
}

/// For each view of a query, the stretches in which every fingerprint has one of these `hashes`, which must
/// ascend, or lies in `uncounted`.
fn stretches_of(subject: &PreparedQuery, hashes: &[u64], uncounted: &Uncounted) -> [Vec<Range<u32>>; 2] {
    let mut of_views = <[Vec<Range<u32>>; 2]>::default();
    if hashes.is_empty() {
        return of_views;
    }
    for (view, profile) in subject.profile.views().enumerate() {
        let of_view = |found: &&Fingerprint| view_index(&subject.profile, found.hash) == view;
        let fingerprints = subject.fingerprints.iter().filter(of_view).copied();
        let is_ignored = |found: &Fingerprint| {
            let kgram = found.position..found.position + u64::from(profile.k());
            hashes.binary_search(&found.hash).is_ok() || uncounted.counted(&kgram) == 0
        };
        of_views[view] = stretches(&profile, fingerprints, is_ignored);
    }
    of_views
}

/// The stretches of one view of a query in which every fingerprint is ignored. Short stretches are left out.
/// `fingerprints` are the fingerprints of the view, in any order.
///
/// Between two neighbouring fingerprints no window selects another, so the text between them belongs to the
/// stretch.
fn stretches(
    profile: &Profile,
    fingerprints: impl Iterator<Item = Fingerprint>,
    is_ignored: impl Fn(&Fingerprint) -> bool,
) -> Vec<Range<u32>> {
    let (k, w) = (profile.k(), profile.w());
    let reach = u64::from(if matches!(profile.selection(), Selection::Mod(_)) { k } else { k.max(w) });
    let mut places: Vec<(u64, bool)> = fingerprints.map(|found| (found.position, is_ignored(&found))).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::text_unavailable::TextUnavailable;
    use fpdb_kernel::document::Span;

    /// A query with fingerprints of these hashes at these positions.
    fn query(profile: Profile, fingerprints: &[(u64, u64)]) -> PreparedQuery {
        let mut query = PreparedQuery::empty(String::new(), profile, Err(TextUnavailable::TooLarge));
        let span = Span { start: 0, end: 0 };
        let found = |&(position, hash)| Fingerprint { hash, position, span, first_line: 1, last_line: 1 };
        query.fingerprints = fingerprints.iter().map(found).collect();
        query
    }

    /// Two short stretches of boilerplate in source code do not become a long one that divides a passage.
    #[test]
    fn boilerplate_is_not_united_without_quotations() {
        let [held, own] = [2, 4];
        let fingerprints = [(0, held), (3, held), (6, held), (8, own), (10, held), (13, held), (16, held)];
        let query = query(Profile::CODE, &fingerprints);
        assert_eq!(view_index(&Profile::CODE, held), 0);
        assert_eq!(IgnoredText::of(&query, &[held], &[held]).excluded[0], [0..13, 10..23]);
    }

    /// A short quotation in a long stretch of boilerplate does not divide it into short ones, which count.
    #[test]
    fn a_quotation_in_boilerplate_leaves_it_whole() {
        let [held, quoted, own] = [2, 4, 6];
        let fingerprints = [(0, held), (10, held), (15, held), (33, quoted), (45, held), (55, held), (70, own)];
        let mut query = query(Profile::PROSE, &fingerprints);
        query.uncounted = Uncounted::new(std::iter::once(&(30..60)));
        let all = &IgnoredText::of(&query, &[held], &[held]).all[0];
        assert_eq!((all.counted(&(0..80)), all.counted(&(80..95))), (0, 15));
    }
}
