//! Typed: what can be typed, and nothing else. `--help`, the manual pages and the completions come from here. Flags
//! that several commands share have files of their own.

mod apply;
mod care;
mod dedup;
mod diff;
mod global;
mod ingest;
mod limits;
mod pairs;
mod passages;
mod profile;
mod query;
mod reader_process;
mod reading;
mod report;
mod stored;
mod tools;
mod values;
pub(crate) mod verb_help;

use clap::{Arg, Command, CommandFactory, Parser, Subcommand};

pub(crate) use apply::ApplyArgs;
pub(crate) use care::{AssembleArgs, BackupArgs, MergeArgs, RestoreArgs, VerifyArgs};
pub(crate) use dedup::DedupArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use global::{Global, OutputFormat, When};
pub(crate) use ingest::IngestArgs;
pub(crate) use limits::{limit_flag, limit_names, limits_page};
pub(crate) use pairs::PairsArgs;
pub(crate) use passages::ExcerptArgs;
pub(crate) use profile::{InitArgs, ProfileArgs};
pub(crate) use query::QueryArgs;
pub(crate) use reader_process::READ_DOCUMENTS;
pub(crate) use reading::QueryReadArgs;
pub(crate) use report::ReportArgs;
pub(crate) use stored::{ListArgs, MvArgs, RmArgs, ShowArgs, StatsArgs};
pub(crate) use tools::{CompletionsArgs, HelpArgs, ManArgs};

/// Which stored documents share text with this one, how much, and exactly where?
///
/// A persistent database of document fingerprints. It finds every shared run of text from a certain length on, tells how
/// much two documents share, and shows where in both originals.
#[derive(Debug, Parser)]
#[command(name = "fpdb", version, max_term_width = 100, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The commands, those for every day first.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Add documents; run again to add only what is new or changed
    Ingest(Box<IngestArgs>),
    /// Find the stored documents that share text with these files
    Query(QueryArgs),
    /// List pairs of stored documents that share text, best first
    Pairs(PairsArgs),
    /// List removable documents, each with its survivor
    ///
    /// Changes nothing. A document is removable if a document that is kept, its survivor, is identical to it or, on request,
    /// contains or resembles it.
    Dedup(DedupArgs),
    /// Apply a dedup report: copy, remove, link, move or mark files
    ///
    /// A dry run unless --yes is given. fpdb first compares the contents of removable documents and their survivors with the
    /// database: it leaves files alone that have changed since they were ingested.
    Apply(Box<ApplyArgs>),
    /// Compare two files, without a database
    Diff(DiffArgs),
    /// Create an empty database
    Init(InitArgs),
    /// List the stored documents
    List(ListArgs),
    /// Show all facts about documents
    Show(ShowArgs),
    /// Show the size and the figures of the database
    Stats(StatsArgs),
    /// Remove documents
    Rm(RmArgs),
    /// Rename a document, or a folder of documents
    ///
    /// Nothing is read again. A document whose file is there still is read from there as before. If the file is gone and is at the new
    /// name, after a folder was moved for example, it is read from there from now on.
    Mv(MvArgs),
    /// Free the space of removed documents and make queries faster
    Compact,
    /// Check the whole database, and repair it on request
    Verify(VerifyArgs),
    /// Copy the database to a folder; again: only what has changed since
    Backup(BackupArgs),
    /// Create a database from a backup
    Restore(RestoreArgs),
    /// Add the documents of other databases
    ///
    /// Their texts are not read again. The databases need the same profile.
    Merge(MergeArgs),
    /// Add the result of a distributed (Spark) build
    ///
    /// Creates the database if there is none. A database without documents takes over the files of the build in one commit. To a
    /// database with documents the documents of the build are added in several commits, as `merge` does. After an interruption
    /// run the same command again.
    Assemble(AssembleArgs),
    /// Print the completion script for a shell
    Completions(CompletionsArgs),
    /// Print or write manual pages
    Man(ManArgs),
    /// Explain a command, or list the limits of the input
    Help(HelpArgs),
}

impl Verb {
    /// True if the command takes `--memory`.
    pub(crate) fn takes_memory(&self) -> bool {
        matches!(
            self,
            Self::Ingest(_) | Self::Pairs(_) | Self::Dedup(_) | Self::Apply(_) | Self::Merge(_) | Self::Assemble(_)
        )
    }
}

