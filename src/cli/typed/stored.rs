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
    /// Names of stored documents; all versions of a name are deleted
    #[arg(value_name = "NAME", required_unless_present = "ids")]
    pub(crate) names: Vec<String>,
    /// Numbers of stored documents, which tell versions of one name apart: what `fpdb dedup --format json` calls remove_id
    #[arg(long = "id", value_name = "N", num_args = 1..)]
    pub(crate) ids: Vec<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Count distinct fingerprints, and in how many documents each is; reads every posting
    #[arg(long)]
    pub(crate) hashes: bool,
}
