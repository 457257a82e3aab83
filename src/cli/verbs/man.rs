//! `fpdb man`: the manual page, from the same definitions as `--help`.

use clap::CommandFactory;

use crate::cli::output::print;
use crate::cli::resolved::output;
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Cli, Global, OutputFormat};

/// The manual page, with a section for each command.
pub(crate) fn run(global: &Global) -> anyhow::Result<RunStatus> {
    output::only(global, "man", &[OutputFormat::Human])?;
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
    print(global, &String::from_utf8_lossy(&page))?;
    Ok(RunStatus::Done)
}
