//! Flags of every command.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The database's folder
    #[arg(long, value_name = "PATH", env = "FPDB_DB", global = true)]
    pub(crate) db: Option<PathBuf>,
    /// Write results to a file instead of standard output, which is `-`; it is replaced when all is written
    #[arg(short, long, value_name = "PATH", global = true)]
    pub(crate) output: Option<PathBuf>,
    /// How results are written; formats a command does not have are an error
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, global = true)]
    pub(crate) format: OutputFormat,
    /// Threads to use, at most 1024 [default: one per processor]
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: each document and what became of it
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to use colour; NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM=dumb are honoured
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto, global = true)]
    pub(crate) color: When,
    /// Show no progress bar
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
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
