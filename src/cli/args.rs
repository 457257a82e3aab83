//! What can be typed. `--help`, the manual page and the completions come from here. It is long because every flag of every
//! command stands here with its help, and nothing else.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use fpdb::{ReadOptions, RecordFields, Selection, Unit, WordRule};

use super::reading::{LimitArgs, ReadArgs};

/// A persistent fingerprint database: which stored documents share text with this one, how much, and
/// exactly where?
#[derive(Debug, Parser)]
#[command(name = "fpdb", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "The database is --db, else $FPDB_DB, else the nearest .fpdb/ in this folder or above it.\n\
    Exit status: 0 done, 1 nothing found (with -e), 2 an error or an unreadable document, 130 interrupted.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The database's folder
    #[arg(long, value_name = "PATH", env = "FPDB_DB", global = true)]
    pub(crate) db: Option<PathBuf>,
    /// Write results to a file instead of standard output
    #[arg(short, long, value_name = "PATH", global = true)]
    pub(crate) output: Option<PathBuf>,
    /// How results are written; formats a command does not have are an error
    #[arg(long, value_enum, default_value_t = Format::Human, global = true)]
    pub(crate) format: Format,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", global = true)]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: each document and what became of it
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to use colour; NO_COLOR is honoured
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto, global = true)]
    pub(crate) color: When,
    /// Show no progress bar
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For reading
    Human,
    /// One JSON object a line
    Json,
    /// Comma-separated values with a header
    Csv,
    /// A report for a browser: query, pairs and diff, with -o
    Html,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create an empty database
    Init(InitArgs),
    /// Add documents; run again to add only what is new or changed
    Ingest(Box<IngestArgs>),
    /// Find the stored documents that share text with these
    Query(QueryArgs),
    /// Compare two files, without a database
    Diff(DiffArgs),
    /// List all pairs of stored documents that share enough text, the most alike first
    Pairs(PairsArgs),
    /// List the documents that may go, each with the survivor that justifies it; deletes nothing
    Dedup(DedupArgs),
    /// Delete documents
    Rm(RmArgs),
    /// Free the space of deleted documents and make queries faster
    Compact,
    /// Check every posting, document and count against each other
    Verify(VerifyArgs),
    /// Copy the database to a folder; again: only what has changed since
    Backup(BackupArgs),
    /// Make a database of the newest backup in a folder
    Restore(RestoreArgs),
    /// Add the documents of other databases of the same profile, without reading their texts again
    Merge(MergeArgs),
    /// List the stored documents
    List(ListArgs),
    /// Show all that is known of documents
    Show(ShowArgs),
    /// Show what the database holds and what it takes
    Stats(StatsArgs),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// The settings a database pins when it is made.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Profile, fixed when the database is made")]
