//! The command line in three layers: typed ([`args`]), resolved (which database, which profile), done (one
//! verb per file). Only here are results turned into exit statuses.

mod args;
mod backup;
mod compact;
mod comparing;
mod dedup;
mod diff;
mod generate;
mod html;
mod ingest;
mod init;
mod interrupt;
mod list;
mod merge;
mod pairs;
mod place;
mod printer;
mod progress;
mod query;
mod reading;
mod rm;
mod show;
mod stats;
mod verify;

use std::io;
use std::process::ExitCode;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches};
use fpdb::Error;

use args::{Cli, Command};
use printer::Printer;

/// How a command that ran to its end ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// All went well.
    Done,
    /// `-e` was given and nothing was found.
    NothingFound,
    /// Something could not be read; the rest is in the output.
    Incomplete,
    /// Ctrl-C.
    Interrupted,
}

impl Outcome {
    fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::NothingFound => 1,
            Self::Incomplete => 2,
            Self::Interrupted => 130,
        })
    }
}

/// Runs the program.
pub(crate) fn run() -> ExitCode {
    let mut command = args::command();
    if std::env::var_os("FPDB_DB").is_some_and(|path| path.is_empty()) {
        // Empty is as good as not set.
        command = command.mut_arg("db", |db| db.env(None));
    }
    let cli = match command.try_get_matches().and_then(|matches| typed(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output, which may be closed early.
            let _ = error.print();
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if asked { 0 } else { 2 });
        }
    };
    let printer = Printer::new(&cli.global);
    match dispatch(&cli, &printer) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            printer.error(&error);
            ExitCode::from(2)
        }
    }
}

/// What was typed, where a field alone does not say it all.
fn typed(matches: &ArgMatches) -> Result<Cli, clap::Error> {
    let mut cli = Cli::from_arg_matches(matches)?;
    cli.global.output = cli.global.output.filter(|path| path.as_os_str() != "-");
    if let (Command::Query(args), Some(matches)) = (&mut cli.command, matches.subcommand_matches("query")) {
        args.note_order(matches);
    }
    Ok(cli)
}

fn dispatch(cli: &Cli, printer: &Printer) -> anyhow::Result<Outcome> {
    // As a file operation, whose hints it needs: what listens takes two open files.
    interrupt::install().map_err(|source| Error::Io { action: "listen for", path: "Ctrl-C".into(), source })?;
    printer::not_inside_a_database(&cli.global)?;
    if let Some(threads) = cli.global.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global().context("cannot start threads")?;
    }
    match &cli.command {
        Command::Init(args) => init::run(&cli.global, args, printer),
        Command::Ingest(args) => ingest::run(&cli.global, args, printer),
        Command::Query(args) => query::run(&cli.global, args, printer),
        Command::Diff(args) => diff::run(&cli.global, args, printer),
        Command::Pairs(args) => pairs::run(&cli.global, args, printer),
        Command::Dedup(args) => dedup::run(&cli.global, args, printer),
        Command::Rm(args) => rm::run(&cli.global, args, printer),
        Command::Compact => compact::run(&cli.global, printer),
        Command::Verify(args) => verify::run(&cli.global, args, printer),
        Command::Backup(args) => backup::backup(&cli.global, args, printer),
        Command::Restore(args) => backup::restore(&cli.global, args, printer),
        Command::Merge(args) => merge::run(&cli.global, args, printer),
        Command::List(args) => list::run(&cli.global, args, printer),
        Command::Show(args) => show::run(&cli.global, args, printer),
        Command::Stats(args) => stats::run(&cli.global, args, printer),
        Command::Completions { shell } => generate::completions(&cli.global, *shell),
        Command::Man => generate::man(&cli.global),
    }
}

/// The reader of our output has gone: that is its right, and no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = cause
            .downcast_ref::<io::Error>()
            .map(io::Error::kind)
            .or_else(|| match cause.downcast_ref::<csv::Error>()?.kind() {
                csv::ErrorKind::Io(error) => Some(error.kind()),
                _ => None,
            })
            .or_else(|| cause.downcast_ref::<serde_json::Error>()?.io_error_kind());
        kind == Some(io::ErrorKind::BrokenPipe)
    })
}
