//! The command line of `fpdb dedup`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use fpdb::Profile;
use fpdb::dedup::{DedupBy, DedupOptions, Keep};

use super::limits::LimitArgs;
use super::report::ReportArgs;
use super::values::{names, parse_count, parse_positive, parse_share, parse_size};

/// The thresholds of `--thresholds` without a value.
const THRESHOLDS: [&str; 6] = ["0.7", "0.75", "0.8", "0.85", "0.9", "0.95"];

/// The condition for removing a document because of another.
#[derive(Clone, Debug, Args)]
pub(crate) struct RuleArgs {
    /// The rule [default: exact]
    ///
    /// Which documents are removable. By every rule, identical ones are.
    #[arg(long, value_name = "BY", value_parser = by())]
    pub(crate) by: Option<DedupBy>,
    /// The least resemblance or containment (0 to 1)
    ///
    /// Above 0; containment is that in the survivor. With --by resemblance or containment. The default is
    /// 0.8. For containment in text it is 0.85 where k is below 40 characters, 40 bytes or 7 words, and 0.9
    /// where k is below 20 characters, 20 bytes or 4 words: one changed character takes k k-grams with it.
    #[arg(long, value_name = "X", value_parser = parse_share)]
    pub(crate) threshold: Option<f64>,
    /// The longest stretch that may be lost with a document, in symbols
    ///
    /// A document stays if the survivor holds no fingerprint of a stretch longer than this. A stretch without
    /// any fingerprint, at the end of a text, does not count. `none` allows any length. The default is 1200
    /// characters or bytes, 200 words, or 400 tokens.
    #[arg(long, value_name = "SYMBOLS", value_parser = parse_novel)]
    pub(crate) max_novel: Option<MaxNovel>,
}

impl RuleArgs {
    /// The options that the flags set, for a database of this profile.
    pub(crate) fn options(&self, profile: &Profile) -> anyhow::Result<DedupOptions> {
        let mut options = DedupOptions::of(profile, self.by.unwrap_or_default());
        let threshold = self.threshold.map(|_| "--threshold");
        let bound = threshold.or(self.max_novel.map(|_| "--max-novel"));
        if let (DedupBy::Exact | DedupBy::ExactText, Some(flag)) = (options.by, bound) {
            anyhow::bail!(
                "{flag} is for --by resemblance and --by containment; by the other rules a document is removable only if it is \
                 the same"
            );
        }
        options.threshold = self.threshold.unwrap_or(options.threshold);
        options.max_novel = self.max_novel.map_or(options.max_novel, |typed| typed.0);
        Ok(options)
    }
}

#[derive(Debug, Args)]
pub(crate) struct DedupArgs {
    #[command(flatten)]
    pub(crate) rule: RuleArgs,
    /// Which of several alike is kept
    #[arg(long, value_name = "WHICH", default_value = "longest", value_parser = keep())]
    pub(crate) keep: Keep,
    /// Keep documents whose names match this regular expression rather than others
    ///
    /// May be repeated; the first pattern counts most.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) prefer: Vec<String>,
    /// Never remove documents whose names begin with this
    ///
    /// Also those whose files have an absolute path that begins with it. May be repeated.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) protect: Vec<String>,
    /// Ignore fingerprints that more than N documents hold
    ///
    /// Documents of the same bytes and format count once. The number of ignored fingerprints is printed. 0
    /// ignores none.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_count)]
    pub(crate) max_df: u64,
    /// Read at most N postings for one document
    ///
    /// A document that needs more stays and is listed as undecided. Without this flag there is no limit.
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) budget: Option<u64>,
    /// List repeated passages instead of removable documents
    ///
    /// Lists each span of a document that occurs in an earlier document, or earlier in its own, in runs of at
    /// least --min-length symbols. The first occurrence is not listed. Texts are read again where they are
    /// not stored, and compared symbol by symbol.
    #[arg(
        long,
        conflicts_with_all = ["by", "threshold", "max_novel", "keep", "prefer", "protect", "max_df", "budget", "append", "rerank", "dry_run", "warn_source", "write"]
    )]
    pub(crate) passages: bool,
    /// The fewest symbols of a repeated passage [default: 200 characters or bytes, 50 words or tokens]
    #[arg(long, value_name = "SYMBOLS", requires = "passages")]
    pub(crate) min_length: Option<u32>,
    /// Decide only about documents added since the last run
    ///
    /// Earlier decisions stand. fpdb keeps the decisions in the database's folder. It decides again about
    /// documents whose survivor is no longer stored, and lists survivors that a newer document could replace.
    #[arg(long, conflicts_with = "rerank")]
    pub(crate) append: bool,
    /// Decide about all documents, and replace the earlier decisions
    #[arg(long)]
    pub(crate) rerank: bool,
    /// Print the cost of the run, and end
    #[arg(long, conflicts_with = "write")]
    pub(crate) dry_run: bool,
    /// Print what each of these thresholds would remove, and end
    ///
    /// Takes numbers separated by commas, or steps from 0.7 to 0.95 without a value. With --by resemblance or
    /// containment. Each row has the numbers of a run with that --threshold. It takes as long as these runs
    /// together, since other survivors stay at each threshold.
    #[arg(
        long, value_name = "X,Y,...", value_parser = parse_share, value_delimiter = ',', num_args = 0..=1,
        default_missing_values = THRESHOLDS,
        conflicts_with_all = ["threshold", "append", "rerank", "dry_run", "write", "passages"]
    )]
    pub(crate) thresholds: Vec<f64>,
    /// Warn of archives and folders that would lose more than this share of their documents
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = parse_share)]
    pub(crate) warn_source: f64,
    /// Then copy the archive to this folder without the removable documents, as `fpdb apply REPORT --write
    /// DIR --yes` does
    ///
    /// The report goes to a file: --format json -o REPORT.
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
    /// Also remove from that copy what is no longer stored
    ///
    /// Removes the copies that earlier runs made of files that are not in the database any more, as `fpdb
    /// apply --prune` does.
    #[arg(long, requires = "write")]
    pub(crate) prune: bool,
    /// Memory to use, such as 512M or 4GiB [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// Folder for data beyond the memory, and for the state of an interrupted job
    ///
    /// The default is the folder that holds the database.
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// A bound on unmatched stretches. `None`: no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaxNovel(pub(crate) Option<u64>);

fn parse_novel(text: &str) -> Result<MaxNovel, String> {
    match text {
        "none" => Ok(MaxNovel(None)),
        _ => text.parse().map(|most| MaxNovel(Some(most))).map_err(|_| "expected a number of symbols, or none".into()),
    }
}

/// The rule that makes a document removable.
fn by() -> impl TypedValueParser<Value = DedupBy> {
    names([
        ("exact", "A survivor has the same bytes"),
        (
            "exact-text",
            "A survivor has the same letters and digits in the same order; case, spacing, punctuation, operators and markup do not count, with --profile words no digits, and with --profile code no names; of mails, sender, recipients and date do not count, the subject does",
        ),
        ("resemblance", "A survivor resembles it"),
        ("containment", "A survivor contains it"),
    ])
}

/// The rule that decides which of several similar documents stays.
fn keep() -> impl TypedValueParser<Value = Keep> {
    names([
        ("longest", "The one with the most distinct fingerprints, of identical ones the first"),
        ("first", "The one ingested first"),
        ("newest", "The one written last"),
        ("oldest", "The one written first"),
    ])
}