pub(crate) struct ProfileArgs {
    /// A named choice of the settings below: text (characters, k 50, w 100; the default), prose
    /// (characters, k 25, w 20: finds a copied sentence), words (words, k 3, w 1: the 2001 paper), code (tokens of
    /// source code, k 7, w 2: copies with other names, comments and layout), bytes
    #[arg(long, value_name = "NAME", value_parser = fpdb::Profile::NAMES)]
    pub(crate) profile: Option<String>,
    /// What a symbol is: char, word, token (of source code) or byte
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<Unit>,
    /// The noise threshold: nothing shorter than K symbols can match
    #[arg(short, value_name = "K")]
    pub(crate) k: Option<u32>,
    /// The window: every shared run of W + K - 1 symbols is found
    #[arg(short, value_name = "W")]
    pub(crate) w: Option<u32>,
    /// Which k-grams are kept: robust (the default), plain, all, mod:P or safe-mod:P
    #[arg(long, value_name = "RULE")]
    pub(crate) selection: Option<Selection>,
    /// For unit word: letters (every other character separates; the default) or unicode
    #[arg(long, value_name = "RULE")]
    pub(crate) words: Option<WordRule>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Files and folders; `-` is standard input
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    pub(crate) paths: Vec<PathBuf>,
    /// Take paths from a file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// The name of the document on standard input
    #[arg(long, value_name = "NAME", default_value = "-")]
    pub(crate) name: String,
    /// Memory to use, such as 512M or 4GiB [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// What to do with a document whose name is stored with other content
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnChange::Replace)]
    pub(crate) on_change: OnChange,
    /// Keep the texts in the database, compressed: passages are exact even when the files are gone
    #[arg(long)]
    pub(crate) store_text: bool,
    /// Leave out files that match this glob (.gitignore syntax); may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Leave out files and folders whose name begins with a dot
    #[arg(long)]
    pub(crate) skip_hidden: bool,
    /// Follow symbolic links below folders
    #[arg(long)]
    pub(crate) follow: bool,
    /// The documents are boilerplate: never a match, and what they hold is ignored in all others
    #[arg(long)]
    pub(crate) boilerplate: bool,
    /// A CSV file whose column `filename` names documents; its other columns (label, group, ...) are kept with them
    #[arg(long, value_name = "FILE")]
    pub(crate) metadata: Option<PathBuf>,
    /// The field of JSON lines and Parquet that holds the text
    #[arg(long, value_name = "FIELD", default_value_t = RecordFields::default().text)]
    pub(crate) text_field: String,
    /// The field that holds the id, kept with the document
    #[arg(long, value_name = "FIELD", default_value_t = RecordFields::default().id)]
    pub(crate) id_field: String,
    /// Other fields to keep with the documents, with commas between them
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub(crate) keep_fields: Vec<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

impl IngestArgs {
    /// How documents are read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let fields =
            RecordFields { text: self.text_field.clone(), id: self.id_field.clone(), keep: self.keep_fields.clone() };
        ReadOptions { fields, limits: self.limits.limits(), ..self.read.options() }
    }
}

/// What to do with changed documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnChange {
    /// The new content takes the place of the stored one
    Replace,
    /// The stored content stays
    Keep,
    /// Both are kept under one name
    Both,
}

impl From<OnChange> for fpdb::OnChange {
    fn from(typed: OnChange) -> Self {
        match typed {
            OnChange::Replace => Self::Replace,
            OnChange::Keep => Self::Keep,
            OnChange::Both => Self::Both,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// Files to query with; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "document")]
    pub(crate) files: Vec<PathBuf>,
    /// Query with a stored document; may be repeated
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    pub(crate) document: Vec<String>,
    /// What ranks the matches: containment uses every fingerprint of the query, resemblance its n smallest
    #[arg(long, value_enum, default_value_t = Mode::Containment)]
    pub(crate) mode: Mode,
    /// Winnow the query with this window, the database's or larger: fewer look-ups, coarser answers
    #[arg(long, value_name = "W")]
    pub(crate) window: Option<u32>,
    /// Look up only the N smallest hashes [default: all in containment mode, 128 in resemblance mode]
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) n: Option<u64>,
    /// Show at most this many matches, 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Show only matches whose score (0 to 1) is at least this
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_share)]
    pub(crate) min_score: f64,
    /// Leave out fingerprints that more than N documents hold; they are counted as common
    #[arg(long, value_name = "N")]
    pub(crate) max_df: Option<u64>,
    /// What a shared fingerprint counts in the score that ranks the matches
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Weight::None)]
    pub(crate) weight: Weight,
    /// Do not look for passages: faster
    #[arg(long)]
    pub(crate) no_passages: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Exit with status 1 if nothing was found
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) joining: JoiningArgs,
}

/// How shared runs become passages.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Passages")]
pub(crate) struct JoiningArgs {
    /// Shared runs with at most N symbols between them are one passage [default: t = W + K - 1]
    #[arg(long, value_name = "N")]
    pub(crate) gap: Option<u32>,
    /// For rewritten text: join shared runs that are near each other in both documents in whatever order they stand
    /// there, with a gap of N where they are sparse and down to a quarter of it where they are dense, and leave out
    /// phrases that both documents repeat and passages that others explain better
    #[arg(long)]
    pub(crate) any_order: bool,
    /// Leave out passages with fewer than N symbols that agree
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) min_passage: u64,
}

