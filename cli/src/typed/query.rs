//! The command line of `fpdb query`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{ArgAction, ArgGroup, ArgMatches, Args, ValueEnum, ValueHint};
use fpdb::{DocId, Mode, QuerySource, Weight};

use super::passages::{ExcerptArgs, JoiningArgs};
use super::reading::{InputArgs, QueryReadArgs, RecordFieldArgs};
use super::report::{ReportArgs, TimesArgs};
use super::values::{names, parse_count, parse_field, parse_positive, parse_share};

/// The order of matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum QuerySort {
    /// The best first
    Score,
    /// The oldest document first
    Oldest,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("queries").args(["files", "document", "ids"]).required(true).multiple(true)))]
pub(crate) struct QueryArgs {
    /// Files to query with; `-` is standard input
    ///
    /// Each file in a folder and each member of a container (a line of JSON, a record of a WARC, a row of
    /// Parquet) is a query of its own, unless --submission-by makes several of them one. Nothing of them is
    /// stored.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Query with a stored document; may be repeated
    ///
    /// If several versions have this name, the one that was added last is used. With --submission-by,
    /// NAME may be a submission, if no document has this name: all its documents are one query. Not with
    /// --by-corpus or --rewritten. Answers come in the order in which queries are given.
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    pub(crate) document: Vec<String>,
    /// Query with the stored document of this number
    ///
    /// Numbers tell versions of one name apart; `fpdb show NAME` prints them. May be repeated.
    #[arg(long = "id", value_name = "N", action = ArgAction::Append)]
    pub(crate) ids: Vec<u32>,
    /// All of them, in the order they were given.
    #[arg(skip)]
    pub(crate) sources: Vec<QuerySource>,
    /// Rank matches by containment or resemblance
    ///
    /// Containment uses every fingerprint of the query: use it to find where passages come from. Resemblance
    /// uses a sample, and estimates how alike two whole documents are.
    #[arg(long, value_name = "MODE", default_value = "containment", value_parser = mode())]
    #[arg(hide_possible_values = true)]
    pub(crate) mode: Mode,
    /// Print at most N matches, 0 for all
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = parse_count)]
    pub(crate) top: u64,
    /// Print only matches with at least this score (0 to 1)
    ///
    /// Documents of the very same bytes are printed whatever their score.
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_share, hide_default_value = true)]
    pub(crate) min_score: f64,
    /// The order of the matches that --top leaves
    ///
    /// `oldest` begins with the oldest document that has a readable date in its metadata (`date`: of a mail
    /// with --keep-fields date, of a record of a WARC, of a table). Documents without one come after all of
    /// these, by the time of their file (see --file-times), which may be that of a copy or of a whole
    /// mailbox. Documents without a known time come last. The page for people shows this time and which of
    /// both it is, `(date)` or `(file)`; a note counts the documents without a readable date.
    #[arg(long, value_name = "BY", default_value = "score", value_enum)]
    pub(crate) sort: QuerySort,
    /// Compare only with documents that have this value in their metadata
    ///
    /// The keys are those that `fpdb show NAME` prints, as for `fpdb rm --where`. KEY~=TEXT takes values that
    /// contain TEXT, 'KEY>=VALUE' and 'KEY<=VALUE' those from or up to VALUE. Repeated, all values must be
    /// there. The answer tells how many documents share text and are left out. Fingerprints that only they
    /// hold count as not found.
    #[arg(long = "where", id = "fields", value_name = "KEY=VALUE", value_parser = parse_field)]
    pub(crate) fields: Vec<(String, String)>,
    /// Ignore fingerprints that more than N documents hold
    ///
    /// They count in no score, and the answer tells how many they are. Passages that other fingerprints lead
    /// to still show the same text. 0 ignores none.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) max_df: Option<u64>,
    /// Rank the documents of one submission as one
    ///
    /// The files that share most are listed below it, with their passages. DIR: each folder or archive
    /// directly in it is a submission (`.`: the first folder of the names; 'class/*': each one in any folder
    /// of class; 2025,2026: each one in both). REGEX: documents whose names give the same match (of its first
    /// group, if it has one) are one submission. All other documents stand for themselves. A stored document
    /// does not match its own submission. Reads all postings first. Files in a folder or container of queries
    /// form submissions in the same way: those of one are one query, except with --by-corpus and --rewritten.
    #[arg(long, value_name = "DIR|REGEX")]
    pub(crate) submission_by: Option<String>,
    /// List at most N files of a submission, those that share most
    #[arg(long, value_name = "N", default_value_t = 10, requires = "submission_by")]
    pub(crate) submission_files: usize,
    /// Print one row a query: its share in the whole archive
    ///
    /// The share of the query that the stored documents hold together, and where. All matches count, whatever
    /// --top is. --min-score leaves out rows with a smaller share, except those of queries that are stored
    /// with the very same bytes.
    #[arg(long, conflicts_with = "file_times")]
    pub(crate) by_corpus: bool,
    /// Do not look for passages: faster
    #[arg(long)]
    pub(crate) no_passages: bool,
    /// Exit with status 1 if nothing was found
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,
    /// Winnow the query with this window, the database's w or larger
    ///
    /// A larger window looks up fewer fingerprints and finds only longer runs.
    #[arg(long, value_name = "W")]
    pub(crate) window: Option<u32>,
    /// Look up only the N smallest hashes [default: all in containment mode, 128 in resemblance mode]
    #[arg(short, value_name = "N", value_parser = parse_positive)]
    pub(crate) n: Option<u64>,
    /// How much a shared fingerprint counts in the score that ranks the matches
    ///
    /// An estimated score has no interval with idf: intervals assume that all fingerprints count the same.
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = weight())]
    pub(crate) weight: Weight,
    #[command(flatten)]
    pub(crate) times: TimesArgs,
    #[command(flatten)]
    pub(crate) read: QueryReadArgs,
    #[command(flatten)]
    pub(crate) records: RecordFieldArgs,
    #[command(flatten)]
    pub(crate) excerpt: ExcerptArgs,
    #[command(flatten)]
    pub(crate) joining: JoiningArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

