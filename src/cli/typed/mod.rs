//! Typed: what can be typed, and nothing else. `--help`, the manual pages and the completions come from here. Flags
//! that several commands share have files of their own.

mod care;
mod dedup;
mod diff;
mod global;
mod ingest;
mod pairs;
mod passages;
mod profile;
mod query;
mod reading;
mod report;
mod stored;
mod values;

use clap::{CommandFactory, Parser, Subcommand};

pub(crate) use care::{BackupArgs, MergeArgs, RestoreArgs, VerifyArgs};
pub(crate) use dedup::DedupArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use global::{Global, OutputFormat, When};
pub(crate) use ingest::IngestArgs;
pub(crate) use pairs::PairsArgs;
pub(crate) use profile::{InitArgs, ProfileArgs};
pub(crate) use query::QueryArgs;
pub(crate) use reading::QueryReadArgs;
pub(crate) use report::ReportArgs;
pub(crate) use stored::{ListArgs, RmArgs, ShowArgs, StatsArgs};

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
    /// Make a database of the newest backup in a folder, or an older one
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

/// The program's command line. A value that begins like `-1` is the value of the flag before it, and out of its range
/// rather than a flag that is not known.
pub(crate) fn command() -> clap::Command {
    let takes_numbers = |arg: clap::Arg| {
        let takes = !arg.is_positional() && arg.get_action().takes_values();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    };
    let mut command = Cli::command().mut_args(takes_numbers);
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for verb in verbs {
        command = command.mut_subcommand(verb, |verb| verb.mut_args(takes_numbers));
    }
    command
}

#[cfg(test)]
mod tests {
    use fpdb::ReadOptions;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn the_limits_in_the_help_are_those_of_the_library() {
        let cli = Cli::parse_from(["fpdb", "ingest", "a"]);
        let Command::Ingest(args) = cli.command else { panic!("that was ingest") };
        assert_eq!(args.read_options(), ReadOptions::default());
    }
}
