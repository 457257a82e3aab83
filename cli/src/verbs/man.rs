//! `fpdb man`: prints a manual page for each command, from the same definitions as `--help`.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::output::print;
use crate::printer::Printer;
use crate::run_status::RunStatus;
use crate::typed::{self, Global, ManArgs, verb_help};

pub(crate) fn run(global: &Global, args: &ManArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let mut program = typed::command();
    program.build();
    if let Some(folder) = &args.dir {
        let written = write_all(&program, folder)?;
        printer.note(&format!("wrote {written} pages into {}", folder.display()));
        return Ok(RunStatus::Done);
    }
    let page = match args.verb.as_deref() {
        None => page(&program, "")?,
        Some(name) => match program.find_subcommand(name) {
            Some(verb) => page(verb, name)?,
            None => anyhow::bail!("there is no command {name}; `fpdb help` lists the commands"),
        },
    };
    print(global, &page)?;
    Ok(RunStatus::Done)
}

/// Writes the page of each command to its own file. Returns the number of pages.
fn write_all(program: &Command, folder: &Path) -> anyhow::Result<usize> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let verbs = program.get_subcommands().map(|verb| (verb, verb.get_name()));
    let mut written = 0;
    for (command, name) in [(program, "")].into_iter().chain(verbs) {
        let file = if name.is_empty() { "fpdb.1".to_owned() } else { format!("fpdb-{name}.1") };
        let path = folder.join(file);
        fs::write(&path, page(command, name)?).with_context(|| format!("cannot write {}", path.display()))?;
        written += 1;
    }
    Ok(written)
}

/// The page of a command. An empty name stands for the program.
fn page(command: &Command, name: &str) -> anyhow::Result<String> {
    // The page also describes the flags that `-h` leaves out.
    let command = command.clone().mut_args(|argument| argument.hide_short_help(false));
    let man = Man::new(command.clone()).source(format!("fpdb {}", env!("CARGO_PKG_VERSION"))).manual("User Commands");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if name.is_empty() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut roff = Roff::new();
    if let Some(help) = verb_help::of(name) {
        if !help.note.is_empty() {
            roff.control("SH", ["NOTES"]).text([roman(help.note)]);
        }
        roff.control("SH", ["EXAMPLES"]);
        for (does, run) in help.examples {
            roff.control("TP", []).text([roman(*does)]).text([bold(*run)]);
        }
    }
    roff.control("SH", ["ENVIRONMENT"]);
    definitions(&mut roff, &verb_help::ENVIRONMENT);
    roff.control("SH", ["EXIT STATUS"]);
    definitions(&mut roff, &verb_help::EXIT_STATUS);
    roff.control("SH", ["SEE ALSO"]);
    let others: Vec<String> = match name {
        "" => command.get_subcommands().map(|verb| format!("fpdb-{}(1)", verb.get_name())).collect(),
        _ => vec!["fpdb(1)".to_owned()],
    };
    roff.text([roman(others.join(", "))]);
    roff.to_writer(&mut page)?;
    Ok(String::from_utf8(page)?)
}

/// Terms with their meanings.
fn definitions(roff: &mut Roff, terms: &[(&str, &str)]) {
    for (term, means) in terms {
        roff.control("TP", []).text([bold(*term)]).text([roman(*means)]);
    }
}
