//! Options: where documents are, which files count, and how they are read.

use std::path::{Path, PathBuf};

use super::containers::RecordFields;
use super::limits::InputLimits;
use super::names::name_of;
use fpdb_host::error::Result;
use fpdb_host::setters::setters;
use fpdb_kernel::document::{Format, Language};
use fpdb_kernel::normalize::language_of;

/// Where documents are to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, or a folder with all that is below it.
    Path(PathBuf),
    /// Standard input, as one document of this name.
    StandardInput {
        /// The document's name.
        name: String,
    },
}

impl Source {
    /// The name of a document that is all of it.
    ///
    /// # Errors
    /// [`DocumentError::PathNotUtf8`](fpdb_host::error::DocumentError::PathNotUtf8).
    pub fn name(&self) -> Result<String> {
        match self {
            Self::Path(path) => name_of(path),
            Self::StandardInput { name } => Ok(name.clone()),
        }
    }
}

/// Which files of a folder are documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkOptions {
    /// Leaves out files and folders whose name begins with a dot. The default, `false`, takes them.
    pub skip_hidden: bool,
    /// Follows symbolic links below a folder; those named themselves are followed in any case. The default is `false`.
    pub follow: bool,
    /// Leaves out what one of these globs matches, in the syntax of `.gitignore`. A member of an archive (zip, tar) counts as a file in a
    /// folder of the archive's name; records count as their container does. There are none by default.
    pub exclude: Vec<String>,
    /// If there are any, takes of the files below a folder only those that one of these globs matches by their own path or by
    /// that of a folder they lie in. `exclude` wins over it. Files that are named themselves are ingested in any case; of archives,
    /// named or not, the members that match, and all if the archive itself does.
    /// There are none by default.
    pub include: Vec<String>,
}

impl WalkOptions {
    setters! { skip_hidden: bool, follow: bool, exclude: Vec<String>, include: Vec<String> }
}

/// Which files are documents, and how they are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Which front-end reads the documents. The default is [`ReadAs::Auto`].
    pub front_end: ReadAs,
    /// Takes containers and compressed files as documents, as they are. The default, `false`, opens them.
    pub closed: bool,
    /// Where the text of a record is. The default is that of [`RecordFields`].
    pub fields: RecordFields,
    /// Limits of a file. The defaults stand with each limit of [`InputLimits`].
    pub limits: InputLimits,
    /// In a query document, ignores text in quotation marks. Documents that are stored count whole. The default is `false`.
    pub skip_quotes: bool,
}

impl ReadOptions {
    setters! {
        front_end: ReadAs,
        closed: bool,
        fields: RecordFields,
        limits: InputLimits,
        skip_quotes: bool,
    }
}

/// Which front-end reads documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadAs {
    /// The format that a document's name and first bytes tell; files of no front-end are left out.
    #[default]
    Auto,
    /// The front-end of the programming language that a document's name tells; plain text where it tells none.
    Code,
    /// One for all.
    Format(Format),
}

impl ReadAs {
    /// The front-end of a document that was read in the format of this name.
    #[doc(hidden)]
    pub fn of(format: &str) -> Self {
        Format::named(format).map_or(Self::Auto, Self::Format)
    }

    /// True if a document read in the format of this name would do: then it need not be read again. `hint` as in
    /// [`About`].
    #[doc(hidden)]
    pub fn allows(self, format: &str, hint: &str) -> bool {
        match self {
            Self::Auto => true,
            Self::Code => {
                // Without an extension it is the first line that tells.
                let is_text = || language_of(hint, b"").is_none() && Path::new(hint).extension().is_some();
                Language::ALL.iter().any(|language| language.name() == format)
                    || (format == Format::Text.name() && is_text())
            }
            Self::Format(asked) => asked.name() == format,
        }
    }
}
