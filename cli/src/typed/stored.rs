//! The command lines of the commands that show or remove stored documents.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::values::parse_field;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only documents whose name begins with one of these
    #[arg(value_name = "PREFIX")]
    pub(crate) prefixes: Vec<String>,
    /// List only documents with this value in their metadata
    ///
    /// As for `fpdb rm --where`.
    #[arg(long = "where", id = "fields", value_name = "KEY=VALUE", value_parser = parse_field)]
    pub(crate) fields: Vec<(String, String)>,
    /// List only documents that cannot be compared, because they have no text or too little
    ///
    /// They have no fingerprint. Only a query with the same bytes finds them.
    #[arg(long)]
    pub(crate) too_short: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Names of stored documents
    #[arg(value_name = "NAME", required_unless_present = "ids")]
    pub(crate) names: Vec<String>,
    /// Show the stored documents of these numbers
    ///
    /// The numbers are in JSON answers: `id`, and `remove_id` in reports of `dedup`.
    #[arg(long = "id", value_name = "N", num_args = 1..)]
    pub(crate) ids: Vec<u32>,
    /// Write the text in which offsets of passages lie, not the facts
    ///
    /// It is the document itself, or the text that was extracted from it, of a PDF for example. It is read
    /// from the database (`ingest --store-text`) or from the file, which must not have changed. If several
    /// versions have the name, the text of the one that was added last is written.
    #[arg(long)]
    pub(crate) text: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Names of stored documents; all versions of a name are removed
    #[arg(value_name = "NAME", required_unless_present_any = ["ids", "prefixes", "fields", "report", "readmit"])]
    pub(crate) names: Vec<String>,
    /// Remove documents whose names begin with one of these (with --yes)
    ///
    /// Without --yes they are only counted. May be repeated. With --where only documents that have the value
    /// as well.
    #[arg(long = "prefix", id = "prefixes", value_name = "PREFIX", conflicts_with_all = ["names", "ids"])]
    pub(crate) prefixes: Vec<String>,
    /// Remove documents with this value in their metadata (with --yes)
    ///
    /// Without --yes they are only counted. The keys are those that `fpdb show NAME` prints: fields that were
    /// kept, and columns of `ingest --metadata`. Their case matters only if a document has both spellings.
    /// KEY~=TEXT takes values that contain TEXT, in any case. KEY>=VALUE and KEY<=VALUE take a range of text,
    /// of numbers, or of dates (in UTC): 'date>=2021-03-01' and 'date<=2021-03-31', the whole last day
    /// included. Values that are not dates in this form are in no range of dates, and values that are not
    /// numbers in none of numbers (VALUE is a number; four digits can be a year too). Quote them for the
    /// shell. Repeated, all values must be there. The first = ends the key; one that is part of it is written
    /// \=.
    #[arg(long = "where", id = "fields", value_name = "KEY=VALUE", conflicts_with_all = ["names", "ids"])]
    #[arg(value_parser = parse_field)]
    pub(crate) fields: Vec<(String, String)>,
    /// With --prefix and --where: remove what they select; without this flag nothing is removed
    #[arg(long, conflicts_with_all = ["names", "ids"])]
    pub(crate) yes: bool,
    /// Remove the stored documents of these numbers
    ///
    /// Numbers tell versions of one name apart. `fpdb show NAME` prints them, and `fpdb dedup --format json`
    /// as remove_id.
    #[arg(long = "id", value_name = "N", num_args = 1..)]
    pub(crate) ids: Vec<u32>,
    /// Remove the documents that this report of `dedup --format json`, or this list, names
    ///
    /// A removable document is removed if it is stored as the report says, and its survivor is too. It stays
    /// if its file exists while that of the survivor is gone. A list has JSON lines {"document": NAME}, or
    /// those of `fpdb list --format json` or of `fpdb query --top 0 --format json`: all matches. The files of
    /// the documents stay: `fpdb apply` acts on those.
    #[arg(long, value_name = "REPORT", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["names", "ids", "prefixes", "fields"])]
    pub(crate) report: Option<PathBuf>,
    /// Remove the documents for good: no ingest adds their bytes again, under whatever name
    ///
    /// Unless another stored document has the same bytes. Only bytes count: stored copies with other ones,
    /// such as other line ends, stay. `fpdb stats` lists what is kept out.
    #[arg(long)]
    pub(crate) keep_out: bool,
    /// Let documents in again that --keep-out removed under these names, or of these digests
    ///
    /// The next ingest of their files adds them, and other documents of the same bytes.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    #[arg(conflicts_with_all = ["names", "ids", "prefixes", "fields", "report", "keep_out"])]
    pub(crate) readmit: Vec<String>,
    /// Ignore names, numbers, prefixes and values that no stored document has
    ///
    /// A removal that was interrupted can then be run again with the same arguments.
    #[arg(short = 'f', long)]
    pub(crate) ignore_missing: bool,
}

impl RmArgs {
    /// True if the documents are selected by prefixes or values, and are only counted.
    pub(crate) fn is_dry_run(&self) -> bool {
        let is_selection = !self.prefixes.is_empty() || !self.fields.is_empty();
        is_selection && !self.yes
    }
}

#[derive(Debug, Args)]
pub(crate) struct MvArgs {
    /// The name of a stored document, archive or folder; . for all names that are not absolute
    ///
    /// Members of an archive and records of a file are renamed with it.
    #[arg(value_name = "OLD")]
    pub(crate) old: String,
    /// Its new name, which no other document may have
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Also count distinct fingerprints, and the documents that hold each; reads every posting
    #[arg(long)]
    pub(crate) hashes: bool,
}
