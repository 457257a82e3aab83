//! The flags that every command has.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, ValueEnum, ValueHint};

/// Flags of every command. `-h` shows those that most runs need; `--help` shows all of them.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The database's folder
    ///
    /// Without it the database is $FPDB_DB, else the nearest folder .fpdb in the current folder or above it.
    #[arg(long, value_name = "PATH", global = true, value_hint = ValueHint::DirPath)]
    pub(crate) db: Option<PathBuf>,
    /// `--db` as it was typed. `db` can also come from the environment.
    #[arg(skip)]
    pub(crate) typed_db: Option<PathBuf>,
    /// Write results to this file
    ///
    /// The file appears, or replaces an earlier one, when all results are written. It replaces no file that
    /// the command reads, and no file that a stored document was read from. An ingest may replace the results
    /// of an earlier ingest, even if they were stored. `-` is standard output, the default.
    #[arg(short, long, value_name = "PATH", global = true, value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,
    /// How to write results
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Human, global = true)]
    pub(crate) format: OutputFormat,
    /// Threads to use, at most 1024 [default: one per processor]
    #[arg(long, value_name = "N", global = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print nothing but results, warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print each document and its result
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to use colour
    ///
    /// NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM=dumb are honoured.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto, global = true)]
    pub(crate) color: When,
    /// Show no progress bar
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text for people
    Human,
    /// One JSON object a line
    Json,
    /// Comma-separated values with a header
    Csv,
    /// A report for a browser, written to -o
    Html,
}

/// The formats of a command, by the kind of its answer.
impl OutputFormat {
    /// For text that only people read.
    pub(crate) const TEXT: &[Self] = &[Self::Human];
    /// For an answer that is not a table.
    pub(crate) const ANSWER: &[Self] = &[Self::Human, Self::Json];
    /// For rows of a table.
    pub(crate) const ROWS: &[Self] = &[Self::Human, Self::Json, Self::Csv];
    /// For rows with passages, which a report for a browser can show.
    pub(crate) const PASSAGES: &[Self] = &[Self::Human, Self::Json, Self::Csv, Self::Html];

    /// True if a person reads the results, false if a program does.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, Self::Human | Self::Html)
    }
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

/// `--format` of a command that has some of the formats. `-h` names them in one line, `--help` describes
/// them.
pub(super) fn format_of(format: Arg, formats: &'static [OutputFormat]) -> Arg {
    let values: Vec<PossibleValue> = formats.iter().filter_map(OutputFormat::to_possible_value).collect();
    let names = values.iter().map(PossibleValue::get_name).collect::<Vec<_>>().join(", ");
    let parser = PossibleValuesParser::new(values.clone()).try_map(|typed| OutputFormat::from_str(&typed, false));
    let mut long = "How to write results\n".to_owned();
    for value in &values {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        long += &format!("\n- {}: {help}", value.get_name());
    }
    let format = format.help(format!("How to write results: {names}")).long_help(long);
    format.hide_possible_values(true).hide_default_value(true).value_parser(parser)
}
