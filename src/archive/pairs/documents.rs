//! Documents: the size of each document, by id, and the other documents it may pair with.

use std::cmp::Reverse;
use std::collections::HashSet;

use roaring::RoaringTreemap;

use super::grouping::Grouping;
use super::options::{GroupBy, PairsOptions, Since};
use super::ranked::Measured;
use super::same_files::SameFiles;
use super::verdict::{Thresholds, Verdict};
use crate::archive::nothing_fits::{no_such_value, nothing_fits};
use crate::archive::submissions::Submissions;
use crate::query::Weight;
use fpdb_host::error::Result;
use fpdb_host::progress::Task;
use fpdb_kernel::profile::{Profile, View};
use fpdb_reading::input::NamePrefix;
use fpdb_store::{Store, check_field};

/// All documents of a store.
pub(super) struct Documents {
    /// The profile of the database.
    profile: Profile,
    /// By id, the number of distinct fingerprints in each view. The number is 0 for boilerplate and for ids
    /// without a document.
    sizes: Vec<[u32; 2]>,
    /// By id, the number of these fingerprints that boilerplate holds. Empty without boilerplate.
    handed_out: Vec<[u32; 2]>,
    /// The rule for the weight of a hash, as the caller asked.
    weighting: Weight,
    /// By id, the sum of the weights of the document's hashes in each view; empty if all hashes weigh the
    /// same.
    pub(super) weights: Vec<[f64; 2]>,
    /// The weight of a frame in each view.
    frames: [f64; 2],
    /// By id, the 1-based index of the longest prefix with which the name begins, or 0. Empty without
    /// prefixes.
    sides: Vec<u16>,
    /// Number of prefixes.
    prefixes: usize,
    /// By id of a document, or of the first document of a submission: true if it has the wanted metadata.
    /// Empty if no metadata are wanted.
    wanted: Vec<bool>,
    /// By id of a document, or of the first document of a submission: the 1-based number of the group, or 0.
    /// Empty if no document has a group.
    groups: Vec<u32>,
    /// Number of documents with another document in their group.
    pub(super) grouped: u64,
    /// By id, true for a new document. Empty if no document is old.
    new: Vec<bool>,
    /// True if new documents are paired with each other too.
    new_together: bool,
    /// The numbers of old and of new documents that count. `None` if no document is old.
    pub(super) divided: Option<(u64, u64)>,
    /// Number of documents; if joined, the number of submissions and of documents outside any.
    pub(super) count: u64,
    pub(super) submissions: Submissions,
    /// The files of submissions, if the documents of a submission count as one.
    pub(super) same_files: SameFiles,
    /// True if the documents of a submission count as one.
    joined: bool,
    /// If set, documents are paired only across these pairs of submissions. Each such pair of documents that
    /// shares a hash counts. A submission is named by its first document.
    within: Option<HashSet<(u32, u32)>>,
    /// The pairs of submissions that are wanted because of two of their documents, by [`key`].
    by_files: RoaringTreemap,
}

/// Size of a *frame*: the symbols that a program has because its language and task require them. The symbols
/// are tokens in one view, words and punctuation marks in the other.
const FRAME: f64 = 40.0;

/// A counted pair: ids, number of shared hashes, and their total weight, in each view.
#[derive(Clone, Copy)]
pub(super) struct CountedPair {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) shared: [u32; 2],
    pub(super) weight: [f64; 2],
}

