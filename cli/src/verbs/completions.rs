//! `fpdb completions`: prints the script through which a shell asks the program for completions.

use anyhow::Context;
use clap_complete::env::Shells;

use crate::complete::VARIABLE;
use crate::output::print;
use crate::run_status::RunStatus;
use crate::typed::{CompletionsArgs, Global};

pub(crate) fn run(global: &Global, args: &CompletionsArgs) -> anyhow::Result<RunStatus> {
    let name = args.shell.to_string();
    let shell = Shells::builtins();
    let shell = shell.completer(&name).with_context(|| format!("there are no completions for {name}"))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "fpdb", "fpdb", "fpdb", &mut script)?;
    print(global, &String::from_utf8(script)?)?;
    Ok(RunStatus::Done)
}
