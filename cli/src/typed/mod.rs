//! Typed: defines the command line, and nothing else. `--help`, the manual pages and the completions come
//! from here. Flags that several commands share have separate files.

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
pub(crate) mod reading_flags;
mod report;
mod serve;
mod stored;
mod tools;
mod values;
pub(crate) mod verb_help;

use std::path::PathBuf;

use clap::builder::{StyledStr, UnknownArgumentValueParser};
use clap::{Arg, Command, CommandFactory, Parser, Subcommand};

pub(crate) use apply::ApplyArgs;
pub(crate) use care::{AssembleArgs, BackupArgs, MergeArgs, RestoreArgs, VerifyArgs};
pub(crate) use dedup::DedupArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use global::{Global, OutputFormat, When};
pub(crate) use ingest::IngestArgs;
use limits::wrapped;
pub(crate) use limits::{limit_flag, limit_names, limits_page};
pub(crate) use pairs::{PairSort, PairsArgs};
pub(crate) use passages::ExcerptArgs;
pub(crate) use profile::{InitArgs, ProfileArgs};
pub(crate) use query::{QueryArgs, QuerySort};
pub(crate) use reader_process::READ_DOCUMENTS;
#[cfg(feature = "serve")]
pub(crate) use reader_process::reader_process;
pub(crate) use reading::QueryReadArgs;
pub(crate) use report::ReportArgs;
#[cfg(feature = "serve")]
pub(crate) use serve::KeyRights;
pub(crate) use serve::ServeArgs;
pub(crate) use stored::{ListArgs, MvArgs, RmArgs, ShowArgs, StatsArgs};
pub(crate) use tools::{CompletionsArgs, HelpArgs, ManArgs};

/// Which stored documents share text with this one, how much, and exactly where?
///
/// A persistent database of document fingerprints. It finds every shared run of text from a certain length
/// on, tells how much two documents share, and shows where in both originals.
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
    /// Changes nothing. A document is removable if a document that is kept, its survivor, is identical to it
    /// or, on request, contains or resembles it.
    Dedup(DedupArgs),
    /// Apply a dedup report: copy, remove, link, move or mark files
    ///
    /// A dry run unless --yes is given. fpdb first compares the contents of removable documents and their
    /// survivors with the database: it leaves files alone that have changed since they were ingested.
    Apply(Box<ApplyArgs>),
    /// Compare two files, without a database
    Diff(DiffArgs),
    /// Serve the database over HTTP, with a page for a browser
    Serve(Box<ServeArgs>),
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
    /// Nothing is read again. A document whose file is there still is read from there as before. If the file
    /// is gone and is at the new name, after a folder was moved for example, it is read from there from now
    /// on.
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
    /// Creates the database if there is none. A database without documents takes over the files of the build
    /// in one commit. To a database with documents the documents of the build are added in several commits,
    /// as `merge` does. After an interruption run the same command again.
    Assemble(AssembleArgs),
    /// Print the completion script for a shell
    Completions(CompletionsArgs),
    /// Print or write manual pages
    Man(ManArgs),
    /// Explain a command, or list the limits of the input
    Help(HelpArgs),
}

impl Verb {
    /// The files and folders that the command reads besides the database. An ingest checks its own, because
    /// it leaves out what it writes.
    pub(crate) fn inputs(&self) -> Vec<&PathBuf> {
        match self {
            Self::Query(args) => args.files.iter().chain(&args.read.ignore_phrases).collect(),
            Self::Diff(args) => {
                let files = [&args.a, &args.b].into_iter().chain(&args.boilerplate);
                files.chain(&args.read.ignore_phrases).collect()
            }
            Self::Apply(args) => args.lists.iter().chain([&args.report]).collect(),
            Self::Rm(args) => args.report.iter().collect(),
            Self::Serve(args) => args.config.iter().chain(&args.key_file).collect(),
            Self::Backup(BackupArgs { folder, .. }) | Self::Restore(RestoreArgs { folder, .. }) => vec![folder],
            Self::Assemble(args) => vec![&args.staging],
            _ => Vec::new(),
        }
    }

    /// True if the command writes text for people to `-o`, besides its messages on standard error.
    pub(crate) fn writes_text(&self) -> bool {
        match self {
            Self::Init(_) | Self::Mv(_) | Self::Compact | Self::Restore(_) => false,
            Self::Rm(args) => args.is_dry_run(),
            Self::Backup(args) => args.list || args.verify,
            Self::Man(args) => args.dir.is_none(),
            _ => true,
        }
    }

    /// True if the command takes `--memory`.
    pub(crate) fn takes_memory(&self) -> bool {
        matches!(
            self,
            Self::Ingest(_)
                | Self::Pairs(_)
                | Self::Dedup(_)
                | Self::Apply(_)
                | Self::Merge(_)
                | Self::Assemble(_)
                | Self::Serve(_)
        )
    }
}

/// The program's command line: the definitions above, with examples, and with the formats that each command
/// has.
///
/// A value such as `-1` belongs to the flag before it. So the error says that the value is out of range, and
/// not that `-1` is an unknown flag.
pub(crate) fn command() -> Command {
    let takes_numbers = |arg: Arg| {
        let takes = !arg.is_positional() && arg.get_action().takes_values();
        let arg = if takes { arg.allow_negative_numbers(true) } else { arg };
        let is_global = verb_help::SHORT_GLOBAL.contains(&arg.get_id().as_str());
        if arg.is_global_set() { arg.hide_short_help(!is_global) } else { arg }
    };
    let mut command = with_help(Cli::command().mut_args(takes_numbers), "");
    command = command.mut_arg("format", |format| global::format_of(format, OutputFormat::PASSAGES));
    let format = command.get_arguments().find(|arg| arg.get_id() == "format").cloned();
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for name in verbs {
        command = command.mut_subcommand(&name, |verb| {
            let mut verb = with_help(verb.mut_args(takes_numbers), &name);
            if let (Some(format), Some(help)) = (&format, verb_help::of(&name)) {
                let format = global::format_of(format.clone(), help.formats).global(false);
                verb = verb.mut_args(|arg| {
                    let is_operand = arg.is_positional() && !arg.is_hide_short_help_set();
                    let is_shown = is_operand || help.short.contains(&arg.get_id().as_str());
                    arg.hide_short_help(!is_shown)
                });
                verb = verb.arg(format.hide(help.formats.len() == 1));
            }
            verb
        });
    }
    command
}

