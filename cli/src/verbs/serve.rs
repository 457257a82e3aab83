//! `fpdb serve`: a service over HTTP, with a page.

use crate::printer::Printer;
use crate::run_status::RunStatus;
use crate::typed::{Global, ServeArgs};

/// This build has no service.
#[cfg(not(feature = "serve"))]
pub(crate) fn run(_: &Global, _: &ServeArgs, _: &Printer) -> anyhow::Result<RunStatus> {
    anyhow::bail!("serving needs the feature serve, which this build of fpdb leaves out")
}

#[cfg(feature = "serve")]
pub(crate) use with_service::run;

#[cfg(feature = "serve")]
mod with_service {
    use std::collections::HashSet;
    use std::ffi::OsStr;
    use std::io::IsTerminal;
    use std::os::unix::ffi::OsStrExt;

    use clap::{Arg, Command};
    use fpdb_serve::{Rights, ServeError, ServeOptions};

    use super::*;
    use crate::complete::VARIABLE;
    use crate::output::print;
    use crate::resolved::database;
    use crate::typed::{self, KeyRights, reader_process};

    pub(crate) fn run(global: &Global, args: &ServeArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
        if let (Some(name), Some(rights)) = (&args.new_key, args.rights) {
            let rights = match rights {
                KeyRights::Read => Rights::Read,
                KeyRights::Write => Rights::Write,
                KeyRights::Admin => Rights::Admin,
            };
            let (key, line) = fpdb_serve::new_key(name, rights)?;
            print(global, &format!("{key}\n{line}\n"))?;
            printer.note("the first line is the key, for its user alone; the second goes into the key file");
            return Ok(RunStatus::Done);
        }
        let options = options(global, args)?;
        let unknown = unknown_variables();
        if args.print_config {
            for name in &unknown {
                printer.warning(&format!("{name} {NO_SETTING}"));
            }
            print(global, &options.to_toml()?)?;
            return Ok(RunStatus::Done);
        }
        if global.output.is_some() {
            anyhow::bail!("--output is for --new-key and --print-config: a service writes no results");
        }
        let path = options.db.clone();
        let scheme = if options.tls_cert.is_some() { "https" } else { "http" };
        let served = fpdb_serve::serve(options, |address| {
            // If standard error is not a terminal, it is the log, which has the address in JSON.
            if std::io::stderr().is_terminal() {
                let path = database::display_path(&path);
                printer.note(&format!("serving {path} at {scheme}://{address}/ (Ctrl-C ends it)"));
            }
            for name in &unknown {
                fpdb_serve::log_event("unknown variable", &format!("{name} {NO_SETTING}"));
            }
        });
        match served {
            // The program has its own hints for errors of the library.
            Err(ServeError::Database(error)) => Err(error.into()),
            served => Ok(served.map(|()| RunStatus::Done)?),
        }
    }

    const NO_SETTING: &str = "in the environment is no setting of fpdb; `fpdb serve --help` lists all settings";

    /// The variables `FPDB_*` of the environment that no flag of the program reads.
    fn unknown_variables() -> Vec<String> {
        let program = typed::command();
        let commands = std::iter::once(&program).chain(program.get_subcommands());
        let mut known: HashSet<&OsStr> = commands.flat_map(Command::get_arguments).filter_map(Arg::get_env).collect();
        known.extend([VARIABLE, "FPDB_DB"].map(OsStr::new));
        let given = std::env::vars_os().map(|(name, _)| name);
        let unknown = given.filter(|name| name.as_bytes().starts_with(b"FPDB_") && !known.contains(name.as_os_str()));
        let mut unknown: Vec<String> = unknown.map(|name| name.to_string_lossy().into_owned()).collect();
        unknown.sort();
        unknown
    }

    /// The settings. Flags and environment variables take precedence over the file, and the file over the
    /// defaults.
    fn options(global: &Global, args: &ServeArgs) -> anyhow::Result<ServeOptions> {
        let mut options = match &args.config {
            Some(path) => ServeOptions::read(path)?,
            None => ServeOptions::default(),
        };
        /// Sets the fields whose flags were given.
        macro_rules! set {
            ($($field:ident),*) => { $(if let Some(value) = args.$field.clone() { options.$field = value; })* };
        }
        set!(listen, job_memory, queue, per_key, connections, max_results, request_seconds, client_seconds, jobs);
        set!(kept_jobs, drain_seconds, log_requests, read_only);
        for (field, size) in [(&mut options.max_body, args.max_body), (&mut options.body_memory, args.body_memory)] {
            if let Some(size) = size {
                *field = usize::try_from(size)?;
            }
        }
        options.key_file = args.key_file.clone().or(options.key_file);
        options.tls_cert = args.tls_cert.clone().or(options.tls_cert);
        options.tls_key = args.tls_key.clone().or(options.tls_key);
        options.backup_folder = args.backup_folder.clone().or(options.backup_folder);
        options.keep_backups = args.keep_backups.or(options.keep_backups);
        options.per_minute = args.per_minute.or(options.per_minute);
        options.memory = args.memory.or(options.memory);
        options.cache = args.cache.map(usize::try_from).transpose()?.or(options.cache);
        options.workers = args.workers.or(options.workers);
        options.threads = global.threads.map(usize::from).or(options.threads);
        if !args.hosts.is_empty() {
            options.hosts.clone_from(&args.hosts);
        }
        if global.db.is_some() || options.db.as_os_str().is_empty() {
            // Printing settings does not need a database.
            options.db = match database::existing(global) {
                Ok(path) => path,
                Err(_) if args.print_config => database::new(global),
                Err(error) => return Err(error),
            };
        }
        options.reader = Some(reader_process());
        Ok(options)
    }
}
