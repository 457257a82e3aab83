//! Complete: answers the shell's requests for completions.
//!
//! The engine is the dynamic one of clap_complete: a static script knows neither the names of stored
//! documents nor the formats of a command. The engine is marked unstable, so Cargo.toml fixes its minor
//! version.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Command;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use fpdb::{Database, DocumentInfo};

use super::resolved::database;
use super::typed;

/// The environment variable of a shell's request.
pub(crate) const VARIABLE: &str = "FPDB_COMPLETE";

/// Maximum number of names that are offered. [`TIME_LIMIT`] ends the search. Both exist because the shell
/// waits for the answer.
const MOST_NAMES: usize = 200;
const TIME_LIMIT: Duration = Duration::from_millis(300);

/// Flags and arguments that take names of stored documents.
const NAMES: [(&str, &str); 8] = [
    ("query", "document"),
    ("pairs", "across"),
    ("pairs", "old"),
    ("dedup", "protect"),
    ("list", "prefixes"),
    ("show", "names"),
    ("rm", "names"),
    ("mv", "old"),
];

/// Answers the request of a shell, if there is one. Returns false without a request.
///
/// # Errors
/// Fails if the request does not have the form of the generated script.
pub(crate) fn answered() -> Result<bool, clap::Error> {
    let asked = CompleteEnv::with_factory(command).var(VARIABLE);
    asked.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref())
}

/// The command line, with completions for its arguments.
fn command() -> Command {
    let mut command = typed::command();
    for (verb, argument) in NAMES {
        command = command.mut_subcommand(verb, |verb| {
            verb.mut_arg(argument, |argument| argument.add(ArgValueCompleter::new(stored_names)))
        });
    }
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for (verb, argument, more) in [("man", "verb", None), ("help", "topic", Some("limits"))] {
        let topics: Vec<String> = verbs.iter().map(String::as_str).chain(more).map(str::to_owned).collect();
        let topics = ArgValueCandidates::new(move || topics.iter().map(CompletionCandidate::new).collect());
        command = command.mut_subcommand(verb, |verb| verb.mut_arg(argument, |argument| argument.add(topics)));
    }
    for verb in ["ingest", "query", "diff", "pairs"] {
        let limit =
            |(name, help): (&str, &'static str)| CompletionCandidate::new(format!("{name}=")).help(Some(help.into()));
        let limits = ArgValueCandidates::new(move || typed::limit_names().map(limit).collect());
        command = command.mut_subcommand(verb, |verb| verb.mut_arg("chosen", |argument| argument.add(limits)));
    }
    command
}

/// Names of stored documents that begin with `typed`, up to the limits of number and time.
fn stored_names(typed: &OsStr) -> Vec<CompletionCandidate> {
    let (mut names, started) = (Vec::new(), Instant::now());
    let (Some(typed), Ok(Some(path))) = (typed.to_str(), database::nearest(named_database().as_ref())) else {
        return names;
    };
    // Without a database there is nothing to offer. Completions cannot show an error.
    let Ok(database) = Database::builder().raise_open_files(true).open(&path) else { return names };
    let _ = database.for_each_document(|document: DocumentInfo| {
        if document.name.starts_with(typed) {
            names.push(CompletionCandidate::new(document.name));
        }
        // Returning an error ends the search.
        if names.len() < MOST_NAMES && started.elapsed() < TIME_LIMIT { Ok(()) } else { Err(anyhow::anyhow!("enough")) }
    });
    names
}

/// The database that the typed command line or the environment names.
fn named_database() -> Option<PathBuf> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let beside =
        words.iter().zip(words.iter().skip(1)).find(|(flag, _)| *flag == "--db").map(|(_, value)| value.clone());
    let joined = || words.iter().find_map(|word| word.to_str()?.strip_prefix("--db=").map(OsString::from));
    let path = beside.or_else(joined).or_else(|| std::env::var_os("FPDB_DB"));
    path.filter(|path| !path.is_empty()).map(PathBuf::from)
}
