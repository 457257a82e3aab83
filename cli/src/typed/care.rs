//! The command lines of the commands that maintain a database.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use fpdb::OnChange;

use super::ingest::on_change;
use super::values::{parse_size, parse_time};

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Rebuild damaged parts, and list the documents that are lost
    ///
    /// Rebuilds from the intact parts of the database and from the documents' own files.
    #[arg(long)]
    pub(crate) repair: bool,
    /// Repair even if damaged documents are lost because their files cannot be opened
    ///
    /// Without this flag such a repair is refused, as the files may be on a disk that is not mounted.
    #[arg(long, requires = "repair")]
    pub(crate) give_up_missing: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The folder of backups: new, empty, or with earlier backups
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// List the backups in the folder: number, time, documents, size
    #[arg(long, conflicts_with_all = ["keep", "quick"])]
    pub(crate) list: bool,
    /// Compare all files of the backups with their checksums; make none
    ///
    /// Needs no database. Lists the backups too. The exit status is 2 if one is damaged.
    #[arg(long, conflicts_with_all = ["keep", "quick", "list"])]
    pub(crate) verify: bool,
    /// Keep only the N newest backups, damaged ones only if there is room [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep: Option<u32>,
    /// Check only the sizes of files
    ///
    /// Without this flag the whole database is read first, and nothing is copied if it is damaged. The files
    /// of earlier backups are read and compared with their checksums, and damaged ones are copied again if
    /// the database still has them.
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A folder of backups
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Which backup to restore [default: the newest]
    #[arg(long, value_name = "N")]
    pub(crate) number: Option<u32>,
    /// Restore the newest backup made at this time or earlier
    ///
    /// Such as 2026-11-21T08:30 or 2026-11-21T08:30:00+01:00. UTC unless an offset is given. A date
    /// alone is its beginning.
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "number")]
    pub(crate) at: Option<i64>,
}

#[derive(Debug, Args)]
pub(crate) struct AssembleArgs {
    /// The folder of a finished build
    #[arg(value_name = "STAGING", value_hint = ValueHint::DirPath)]
    pub(crate) staging: PathBuf,
    /// Memory to use where the database has documents already [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of other databases
    #[arg(value_name = "OTHER", required = true, value_hint = ValueHint::DirPath)]
    pub(crate) others: Vec<PathBuf>,
    /// Read the texts of the documents again, for databases of another profile
    ///
    /// Texts are read from the other database if it stores them, else from their files. Names, metadata,
    /// times, marks of boilerplate and stored texts stay. Remembered flags and the list of what is kept
    /// out come along. Without this flag the profiles must be the same, and no text is read.
    #[arg(long)]
    pub(crate) reread: bool,
    /// If a stored document has other content there: replace, keep or both
    #[arg(long, value_name = "WHAT", default_value = "replace", value_parser = on_change())]
    #[arg(hide_possible_values = true)]
    pub(crate) on_change: OnChange,
    /// Say what would be added and replaced; store nothing
    ///
    /// Each database is compared with this one as it is now, not with the others.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Memory to use, such as 512M or 4GiB [default: a quarter of the machine's]
    ///
    /// Without --reread each commit has as many documents as this has room for, some 1 KiB each, and reads
    /// the other database's postings once.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
}
