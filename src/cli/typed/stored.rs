//! What can be typed after the commands that show or remove stored documents.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only documents whose name begins with one of these
    #[arg(value_name = "PREFIX")]
    pub(crate) prefixes: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Names of stored documents
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Names of stored documents; all versions of a name are removed
    #[arg(value_name = "NAME", required_unless_present = "ids")]
    pub(crate) names: Vec<String>,
    /// Remove the stored documents of these numbers
    ///
    /// Numbers tell versions of one name apart. `fpdb show NAME` prints them, and `fpdb dedup --format json` as remove_id.
    #[arg(long = "id", value_name = "N", num_args = 1..)]
    pub(crate) ids: Vec<u32>,
    /// Ignore names and numbers that no stored document has
    ///
    /// A removal that was interrupted can then be run again with the same arguments.
    #[arg(short = 'f', long)]
    pub(crate) ignore_missing: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Also count distinct fingerprints, and the documents that hold each; reads every posting
    #[arg(long)]
    pub(crate) hashes: bool,
}
