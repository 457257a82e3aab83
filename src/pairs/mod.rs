//! Pairs: all pairs of stored documents that share enough text.
//!
//! The postings are read hash by hash, and the documents that hold a hash are kept as one list. Then, for one document
//! after the other, the lists of its hashes are counted through into one counter per document: some nanoseconds a pair
//! and hash, and no pair below the threshold is ever kept (as in the winnowing paper, section 5.2). Memory is bounded:
//! documents are worked on in blocks whose lists fit, and each block costs one pass over the postings.

mod blocks;
mod count;
mod documents;
mod submissions;

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::document::DocId;
use crate::error::Result;
use crate::profile::{Profile, Unit};
use crate::progress::Task;
use crate::query::{Passage, Weight};
use crate::schema::{Answer, Schema, is_zero};
use crate::setters::setters;
use crate::store::{DocumentRecord, Store};
use blocks::Plan;
use documents::Documents;

/// Which pairs are wanted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairsOptions {
    /// The least number of shared hashes.
    pub min_shared: u64,
    /// The least resemblance: weighted, where hashes are.
    pub min_resemblance: f64,
    /// The least resemblance of two documents that share few hashes.
    pub few: Option<Few>,
    /// The least containment of either document in the other: weighted, where hashes are.
    pub min_containment: f64,
    /// Hashes that more documents hold are not counted as shared; they are counted as common.
    pub max_df: Option<u64>,
    /// Only pairs of documents under different ones of these name prefixes, the longest that fits counting; under one of
    /// them and under none, where there is one prefix. All pairs where it is empty.
    pub across: Vec<String>,
    /// Documents of one group are no pair: the drafts of one author, the files of one submission.
    pub group_by: GroupBy,
    /// Documents in whose names this regular expression finds the same are one: its first group, else the whole match. Pairs
    /// are then pairs of submissions, and a hash that several documents of one hold counts once.
    pub submission_by: Option<String>,
    /// Only pairs of a document that came before this and one that did not.
    pub new_since: Option<Since>,
    /// What a shared hash counts.
    pub weight: Weight,
}

impl PairsOptions {
    setters! {
        min_shared: u64,
        min_resemblance: f64,
        few: Option<Few>,
        min_containment: f64,
        max_df: Option<u64>,
        across: Vec<String>,
        group_by: GroupBy,
        submission_by: Option<String>,
        new_since: Option<Since>,
        weight: Weight,
    }
}

impl Default for PairsOptions {
    fn default() -> Self {
        Self {
            min_shared: 1,
            min_resemblance: 0.0,
            few: None,
            min_containment: 0.0,
            max_df: Some(Self::MAX_DF),
            across: Vec::new(),
            group_by: GroupBy::default(),
            submission_by: None,
            new_since: None,
            weight: Weight::default(),
        }
    }
}

impl PairsOptions {
    /// The defaults for a database of this profile. Where k is short enough that unrelated documents share k-grams
    /// (below 25 characters or bytes, or 6 words), pairs are those with R of 0.03 or more, the threshold of the 2001 paper
    /// for trigrams of words; else all. Unrelated programs share idioms, and small ones little more than the frame that
    /// their language wants: pairs of tokens need an R of 0.1, or 0.2 where all they share is such a frame, and with
    /// k below 7 as much again. All this is measured in docs/measurements.md: fewer than 5 of 1,000 unrelated pairs reach it.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let evident = match profile.unit {
            Unit::Char | Unit::Byte => profile.k >= 25,
            Unit::Word => profile.k >= 6,
            Unit::Token => {
                let more = if profile.k < 7 { 0.1 } else { 0.0 };
                // A frame has up to 60 k-grams, of which 2 / (w + 1) are selected.
                let shared = 120 / (u64::from(profile.w) + 1);
                let few = Some(Few { shared, min_resemblance: 0.2 + more });
                return Self { min_resemblance: 0.1 + more, few, ..Self::default() };
            }
        };
        Self { min_resemblance: if evident { 0.0 } else { 0.03 }, ..Self::default() }
    }

    /// The same with thresholds of the caller's choice. Once one is given, the others keep no pair back.
    #[must_use]
    pub fn at_least(
        profile: &Profile,
        shared: Option<u64>,
        resemblance: Option<f64>,
        containment: Option<f64>,
    ) -> Self {
        let default = Self::of(profile);
        if shared.is_none() && resemblance.is_none() && containment.is_none() {
            return default;
        }
        Self {
            min_shared: shared.unwrap_or(default.min_shared),
            min_resemblance: resemblance.unwrap_or(0.0),
            few: None,
            min_containment: containment.unwrap_or(0.0),
            ..default
        }
    }

    /// The default cap on df: a hash in a thousand documents makes half a million pairs, and is the mark of a
    /// licence or a menu rather than of copying.
    pub const MAX_DF: u64 = 1000;
}

