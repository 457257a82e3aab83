//! What can be typed. `--help`, the manual page and the completions come from here. How documents are read and how they
//! are compared have files of their own.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use fpdb::{ReadOptions, RecordFields, Selection, Unit, WordRule};

use super::comparing::{DedupArgs, DiffArgs, PairsArgs, QueryArgs};
use super::reading::{LimitArgs, ReadArgs};

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
    #[arg(long, value_enum, default_value_t = Format::Human, global = true)]
    pub(crate) format: Format,
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
pub(crate) enum Format {
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

/// The settings a database pins when it is made.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Profile (a database keeps the one it was made with)")]
pub(crate) struct ProfileArgs {
    /// A named choice of the settings below: text (characters, k 50, w 100; the default), prose
    /// (characters, k 25, w 20: finds a copied sentence), words (words, k 3, w 1: the 2001 paper), code (tokens of
    /// source code, k 7, w 2: copies with other names, comments and layout), bytes
    #[arg(long, value_name = "NAME", value_parser = fpdb::Profile::NAMES)]
    pub(crate) profile: Option<String>,
    /// What a symbol is: char, word, token (of source code) or byte
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<Unit>,
    /// The noise threshold: nothing shorter than K symbols can match
    #[arg(short, value_name = "K")]
    pub(crate) k: Option<u32>,
    /// The window: every shared run of W + K - 1 symbols is found
    #[arg(short, value_name = "W")]
    pub(crate) w: Option<u32>,
    /// Which k-grams are kept: robust (the default), plain, all, mod:P or safe-mod:P
    #[arg(long, value_name = "RULE")]
    pub(crate) selection: Option<Selection>,
    /// For unit word: letters (every other character separates; the default) or unicode
    #[arg(long, value_name = "RULE")]
    pub(crate) words: Option<WordRule>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Files, folders and pipes; `-` is standard input. Databases of fpdb and their backups are left out
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    pub(crate) paths: Vec<PathBuf>,
    /// Take paths from a file, one a line, or with NUL characters after them (`find -print0`); `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// The name of the document on standard input
    #[arg(long, value_name = "NAME", default_value = "-", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: String,
    /// Memory to use, such as 512M or 4GiB [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// What to do with a document whose name is stored with other content
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnChange::Replace)]
    pub(crate) on_change: OnChange,
    /// Keep the texts in the database, compressed: passages are exact even when the files are gone
    #[arg(long)]
    pub(crate) store_text: bool,
    /// Leave out files and folders that match this glob, and all below them (.gitignore syntax, from the current folder);
    /// may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Leave out files and folders whose name begins with a dot
    #[arg(long)]
    pub(crate) skip_hidden: bool,
    /// Follow symbolic links below folders
    #[arg(long)]
    pub(crate) follow: bool,
    /// The documents are boilerplate: never a match, and what they hold is ignored in all others. Stored ones become so; to
    /// take it back, `rm` them and ingest them again
    #[arg(long)]
    pub(crate) boilerplate: bool,
    /// A CSV file whose column `filename` names documents; its other columns (label, group, ...) are kept with them
    #[arg(long, value_name = "FILE")]
    pub(crate) metadata: Option<PathBuf>,
    /// The field of JSON lines and Parquet that holds the text
    #[arg(long, value_name = "FIELD", default_value_t = RecordFields::default().text)]
    pub(crate) text_field: String,
    /// The field that holds the id, kept with the document
    #[arg(long, value_name = "FIELD", default_value_t = RecordFields::default().id)]
    pub(crate) id_field: String,
    /// Other fields to keep with the documents, with commas between them
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub(crate) keep_fields: Vec<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

impl IngestArgs {
    /// How documents are read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let fields =
            RecordFields { text: self.text_field.clone(), id: self.id_field.clone(), keep: self.keep_fields.clone() };
        ReadOptions { fields, limits: self.limits.limits(), ..self.read.options() }
    }
}

/// What to do with changed documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnChange {
    /// The new content takes the place of the stored one
    Replace,
    /// The stored content stays
    Keep,
    /// Both are kept under one name
    Both,
}

impl From<OnChange> for fpdb::OnChange {
    fn from(typed: OnChange) -> Self {
        match typed {
            OnChange::Replace => Self::Replace,
            OnChange::Keep => Self::Keep,
            OnChange::Both => Self::Both,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Names of stored documents; all versions of a name are deleted
    #[arg(value_name = "NAME", required_unless_present = "ids")]
    pub(crate) names: Vec<String>,
    /// Numbers of stored documents, which tell versions of one name apart: what `fpdb dedup --format json` calls remove_id
    #[arg(long = "id", value_name = "N", num_args = 1..)]
    pub(crate) ids: Vec<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The folder of backups: new, empty, or with earlier backups
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Keep only the N newest backups [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep: Option<u32>,
    /// Compare only the sizes of the files that earlier backups need; without it all of them are read and compared with
    /// their checksums, and damaged ones are copied again where the database still has them
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A folder of backups
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The backup to take [default: the newest]
    #[arg(long, value_name = "N")]
    pub(crate) number: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of other databases
    #[arg(value_name = "OTHER", required = true)]
    pub(crate) others: Vec<PathBuf>,
    /// What to do with a document whose name is stored with other content
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnChange::Replace)]
    pub(crate) on_change: OnChange,
    /// Memory to use, such as 512M or 4GiB: each commit takes as many documents as it has room for, some 1 KiB each, and
    /// reads the other database's postings once [default: a quarter of this machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only documents whose name begins with one of these
    #[arg(value_name = "PREFIX")]
    pub(crate) prefixes: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Names of stored documents
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Rebuild what is damaged, from what can be read and from the documents' own files, and list what cannot be
    #[arg(long)]
    pub(crate) repair: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Count distinct fingerprints, and in how many documents each is; reads every posting
    #[arg(long)]
    pub(crate) hashes: bool,
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

/// A number of things.
pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}

/// A number of things that there must be.
pub(super) fn parse_positive(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a whole number, 1 or more".to_owned()),
    }
}

/// Bytes from `512M` or `4GiB`: units of 1,000 and, with an i, of 1,024.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let size: bytesize::ByteSize = text.parse().map_err(|_| "expected a size such as 512M or 4GiB".to_owned())?;
    Ok(size.as_u64())
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        assert_eq!(parse_size("512M"), Ok(512_000_000));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("1048576"), Ok(1 << 20));
        assert!(parse_size("much").is_err());
        assert!(parse_size("-1M").is_err());
    }
}
