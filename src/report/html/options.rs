//! Options: the answers that become a report, and how it is written.

use std::path::Path;

use crate::archive::dedup::DedupAnswer;
use crate::archive::pairs::PairsAnswer;
use crate::database::Database;
use crate::query::{QueryAnswer, QuerySource};
use crate::report::PairEvidence;
use fpdb_host::failure::Failure;
use fpdb_host::setters::setters;
use fpdb_reading::input::ReadOptions;

/// The answers that a report shows.
#[derive(Debug)]
#[non_exhaustive]
pub enum HtmlAnswers<'a> {
    /// Answers of [`Database::query_each`], each with its query.
    Queries {
        /// The database that was queried.
        database: &'a Database,
        /// The queries and their answers. A page shows all passages of an answer, so request at most
        /// [`HtmlOptions::MAX_PASSAGES`].
        answers: Vec<(QuerySource, QueryAnswer)>,
    },
    /// The answer of [`Database::pairs`]. The passages of the listed pairs are found for the report.
    Pairs {
        /// The database whose documents were compared.
        database: &'a Database,
        /// The pairs.
        answer: PairsAnswer,
    },
    /// The answer of [`Database::dedup`]: each removable document beside its survivor. The text that a
    /// removal would lose is marked.
    Dedup {
        /// The database whose documents were compared.
        database: &'a Database,
        /// The removable documents.
        answer: DedupAnswer,
    },
    /// The answer of [`diff`](crate::diff).
    Diff {
        /// The first file.
        a: &'a Path,
        /// The second file.
        b: &'a Path,
        /// The answer.
        answer: QueryAnswer,
    },
}

/// Options of a report: its contents, and how it is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HtmlOptions {
    /// The name of the database in the report. `None`, the default: its path.
    pub database: Option<String>,
    /// Settings listed in the report, each a name and a value; none by default. They are shown even in an
    /// anonymous report, so leave out settings that name documents or places.
    pub settings: Vec<(String, String)>,
    /// Documents that could not be read; none by default.
    pub failures: Vec<Failure>,
    /// True if rare hashes weigh more in the scores; by default false.
    pub weighted: bool,
    /// True if stored documents show the times of their files, unless the report is anonymous; by default
    /// false.
    pub file_times: bool,
    /// True if the list begins with the match whose stored document has the oldest date, not with the best
    /// match; by default false.
    pub oldest_first: bool,
    /// The options with which passages were or will be found; by default those of [`PairEvidence`]. `None`
    /// for queries answered without passages.
    pub evidence: Option<PairEvidence>,
    /// The options with which the files of the queries or the comparison were read; by default those of
    /// [`ReadOptions`]. Their limits hold for stored documents too.
    pub read: ReadOptions,
    /// Maximum number of pairs to list, best first; by default 1,000.
    pub max_pairs: usize,
    /// Maximum bytes of compressed texts and passages to embed, best pairs first; by default 64 MiB.
    pub max_bytes: u64,
    /// True if names are replaced and paths left out; by default false.
    pub anonymise: bool,
    /// True if texts are embedded; by default true.
    pub texts: bool,
    /// True for one file, false for a folder; by default false.
    pub single_file: bool,
}

impl HtmlOptions {
    /// A good limit for the passages of one pair: more than a reader looks at, and few enough for a browser.
    /// Pass it to [`PassageOptions::most`](crate::PassageOptions::most), which keeps informative and long
    /// passages.
    pub const MAX_PASSAGES: usize = 1000;

    setters! {
        database: Option<String>,
        settings: Vec<(String, String)>,
        failures: Vec<Failure>,
        weighted: bool,
        file_times: bool,
        oldest_first: bool,
        evidence: Option<PairEvidence>,
        read: ReadOptions,
        max_pairs: usize,
        max_bytes: u64,
        anonymise: bool,
        texts: bool,
        single_file: bool,
    }
}

impl Default for HtmlOptions {
    fn default() -> Self {
        Self {
            database: None,
            settings: Vec::new(),
            failures: Vec::new(),
            weighted: false,
            file_times: false,
            oldest_first: false,
            evidence: Some(PairEvidence::default()),
            read: ReadOptions::default(),
            max_pairs: 1000,
            max_bytes: 64 << 20,
            anonymise: false,
            texts: true,
            single_file: false,
        }
    }
}
