//! One run of the program: parses the arguments, calls the verb, and turns the result into an exit status.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches};
use fpdb::Error;
use fpdb_host::{guarded, temporary};

use crate::aborted;
use crate::printer::Printer;
use crate::run_status::RunStatus;
use crate::typed::{self, Cli, Global, Verb};
use crate::{complete, interrupt, resolved, verbs};

/// Runs the program.
pub(crate) fn run() -> ExitCode {
    guarded::silence_guarded_panics();
    temporary::list_temporary_files();
    if std::env::args_os().skip(1).eq([typed::READ_DOCUMENTS]) {
        // This is not a command: the program starts itself in this way to read documents in a separate
        // process.
        return if fpdb::serve_documents().is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    }
    if let Err(source) = aborted::install() {
        let _ = writeln!(io::stderr(), "error: cannot listen for SIGABRT: {source}");
        return ExitCode::from(2);
    }
    match complete::answered() {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(2);
        }
    }
    let parsed = typed::parser()
        .try_get_matches()
        .and_then(|matches| Ok((typed(&matches)?, matches.subcommand_name().unwrap_or_default().to_owned())));
    let (cli, verb) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let printed = error.print().and_then(|()| io::stdout().flush());
            // Help and version go to standard output, which may be closed early.
            return match printed {
                Err(failure) if asked && failure.kind() != io::ErrorKind::BrokenPipe => {
                    let _ = writeln!(io::stderr(), "error: cannot write the results: {failure}");
                    ExitCode::from(2)
                }
                _ => ExitCode::from(if asked { 0 } else { 2 }),
            };
        }
    };
    let printer = Printer::new(&cli.global, &verb, cli.verb.takes_memory());
    match dispatch(&cli, &verb, &printer) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        // The answer to Ctrl-C was already printed on standard error.
        Err(error) if interrupt::is_stopped(&error) => RunStatus::Interrupted.exit_code(),
        Err(error) => {
            printer.error(&error);
            ExitCode::from(2)
        }
    }
}

/// Parses the command line, and sets fields that depend on several arguments or on the environment.
fn typed(matches: &ArgMatches) -> Result<Cli, clap::Error> {
    let mut cli = Cli::from_arg_matches(matches)?;
    // The variable is not read by clap, which would then name `--db` in the usage of other errors. An empty
    // variable counts as not set.
    let db = || std::env::var_os("FPDB_DB").filter(|path| !path.is_empty()).map(PathBuf::from);
    cli.global.typed_db = cli.global.db.clone();
    cli.global.db = cli.global.db.or_else(db);
    cli.global.output = cli.global.output.filter(|path| path.as_os_str() != "-");
    if let (Verb::Query(args), Some(matches)) = (&mut cli.verb, matches.subcommand_matches("query")) {
        args.note_order(matches);
    }
    if let (Verb::Ingest(args), Some(matches)) = (&mut cli.verb, matches.subcommand_matches("ingest")) {
        args.note_given(matches);
    }
    Ok(cli)
}

fn dispatch(cli: &Cli, verb: &str, printer: &Printer) -> anyhow::Result<RunStatus> {
    // A service handles signals itself: it first finishes its running requests.
    if !matches!(cli.verb, Verb::Serve(_)) {
        // The listener opens two files, so it can fail because too many files are open: this error gets the
        // hint for that.
        interrupt::install().map_err(|source| Error::System { action: "listen for Ctrl-C", source })?;
    }
    let global: &Global = &cli.global;
    if let Some(help) = typed::verb_help::of(verb) {
        resolved::output::only(global, verb, help.formats)?;
    }
    resolved::output::check(global, &cli.verb, verb)?;
    match &cli.verb {
        Verb::Serve(args) => verbs::serve::run(global, args, printer),
        Verb::Init(args) => verbs::init::run(global, args, printer),
        Verb::Ingest(args) => verbs::ingest::run(global, args, printer),
        Verb::Query(args) => verbs::query::run(global, args, printer),
        Verb::Diff(args) => verbs::diff::run(global, args, printer),
        Verb::Pairs(args) => verbs::pairs::run(global, args, printer),
        Verb::Apply(args) => verbs::apply::run(global, args, printer),
        Verb::Dedup(args) => verbs::dedup::run(global, args, printer),
        Verb::Rm(args) => verbs::rm::run(global, args, printer),
        Verb::Mv(args) => verbs::mv::run(global, args, printer),
        Verb::Compact => verbs::compact::run(global, printer),
        Verb::Verify(args) => verbs::verify::run(global, args, printer),
        Verb::Backup(args) => verbs::backup::run(global, args, printer),
        Verb::Restore(args) => verbs::restore::run(global, args, printer),
        Verb::Merge(args) => verbs::merge::run(global, args, printer),
        Verb::Assemble(args) => verbs::assemble::run(global, args, printer),
        Verb::List(args) => verbs::list::run(global, args, printer),
        Verb::Show(args) => verbs::show::run(global, args, printer),
        Verb::Stats(args) => verbs::stats::run(global, args, printer),
        Verb::Completions(args) => verbs::completions::run(global, args),
        Verb::Man(args) => verbs::man::run(global, args, printer),
        Verb::Help(args) => verbs::help::run(global, args),
    }
}

/// True if the reader of the output is gone, which is not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_broken_pipe = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref()).any(is_broken_pipe)
}
