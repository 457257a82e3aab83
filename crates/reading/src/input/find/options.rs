//! Options: the places of documents, the files that count, and the way to read them.

use std::path::{Path, PathBuf};

use super::names::name_of;
use crate::extract::InputLimits;
use crate::input::containers::RecordFields;
use fpdb_host::error::{Error, Result};
use fpdb_host::setters::setters;
use fpdb_kernel::document::{Format, Language};
use fpdb_kernel::normalize::language_of;
use serde::{Deserialize, Serialize};

/// A source of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, or a folder with everything below it. A file that is not a document is a failure if it is
    /// named here, and is skipped below a folder.
    Path(PathBuf),
    /// A path from a list. A listed file that is not a document is skipped, as below a folder. Otherwise like
    /// [`Source::Path`].
    Listed(PathBuf),
    /// Standard input, as one document with this name.
    StandardInput {
        /// The name of the document.
        name: String,
    },
}

impl Source {
    /// The name of the document, if the source is a single document.
    ///
    /// # Errors
    /// [`DocumentError::PathNotUtf8`](fpdb_host::error::DocumentError::PathNotUtf8) if the path is not UTF-8.
    pub fn name(&self) -> Result<String> {
        match self {
            Self::Path(path) | Self::Listed(path) => name_of(path),
            Self::StandardInput { name } => Ok(name.clone()),
        }
    }

    /// Its path; `None` for standard input.
    #[must_use]
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Path(path) | Self::Listed(path) => Some(path),
            Self::StandardInput { .. } => None,
        }
    }
}

/// Options that select the documents among the files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WalkOptions {
    /// Skips files and folders whose name begins with a dot. Default: `false`.
    pub skip_hidden: bool,
    /// Follows symbolic links below a folder. A link that is named itself is always followed. Default:
    /// `false`.
    pub follow: bool,
    /// Skips files and folders that match one of these globs, in the syntax of `.gitignore`. A glob with `#`
    /// or `:` also matches the names of records, such as `box.mbox#31`. Default: none.
    pub exclude: Vec<String>,
    /// If not empty, ingests only files below a folder that match one of these globs. A file also matches by
    /// the path of a folder around it. `exclude` takes precedence. Files that are named themselves are always
    /// ingested. A glob with `#` or `:` chooses among records, also of such files. Default: none.
    pub include: Vec<String>,
    /// Files that this walk leaves out, such as files that the caller itself writes. They are spelled as the
    /// walk spells them: the path of the folder as given, then the path in the folder. With `follow`, links
    /// to these files are left out too. Default: none.
    #[serde(skip)]
    pub leave_out: Vec<PathBuf>,
    /// Files and folders that another walk of the caller reads, spelled as in `leave_out`. A link to one of
    /// them has another path, so this walk reads it. Default: none.
    #[serde(skip)]
    #[doc(hidden)]
    pub leave_to_others: Vec<PathBuf>,
}

impl WalkOptions {
    setters! {
        skip_hidden: bool, follow: bool, exclude: Vec<String>, include: Vec<String>, leave_out: Vec<PathBuf>,
    }
}

/// Options for recognising and reading documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format in which documents are read. Default: [`ReadAs::Auto`].
    pub front_end: ReadAs,
    /// Treats containers and compressed files as single documents, without opening them. Default: `false`.
    pub closed: bool,
    /// Reads each attachment of a mail as a document of its own. The mail stays a document. Has no effect if
    /// `closed` is set or `front_end` is not [`ReadAs::Auto`]. Default: `false`.
    pub attachments: bool,
    /// The fields of a record. Default: the default of [`RecordFields`].
    pub fields: RecordFields,
    /// Refuses JSON lines in a file whose name does not show this format, and JSON arrays of records.
    /// Otherwise each such file is one document. A [`text`](RecordFields::text) or [`id`](RecordFields::id)
    /// that is not the default also refuses them. Default: `false`.
    pub expects_records: bool,
    /// Limits of a file. Default: see the limits of [`InputLimits`].
    pub limits: InputLimits,
    /// Ignores text in quotation marks in a query document. Stored documents always count whole. Default:
    /// `false`.
    pub skip_quotes: bool,
}

impl ReadOptions {
    setters! {
        front_end: ReadAs,
        closed: bool,
        attachments: bool,
        fields: RecordFields,
        expects_records: bool,
        limits: InputLimits,
        skip_quotes: bool,
    }

    /// True if attachments of mails are documents.
    #[doc(hidden)]
    #[must_use]
    pub fn reads_attachments(&self) -> bool {
        self.attachments && !self.closed && self.front_end == ReadAs::Auto
    }

    /// True if a file of records must not be read as one document.
    pub fn refuses_whole_records(&self) -> bool {
        let RecordFields { text, id, .. } = RecordFields::default();
        !self.closed && (self.expects_records || self.fields.text != text || self.fields.id != id)
    }
}

/// The format in which documents are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum ReadAs {
    /// The format that is detected from a document's name and first bytes. Files without a format are
    /// skipped.
    #[default]
    Auto,
    /// The programming language that is detected from a document's name or first line. Plain text if none is
    /// detected.
    Code,
    /// The same format for all documents.
    Format(Format),
}

impl ReadAs {
    /// The name of this setting: `auto`, `code`, or the name of the format. [`FromStr`](std::str::FromStr)
    /// reads it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Code => "code",
            Self::Format(format) => format.name(),
        }
    }

    /// The setting for a document that was read in the format with this name.
    #[doc(hidden)]
    pub fn of(format: &str) -> Self {
        Format::named(format).map_or(Self::Auto, Self::Format)
    }

    /// True if a document that was read in the format with this name need not be read again under this
    /// setting. `hint` is as in [`About`](crate::input::About).
    #[doc(hidden)]
    pub fn allows(self, format: &str, hint: &str) -> bool {
        match self {
            Self::Auto => true,
            Self::Code => {
                // Without an extension, the language depends on the first line.
                let is_text = || language_of(hint, b"").is_none() && Path::new(hint).extension().is_some();
                Language::ALL.iter().any(|language| language.name() == format)
                    || (format == Format::Text.name() && is_text())
            }
            Self::Format(asked) => asked.name() == format,
        }
    }
}

impl std::str::FromStr for ReadAs {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(Self::Auto),
            "code" => Ok(Self::Code),
            name => Format::named(name).map(Self::Format).ok_or_else(|| Error::InvalidParameter {
                name: "the format",
                value: name.into(),
                expected: "auto, code, or the name of a format or of a programming language",
            }),
        }
    }
}

impl TryFrom<String> for ReadAs {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}

impl From<ReadAs> for &'static str {
    fn from(read_as: ReadAs) -> Self {
        read_as.name()
    }
}