impl JoiningArgs {
    pub(crate) fn options(&self) -> fpdb::PassageOptions {
        fpdb::PassageOptions { gap: self.gap, any_order: self.any_order, least: self.min_passage }
    }

    /// What was typed: flags and their values, `None` for those that were not.
    pub(crate) fn flags(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("--gap", self.gap.map(|gap| gap.to_string())),
            ("--any-order", self.any_order.then(|| "yes".to_owned())),
            ("--min-passage", (self.min_passage > 0).then(|| self.min_passage.to_string())),
        ]
    }
}

/// What ranks the matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// The share of the query that a document holds
    Containment,
    /// How much the two sets of k-grams overlap, estimated from a sample
    Resemblance,
}

/// How the page for a browser is made.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of --format html, which writes a report into the folder -o")]
pub(crate) struct ReportArgs {
    /// Write one file with everything in it instead of a folder
    #[arg(long)]
    pub(crate) single_file: bool,
    /// Show at most N pairs, the best; the report says how many more there are [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_report_pairs: Option<u32>,
    /// Embed texts and passages of about this size at most, those of the best pairs first [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_report_size: Option<u64>,
    /// Replace the names of documents by numbers and leave out paths; the texts stay
    #[arg(long)]
    pub(crate) anonymise: bool,
    /// Leave out the texts: measures and places of passages only
    #[arg(long)]
    pub(crate) no_text: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The file that is asked about; `-` is standard input
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The file it is compared with
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Exit with status 1 if they share nothing
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) joining: JoiningArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PairsArgs {
    /// The least number of shared fingerprints
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_shared: u64,
    /// The least resemblance (0 to 1), weighted with --weight [default: 0; 0.03 where k is below 25 characters or 6
    /// words, as with the profile words, unless another threshold is given]
    #[arg(long, value_name = "R", value_parser = parse_share)]
    pub(crate) min_resemblance: Option<f64>,
    /// The least containment (0 to 1) of either document in the other
    #[arg(long, value_name = "C", value_parser = parse_share)]
    pub(crate) min_containment: Option<f64>,
    /// Leave out fingerprints that more than N documents hold, and say how many; 0 for none
    #[arg(long, value_name = "N", default_value_t = fpdb::PairsOptions::MAX_DF)]
    pub(crate) max_df: u64,
    /// Only pairs of documents under different prefixes of these; with one, of those under it with the others
    #[arg(long, value_name = "PREFIX", num_args = 1..)]
    pub(crate) across: Vec<String>,
    /// Never pair documents of one group: what this regular expression finds in their names, its first group if it has
    /// one, such as '^([^/]*)/' for the first folder [default: the value of their metadata `group`]
    #[arg(long, value_name = "REGEX")]
    pub(crate) group_by: Option<String>,
    /// Pair documents of one group too
    #[arg(long, conflicts_with = "group_by")]
    pub(crate) no_groups: bool,
    /// Only pairs of an old document and a new one: new are those with this number or a higher one, or those ingested
    /// at this time or later, such as 2026-11-21, 2026-11-21T08:30 or 2026-11-21T08:30:00+01:00 (UTC unless it says)
    #[arg(long, value_name = "ID|TIME", value_parser = parse_since)]
    pub(crate) new_since: Option<fpdb::Since>,
    /// What a shared fingerprint counts
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Weight::None)]
    pub(crate) weight: Weight,
    /// Memory to use for counting, such as 512M or 4GiB [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// Look for the passages of each pair: in JSON and CSV (html has them in any case)
    #[arg(long)]
    pub(crate) passages: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) joining: JoiningArgs,
}

/// What a shared fingerprint counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Weight {
    /// Each the same
    None,
    /// The more the fewer documents hold it: ln(1 + N / df)
    Idf,
}

