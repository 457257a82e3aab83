//! `fpdb completions` and `fpdb man`: from the same definitions as `--help`.

use clap::CommandFactory;

use super::Outcome;
use super::args::{Cli, Format, Global};
use super::printer::{Output, only};

pub(crate) fn completions(global: &Global, shell: clap_complete::Shell) -> anyhow::Result<Outcome> {
    only(global, "completions", &[Format::Human])?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fpdb", &mut script);
    print(global, &script)
}

/// The manual page, with a section for each command.
pub(crate) fn man(global: &Global) -> anyhow::Result<Outcome> {
    only(global, "man", &[Format::Human])?;
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let man = clap_mangen::Man::new(verb.clone());
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    print(global, &page)
}

fn print(global: &Global, text: &[u8]) -> anyhow::Result<Outcome> {
    let mut output = Output::open(global)?;
    output.text(&String::from_utf8_lossy(text))?;
    output.finish()?;
    Ok(Outcome::Done)
}