impl Documents {
    /// Loads all documents. With submissions, the documents of a submission count as one if `joined` is true.
    pub(super) fn load(store: &Store, options: &PairsOptions, joined: bool, task: &Task<'_>) -> Result<Self> {
        options.metadata.iter().try_for_each(|(name, value)| check_field(name, value))?;
        let view = store.view();
        let ids = view.state().next_document as usize;
        let mut grouping = Grouping::new(&options.group_by)?;
        let is_divided = options.new_since.is_some() || !options.old.is_empty();
        let mut documents = Self {
            profile: *store.profile(),
            sizes: vec![[0; 2]; ids],
            handed_out: if view.boilerplate_count() > 0 { vec![[0; 2]; ids] } else { Vec::new() },
            weighting: options.weight,
            weights: if options.weight == Weight::None && !store.profile().has_two_views() {
                Vec::new()
            } else {
                vec![[0.0; 2]; ids]
            },
            frames: [0.0; 2],
            sides: if options.across.is_empty() { Vec::new() } else { vec![0; ids] },
            prefixes: options.across.len(),
            wanted: if options.metadata.is_empty() { Vec::new() } else { vec![false; ids] },
            groups: vec![0; ids],
            grouped: 0,
            new: if is_divided { vec![false; ids] } else { Vec::new() },
            new_together: !options.old.is_empty(),
            divided: None,
            count: 0,
            submissions: Submissions::new(options.submission_by.as_deref(), ids)?,
            same_files: SameFiles::default(),
            joined: joined && options.submission_by.is_some(),
            within: None,
            by_files: RoaringTreemap::new(),
        };
        let among = |prefix: &String| NamePrefix::among(prefix, |start| store.has_name_beginning(start));
        let prefixes: Vec<NamePrefix> = options.across.iter().map(among).collect::<Result<_>>()?;
        let old: Vec<NamePrefix> = options.old.iter().map(among).collect::<Result<_>>()?;
        let (mut met, mut met_old) = (vec![false; prefixes.len()], vec![false; old.len()]);
        let mut met_values = vec![false; options.metadata.len()];
        store.for_each_document(|id, record| {
            let index = id as usize;
            let place = (record.name.as_str(), record.member.as_deref());
            if let Some(new) = documents.new.get_mut(index) {
                *new = match options.new_since {
                    Some(Since::Document(first)) => id >= first.0,
                    Some(Since::Time(time)) => record.ingested_at >= time,
                    None => {
                        let mut is_new = true;
                        for (prefix, met) in old.iter().zip(&mut met_old) {
                            if prefix.fits(&record.name).is_some() {
                                (is_new, *met) = (false, true);
                            }
                        }
                        is_new
                    }
                };
            }
            if view.is_boilerplate(id) {
                documents.submissions.note_boilerplate(place.0, place.1);
                documents.same_files.add_boilerplate(&record);
            } else {
                let is_old = documents.new.get(index) == Some(&false);
                documents.submissions.add(id, place, is_old);
                if documents.joined && documents.submissions.has(id) {
                    documents.same_files.add(id, documents.submissions.of(id), &record);
                }
                // A document has fewer than 2^32 fingerprints. For a submission, the sum is only an upper
                // bound until the postings are read, because its files share hashes.
                let holder = documents.holder_of(id);
                let sizes = &mut documents.sizes[holder as usize];
                let views = [record.structure().distinct, record.text().map_or(0, |text| text.distinct)];
                for (size, distinct) in sizes.iter_mut().zip(views) {
                    *size = size.saturating_add(distinct as u32);
                }
            }
            documents.count += u64::from(documents.holder_of(id) == id);
            if !documents.wanted.is_empty() {
                let mut has_all = true;
                for ((name, value), met) in options.metadata.iter().zip(&mut met_values) {
                    let has = record.has_field(name, value);
                    (has_all, *met) = (has_all && has, *met || has);
                }
                let first = documents.submissions.of(id) as usize;
                documents.wanted[first] |= has_all;
            }
            if let Some(side) = documents.sides.get_mut(index) {
                let fit = (1..).zip(&prefixes).zip(&mut met).filter_map(|((number, prefix), met)| {
                    let length = prefix.fits(&record.name)?;
                    *met = true;
                    Some((number, length))
                });
                let longest = fit.max_by_key(|&(number, length)| (length, Reverse(number)));
                *side = longest.map_or(0, |(number, _)| number);
            }
            grouping.note(&record, &mut documents.groups[documents.submissions.of(id) as usize])?;
            Ok(true)
        })?;
        if let Some((prefix, _)) = options.across.iter().zip(met).find(|(_, met)| !met) {
            return nothing_fits(store, "across", prefix, task.token());
        }
        if let Some((prefix, _)) = options.old.iter().zip(met_old).find(|(_, met)| !met) {
            return nothing_fits(store, "old", prefix, task.token());
        }
        if let Some(((name, value), _)) = options.metadata.iter().zip(met_values).find(|(_, met)| !met) {
            return Err(no_such_value(store, name, value, task)?);
        }
        if let (Some(pattern), true) = (&options.submission_by, documents.submissions.are_missing()) {
            return nothing_fits(store, "submission_by", pattern, task.token());
        }
        if let (GroupBy::Name(pattern), true) = (&options.group_by, grouping.count() == 0) {
            return nothing_fits(store, "group_by", pattern, task.token());
        }
        // The size of a submission is known once all its files have been counted.
        let of_age = documents.new.iter().zip(&documents.sizes).filter(|(_, sizes)| **sizes != [0; 2]);
        let count = |asked: bool| of_age.clone().filter(|(new, _)| **new == asked).count() as u64;
        documents.divided = is_divided.then(|| (count(false), count(true)));
        if grouping.count() == 0 {
            documents.groups = Vec::new();
        }
        documents.groups.iter_mut().filter(|group| **group == Grouping::SEVERAL).for_each(|group| *group = 0);
        let mut members = vec![0u64; grouping.count() + 1];
        for (&group, sizes) in documents.groups.iter().zip(&documents.sizes) {
            members[group as usize] += u64::from(*sizes != [0; 2]);
        }
        documents.grouped = members.iter().skip(1).filter(|&&members| members > 1).sum();
        Ok(documents)
    }

