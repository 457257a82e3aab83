//! Options: the pairs to find.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::archive::submissions::SUBMISSION_FILES;
use crate::query::Weight;
use fpdb_host::error::{Error, Result};
use fpdb_host::json_options::limit;
use fpdb_host::setters::{check_share, setters};
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::{Profile, Unit};

/// The pairs to find. A pair must reach all thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PairsOptions {
    /// The smallest number of shared hashes.
    pub min_shared: u64,
    /// The smallest resemblance, weighted if hashes are weighted.
    pub min_resemblance: f64,
    /// Pairs that share fewer hashes than this need a resemblance of
    /// [`few_min_resemblance`](Self::few_min_resemblance).
    pub few_shared: u64,
    /// The resemblance that pairs need if they share fewer hashes than [`few_shared`](Self::few_shared). It
    /// is weighted if hashes are weighted.
    pub few_min_resemblance: f64,
    /// The smallest containment of one document in the other, weighted if hashes are weighted. One direction
    /// suffices.
    pub min_containment: f64,
    /// Hashes that more than this number of documents hold do not count as shared. They are counted as
    /// common. `None`, and 0 in JSON: no cap.
    #[serde(default, deserialize_with = "limit")]
    pub max_df: Option<u64>,
    /// Folders, archives, or prefixes of names. A value is a prefix if no stored folder or archive has
    /// exactly this name. Only documents under different values are paired. Of several values that fit a
    /// document, the longest counts. With a single value, one document of a pair is under it and the other is
    /// not. Empty: all pairs.
    pub across: Vec<String>,
    /// Old documents, as in [`across`](Self::across), which are not paired with each other. If a submission
    /// has old and new documents, these count as two submissions, which are not paired: nobody copies from
    /// himself. Empty: no document is old. Cannot be combined with [`new_since`](Self::new_since).
    #[serde(default)]
    pub old: Vec<String>,
    /// Metadata values, by name. At least one document of each pair must have all these values, for example
    /// the name of one person. A field name in another case matches too, unless the document has a field with
    /// the exact spelling. A submission has the values if one of its documents has them all. Empty: all
    /// pairs.
    #[serde(default, with = "values_by_name")]
    pub metadata: Vec<(String, String)>,
    /// Documents of one group are not paired: the drafts of one author, say, or the files of one submission.
    /// A submission is in the group of its documents. If a pattern gives these documents several groups, that
    /// is an error. If metadata do, the submission is in no group.
    pub group_by: GroupBy,
    /// A folder or a regular expression that forms submissions, as
    /// [`QueryOptions::submission_by`](crate::QueryOptions::submission_by). Pairs are then pairs of
    /// submissions, and a hash counts once for each submission. A pair reaches the thresholds as a whole, or
    /// two of its documents reach them. In the second case, two programs must share 120 / (w + 1) hashes,
    /// more than a frame, and have at least the resemblance
    /// [`few_min_resemblance`](Self::few_min_resemblance).
    pub submission_by: Option<String>,
    /// Maximum number of pairs of documents listed with a pair of submissions; by default 10. Pairs that
    /// reach the thresholds come first, then those that share most.
    #[serde(default = "default_submission_files")]
    pub submission_files: usize,
    /// Gives both documents of a pair the times of their files; by default false. A file that was changed
    /// just before it was read has no time. So the answers of two databases with the same documents can
    /// differ.
    #[serde(default)]
    pub file_times: bool,
    /// Returns only pairs of an older and a newer document. `Since` defines which documents are newer.
    /// Submissions are divided as by [`old`](Self::old).
    /// `None`: all pairs.
    pub new_since: Option<Since>,
    /// The weight of a shared hash.
    pub weight: Weight,
    /// Maximum number of pairs to return, best first. `None`, and 0 in JSON: all.
    #[serde(default, deserialize_with = "limit")]
    pub top: Option<u64>,
    /// An existing folder for temporary files, which hold pairs that exceed the database's memory. `None`:
    /// the folder that holds the database.
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
        old: Vec<String>,
        metadata: Vec<(String, String)>,
        group_by: GroupBy,
        submission_by: Option<String>,
        submission_files: usize,
        file_times: bool,
        new_since: Option<Since>,
        weight: Weight,
        top: Option<u64>,
        temp_dir: Option<PathBuf>,
    }
}

