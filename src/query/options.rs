//! Options: the options of a query, and of the passages that it finds.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::phrases::Phrases;
use super::weight::Weight;
use crate::archive::submissions::SUBMISSION_FILES;
use fpdb_host::error::{Error, Result};
use fpdb_host::json_options::limit;
use fpdb_host::names::names;
use fpdb_host::setters::{check_share, setters};
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;
use fpdb_reading::input::ReadOptions;

use serde::{Deserialize, Serialize};

/// The hashes of the query to look up, and the measure that ranks the matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema), schemars(rename_all = "lowercase"))]
pub enum Mode {
    /// All hashes: which share of the query does a document hold?
    #[default]
    Containment,
    /// The n smallest hashes: how much do the two sets of k-grams overlap?
    Resemblance,
}

names!(Mode, "mode", "containment or resemblance", { Containment => "containment", Resemblance => "resemblance" });

/// Number of hashes that [`Mode::Resemblance`] looks up by default: an error of at most 9% (1 / sqrt(128)).
const RESEMBLANCE_HASHES: u64 = 128;

/// Options of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct QueryOptions {
    /// The measure that ranks the matches; by default containment.
    pub mode: Mode,
    /// The query's window w', in k-gram hashes; at least the database's. `None`, the default: the database's
    /// window.
    pub window: Option<u32>,
    /// Number of hashes to look up, smallest first. `None`, the default: 128 with [`Mode::Resemblance`], else
    /// all.
    pub n: Option<u64>,
    /// Maximum number of matches to return, best first; by default 10. `None`, and 0 in JSON: all.
    #[serde(deserialize_with = "limit")]
    pub top: Option<usize>,
    /// The minimum score of a match, from 0 to 1; by default 0. Documents of the same bytes match at any
    /// score.
    pub min_score: f64,
    /// A hash that more than this number of documents hold is common and does not count as shared. A stored
    /// document used as the query counts as a holder. `None`, the default, and 0 in JSON: none is common.
    #[serde(deserialize_with = "limit")]
    pub max_df: Option<u64>,
    /// If true, the passages of the matches are found; by default true.
    pub passages: bool,
    /// The documents to compare with, in any order. `None`, the default: all. Common hashes are always
    /// counted over all documents.
    pub only: Option<Vec<DocId>>,
    /// Compares only with documents whose metadata have all of these values, by name, as
    /// [`Database::select`](crate::Database::select) finds them. By default empty: with all documents.
    /// Common hashes are always counted over all documents. Costs a pass over the records of all documents
    /// in each call.
    pub metadata: BTreeMap<String, String>,
    /// A folder, or a regular expression for names. Each folder and archive directly in the folder is a
    /// submission ([`submission_pattern`](crate::submission_pattern) has the rules). Documents in whose names
    /// the expression matches the same text form one submission. If the expression has a group, only the text
    /// of the first group counts. A hash counts once for each submission. Counting the sizes of submissions
    /// costs a pass over all documents and postings, again after each commit.
    pub submission_by: Option<String>,
    /// Maximum number of documents listed with a submission, those that share most; by default 10.
    pub submission_files: usize,
    /// Makes the documents of a submission one query; by default false. With `submission_by`,
    /// [`Database::query_below`](crate::Database::query_below) joins the documents below a path into
    /// submissions by their names, as stored documents are joined. The call holds the documents of all these
    /// submissions in memory. [`QuerySource::Stored`](crate::QuerySource::Stored) may then be the name of a
    /// stored submission. This option has no effect with `rewritten`, which ranks by the passages of one
    /// document.
    pub join_submissions: bool,
    /// Gives a match the time of its file; by default false. A file that was changed just before it was read
    /// has no time. So the answers of two databases with the same documents can differ.
    pub file_times: bool,
    /// The options for reading the query documents.
    pub read: ReadOptions,
    /// Phrases of the query that count in no match; by default none. Not part of the JSON.
    #[serde(skip)]
    pub phrases: Option<Phrases>,
    /// The options for joining shared runs to passages.
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
        metadata: BTreeMap<String, String>,
        submission_by: Option<String>,
        submission_files: usize,
        join_submissions: bool,
        file_times: bool,
        read: ReadOptions,
        phrases: Option<Phrases>,
        joining: PassageOptions,
        weight: Weight,
    }
}

impl QueryOptions {
    /// Number of hashes to look up: `n`, or the default of the mode. `None`: all.
    #[doc(hidden)]
    #[must_use]
    pub fn most_hashes(&self) -> Option<u64> {
        self.n.or((self.mode == Mode::Resemblance).then_some(RESEMBLANCE_HASHES))
    }

    /// Checks these options for queries of a database of this profile. Returns them with `only` in ascending
    /// order.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an n of 0, and for a `min_score` below 0, above 1 or not a number;
    /// [`Error::NotWords`] for rewritten text in a unit other than words; [`Error::WindowTooSmall`].
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
            metadata: BTreeMap::new(),
            submission_by: None,
            submission_files: SUBMISSION_FILES,
            join_submissions: false,
            file_times: false,
            read: ReadOptions::default(),
            phrases: None,
            joining: PassageOptions::default(),
            weight: Weight::default(),
        }
    }
}

/// Options for joining matches to passages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PassageOptions {
    /// Matches with at most this number of symbols between them, in either document, form one passage.
    /// `None`, the default: the guarantee t; with `mod:P`, k + p.
    pub gap: Option<u32>,
    /// Finds rewritten text, for documents read as words: similar sentences in other words or another order,
    /// and summaries. Shared runs are found too. Neighbouring places are joined as long as both texts, as a
    /// whole, use similar words. `gap` has no effect. A passage has about 20 words or more in common, and
    /// rare words count more. A shared run of 20 words is in a passage, in at least one of the two texts. A
    /// query compares the documents whose shared k-grams lie nearest each other, until 128 documents in a row
    /// have no passage. Only documents with a passage match, ordered by coverage. This option has no effect
    /// on a query without passages.
    pub rewritten: bool,
    /// The minimum number of agreeing symbols in a passage. With `rewritten`, symbols agree in any order.
    /// Symbols of ignored quotations and phrases do not count here. In source code, a passage must also add
    /// this number of symbols to longer passages. In source code, 0 means 20, unless all passages are
    /// shorter.
    pub least: u64,
    /// Maximum number of passages of a document to return. If there are very many passages, uninformative
    /// passages are left out first, then the shortest. `None`: all.
    pub most: Option<usize>,
}

impl PassageOptions {
    setters! { gap: Option<u32>, rewritten: bool, least: u64, most: Option<usize> }
}