    /// Loads the documents of these pairs of submissions, without joining the documents.
    pub(super) fn load_within(
        store: &Store,
        options: &PairsOptions,
        within: HashSet<(u32, u32)>,
        task: &Task<'_>,
    ) -> Result<Self> {
        Ok(Self { within: Some(within), ..Self::load(store, options, false, task)? })
    }

    /// Loads submissions. The pairs in `by_files` are wanted, even if they do not reach the thresholds.
    pub(super) fn load_joined(
        store: &Store,
        options: &PairsOptions,
        by_files: RoaringTreemap,
        task: &Task<'_>,
    ) -> Result<Self> {
        Ok(Self { by_files, ..Self::load(store, options, true, task)? })
    }

    /// True if the documents of a submission count as one.
    pub(super) fn are_joined(&self) -> bool {
        self.joined
    }

    /// True if the files of submissions are compared, not the submissions.
    pub(super) fn are_of_submissions(&self) -> bool {
        self.submissions.are_any() && !self.joined
    }

    /// The id that stands for a document: the id of its submission if documents are joined, otherwise the
    /// document's own id.
    fn holder_of(&self, id: u32) -> u32 {
        if self.joined { self.submissions.of(id) } else { id }
    }

    /// The holders of a hash: documents, or submissions if the documents of a submission count as one.
    pub(super) fn holders<'a>(&self, holders: &'a [u32], room: &'a mut Vec<u32>) -> &'a [u32] {
        if self.are_joined() { self.submissions.holders(holders, room) } else { holders }
    }

    /// Notes a hash that boilerplate and these documents hold.
    pub(super) fn note_boilerplate(&mut self, holders: &[u32], view: usize) {
        for &holder in holders {
            if let Some(handed_out) = self.handed_out.get_mut(holder as usize) {
                handed_out[view] += 1;
            }
        }
    }

    /// The number of a document's hashes in a view that no boilerplate holds.
    fn own_size(&self, id: usize, view: usize) -> u32 {
        let handed_out = self.handed_out.get(id).map_or(0, |handed_out| handed_out[view]);
        self.sizes[id][view].saturating_sub(handed_out)
    }

    /// Sets the sizes of submissions.
    pub(super) fn set_sizes(&mut self, sizes: Vec<[u32; 2]>) {
        self.sizes = sizes;
    }

    /// The first document of the submission that holds a document. A document outside any submission stands
    /// for itself.
    pub(super) fn submission_of(&self, id: u32) -> u32 {
        self.submissions.of(id)
    }

    /// The submissions of two documents, and the two documents in the same order.
    pub(super) fn submissions_of(&self, found: Measured) -> ((u32, u32), Measured) {
        let (a, b) = (self.submissions.of(found.a), self.submissions.of(found.b));
        if a < b {
            return ((a, b), found);
        }
        ((b, a), Measured { a: found.b, b: found.a, ..found })
    }

    /// The number of ids.
    pub(super) fn ids(&self) -> usize {
        self.sizes.len()
    }

    /// True for a new document, or for a document of a new submission. `None` if no document is old.
    pub(super) fn is_new(&self, id: u32) -> Option<bool> {
        self.new.get(self.submissions.of(id) as usize).copied()
    }

    /// True if no pairs of two old documents are wanted.
    pub(super) fn are_divided(&self) -> bool {
        !self.new.is_empty()
    }

    /// True if documents are divided into old and new ones, and pairs of two new documents are wanted too.
    pub(super) fn are_new_together(&self) -> bool {
        self.new_together && self.are_divided()
    }

    /// True if a document can be in a pair.
    pub(super) fn counts(&self, id: u32) -> bool {
        self.sizes[id as usize] != [0; 2]
    }

