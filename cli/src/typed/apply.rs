//! The command line of `fpdb apply`.

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use clap::{ArgGroup, Args};
use fpdb::apply::{Action, LinkKind, ProofOptions};

use super::limits::LimitArgs;
use super::values::{choices, parse_size};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("action").required(true).multiple(true))]
// The usage has two lines, so that it fits into 80 columns.
#[command(
    override_usage = "fpdb apply <--write|--mark|--remove|--link|--move|--check>\n                  [OPTIONS] <REPORT> [LIST]..."
)]
pub(crate) struct ApplyArgs {
    /// The report, as `fpdb dedup --format json -o REPORT` writes it
    ///
    /// With --write and --mark also a list of documents: JSON lines {"document": NAME}, those of `fpdb list
    /// --format json`, or the answers of `fpdb query --top 0 --no-passages --format json -o REPORT`, whose
    /// matches are then removable.
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// Lists of more documents to leave out or to mark
    ///
    /// With --write and --mark: one copy without the documents of the report and of these lists. A removable
    /// document whose survivor is listed, and which is not listed itself, stays.
    #[arg(value_name = "LIST", hide_short_help = true)]
    pub(crate) lists: Vec<PathBuf>,
    /// Copy all files here, without the removable documents
    ///
    /// With --cut without the repeated passages. Brings an earlier copy up to date: writes new files, and
    /// files that lose other documents than before. Writes nothing if other files are in their places. A file
    /// that is not as it was ingested is named and not copied: ingest and dedup again. Files without a stored
    /// document are not copied: `ingest` skipped them, could not read them, or has not seen them. Such
    /// records of other files are copied as they are. Each copy keeps its format, order and compression.
    /// Containers inside containers, signed archives and files that were ingested in several ways are copied
    /// whole, and listed.
    #[arg(long, value_name = "DIR", group = "action", conflicts_with_all = ["remove", "link", "move_to"])]
    write: Option<PathBuf>,
    /// Copy without the repeated passages (`dedup --passages`)
    ///
    /// With --write and a report of `dedup --passages`. For files of plain text, Markdown and source code,
    /// compressed or not, and for such texts in JSON lines and Parquet. Other files are copied whole, and
    /// listed.
    #[arg(long, requires = "write", conflicts_with = "mark")]
    cut: bool,
    /// Remove old copies whose files are no longer stored
    ///
    /// With --write. Without this flag, the old copy of a renamed or removed file stays and can hold
    /// duplicates and what is kept out. Edited copies always stay, and are named.
    #[arg(long, requires = "write")]
    pub(crate) prune: bool,
    /// Give each record a FIELD that tells if it is removable
    ///
    /// "remove" or "keep"; FIELD_survivor names its survivor. What is kept out is marked "remove" too,
    /// without survivor. With a report of `dedup --passages` the field lists the repeated passages:
    /// [[start,end],...], and is null for what is kept out. For JSON lines and Parquet. Changes the files
    /// themselves, or with --write their copies.
    #[arg(long, value_name = "FIELD", group = "action", conflicts_with_all = ["remove", "link", "move_to"])]
    mark: Option<String>,
    /// Remove removable files; those inside containers stay
    #[arg(long, group = "action", conflicts_with_all = ["link", "move_to"])]
    remove: bool,
    /// Replace files by links
    ///
    /// Replaces removable files by links to survivors of the same bytes.
    #[arg(long, value_name = "KIND", group = "action", conflicts_with = "move_to", value_parser = link())]
    link: Option<LinkKind>,
    /// Move removable files to this folder
    #[arg(long = "move", id = "move_to", value_name = "DIR", group = "action")]
    move_to: Option<PathBuf>,
    /// Check that each document or its survivor is there
    ///
    /// Reads all survivors again, in their places, or with --write in the copy. Prints each document whose
    /// content and survivor are both gone or changed, and counts documents in the copy that are not in the
    /// database; in both cases the exit status is 2. Changes nothing.
    #[arg(long, group = "action", conflicts_with_all = ["remove", "link", "move_to", "mark", "cut", "prune", "yes"])]
    pub(crate) check: bool,
    /// Do it; without this flag nothing is changed
    #[arg(long)]
    pub(crate) yes: bool,
    /// Memory to use, such as 512M or 4GiB [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// Folder for data beyond the memory [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl ApplyArgs {
    /// The options of the check, with --check.
    pub(crate) fn proof(&self) -> Option<ProofOptions> {
        let options =
            ProofOptions::new().lists(self.lists.clone()).limits(self.limits.limits()).temp_dir(self.temp_dir.clone());
        self.check.then(|| options.copy(self.write.clone()))
    }

    /// The folder to which files are copied or moved.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.write.as_deref().or(self.move_to.as_deref())
    }

    /// The action; clap guarantees that there is exactly one.
    pub(crate) fn action(&self) -> Action {
        match (&self.write, &self.mark, self.link, &self.move_to) {
            (Some(folder), ..) if self.cut => Action::Cut { folder: folder.clone() },
            (Some(folder), mark, ..) => Action::Write { folder: folder.clone(), mark: mark.clone() },
            (None, Some(field), ..) => Action::Mark { field: field.clone() },
            (None, None, Some(kind), _) => Action::Link(kind),
            (None, None, None, Some(folder)) => Action::Move { folder: folder.clone() },
            (None, None, None, None) => Action::Remove,
        }
    }
}

/// The kind of link from a file to its survivor.
fn link() -> impl TypedValueParser<Value = LinkKind> {
    choices([
        ("hard", LinkKind::Hard, "Another name of the survivor's file"),
        ("sym", LinkKind::Symbolic, "A symbolic link with a relative path"),
    ])
}