impl QueryArgs {
    /// True if matches show the times of their files.
    pub(crate) fn shows_times(&self) -> bool {
        self.times.file_times || self.sort == QuerySort::Oldest
    }

    /// Puts the queries into the order in which they were typed. Only `matches` has that order.
    pub(crate) fn note_order(&mut self, matches: &ArgMatches) {
        let at = |name: &str| matches.indices_of(name).into_iter().flatten();
        let source = |path: &PathBuf| match path.as_os_str() == "-" {
            true => QuerySource::StandardInput { name: self.input.name.clone() },
            false => QuerySource::File(path.clone()),
        };
        let files = at("files").zip(self.files.iter().map(source));
        let stored = at("document").zip(self.document.iter().cloned().map(QuerySource::Stored));
        let numbers = at("ids").zip(self.ids.iter().map(|&id| QuerySource::Number(DocId(id))));
        let mut sources: Vec<(usize, QuerySource)> = files.chain(stored).chain(numbers).collect();
        sources.sort_by_key(|&(at, _)| at);
        self.sources = sources.into_iter().map(|(_, source)| source).collect();
    }
}

/// The measure that ranks the matches.
fn mode() -> impl TypedValueParser<Value = Mode> {
    names([
        ("containment", "The share of the query that a document holds"),
        ("resemblance", "How much the two sets of k-grams overlap, estimated from a sample"),
    ])
}

/// The weight of a shared fingerprint.
pub(super) fn weight() -> impl TypedValueParser<Value = Weight> {
    names([
        ("none", "All fingerprints count the same"),
        ("idf", "The fewer documents hold it, the more it counts: ln(1 + N / df)"),
    ])
}
