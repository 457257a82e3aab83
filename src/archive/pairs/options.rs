//! Options: which pairs are wanted.

use std::path::PathBuf;

use crate::query::Weight;
use fpdb_host::error::Result;
use fpdb_host::setters::{check_share, setters};
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::{Profile, Unit};
use fpdb_reading::input::InputLimits;

/// Which pairs are wanted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairsOptions {
    /// The least number of shared hashes.
    pub min_shared: u64,
    /// The least resemblance: weighted, where hashes are.
    pub min_resemblance: f64,
    /// Two documents that share fewer hashes than this need a resemblance of [`few_min_resemblance`](Self::few_min_resemblance).
    pub few_shared: u64,
    /// The least resemblance of two documents that share fewer hashes than [`few_shared`](Self::few_shared): weighted, where
    /// hashes are.
    pub few_min_resemblance: f64,
    /// The least containment of either document in the other: weighted, where hashes are.
    pub min_containment: f64,
    /// Hashes that more documents hold are not counted as shared; they are counted as common.
    pub max_df: Option<u64>,
    /// Only pairs of documents under different ones of these name prefixes, the longest that fits counting; under one of
    /// them and under none, where there is one prefix. All pairs where it is empty.
    pub across: Vec<String>,
    /// Documents of one group are no pair: the drafts of one author, the files of one submission.
    pub group_by: GroupBy,
    /// Documents whose names give the same match of this regular expression are one submission: the same text of its first
    /// group, or of the whole match if it has no group. Pairs are then pairs of submissions, and a hash that several documents
    /// of one hold counts once.
    pub submission_by: Option<String>,
    /// Compare the own text of pairs of source code too, names and comments included, and order the pairs by the larger of the two
    /// resemblances. Fingerprints of source code tell its structure only, so that the documents of all pairs are read again, within these limits.
    pub own_text: Option<InputLimits>,
    /// Only pairs of a document that came before this and one that did not.
    pub new_since: Option<Since>,
    /// The weight of a shared hash.
    pub weight: Weight,
    /// The most pairs to return, the best ones; `None` for all.
    pub top: Option<u64>,
    /// The existing folder for temporary files, which hold pairs that exceed the database's memory; `None` for the folder that the
    /// database is in.
    pub temp_dir: Option<PathBuf>,
}

impl PairsOptions {
    setters! {
        min_shared: u64,
        min_resemblance: f64,
        few_shared: u64,
        few_min_resemblance: f64,
        min_containment: f64,
        max_df: Option<u64>,
        across: Vec<String>,
        group_by: GroupBy,
        submission_by: Option<String>,
        own_text: Option<InputLimits>,
        new_since: Option<Since>,
        weight: Weight,
        top: Option<u64>,
        temp_dir: Option<PathBuf>,
    }
}

impl PairsOptions {
    /// All pairs that share a hash that is not common.
    pub(super) fn all() -> Self {
        Self {
            min_shared: 1,
            min_resemblance: 0.0,
            few_shared: 0,
            few_min_resemblance: 0.0,
            min_containment: 0.0,
            max_df: Some(Self::MAX_DF),
            across: Vec::new(),
            group_by: GroupBy::default(),
            submission_by: None,
            own_text: None,
            new_since: None,
            weight: Weight::default(),
            top: None,
            temp_dir: None,
        }
    }

    /// The defaults for a database of this profile. Where k is short enough that unrelated documents share k-grams
    /// (below 25 characters or bytes, or 6 words), pairs are those with R of 0.03 or more, the threshold of the 2001 paper
    /// for trigrams of words; else all. Unrelated programs share idioms, and small ones little more than the frame that
    /// their language wants: pairs of tokens need an R of 0.1, or 0.2 where all they share is such a frame, and with
    /// k below 7 as much again. All this is measured in docs/measurements.md: fewer than 5 of 1,000 unrelated pairs reach it.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let evident = match profile.unit() {
            Unit::Char | Unit::Byte => profile.k() >= 25,
            Unit::Word => profile.k() >= 6,
            Unit::Token => {
                // A frame has up to 60 k-grams, of which 2 / (w + 1) are selected.
                let few_shared = 120 / (u64::from(profile.w()) + 1);
                let (min_resemblance, few_min_resemblance) = if profile.k() < 7 { (0.2, 0.3) } else { (0.1, 0.2) };
                return Self { min_resemblance, few_shared, few_min_resemblance, ..Self::all() };
            }
        };
        Self { min_resemblance: if evident { 0.0 } else { 0.03 }, ..Self::all() }
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
            few_shared: 0,
            few_min_resemblance: 0.0,
            min_containment: containment.unwrap_or(0.0),
            ..default
        }
    }

    /// Checks that pairs can be found with these options; every call does so first.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](crate::Error::InvalidParameter) for a threshold below 0, above 1 or that is no number.
    pub(crate) fn check(&self) -> Result<()> {
        let thresholds = [
            ("min_resemblance", self.min_resemblance),
            ("few_min_resemblance", self.few_min_resemblance),
            ("min_containment", self.min_containment),
        ];
        thresholds
            .into_iter()
            .try_for_each(|(name, least)| check_share(name, least, least >= 0.0, "a number from 0 to 1"))
    }

    /// The default cap on df: a hash in a thousand documents makes half a million pairs, and is the mark of a
    /// licence or a menu rather than of copying.
    pub const MAX_DF: u64 = 1000;
}

/// Puts documents into groups; a document in no group pairs with all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupBy {
    /// Their metadata `group`.
    #[default]
    Metadata,
    /// The match of a regular expression in their names: its first group, else the whole match.
    Name(String),
    /// Nothing does.
    Nothing,
}

/// From when on documents are new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From this document on, by number.
    Document(DocId),
    /// Documents ingested at this time or later, in seconds since 1970.
    Time(i64),
}
