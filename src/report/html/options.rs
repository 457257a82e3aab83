//! Options: the answers that become a report, and how it is to be.

use std::path::Path;

use crate::archive::dedup::DedupAnswer;
use crate::archive::pairs::PairsAnswer;
use crate::database::Database;
use fpdb_host::failure::Failure;
use crate::query::{QueryAnswer, QuerySource};
use crate::report::PairEvidence;
use fpdb_host::setters::setters;
use fpdb_reading::input::ReadOptions;

/// The answers that a report shows.
#[derive(Debug)]
#[non_exhaustive]
pub enum HtmlAnswers<'a> {
    /// Answers of [`Database::query_each`], each with what was queried with.
    Queries {
        /// The database that was queried.
        database: &'a Database,
        /// A page shows all passages that an answer has: ask for [`HtmlOptions::MAX_PASSAGES`] at most.
        answers: Vec<(QuerySource, QueryAnswer)>,
    },
    /// The answer of [`Database::pairs`]. The passages of the pairs that are listed are looked for.
    Pairs {
        /// The database whose documents were compared.
        database: &'a Database,
        /// The pairs.
        answer: PairsAnswer,
    },
    /// The answer of [`Database::dedup`]: each removable document beside its survivor, with what would be lost marked.
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
    /// The name of the database in the report; its path where `None`, the default.
    pub database: Option<String>,
    /// Settings to be listed in the report: each with its name and its value. The report shows them as they are even if it is
    /// anonymous: leave those out that name documents or places.
    /// There are none by default.
    pub settings: Vec<(String, String)>,
    /// Documents that could not be read; none by default.
    pub failures: Vec<Failure>,
    /// True if rare hashes count more in the scores. The default is `false`.
    pub weighted: bool,
    /// How passages were found, or are to be; `None` for queries that were answered without them. The default is that of
    /// [`PairEvidence`].
    pub evidence: Option<PairEvidence>,
    /// How the files were read that were queried with or compared. The limits hold for stored documents too.
    /// The default is that of [`ReadOptions`].
    pub read: ReadOptions,
    /// Pairs to list at most, the best. The default is 1,000.
    pub max_pairs: usize,
    /// Bytes of texts and passages to embed at most, as they are packed; those of the best pairs come first. The default is
    /// 64 MiB.
    pub max_bytes: u64,
    /// True if names are replaced and paths left out. The default is `false`.
    pub anonymise: bool,
    /// True if texts are embedded at all, the default.
    pub texts: bool,
    /// One file instead of a folder. The default is `false`.
    pub single_file: bool,
}

impl HtmlOptions {
    /// Passages of one pair, those that tell something new, the longest: more than a reader looks at, and few enough for a
    /// browser. Ask for them with [`PassageOptions::most`](crate::PassageOptions::most).
    pub const MAX_PASSAGES: usize = 1000;

    setters! {
        database: Option<String>,
        settings: Vec<(String, String)>,
        failures: Vec<Failure>,
        weighted: bool,
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
