//! Options: what a query looks for, and which measures it takes.

use std::borrow::Cow;

use super::phrases::Phrases;
use super::weight::Weight;
use fpdb_host::error::{Error, Result};
use fpdb_host::names::names;
use fpdb_host::setters::{check_share, setters};
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;
use fpdb_reading::input::ReadOptions;

use serde::{Deserialize, Serialize};

/// Which of the query's hashes are looked up, and which measure ranks the matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// All hashes: which share of the query does a document hold?
    #[default]
    Containment,
    /// The n smallest hashes: how much do the two sets of k-grams overlap?
    Resemblance,
}

names!(Mode, "mode", "containment or resemblance", { Containment => "containment", Resemblance => "resemblance" });

/// How to query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueryOptions {
    /// Which measure ranks the matches; by default containment.
    pub mode: Mode,
    /// The window w' of the query; the database's own where `None`, the default.
    pub window: Option<u32>,
    /// The number of hashes to look up, smallest first; all where `None`, the default.
    pub n: Option<u64>,
    /// The most matches to return, the best; all where `None`. By default 10.
    pub top: Option<usize>,
    /// The least score of a match, from 0 to 1; by default 0. Documents of the very same bytes are matches whatever their score.
    pub min_score: f64,
    /// A hash that more documents hold is common: it does not count as shared. A stored document that is queried with counts
    /// as one of the holders. None is common where `None`, the default.
    pub max_df: Option<u64>,
    /// True, the default, if to find the passages of the matches.
    pub passages: bool,
    /// The documents to compare with, in any order; all where `None`, the default. Common hashes are counted over all documents in
    /// any case.
    pub only: Option<Vec<DocId>>,
    /// Documents whose names give the same match of this regular expression are one submission: the same text of its first
    /// group, or of the whole match if it has no group. A hash that several documents of one hold counts once. Their sizes together cost a pass over all documents and postings.
    pub submission_by: Option<String>,
    /// How the query documents are read.
    pub read: ReadOptions,
    /// Phrases of the queries that count in no match; by default none.
    pub phrases: Option<Phrases>,
    /// How shared runs become passages.
    pub joining: PassageOptions,
    /// The weight of a shared hash in the score; by default all weigh the same.
    pub weight: Weight,
}

impl QueryOptions {
    setters! {
        mode: Mode,
        window: Option<u32>,
        n: Option<u64>,
        top: Option<usize>,
        min_score: f64,
        max_df: Option<u64>,
        passages: bool,
        only: Option<Vec<DocId>>,
        submission_by: Option<String>,
        read: ReadOptions,
        phrases: Option<Phrases>,
        joining: PassageOptions,
        weight: Weight,
    }
}

impl QueryOptions {
    /// These options for queries of a database of this profile, with the documents to compare with in ascending order.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an n of 0, and for a least score below 0, above 1 or that is no number; [`Error::NotWords`] for
    /// rewritten text in another unit than words; [`Error::WindowTooSmall`].
    pub(crate) fn checked(&self, profile: &Profile) -> Result<Cow<'_, Self>> {
        profile.with_window(self.window.unwrap_or(profile.w()))?;
        self.joining.check(profile)?;
        check_share("min_score", self.min_score, self.min_score >= 0.0, "a number from 0 to 1")?;
        if self.n == Some(0) {
            let expected = "a number of hashes, 1 or more";
            return Err(Error::InvalidParameter { name: "n", value: "0".into(), expected });
        }
        match &self.only {
            Some(only) if !only.is_sorted() => {
                let mut only = only.clone();
                only.sort_unstable();
                Ok(Cow::Owned(self.clone().only(Some(only))))
            }
            _ => Ok(Cow::Borrowed(self)),
        }
    }
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            mode: Mode::Containment,
            window: None,
            n: None,
            top: Some(10),
            min_score: 0.0,
            max_df: None,
            passages: true,
            only: None,
            submission_by: None,
            read: ReadOptions::default(),
            phrases: None,
            joining: PassageOptions::default(),
            weight: Weight::default(),
        }
    }
}

/// How matches become passages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassageOptions {
    /// Matches with at most so many symbols between them, in either document, are one passage; where `None`, as many
    /// as a shared run that is surely found has: t, or k + p with `mod:P`. The default.
    pub gap: Option<u32>,
    /// Matches near each other are one passage in any order: for text whose sentences were moved.
    pub any_order: bool,
    /// Find rewritten text: similar sentences in other words and another order, and summaries, beside shared runs, joined as far as
    /// both sides say the same. For documents read as words, where `gap` and `any_order` make no difference. A passage has at
    /// least some 20 words in common, rare ones counting more; a shared run of 20 words is in one, on one side at least.
    pub rewritten: bool,
    /// Passages with fewer symbols that agree, in any order if `any_order` or `rewritten`, are left out. Symbols of the query that are not to
    /// count, in quotations or phrases, make no passage longer. In source code passages that add fewer symbols than that to
    /// longer ones are left out as well, and 0 means 20, unless all passages are shorter.
    pub least: u64,
    /// Return this many passages of a document at most, for a reader: of very many those that tell something new, and of
    /// them the longest. All where `None`.
    pub most: Option<usize>,
}

impl PassageOptions {
    setters! { gap: Option<u32>, any_order: bool, rewritten: bool, least: u64, most: Option<usize> }
}
