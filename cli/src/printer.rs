//! Printer: messages on standard error. It decides which messages to print.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use super::colour::wants_colour;
use super::hint::hint;
use super::suggested::Suggested;
use super::typed::{Global, flag_of};
use crate::render::escape_terminal;

/// Prints messages on standard error.
pub(crate) struct Printer {
    quiet: bool,
    /// True if details are printed.
    pub(crate) verbose: bool,
    colour: bool,
    /// True if a progress bar may be drawn.
    pub(crate) progress: bool,
    /// True if lines of text show progress instead of a bar.
    pub(crate) lines: bool,
    /// True if the command takes `--memory`.
    has_memory: bool,
    /// The name of the command.
    verb: String,
    /// The commands that messages name.
    pub(crate) suggested: Suggested,
    /// The hint printed last with the failure of a document.
    last_hint: Mutex<String>,
}

impl Printer {
    /// A printer for the command `verb`. `has_memory`: the command takes `--memory`.
    pub(crate) fn new(global: &Global, verb: &str, has_memory: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let draws = terminal && anstyle_query::term_supports_ansi_color();
        Self {
            quiet: global.quiet,
            verbose: global.verbose,
            colour: wants_colour(global.color, terminal),
            progress: draws && !global.quiet && !global.no_progress,
            lines: !draws && !global.quiet && !global.no_progress,
            has_memory,
            verb: verb.to_owned(),
            suggested: Suggested::new(global.typed_db.as_ref()),
            last_hint: Mutex::default(),
        }
    }

    /// Prints a note; not with `--quiet`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            say(format_args!("{}", escape_terminal(text)));
        }
    }

    /// Prints a warning, also with `--quiet`.
    pub(crate) fn warning(&self, text: &str) {
        say(format_args!("{}", escape_terminal(text)));
    }

    /// Prints a detail, only with `--verbose`.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            say(format_args!("{}", escape_terminal(text)));
        }
    }

    /// Prints the error that ended the run.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        self.error_of(error, &self.suggested);
    }

    /// Prints an error of a database that is not the database of the command. `on` adds the `--db` of that
    /// database to hinted commands.
    pub(crate) fn error_of(&self, error: &anyhow::Error, on: &Suggested) {
        say(format_args!("{}: {}", self.label("error", 31), escape_terminal(&self.words_of(error))));
        let of_database =
            || error.chain().find_map(|cause| hint(cause.downcast_ref()?, &self.verb, self.has_memory, on));
        if let Some(next) = hint_of_service(error).or_else(of_database) {
            say(format_args!("{}: {}", self.label("hint", 36), escape_terminal(&next)));
        }
    }

    /// An error in words. The library names options by the names of fields; these words have the flags that
    /// the user knows.
    fn words_of(&self, error: &anyhow::Error) -> String {
        let is_alone = error.chain().count() == 1;
        match error.downcast_ref().filter(|_| is_alone) {
            Some(fpdb::Error::InvalidParameter { name, value, expected }) => {
                let name = flag_of(&self.verb, name).unwrap_or_else(|| (*name).to_owned());
                format!("{name} cannot be {value}: expected {expected}")
            }
            Some(fpdb::Error::NothingFits { option, value, .. }) => {
                let option = flag_of(&self.verb, option).unwrap_or_else(|| (*option).to_owned());
                format!("no stored document fits {value} ({option})")
            }
            _ => format!("{error:#}"),
        }
    }

    /// Prints the error of one document that could not be read.
    pub(crate) fn failure(&self, name: &str, error: &fpdb::Error) {
        let told = if says_name(error, name) { error.chain() } else { format!("{name}: {}", error.chain()) };
        say(format_args!("{}: {}", self.label("error", 31), escape_terminal(&told)));
        if let Some(next) = hint(error, &self.verb, self.has_memory, &self.suggested) {
            let mut last = self.last_hint.lock().unwrap_or_else(PoisonError::into_inner);
            // Many documents may fail for the same reason.
            if *last != next {
                say(format_args!("{}: {}", self.label("hint", 36), escape_terminal(&next)));
                *last = next;
            }
        }
    }

    fn label(&self, text: &str, colour: u8) -> String {
        if self.colour { format!("\u{1b}[1;{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The next step after an error of `serve`.
fn hint_of_service(_error: &anyhow::Error) -> Option<String> {
    #[cfg(feature = "serve")]
    return _error.chain().find_map(|cause| cause.downcast_ref::<fpdb_serve::ServeError>()?.hint());
    #[cfg(not(feature = "serve"))]
    None
}

/// True if the message of an error contains the name of its document.
fn says_name(error: &fpdb::Error, name: &str) -> bool {
    use fpdb::Error;
    match error {
        Error::NoSuchDocument { .. } | Error::NoSuchNumber { .. } => true,
        Error::Io { path, .. } | Error::DirectoryLoop { path, .. } => path.to_str() == Some(name),
        Error::Document(document) => document.path().is_some_and(|path| path.to_str() == Some(name)),
        _ => false,
    }
}

/// Writes a line to standard error. Ignores errors: the run continues even if standard error is closed.
fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}
