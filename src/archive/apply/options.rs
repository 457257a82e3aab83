//! The options of acting on a dedup's report.

use std::path::{Path, PathBuf};

use fpdb_host::error::{Error, Result};
use fpdb_host::setters::setters;
use fpdb_reading::input::{InputLimits, enclosing_database};

/// The action on the documents that a report lists as removable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Copies all files of the database to a folder without these documents, each in its own format, order and compression.
    Write {
        /// The folder.
        folder: PathBuf,
        /// Leaves nothing out, and says in this field of each record whether it is removable, or which passages of it are repeated.
        mark: Option<String>,
    },
    /// Copies all files of the database to a folder without the passages that a report of repeated passages lists.
    Cut {
        /// The folder.
        folder: PathBuf,
    },
    /// Says in this field of each record whether it is removable, in the files themselves; or which passages of it are repeated.
    Mark {
        /// The field.
        field: String,
    },
    /// Removes the files that are removable as a whole.
    Remove,
    /// Replaces these files by links to their survivors, where both are of the same bytes.
    Link(LinkKind),
    /// Moves these files to a folder.
    Move {
        /// The folder.
        folder: PathBuf,
    },
}

/// How a file refers to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Two names of one file.
    Hard,
    /// A path, relative to the folder of the link.
    Symbolic,
}

/// How to act on a report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApplyOptions {
    /// The action.
    pub action: Action,
    /// Does it. Otherwise nothing is changed, and the answer says what would be done.
    pub act: bool,
    /// Limits on the files that are read.
    pub limits: InputLimits,
    /// The existing folder for data that exceeds the memory; the system's folder for temporary files where `None`.
    pub temp_dir: Option<PathBuf>,
}

impl Action {
    /// True if each record takes a mark.
    pub(super) fn marks(&self) -> bool {
        matches!(self, Self::Write { mark: Some(_), .. } | Self::Mark { .. })
    }

    /// True if the files of documents are changed, or leave their places.
    pub(super) fn changes_files(&self) -> bool {
        self.copies_to().is_none()
    }

    /// The folder that files are copied to.
    pub(super) fn copies_to(&self) -> Option<&Path> {
        match self {
            Self::Write { folder, .. } | Self::Cut { folder } => Some(folder),
            _ => None,
        }
    }

    /// True if files leave their places.
    pub(super) fn takes_files(&self) -> bool {
        matches!(self, Self::Remove | Self::Link(_) | Self::Move { .. })
    }
}

impl ApplyOptions {
    /// A dry run of this action.
    #[must_use]
    pub fn new(action: Action) -> Self {
        Self { action, act: false, limits: InputLimits::default(), temp_dir: None }
    }

    setters! { act: bool, limits: InputLimits, temp_dir: Option<PathBuf> }

    /// # Errors
    /// [`Error::InvalidParameter`] for a field without a name; [`Error::InsideDatabase`] for a folder within a database.
    pub(super) fn check(&self) -> Result<()> {
        match &self.action {
            Action::Write { mark: Some(field), .. } | Action::Mark { field } if field.trim().is_empty() => {
                Err(Error::InvalidParameter { name: "mark", value: "empty".into(), expected: "the name of a field" })
            }
            Action::Write { folder, .. } | Action::Cut { folder } | Action::Move { folder } => {
                match enclosing_database(folder, None) {
                    Some(database) => Err(Error::InsideDatabase { path: folder.clone(), database }),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// True if this action suits a report of passages, or of documents.
    pub(super) fn suits(&self, passages: bool) -> bool {
        match &self.action {
            Action::Cut { .. } => passages,
            Action::Write { mark: Some(_), .. } | Action::Mark { .. } => true,
            Action::Write { mark: None, .. } | Action::Remove | Action::Link(_) | Action::Move { .. } => !passages,
        }
    }

    /// The action, as the log tells it from other work about the same report.
    pub(super) fn action_line(&self) -> String {
        match &self.action {
            Action::Write { mark: Some(field), .. } | Action::Mark { field } => format!("{} {field}", self.verb()),
            Action::Link(LinkKind::Hard) => "link hard".into(),
            Action::Link(LinkKind::Symbolic) => "link symbolic".into(),
            _ => self.verb().into(),
        }
    }

    /// The log is named after this.
    pub(super) fn verb(&self) -> &'static str {
        match &self.action {
            Action::Write { .. } => "write",
            Action::Cut { .. } => "cut",
            Action::Mark { .. } => "mark",
            Action::Remove => "remove",
            Action::Link(_) => "link",
            Action::Move { .. } => "move",
        }
    }
}