/// Pairs that share fewer hashes than `shared` need a resemblance of `min_resemblance`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Few {
    /// From so many on they are not few.
    pub shared: u64,
    /// Weighted, where hashes are.
    pub min_resemblance: f64,
}

impl Few {
    /// Pairs that share fewer hashes than `shared` need this resemblance.
    #[must_use]
    pub fn new(shared: u64, min_resemblance: f64) -> Self {
        Self { shared, min_resemblance }
    }
}

/// What puts documents into groups; a document in none pairs with all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupBy {
    /// Their metadata `group`.
    #[default]
    Metadata,
    /// What a regular expression finds in their name: its first group, else the whole.
    Name(String),
    /// Nothing does.
    Nothing,
}

/// From when on documents are new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Since {
    /// From this document on, by number.
    Document(DocId),
    /// Those ingested at this time or later, in seconds since 1970.
    Time(i64),
}

/// Pairs of documents that are shown of a pair of submissions.
const FILES: usize = 10;

/// What the user or its container said of a document: names and values.
type Metadata = Arc<BTreeMap<String, String>>;

/// Two documents that share text; `a` came first. Also its JSON (`fpdb.pair/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Pair {
    pub(crate) schema: Schema<Self>,
    /// The older document's name; shared by all its pairs.
    pub a: Arc<str>,
    /// The newer one's.
    pub b: Arc<str>,
    /// The older document's number.
    pub a_id: DocId,
    /// The newer one's.
    pub b_id: DocId,
    /// Hashes both hold.
    pub shared: u64,
    /// Shared / all hashes of the two.
    pub resemblance: f64,
    /// The share of a's hashes that b holds.
    pub containment_a: f64,
    /// The share of b's hashes that a holds.
    pub containment_b: f64,
    /// What pairs are ordered by: the resemblance, weighted where hashes are.
    pub score: f64,
    /// The passages they share, `query` being a and `document` b; `None` unless they were looked for, with
    /// [`Database::add_passages`](crate::Database::add_passages).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// Of two submissions, the pairs of their documents that share most; empty unless they were looked for, with
    /// [`Database::add_files`](crate::Database::add_files).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Pair>,
    /// How many more pairs of their documents share something.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files_left_out: u64,
    /// What the user or its container said of the older document; shared by all its pairs.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub a_metadata: Metadata,
    /// The same of the newer one.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub b_metadata: Metadata,
}

impl Answer for Pair {
    const SCHEMA: &'static str = "fpdb.pair/1";
}

fn is_empty(metadata: &Metadata) -> bool {
    metadata.is_empty()
}

/// The pairs of a database.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PairsAnswer {
    /// By descending score, then by name.
    pub pairs: Vec<Pair>,
    /// Hashes left out because more documents hold them than the df cap allows.
    pub common: u64,
    /// Hashes left out because boilerplate holds them.
    pub boilerplate: u64,
    /// Pairs that share a hash, but less than was asked for.
    pub below: u64,
    /// Prefixes of `across` that no document's name begins with.
    pub unmatched: Vec<String>,
    /// With `new_since`, the old documents and the new ones that could be in a pair.
    pub divided: Option<(u64, u64)>,
}

/// A pair by ids, with its measures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) shared: u64,
    pub(crate) resemblance: f64,
    pub(crate) containment_a: f64,
    pub(crate) containment_b: f64,
    score: f64,
}

/// All pairs, in no order, and what was left out.
pub(crate) struct Counted {
    pub(crate) pairs: Vec<Measured>,
    pub(crate) common: u64,
    pub(crate) boilerplate: u64,
    pub(crate) below: u64,
    unmatched: Vec<String>,
    divided: Option<(u64, u64)>,
    /// The names of submissions by their first documents.
    submissions: HashMap<u32, String>,
}

/// Reports how many documents have been compared with all others.
struct Compared<'a> {
    task: &'a Task<'a>,
    /// Those of the blocks before.
    before: u64,
    total: u64,
}

impl Compared<'_> {
    /// `done` of the block's documents are done.
    ///
    /// # Errors
    /// [`crate::Error::Stopped`].
    fn report(&self, done: u64) -> Result<()> {
        self.task.step("documents compared", self.before + done, self.total)
    }
}

/// Finds the pairs.
pub(crate) fn pairs(store: &Store, options: &PairsOptions, task: &Task<'_>) -> Result<PairsAnswer> {
    let Counted { pairs: measured, common, boilerplate, below, unmatched, divided, submissions } =
        measured(store, options, &[], task)?;
    let pairs = named(store, measured, &submissions)?;
    Ok(PairsAnswer { pairs, common, boilerplate, below, unmatched, divided })
}

