//! The command line of `fpdb diff`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::passages::{ExcerptArgs, JoiningArgs};
use super::profile::ProfileArgs;
use super::reading::QueryReadArgs;
use super::report::ReportArgs;

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The first file, or a document in an archive (all.zip!a.c); `-` is standard input
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub(crate) a: PathBuf,
    /// The second file
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub(crate) b: PathBuf,
    /// Exit with status 1 if they share nothing
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,
    /// Leave out the text of these files and folders, such as the text of a task
    ///
    /// Takes all paths that follow it, so write A and B first. The text of all documents of a folder or
    /// archive is left out, and each is read as A is. If A and B have the same bytes, they match in any case.
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::FilePath)]
    pub(crate) boilerplate: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) read: QueryReadArgs,
    #[command(flatten)]
    pub(crate) excerpt: ExcerptArgs,
    #[command(flatten)]
    pub(crate) joining: JoiningArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}
