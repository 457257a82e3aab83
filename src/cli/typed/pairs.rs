//! What can be typed after `fpdb pairs`.

use clap::Args;
use fpdb::Weight;

use super::passages::JoiningArgs;
use super::query::weight;
use super::reading::LimitArgs;
use super::report::ReportArgs;
use super::values::{parse_count, parse_share, parse_since, parse_size};

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
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = weight())]
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
