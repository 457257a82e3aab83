//! The command line of `fpdb ingest`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{ArgMatches, Args, ValueHint};
use fpdb::{IngestOptions, OnChange, WalkOptions};

use super::limits::LimitArgs;
use super::profile::ProfileArgs;
use super::reading::{InputArgs, ReadArgs, RecordFieldArgs};
use super::reading_flags;
use super::values::{names, parse_size};

#[derive(Clone, Debug, Args)]
pub(crate) struct IngestArgs {
    /// Files, folders, archives and pipes; `-` is standard input
    ///
    /// Folders are read with all below them, in sorted order; .gitignore files are not applied. Databases of
    /// fpdb and their backups are left out. A path that was ingested before is read with the same flags
    /// (--as, --text-field, --include and others), unless any of them is given; `fpdb stats` lists them.
    #[arg(value_name = "PATH", required_unless_present_any = ["files_from", "boilerplate"], value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Read more paths from a file, one a line; `-` is standard input
    ///
    /// Paths may also end with NUL characters, as `find -print0` writes them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files_from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Leave out paths matching this glob
    ///
    /// May be repeated. A folder is left out with everything below it. The syntax is that of .gitignore;
    /// globs with a slash begin at the current folder, and after // at the root: //data/x. A member of an
    /// archive (zip, tar) counts as a file in a folder of the archive's name: '*.pdf' leaves out
    /// x.zip!README.pdf. Records, such as lines of JSON and mails of a mailbox, count as their file does,
    /// unless a glob with # or : matches their names. `fpdb list` shows names; each leaves out its document:
    /// 'box.mbox#31'.
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Take only files and members matching this glob
    ///
    /// May be repeated. A file also counts if a folder or archive it lies in matches. --exclude wins over it.
    /// Archives (zip, tar) are always opened, for the members that match. Other files that you name are
    /// ingested in any case. A glob with # or : chooses among records: 'box.mbox#31'.
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,
    /// Leave out files and folders whose name begins with a dot
    #[arg(long)]
    pub(crate) skip_hidden: bool,
    /// Follow symbolic links inside folders
    #[arg(long)]
    pub(crate) follow: bool,
    /// If a stored document has changed: replace, keep or both
    #[arg(long, value_name = "WHAT", default_value = "replace", value_parser = on_change())]
    #[arg(hide_possible_values = true)]
    pub(crate) on_change: OnChange,
    /// Remove documents whose files no longer exist in the folders given
    ///
    /// Also removes members that archives no longer hold. A renamed file keeps its number: fpdb finds the
    /// bytes of the missing file under a new name. Documents that --exclude, --include or --skip-hidden leave
    /// out stay. So do documents of files that cannot be looked for, and of each folder or subfolder that is
    /// there and completely empty: its disk may not be mounted. The run names such folders, with the
    /// command that removes their documents; a folder that is deleted too needs none. An interrupted run
    /// removes nothing.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Say what would be added and removed; store nothing
    ///
    /// All documents are read. The answer has the numbers of the run, and names the documents that would be
    /// removed. No database is created.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keep the texts in the database, compressed
    ///
    /// Passages are then exact even when the files are gone.
    #[arg(long)]
    pub(crate) store_text: bool,
    /// Ingest these; ignore their text everywhere
    ///
    /// Takes all paths that follow it, so write other paths first. Boilerplate documents are never a match,
    /// and the text they hold counts nowhere. Stored documents below these paths become boilerplate as well.
    /// A document stays boilerplate until it is removed, also if it has changed or is ingested without this
    /// flag. A new file is boilerplate only if it is named so.
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub(crate) boilerplate: Vec<PathBuf>,
    /// Write each failure to this file, one JSON object a line
    ///
    /// The answer lists only the first thousand documents that could not be read. If the file, or that of -o,
    /// lies in a folder given, the ingest leaves it out.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) failures: Option<PathBuf>,
    /// Keep labels with the documents: a CSV file
    ///
    /// Its column `filename` names documents; its other columns (label, group, ...) are kept with them.
    /// Semicolons or tabs may stand in place of the commas.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) metadata: Option<PathBuf>,
    /// Memory to use, such as 512M or 4GiB [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// True if the user typed at least one flag that the database remembers.
    #[arg(skip)]
    pub(crate) are_reading_flags_typed: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) records: RecordFieldArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

impl IngestArgs {
    /// Records whether reading flags were typed.
    pub(crate) fn note_given(&mut self, matches: &ArgMatches) {
        self.are_reading_flags_typed = reading_flags::are_typed(matches);
    }

    /// The paths that were typed, boilerplate last.
    pub(crate) fn typed_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.boilerplate)
    }

    /// The options that the flags set, without metadata and boilerplate.
    pub(crate) fn options(&self) -> IngestOptions {
        let walk = WalkOptions::default()
            .skip_hidden(self.skip_hidden)
            .follow(self.follow)
            .exclude(self.exclude.clone())
            .include(self.include.clone());
        IngestOptions::default()
            .on_change(self.on_change)
            .store_text(self.store_text)
            .walk(walk)
            .read(self.records.set(self.read.options()).limits(self.limits.limits()))
            .prune(self.prune)
            .dry_run(self.dry_run)
    }
}

/// The treatment of documents that have changed.
pub(super) fn on_change() -> impl TypedValueParser<Value = OnChange> {
    names([
        ("replace", "The new content replaces the stored one"),
        ("keep", "The stored content stays"),
        ("both", "Both are kept under one name"),
    ])
}
