//! `fpdb completions`: a script for a shell, from the same definitions as `--help`.

use clap::CommandFactory;

use crate::cli::output::print;
use crate::cli::resolved::output;
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Cli, Global, OutputFormat};

pub(crate) fn run(global: &Global, shell: clap_complete::Shell) -> anyhow::Result<RunStatus> {
    output::only(global, "completions", &[OutputFormat::Human])?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fpdb", &mut script);
    print(global, &String::from_utf8_lossy(&script))?;
    Ok(RunStatus::Done)
}