    /// The weight of a hash of a view that `df` documents hold. With two views, a hash always counts less the
    /// more documents hold it. Among N documents, a hash of the structure has the weight 1 + ln(N / `df`). It
    /// is at least 1, so a program with many copies keeps most of its weight. A hash of the text as written
    /// has the weight 1 / `df`, which falls faster, because independent programs share more words than
    /// structure. A hash shared by a pair has at least two holders, so in an archive of two documents all
    /// shared hashes weigh the same.
    pub(super) fn weight_of(&self, df: u64, view: usize) -> f64 {
        match (self.weighting, self.views(), view) {
            (Weight::None, 2, 0) => 1.0 + (self.count as f64 / df.max(2) as f64).ln(),
            (Weight::None, 2, _) => 1.0 / df.max(2) as f64,
            (weight, ..) => weight.of(df, self.count),
        }
    }

    /// Finds the weight of a frame in each view: each symbol of the frame has the mean weight of the view.
    /// `sums` has the total weight of all documents in each view.
    pub(super) fn weights_are_known(&mut self, sums: [f64; 2]) {
        for (view, profile) in self.profile.views().enumerate() {
            let weight = sums[view];
            let hashes: u64 = (0..self.sizes.len()).map(|id| u64::from(self.own_size(id, view))).sum();
            let mean = if weight > 0.0 { weight / hashes.max(1) as f64 } else { 1.0 };
            self.frames[view] = FRAME * 2.0 / (f64::from(profile.w()) + 1.0) * mean;
        }
    }

    /// The score of a pair in one of two views. It is the weighted resemblance, with the weight of a frame of
    /// [`FRAME`] symbols added to the union. So two short programs with half of their symbols in common score
    /// less than two such long programs. In the text as written, the weight of the frame is multiplied by the
    /// share that differs or that boilerplate holds. Short programs of one structure are often independent;
    /// short programs of one text are copies, unless most of the text was handed out.
    fn score_in_view(&self, view: usize, &CountedPair { a, b, weight, .. }: &CountedPair) -> f64 {
        let shared = weight[view];
        let (a, b) = (a as usize, b as usize);
        let union = self.weights[a][view] + self.weights[b][view] - shared;
        let sizes = |of: fn(&Self, usize, usize) -> u32| f64::from(of(self, a, view)) + f64::from(of(self, b, view));
        let own = share(sizes(Self::own_size), sizes(|documents, id, view| documents.sizes[id][view]));
        let counted = if view == 1 { 1.0 - share(shared, union) * own } else { 1.0 };
        if union > 0.0 { shared / (union + self.frames[view] * counted) } else { 0.0 }
    }

    /// The number of views.
    pub(super) fn views(&self) -> usize {
        if self.profile.has_two_views() { 2 } else { 1 }
    }

    /// The index of the view of a hash.
    pub(super) fn view_of(&self, hash: u64) -> usize {
        usize::from(self.profile.view_of(hash) == View::Text)
    }

