//! The command line of `fpdb pairs`.

use clap::{Args, ValueEnum};
use fpdb::Weight;

use super::limits::LimitArgs;
use super::passages::JoiningArgs;
use super::query::weight;
use super::report::{ReportArgs, TimesArgs};
use super::values::{parse_count, parse_field, parse_share, parse_since, parse_size};

/// The order of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairSort {
    /// The most alike first
    Score,
    /// The longest shared passage first
    Longest,
}

#[derive(Debug, Args)]
pub(crate) struct PairsArgs {
    /// Print at most N pairs, the best ones; 0 prints all
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_count, hide_default_value = true)]
    pub(crate) top: u64,
    /// The order of the pairs
    ///
    /// `longest` looks for the passages of all pairs, whatever --top is, and shows their lengths in symbols
    /// that count (json: `longest`). It is for --format human, json and csv; the list of a report is sorted
    /// there.
    #[arg(long, value_name = "BY", default_value = "score", value_enum)]
    pub(crate) sort: PairSort,
    /// The least resemblance of a pair (0 to 1)
    ///
    /// --weight applies to it. The default is 0 if another threshold is given. Else it depends on the
    /// profile. For tokens it is 0.1 (0.2 if k is below 7), and 0.1 more for pairs that share few
    /// fingerprints: fewer than 40 if w is 2. Profile code also compares the text as written: there it is
    /// 0.2, and 0.5 for pairs that share fewer than 26. One of both suffices. If k is below 25 characters, 25
    /// bytes or 6 words, it is 0.03. In other cases it is 0. With --rewritten and no R given, pairs below the
    /// default are also listed if they share a passage, unless more than 200,000 pairs share a fingerprint.
    #[arg(long, value_name = "R", value_parser = parse_share)]
    pub(crate) min_resemblance: Option<f64>,
    /// The least containment of either document in the other
    #[arg(long, value_name = "C", value_parser = parse_share)]
    pub(crate) min_containment: Option<f64>,
    /// The least number of shared fingerprints [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) min_shared: Option<u64>,
    /// Ignore fingerprints that more than N documents hold
    ///
    /// The number of ignored fingerprints is printed. 0 ignores none.
    #[arg(long, value_name = "N", default_value_t = fpdb::pairs::PairsOptions::MAX_DF, value_parser = parse_count)]
    pub(crate) max_df: u64,
    /// Only pairs of documents under different prefixes
    ///
    /// PREFIX is the name of a stored folder or archive, or any beginning of names. If there is a folder
    /// ex1, ex1 does not mean ex10. The longest prefix that fits a name counts. With one prefix: only pairs
    /// of a document under it and one that is not.
    #[arg(long, value_name = "PREFIX", num_args = 1..)]
    pub(crate) across: Vec<String>,
    /// Only pairs with a document that is not under these prefixes, such as last year's submissions
    ///
    /// Documents under the prefixes (folders, archives or beginnings of names, as in --across) are old. They
    /// are compared with the others, and not with each other. All others are compared with each other too.
    /// With --submission-by, old and new documents are never one submission: of a student who repeats the
    /// course, last year's work is one, and the new work another. The two are not paired.
    #[arg(long, value_name = "PREFIX", num_args = 1.., conflicts_with = "new_since")]
    pub(crate) old: Vec<String>,
    /// Only pairs with a document that has this value in its metadata
    ///
    /// The other document may have any metadata: --where from=bob@example.org finds all that shares text with
    /// the mails of Bob, his own ones included. The keys are those that `fpdb show NAME` prints, and
    /// KEY~=TEXT, 'KEY>=VALUE' and 'KEY<=VALUE' are as for `fpdb rm --where`. Repeated, the same document
    /// must have all values. A submission has them if one of its documents does.
    #[arg(long = "where", id = "fields", value_name = "KEY=VALUE", value_parser = parse_field)]
    pub(crate) fields: Vec<(String, String)>,
    /// Only pairs of an old document and a new one
    ///
    /// New documents have this number or a higher one, or were ingested at this time or later, such as
    /// 2026-11-21, 2026-11-21T08:30 or 2026-11-21T08:30:00+01:00 (UTC unless an offset is given).
    #[arg(long, value_name = "ID|TIME", value_parser = parse_since)]
    pub(crate) new_since: Option<fpdb::pairs::Since>,
    /// Never pair documents of one group, found in their names
    ///
    /// The group is the text that this regular expression matches, or its first group if it has one:
    /// '^([^/]*)/' groups by the first folder. Without this flag it is the value of the documents' metadata
    /// `group`.
    #[arg(long, value_name = "REGEX")]
    pub(crate) group_by: Option<String>,
    /// Also pair documents of one group
    #[arg(long, conflicts_with = "group_by")]
    pub(crate) no_groups: bool,
    /// Count the documents of one submission as one
    ///
    /// Two submissions are a pair if they reach the thresholds, or if two of their files do (see
    /// docs/code.md). These files are listed first, then those that share most.
    ///
    /// DIR: each folder or archive directly in it is a submission (`.`: the first folder of the names;
    /// 'class/*': each one in any folder of class; 2025,2026: each one in both; all.zip: each one in this
    /// archive). REGEX: documents whose names give the same match (of its first group, if it has one) are one
    /// submission. All other documents stand for themselves.
    #[arg(long, value_name = "DIR|REGEX")]
    pub(crate) submission_by: Option<String>,
    /// List at most N pairs of files of two submissions
    #[arg(long, value_name = "N", default_value_t = 10, requires = "submission_by")]
    pub(crate) submission_files: usize,
    /// How much a shared fingerprint counts
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = weight())]
    pub(crate) weight: Weight,
    /// Memory to use for counting, such as 512M or 4GiB [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// Folder for temporary files [default: beside the database]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<std::path::PathBuf>,
    /// Find the passages of each pair, for json and csv
    ///
    /// Reports (--format html) always have them.
    #[arg(long)]
    pub(crate) passages: bool,
    #[command(flatten)]
    pub(crate) times: TimesArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) joining: JoiningArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}
