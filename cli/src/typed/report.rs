//! The flags of the report for a browser.

use clap::Args;

use super::values::parse_size;

/// The times of files.
#[derive(Clone, Debug, Args)]
pub(crate) struct TimesArgs {
    /// Show when the file of each stored document was last changed
    ///
    /// A member of a zip or tar archive has the time that the archive records for it, if it does. Times of
    /// zip without a time zone are taken as UTC. A file that was changed within seconds before its ingest has
    /// no known time. The page of `query` shows the date in the metadata instead, if there is a readable one:
    /// `(date)` and `(file)` tell which it is. JSON and CSV have the times of files, in seconds since 1970.
    #[arg(long)]
    pub(crate) file_times: bool,
}

/// How the report for a browser is made.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Report (--format html -o DIR)")]
pub(crate) struct ReportArgs {
    /// Write the report as one file
    #[arg(long)]
    pub(crate) single_file: bool,
    /// Show at most N pairs, the best ones [default: 1000]
    ///
    /// The report says how many more there are.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_report_pairs: Option<u32>,
    /// Embed at most this much text, those of the best pairs first [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_report_size: Option<u64>,
    /// Replace names of documents by numbers, and leave out paths and metadata; texts stay
    #[arg(long)]
    pub(crate) anonymise: bool,
    /// Leave out the texts: only measures and the places of passages; also on a terminal
    #[arg(long)]
    pub(crate) no_text: bool,
}