/// The program's command line: the definitions above, with examples, and with the formats that each command has.
///
/// A value that begins like `-1` is the value of the flag before it, and out of its range rather than an unknown flag.
pub(crate) fn command() -> Command {
    let takes_numbers = |arg: Arg| {
        let takes = !arg.is_positional() && arg.get_action().takes_values();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    };
    let mut command = with_help(Cli::command().mut_args(takes_numbers), "");
    let format = command.get_arguments().find(|arg| arg.get_id() == "format").cloned();
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for name in verbs {
        command = command.mut_subcommand(&name, |verb| {
            let mut verb = with_help(verb.mut_args(takes_numbers), &name);
            if let (Some(format), Some(help)) = (&format, verb_help::of(&name)) {
                let format = format.clone().global(false).value_parser(global::one_of(help.formats));
                verb = verb.arg(format.hide(help.formats.len() == 1));
            }
            // Its settings are what `init` is about.
            if name == "init" { verb.mut_args(|arg| arg.hide_short_help(false)) } else { verb }
        });
    }
    command
}

/// A command whose help ends with examples.
fn with_help(command: Command, verb: &str) -> Command {
    let Some(help) = verb_help::of(verb) else { return command };
    let some = verb_help::examples(&help.examples[..help.examples.len().min(2)]);
    let all = verb_help::examples(help.examples);
    let mut long = if help.note.is_empty() { all } else { format!("{}\n\n{all}", help.note) };
    if verb.is_empty() {
        let statuses = verb_help::EXIT_STATUS.iter().map(|(status, means)| format!("\n  {status:>3}  {means}"));
        long += &format!("\n\n{}\n\nExit status:{}", verb_help::DATABASE, statuses.collect::<String>());
    }
    command.after_help(some).after_long_help(long)
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;
    use fpdb::ReadOptions;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn without_flags_documents_are_read_as_by_the_library() {
        let cli = Cli::parse_from(["fpdb", "ingest", "a"]);
        let Verb::Ingest(args) = cli.verb else { panic!("that was ingest") };
        let mut options = args.read_options();
        assert!(options.limits.process.take().is_some());
        assert_eq!(options, ReadOptions::default());
    }

    /// `-h` is for a look: it fits a screen of 80 columns and 42 lines, and ends with two examples.
    #[test]
    fn short_help_fits_a_screen() {
        let mut command = command().term_width(80);
        command.build();
        let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        let mut pages = vec![("fpdb".to_owned(), command.render_help().to_string())];
        for name in names {
            let page = command.find_subcommand_mut(&name).unwrap().clone().term_width(80).render_help().to_string();
            pages.push((name, page));
        }
        let long: Vec<_> =
            pages.iter().map(|(name, page)| (name, page.lines().count())).filter(|&(_, lines)| lines > 42).collect();
        assert!(long.is_empty(), "{long:?}");
        for (name, page) in pages {
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{name}:\n{page}");
            let examples = page.split_once("Examples:\n").unwrap().1;
            assert_eq!(examples.lines().count(), 4, "{name}:\n{page}");
        }
    }

    /// Every example in the help can be typed. Its command takes `--memory` if its definition says so.
    #[test]
    fn examples_can_be_typed() {
        let command = command();
        let takes_memory = |verb: &str| {
            let verb = command.find_subcommand(verb).unwrap();
            verb.get_arguments().any(|argument| argument.get_long() == Some("memory"))
        };
        for help in &verb_help::VERBS {
            for (_, example) in help.examples {
                for run in example.split(" | ").flat_map(|run| run.split(" && ")) {
                    let Some(at) = run.find("fpdb ") else { continue };
                    let words = run[at..]
                        .trim_end_matches(')')
                        .split_whitespace()
                        .take_while(|word| !word.starts_with(['>', '<']));
                    let words = words.map(|word| word.trim_matches('\''));
                    let parsed = command.clone().try_get_matches_from(
                        words.chain(std::iter::repeat_n("1", usize::from(run.contains("xargs")))),
                    );
                    let parsed = parsed.unwrap_or_else(|error| panic!("{example}: {error}"));
                    let verb = Cli::from_arg_matches(&parsed).unwrap().verb;
                    assert_eq!(verb.takes_memory(), takes_memory(parsed.subcommand_name().unwrap()), "{example}");
                }
            }
        }
    }
}
