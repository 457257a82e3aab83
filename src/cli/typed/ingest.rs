//! What can be typed after `fpdb ingest`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use fpdb::{OnChange, ReadOptions, RecordFields};

use super::profile::ProfileArgs;
use super::reading::{LimitArgs, ReadArgs};
use super::values::{choices, parse_size};

#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Files, folders and pipes; `-` is standard input. Databases of fpdb and their backups are left out
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    pub(crate) paths: Vec<PathBuf>,
    /// Take paths from a file, one a line, or with NUL characters after them (`find -print0`); `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// The name of the document on standard input
    #[arg(long, value_name = "NAME", default_value = "-", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: String,
    /// Memory to use, such as 512M or 4GiB [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// What to do with a document whose name is stored with other content
    #[arg(long, value_name = "WHAT", default_value = "replace", value_parser = on_change())]
    pub(crate) on_change: OnChange,
    /// Keep the texts in the database, compressed: passages are exact even when the files are gone
    #[arg(long)]
    pub(crate) store_text: bool,
    /// Leave out files and folders that match this glob, and all below them (.gitignore syntax, from the current folder);
    /// may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Leave out files and folders whose name begins with a dot
    #[arg(long)]
    pub(crate) skip_hidden: bool,
    /// Follow symbolic links below folders
    #[arg(long)]
    pub(crate) follow: bool,
    /// The documents are boilerplate: never a match, and what they hold is ignored in all others. Stored ones become so; to
    /// take it back, `rm` them and ingest them again
    #[arg(long)]
    pub(crate) boilerplate: bool,
    /// Write each document that could not be read to this file, one JSON object a line; the answer lists the first thousand
    #[arg(long, value_name = "FILE")]
    pub(crate) failures: Option<PathBuf>,
    /// A CSV file whose column `filename` names documents; its other columns (label, group, ...) are kept with them
    #[arg(long, value_name = "FILE")]
    pub(crate) metadata: Option<PathBuf>,
    /// The field of JSON lines and Parquet that holds the text
    #[arg(long, value_name = "FIELD", default_value_t = RecordFields::default().text)]
    pub(crate) text_field: String,
    /// The field that holds the id, kept with the document
    #[arg(long, value_name = "FIELD", default_value_t = RecordFields::default().id)]
    pub(crate) id_field: String,
    /// Other fields to keep with the documents, with commas between them
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub(crate) keep_fields: Vec<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

impl IngestArgs {
    /// How documents are read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let fields =
            RecordFields { text: self.text_field.clone(), id: self.id_field.clone(), keep: self.keep_fields.clone() };
        ReadOptions { fields, limits: self.limits.limits(), ..self.read.options() }
    }
}

/// What to do with documents that have changed.
pub(super) fn on_change() -> impl clap::builder::TypedValueParser<Value = OnChange> {
    choices([
        ("replace", OnChange::Replace, "The new content replaces the stored one"),
        ("keep", OnChange::Keep, "The stored content stays"),
        ("both", OnChange::Both, "Both are kept under one name"),
    ])
}