/// The JSON of metadata values: an object with the value by name, or with a list if a name has several.
mod values_by_name {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged, expecting = "expected a string or a list of strings")]
    enum Values {
        One(String),
        Several(Vec<String>),
    }

    pub(super) fn serialize<S: Serializer>(values: &[(String, String)], to: S) -> Result<S::Ok, S::Error> {
        let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, value) in values {
            by_name.entry(name).or_default().push(value.clone());
        }
        to.collect_map(by_name.into_iter().map(|(name, mut values)| match values.pop() {
            Some(value) if values.is_empty() => (name, Values::One(value)),
            last => (name, Values::Several(values.into_iter().chain(last).collect())),
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
        let mut all = Vec::new();
        for (name, values) in BTreeMap::<String, Values>::deserialize(from)? {
            match values {
                Values::One(value) => all.push((name, value)),
                Values::Several(values) => all.extend(values.into_iter().map(|value| (name.clone(), value))),
            }
        }
        Ok(all)
    }
}

impl PairsOptions {
    /// The options for all pairs that share a hash below the df cap.
    pub(super) fn all() -> Self {
        Self {
            min_shared: 1,
            min_resemblance: 0.0,
            few_shared: 0,
            few_min_resemblance: 0.0,
            min_containment: 0.0,
            max_df: Some(Self::MAX_DF),
            across: Vec::new(),
            old: Vec::new(),
            metadata: Vec::new(),
            group_by: GroupBy::default(),
            submission_by: None,
            submission_files: default_submission_files(),
            file_times: false,
            new_since: None,
            weight: Weight::default(),
            top: None,
            temp_dir: None,
        }
    }

    /// Returns the defaults for a database of this profile.
    ///
    /// Unrelated documents share k-grams if k is short: below 25 characters or bytes, or below 6 words. Then
    /// pairs need a resemblance of 0.03, the threshold of the 2001 paper for trigrams of words; otherwise all
    /// pairs are returned.
    ///
    /// Unrelated programs share idioms, and small programs share little more than the frame that their
    /// language requires. So pairs of source code need a resemblance of 0.1, or 0.2 if they share no more
    /// than such a frame. With k below 7, each threshold is 0.1 higher. Fewer than 5 of 1,000 unrelated pairs
    /// reach these thresholds (docs/measurements.md).
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let evident = match profile.unit() {
            Unit::Char | Unit::Byte => profile.k() >= 25,
            Unit::Word => profile.k() >= 6,
            Unit::Token => {
                // A frame has up to 60 k-grams; a share of 2 / (w + 1) of them is selected.
                let few_shared = 120 / (u64::from(profile.w()) + 1);
                let (min_resemblance, few_min_resemblance) = if profile.k() < 7 { (0.2, 0.3) } else { (0.1, 0.2) };
                return Self { min_resemblance, few_shared, few_min_resemblance, ..Self::all() };
            }
        };
        Self { min_resemblance: if evident { 0.0 } else { 0.03 }, ..Self::all() }
    }

    /// The defaults with the caller's thresholds. If the caller gives a threshold, the default thresholds do
    /// not apply.
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

    /// Checks that pairs can be found with these options. Every search begins with this check.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](crate::Error::InvalidParameter) for a threshold below 0, above 1 or not a
    /// number, and for `old` together with `new_since`.
    pub fn check(&self) -> Result<()> {
        if let (Some(prefix), Some(_)) = (self.old.first(), self.new_since) {
            let expected = "not together with new_since";
            return Err(Error::InvalidParameter { name: "old", value: prefix.clone(), expected });
        }
        let thresholds = [
            ("min_resemblance", self.min_resemblance),
            ("few_min_resemblance", self.few_min_resemblance),
            ("min_containment", self.min_containment),
        ];
        thresholds
            .into_iter()
            .try_for_each(|(name, least)| check_share(name, least, least >= 0.0, "a number from 0 to 1"))
    }

    /// The default cap on df. A hash in a thousand documents makes half a million pairs. Such a hash is
    /// typical of a licence or a menu, not of copying.
    pub const MAX_DF: u64 = 1000;
}

fn default_submission_files() -> usize {
    SUBMISSION_FILES
}

/// The way to put documents into groups. A document in no group pairs with all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GroupBy {
    /// By the metadata field `group`.
    #[default]
    Metadata,
    /// By the match of a regular expression in the name: its first group, otherwise the whole match.
    Name(String),
    /// No groups.
    Nothing,
}

/// The point from which on documents are new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Since {
    /// Documents from this id on are new.
    Document(DocId),
    /// Documents ingested at this time or later are new; in seconds since 1970.
    Time(i64),
}