/// The flag of a command for an option of the library, or the name of the argument.
pub(crate) fn flag_of(verb: &str, option: &str) -> Option<String> {
    let command = command();
    let mut arguments = command.find_subcommand(verb)?.get_arguments().filter(|argument| {
        let is_short = argument.get_short().is_some_and(|short| short.to_string() == option);
        is_short || argument.get_id() == option || argument.get_long() == Some(&option.replace('_', "-"))
    });
    let argument = arguments.next()?;
    match (argument.get_long(), argument.get_short(), argument.get_value_names()) {
        (Some(long), ..) => Some(format!("--{long}")),
        (None, Some(short), _) => Some(format!("-{short}")),
        (None, None, names) => Some(names?.first()?.to_string()),
    }
}

/// The same command line for parsing, with help that fits a screen: it describes the commands for daily use,
/// then names the others.
pub(crate) fn parser() -> Command {
    let mut command = command();
    // Flags of other commands, and likely guesses: the most similar flag is another one. The note explains
    // flags of `query` for text that does not count.
    let note = verb_help::of("pairs").map_or("", |help| help.note);
    for (verb, flag, most, tip) in [
        ("pairs", "skip-quotes", 0, note),
        ("pairs", "ignore-phrases", 1, note),
        ("pairs", "min-score", 1, "similar arguments exist: '--min-resemblance', '--min-containment'"),
        ("dedup", "min-score", 1, "a similar argument exists: '--threshold'"),
        ("restore", "backup", 1, "a similar argument exists: '--number'"),
    ] {
        command = command.mut_subcommand(verb, |verb| {
            let flag = Arg::new(flag).long(flag).value_name("VALUE").num_args(0..=most).default_missing_value("");
            verb.arg(flag.value_parser(UnknownArgumentValueParser::suggest(tip)).hide(true))
        });
    }
    let others: Vec<(String, String)> = command
        .get_subcommands()
        .filter(|verb| !verb_help::EVERY_DAY.contains(&verb.get_name()))
        .map(|verb| (verb.get_name().to_owned(), verb.get_about().map(ToString::to_string).unwrap_or_default()))
        .collect();
    for (name, _) in &others {
        command = command.mut_subcommand(name, |verb| verb.hide(true));
    }
    let names = others.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let lines: String = others.iter().map(|(name, about)| format!("  {name:<11}  {about}\n")).collect();
    let after = |help: Option<&StyledStr>| help.map(ToString::to_string).unwrap_or_default();
    let long = after(command.get_after_long_help());
    let begin = "Begin with `fpdb ingest FOLDER`, then `fpdb query FILE`.";
    command
        .after_help(format!("{}\n{begin}", wrapped(&format!("More commands (see --help): {names}"), 80).join("\n")))
        .after_long_help(format!("More commands:\n{lines}\n{long}"))
}

/// A command whose help ends with examples.
fn with_help(command: Command, verb: &str) -> Command {
    let Some(help) = verb_help::of(verb) else { return command };
    let some = verb_help::examples(&help.examples[..help.examples.len().min(1)]);
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
        let mut options = args.options().read;
        assert!(options.limits.process.take().is_some());
        assert_eq!(options, ReadOptions::default());
    }

    /// `-h` is a short summary: it fits a screen of 80 columns and 24 lines, and ends with an example.
    #[test]
    fn short_help_fits_a_screen() {
        let mut command = parser().term_width(80);
        command.build();
        let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        let mut pages = vec![("fpdb".to_owned(), command.render_help().to_string())];
        for name in names {
            let page = command.find_subcommand_mut(&name).unwrap().clone().term_width(80).render_help().to_string();
            pages.push((name, page));
        }
        let long: Vec<_> =
            pages.iter().map(|(name, page)| (name, page.lines().count())).filter(|&(_, lines)| lines > 24).collect();
        assert!(long.is_empty(), "{long:?}");
        for (name, page) in pages {
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{name}:\n{page}");
            let Some((_, examples)) = page.split_once("Examples:\n") else {
                assert!(name == "fpdb" && page.contains("Begin with"), "{name}:\n{page}");
                continue;
            };
            assert_eq!(examples.lines().count(), 2, "{name}:\n{page}");
        }
    }

    /// The flags that `-h` should show exist, and the help says that it leaves out others.
    #[test]
    fn short_help_shows_flags_that_exist() {
        let command = command();
        for help in &verb_help::VERBS[1..] {
            let verb = command.find_subcommand(help.verb).unwrap();
            for shown in help.short {
                assert!(verb.get_arguments().any(|arg| arg.get_id() == shown), "{}: {shown}", help.verb);
            }
        }
        assert!(verb_help::EVERY_DAY.iter().all(|name| command.find_subcommand(name).is_some()));
        let page = parser().render_help().to_string();
        for verb in command.get_subcommands() {
            assert!(page.contains(verb.get_name()), "{}:\n{page}", verb.get_name());
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