    /// True if two documents that count may be a pair.
    fn may_pair(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.submissions.of(a), self.submissions.of(b));
        if a == b || self.submissions.are_of_one_name(a, b) {
            return false;
        }
        if let Some(within) = &self.within {
            return within.contains(&(a.min(b), a.max(b)));
        }
        let (a, b) = (a as usize, b as usize);
        if let (Some(false), Some(false)) = (self.wanted.get(a), self.wanted.get(b)) {
            return false;
        }
        if let (Some(a), Some(b)) = (self.groups.get(a), self.groups.get(b))
            && a == b
            && *a > 0
        {
            return false;
        }
        match (self.sides.get(a), self.sides.get(b)) {
            (Some(a), Some(b)) => a != b && (self.prefixes == 1 || (*a > 0 && *b > 0)),
            _ => true,
        }
    }

    /// The resemblance of two documents with `shared` hashes in common, and the containment of each in the
    /// other, in one view. `None` if the database has no such view.
    pub(super) fn measures(&self, view: usize, a: u32, b: u32, shared: u32) -> Option<[f64; 3]> {
        let size = |id: u32| f64::from(self.sizes[id as usize][view]);
        (view < self.views()).then(|| measures(shared.into(), size(a), size(b)))
    }

    /// Like [`measures`](Self::measures), without the hashes that boilerplate holds. Also `None` without
    /// boilerplate.
    pub(super) fn own_measures(&self, view: usize, a: u32, b: u32, shared: u32) -> Option<[f64; 3]> {
        let size = |id: u32| f64::from(self.own_size(id as usize, view));
        (!self.handed_out.is_empty() && view < self.views()).then(|| measures(shared.into(), size(a), size(b)))
    }

    /// The thresholds in each view. Those of `options` apply to the structure. Unless `few_shared` is 0, the
    /// thresholds of the text as written are higher. The first reason is that unrelated programs share more
    /// words than structure. The second is that short texts have few fingerprints, so their resemblance
    /// varies more.
    ///
    /// Two submissions have many pairs of files, and one of these pairs would often reach the thresholds by
    /// chance. So two files of different submissions must share more than a frame, and need the resemblance
    /// that is required of pairs with few shared hashes.
    pub(super) fn thresholds(&self, options: &PairsOptions) -> [Thresholds; 2] {
        let PairsOptions { min_resemblance, few_shared, few_min_resemblance, .. } = *options;
        let of_structure = Thresholds { least: min_resemblance, few_shared, least_of_few: few_min_resemblance };
        let of_text = match few_shared {
            0 => of_structure,
            _ => Thresholds {
                least: 2.0 * min_resemblance,
                few_shared: self.few_as_written(few_shared),
                least_of_few: 2.5 * few_min_resemblance,
            },
        };
        if !self.are_of_submissions() {
            return [of_structure, of_text];
        }
        let frame = PairsOptions::of(&self.profile).few_shared;
        let strict = |of_all: Thresholds, few_shared| Thresholds {
            least: of_all.least.max(of_all.least_of_few),
            few_shared,
            least_of_few: f64::INFINITY,
        };
        [strict(of_structure, frame), strict(of_text, self.few_as_written(frame))]
    }

    /// The number of fingerprints of a program's frame in the text as written, if the frame has `few` in the
    /// structure. As written, the frame has twice the symbols, and the windows differ.
    fn few_as_written(&self, few: u64) -> u64 {
        let w = self.profile.text_view().map_or(1, |text| u64::from(text.w()));
        few.saturating_mul(2 * (u64::from(self.profile.w()) + 1)) / (w + 1)
    }

    /// Decides whether two documents are a pair, and whether the pair reaches the thresholds.
    pub(super) fn judge(&self, pair: CountedPair, options: &PairsOptions, thresholds: &[Thresholds; 2]) -> Verdict {
        let CountedPair { a, b, shared, .. } = pair;
        if !self.may_pair(a, b) {
            return Verdict::NoPair;
        }
        let is_enough = |view: usize| {
            let Thresholds { least, few_shared, least_of_few } = thresholds[view];
            let shared = u64::from(shared[view]);
            let least = if shared < few_shared { least_of_few } else { least };
            let [both, of_a, of_b] = self.amounts(view, &pair);
            shared >= options.min_shared
                && share(both, of_a + of_b - both) >= least
                && share(both, of_a.min(of_b)) >= options.min_containment
        };
        let reaches = is_enough(0) || self.views() == 2 && is_enough(1);
        if !(reaches || self.within.is_some() || self.by_files.contains(key(a, b))) {
            return Verdict::Below;
        }
        let score = match self.views() {
            2 => self.score_in_view(0, &pair).max(self.score_in_view(1, &pair)),
            _ => {
                let [both, of_a, of_b] = self.amounts(0, &pair);
                share(both, of_a + of_b - both)
            }
        };
        Verdict::Wanted(Measured { a, b, shared, score, reaches })
    }

    /// Three amounts for a pair in one view: the hashes that both documents hold, all hashes of `a`, and all
    /// hashes of `b`. Boilerplate is left out. An amount is a number of hashes, or their total weight if
    /// hashes are weighted.
    fn amounts(&self, view: usize, &CountedPair { a, b, shared, weight }: &CountedPair) -> [f64; 3] {
        let (a, b) = (a as usize, b as usize);
        match self.weighting {
            Weight::None => [shared[view], self.own_size(a, view), self.own_size(b, view)].map(f64::from),
            _ => [weight[view], self.weights[a][view], self.weights[b][view]],
        }
    }
}

/// Two ids as one number; `a` is the smaller.
pub(super) fn key(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

fn measures(shared: f64, a: f64, b: f64) -> [f64; 3] {
    [share(shared, a + b - shared), share(shared, a), share(shared, b)]
}

/// `part` / `whole`, or 0 if `whole` is 0, because a document can lack symbols in one view.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