/// Adds to pairs of submissions the pairs of their documents that share most, at most [`FILES`] to each.
pub(crate) fn add_files(store: &Store, pairs: &mut [Pair], options: &PairsOptions, task: &Task<'_>) -> Result<()> {
    let wanted = pairs.iter().map(|pair| (pair.a_id.0, pair.b_id.0)).collect();
    let all = PairsOptions { max_df: options.max_df, ..PairsOptions::default() };
    let documents = Documents::load_within(store, options, &all, wanted)?;
    let counted = counted(store, documents, &all, task)?;
    let mut of_pairs: HashMap<(u32, u32), Vec<Measured>> = HashMap::new();
    for (of, found) in counted.0.pairs.into_iter().map(|found| counted.1.submissions_of(found)) {
        of_pairs.entry(of).or_default().push(found);
    }
    for pair in pairs {
        let mut files = of_pairs.remove(&(pair.a_id.0, pair.b_id.0)).unwrap_or_default();
        files.sort_unstable_by_key(|found| (Reverse(found.shared), found.a, found.b));
        pair.files_left_out = files.len().saturating_sub(FILES) as u64;
        files.truncate(FILES);
        pair.files = named(store, files, &HashMap::new())?;
        pair.files.sort_by_key(|file| Reverse(file.shared));
    }
    Ok(())
}

/// Pairs with the names and metadata of their documents, or the names of their submissions; best first.
fn named(store: &Store, measured: Vec<Measured>, submissions: &HashMap<u32, String>) -> Result<Vec<Pair>> {
    let mut names: HashMap<u32, (Arc<str>, Metadata)> = HashMap::new();
    for id in measured.iter().flat_map(|pair| [pair.a, pair.b]) {
        if let Entry::Vacant(vacant) = names.entry(id) {
            vacant.insert(match submissions.get(&id) {
                Some(name) => (name.as_str().into(), Metadata::default()),
                None => {
                    let DocumentRecord { name, metadata, .. } = store.document(id)?;
                    (name.into(), Arc::new(metadata.into_iter().collect()))
                }
            });
        }
    }
    let named = measured.into_iter().map(|pair| Pair {
        schema: Schema::new(),
        a: Arc::clone(&names[&pair.a].0),
        b: Arc::clone(&names[&pair.b].0),
        a_id: DocId(pair.a),
        b_id: DocId(pair.b),
        shared: pair.shared,
        resemblance: pair.resemblance,
        containment_a: pair.containment_a,
        containment_b: pair.containment_b,
        score: pair.score,
        passages: None,
        files: Vec::new(),
        files_left_out: 0,
        a_metadata: Arc::clone(&names[&pair.a].1),
        b_metadata: Arc::clone(&names[&pair.b].1),
    });
    let mut pairs: Vec<Pair> = named.collect();
    // Versions of one name are told apart by their numbers.
    pairs.sort_unstable_by(|x, y| {
        let names = || (&x.a, &x.b, x.a_id, x.b_id).cmp(&(&y.a, &y.b, y.a_id, y.b_id));
        y.score.total_cmp(&x.score).then_with(names)
    });
    Ok(pairs)
}

/// Finds the pairs without the documents of `left_out`.
pub(crate) fn measured(store: &Store, options: &PairsOptions, left_out: &[u32], task: &Task<'_>) -> Result<Counted> {
    let documents = Documents::load(store, options, left_out)?;
    let (mut counted, documents) = counted(store, documents, options, task)?;
    let Documents { unmatched, divided, submissions, .. } = documents;
    (counted.unmatched, counted.divided, counted.submissions) = (unmatched, divided, submissions.into_names());
    Ok(counted)
}

/// Counts the pairs of these documents.
fn counted(
    store: &Store,
    mut documents: Documents,
    options: &PairsOptions,
    task: &Task<'_>,
) -> Result<(Counted, Documents)> {
    let plan = Plan::make(store, &mut documents, options, task)?;
    let total = plan.blocks.iter().map(|block| block.len() as u64).sum();
    let mut pairs = Vec::new();
    let (mut done, mut below) = (0, 0);
    for block in &plan.blocks {
        below += count::count(
            store,
            &documents,
            options,
            &plan,
            block.clone(),
            &Compared { task, before: done, total },
            &mut pairs,
        )?;
        done += block.len() as u64;
    }
    let Plan { common, boilerplate, .. } = plan;
    let (unmatched, divided, submissions) = (Vec::new(), None, HashMap::new());
    Ok((Counted { pairs, common, boilerplate, below, unmatched, divided, submissions }, documents))
}
