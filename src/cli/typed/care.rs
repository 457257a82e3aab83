//! What can be typed after the commands that take care of a database.

use std::path::PathBuf;

use clap::Args;
use fpdb::OnChange;

use super::ingest::on_change;
use super::values::parse_size;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Rebuild what is damaged, from what can be read and from the documents' own files, and list what cannot be
    #[arg(long)]
    pub(crate) repair: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The folder of backups: new, empty, or with earlier backups
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Keep only the N newest backups [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep: Option<u32>,
    /// Compare only the sizes of the files that earlier backups need; without it all of them are read and compared with
    /// their checksums, and damaged ones are copied again where the database still has them
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A folder of backups
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The backup to take [default: the newest]
    #[arg(long, value_name = "N")]
    pub(crate) number: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of other databases
    #[arg(value_name = "OTHER", required = true)]
    pub(crate) others: Vec<PathBuf>,
    /// What to do with a document whose name is stored with other content
    #[arg(long, value_name = "WHAT", default_value = "replace", value_parser = on_change())]
    pub(crate) on_change: OnChange,
    /// Memory to use, such as 512M or 4GiB: each commit takes as many documents as it has room for, some 1 KiB each, and
    /// reads the other database's postings once [default: a quarter of this machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
}
