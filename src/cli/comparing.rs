//! What can be typed of comparing documents: `query`, `diff`, `pairs` and `dedup`, and what they have in common.

use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, ArgMatches, Args, ValueEnum};
use fpdb::{DocId, QuerySource};

use super::args::{ProfileArgs, parse_count, parse_positive, parse_size};
use super::reading::{LimitArgs, QueryReadArgs};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("queries").args(["files", "document", "ids"]).required(true).multiple(true)))]
pub(crate) struct QueryArgs {
    /// Files to query with; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Query with a stored document, of several versions the one that was added last; may be repeated. Answers come in the
    /// order in which queries are given
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    pub(crate) document: Vec<String>,
    /// Query with the stored document of this number, which tells versions of one name apart (`fpdb show NAME` tells it);
    /// may be repeated
    #[arg(long = "id", value_name = "N", action = ArgAction::Append)]
    pub(crate) ids: Vec<u32>,
    /// All of them, in the order they were given.
    #[arg(skip)]
    pub(crate) sources: Vec<QuerySource>,
    /// What ranks the matches: containment uses every fingerprint of the query, resemblance its n smallest
    #[arg(long, value_enum, default_value_t = Mode::Containment)]
    pub(crate) mode: Mode,
    /// Winnow the query with this window, the database's or larger: fewer look-ups, coarser answers
    #[arg(long, value_name = "W")]
    pub(crate) window: Option<u32>,
    /// Look up only the N smallest hashes [default: all in containment mode, 128 in resemblance mode]
    #[arg(short, value_name = "N", value_parser = parse_positive)]
    pub(crate) n: Option<u64>,
    /// Show at most this many matches, 0 for all
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = parse_count)]
    pub(crate) top: u64,
    /// Show only matches whose score (0 to 1) is at least this, and documents of the very same bytes
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_share)]
    pub(crate) min_score: f64,
    /// Leave out fingerprints that more than N documents hold, and count them as common; 0 for none. No score counts them;
    /// passages that others lead to show the same text all the same
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) max_df: Option<u64>,
    /// What a shared fingerprint counts in the score that ranks the matches. A score of weighed fingerprints that is an
    /// estimate has no interval: that is for those that count the same
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Weight::None)]
    pub(crate) weight: Weight,
    /// Do not look for passages: faster
    #[arg(long)]
    pub(crate) no_passages: bool,
    #[command(flatten)]
    pub(crate) read: QueryReadArgs,
    /// Exit with status 1 if nothing was found
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) joining: JoiningArgs,
}

impl QueryArgs {
    /// Finds out in which order the queries were given, of which `matches` knows more than the fields do.
    pub(crate) fn note_order(&mut self, matches: &ArgMatches) {
        let at = |name: &str| matches.indices_of(name).into_iter().flatten();
        let files = at("files").zip(self.files.iter().cloned().map(QuerySource::File));
        let stored = at("document").zip(self.document.iter().cloned().map(QuerySource::Stored));
        let numbers = at("ids").zip(self.ids.iter().map(|&id| QuerySource::Number(DocId(id))));
        let mut sources: Vec<(usize, QuerySource)> = files.chain(stored).chain(numbers).collect();
        sources.sort_by_key(|&(at, _)| at);
        self.sources = sources.into_iter().map(|(_, source)| source).collect();
    }
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
    /// Leave out passages with fewer than N symbols that agree, with --any-order in whatever order; what --skip-quotes and
    /// --ignore-phrases ignore is not counted
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_count)]
    pub(crate) min_passage: u64,
}

impl JoiningArgs {
    /// `most` are the passages of one pair that are wanted, for a page; all where `None`.
    pub(crate) fn options(&self, most: Option<usize>) -> fpdb::PassageOptions {
        fpdb::PassageOptions { gap: self.gap, any_order: self.any_order, least: self.min_passage, most }
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
    /// Embed texts and passages up to this size, packed, those of the best pairs first [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_report_size: Option<u64>,
    /// Replace the names of documents by numbers and leave out paths and metadata; the texts stay
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
    pub(crate) read: QueryReadArgs,
    #[command(flatten)]
    pub(crate) joining: JoiningArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

/// Where to look for what `query` has flags for.
const WHAT_ALL_SHARE: &str = "Stored documents count whole: --ignore-phrases is for query and diff, \
    and ingest --boilerplate marks what all may share.";

#[derive(Debug, Args)]
#[command(after_help = WHAT_ALL_SHARE)]
pub(crate) struct PairsArgs {
    /// The least number of shared fingerprints [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) min_shared: Option<u64>,
    /// The least resemblance (0 to 1), weighted with --weight [default: 0 if another threshold is given; else 0.1 for
    /// tokens, and 0.2 where no more than the frame of a small program is shared; 0.03 where k is below 25 characters, 25
    /// bytes or 6 words; else 0]
    #[arg(long, value_name = "R", value_parser = parse_share)]
    pub(crate) min_resemblance: Option<f64>,
    /// The least containment (0 to 1) of either document in the other
    #[arg(long, value_name = "C", value_parser = parse_share)]
    pub(crate) min_containment: Option<f64>,
    /// Leave out fingerprints that more than N documents hold, and say how many; 0 for none
    #[arg(long, value_name = "N", default_value_t = fpdb::PairsOptions::MAX_DF, value_parser = parse_count)]
    pub(crate) max_df: u64,
    /// Only pairs of documents under different prefixes of these, the longest that fits counting; with one, of those
    /// under it with the others
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
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
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

/// What deletes the documents that `dedup` lists.
const PIPELINE: &str = "To delete what may go, by number, since versions may share a name:\n  \
    fpdb dedup --format json | jq '.remove_id // empty' | xargs -r fpdb rm --id";

#[derive(Debug, Args)]
#[command(after_help = PIPELINE)]
pub(crate) struct DedupArgs {
    /// What makes a document removable, beside being identical to another
    #[arg(long, value_enum, default_value_t = By::Exact)]
    pub(crate) by: By,
    /// The least resemblance, or containment in the survivor (0 to 1), with --by resemblance or containment [default: 0.8]
    #[arg(long, value_name = "X", value_parser = parse_share)]
    pub(crate) threshold: Option<f64>,
    /// Which of several alike stays
    #[arg(long, value_enum, default_value_t = Keep::First)]
    pub(crate) keep: Keep,
    /// Documents whose names begin with this may never go; may be repeated
    #[arg(long, value_name = "PREFIX")]
    pub(crate) protect: Vec<String>,
    /// Leave out fingerprints that more than N documents hold, and say how many; 0 for none
    #[arg(long, value_name = "N", default_value_t = fpdb::PairsOptions::MAX_DF, value_parser = parse_count)]
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
    use super::*;

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
}