impl From<Weight> for fpdb::Weight {
    fn from(typed: Weight) -> Self {
        match typed {
            Weight::None => Self::None,
            Weight::Idf => Self::Idf,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DedupArgs {
    /// What makes a document removable, beside being identical to another
    #[arg(long, value_enum, default_value_t = By::Exact)]
    pub(crate) by: By,
    /// The least resemblance, or containment in the survivor (0 to 1) [default: 0.8]
    #[arg(long, value_name = "X", value_parser = parse_share)]
    pub(crate) threshold: Option<f64>,
    /// Which of several alike stays
    #[arg(long, value_enum, default_value_t = Keep::First)]
    pub(crate) keep: Keep,
    /// Documents whose names begin with this may never go; may be repeated
    #[arg(long, value_name = "PREFIX")]
    pub(crate) protect: Vec<String>,
    /// Leave out fingerprints that more than N documents hold, and say how many; 0 for none
    #[arg(long, value_name = "N", default_value_t = fpdb::PairsOptions::MAX_DF)]
    pub(crate) max_df: u64,
    /// Memory to use for counting, such as 512M or 4GiB [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
}

/// What makes a document removable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Nothing else
    Exact,
    /// A survivor that resembles it
    Resemblance,
    /// A survivor that contains it
    Containment,
}

/// Which of several alike stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    /// The one ingested first
    First,
    /// The one with the most symbols
    Longest,
    /// The one written last
    Newest,
    /// The one written first
    Oldest,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Names of stored documents
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The folder of backups: new, empty, or with earlier backups
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Keep only the N newest backups [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<NonZero<usize>>,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A folder of backups
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of other databases
    #[arg(value_name = "OTHER", required = true)]
    pub(crate) others: Vec<PathBuf>,
    /// What to do with a document whose name is stored with other content
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnChange::Replace)]
    pub(crate) on_change: OnChange,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only documents whose name begins with one of these
    #[arg(value_name = "PREFIX")]
    pub(crate) prefixes: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Names of stored documents
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Rebuild what is damaged, from what can be read and from the documents' own files, and list what cannot be
    #[arg(long)]
    pub(crate) repair: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Count distinct fingerprints, and in how many documents each is; reads every posting
    #[arg(long)]
    pub(crate) hashes: bool,
}

/// Bytes from `512M` or `4GiB`: units of 1,000 and, with an i, of 1,024.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let size: bytesize::ByteSize = text.parse().map_err(|_| "expected a size such as 512M or 4GiB".to_owned())?;
    Ok(size.as_u64())
}

/// A document's number, or a time.
fn parse_since(text: &str) -> Result<fpdb::Since, String> {
    if let Ok(number) = text.parse() {
        return Ok(fpdb::Since::Document(fpdb::DocId(number)));
    }
    let timestamp = text.parse::<jiff::Timestamp>().or_else(|_| {
        let local = text.parse::<jiff::civil::DateTime>()?;
        local.to_zoned(jiff::tz::TimeZone::UTC).map(|zoned| zoned.timestamp())
    });
    match timestamp {
        Ok(timestamp) => Ok(fpdb::Since::Time(timestamp.as_second())),
        Err(_) => Err("expected a document's number, or a time such as 2026-11-21 or 2026-11-21T08:30:00Z".into()),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_limits_in_the_help_are_those_of_the_library() {
        let cli = Cli::parse_from(["fpdb", "ingest", "a"]);
        let Command::Ingest(args) = cli.command else { panic!("that was ingest") };
        assert_eq!(args.read_options(), ReadOptions::default());
    }

    #[test]
    fn times_are_utc_unless_they_say() {
        let time = |seconds| Ok(fpdb::Since::Time(seconds));
        assert_eq!(parse_since("1970-01-02"), time(86_400));
        assert_eq!(parse_since("1970-01-02T01:00"), time(90_000));
        assert_eq!(parse_since("1970-01-02T01:00:00+01:00"), time(86_400));
        assert_eq!(parse_since("1970-01-02T00:00:00Z"), time(86_400));
        assert_eq!(parse_since("17"), Ok(fpdb::Since::Document(fpdb::DocId(17))));
        assert!(parse_since("yesterday").is_err() && parse_since("-1").is_err());
    }

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        assert_eq!(parse_size("512M"), Ok(512_000_000));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("1048576"), Ok(1 << 20));
        assert!(parse_size("much").is_err());
        assert!(parse_size("-1M").is_err());
    }
}
