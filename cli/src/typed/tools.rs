//! The command lines of the commands that describe the program itself.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command whose page to print [default: that of the program]
    #[arg(value_name = "COMMAND")]
    pub(crate) verb: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "verb")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// A command, or `limits`
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Option<String>,
}
