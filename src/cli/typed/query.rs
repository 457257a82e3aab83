//! What can be typed after `fpdb query`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{ArgAction, ArgGroup, ArgMatches, Args};
use fpdb::{DocId, Mode, QuerySource, Weight};

use super::passages::JoiningArgs;
use super::reading::QueryReadArgs;
use super::report::ReportArgs;
use super::values::{choices, parse_count, parse_positive, parse_share};

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
    #[arg(long, value_name = "MODE", default_value = "containment", value_parser = mode())]
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
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = weight())]
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

/// What ranks the matches.
fn mode() -> impl TypedValueParser<Value = Mode> {
    choices([
        ("containment", Mode::Containment, "The share of the query that a document holds"),
        ("resemblance", Mode::Resemblance, "How much the two sets of k-grams overlap, estimated from a sample"),
    ])
}

/// What a shared fingerprint counts.
pub(super) fn weight() -> impl TypedValueParser<Value = Weight> {
    choices([
        ("none", Weight::None, "Each the same"),
        ("idf", Weight::Idf, "The more the fewer documents hold it: ln(1 + N / df)"),
    ])
}
