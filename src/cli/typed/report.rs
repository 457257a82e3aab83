//! How the report for a browser is made.

use clap::Args;

use super::values::parse_size;

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
