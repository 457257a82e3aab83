//! Options: how to act on the report of a dedup.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use fpdb_host::error::{Error, Result};
use fpdb_host::names::names;
use fpdb_host::setters::setters;
use fpdb_reading::input::{InputLimits, enclosing_database, resolved};

/// The action on the documents that a report lists as removable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum Action {
    /// Copies all files of the database to a folder, without these documents. Each file keeps its format,
    /// order and compression.
    Write {
        /// The folder.
        folder: PathBuf,
        /// `Some`: marks the records and leaves no document out. The field of this name in each record says
        /// whether the record is removable, or which of its passages are repeated.
        mark: Option<String>,
    },
    /// Copies all files of the database to a folder, without the passages that a report of repeats lists.
    Cut {
        /// The folder.
        folder: PathBuf,
    },
    /// Marks each record in the files themselves. The field says whether the record is removable, or which of
    /// its passages are repeated.
    Mark {
        /// Name of the field.
        field: String,
    },
    /// Removes the files that are removable as a whole.
    Remove,
    /// If all documents of a file are removable, replaces the file by a link to its survivor of the same
    /// bytes.
    Link(LinkKind),
    /// Moves the files that are removable as a whole to a folder.
    Move {
        /// The folder.
        folder: PathBuf,
    },
}

/// The kind of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// A hard link: two names of one file.
    Hard,
    /// A symbolic link, with a path relative to the folder of the link.
    Symbolic,
}

names!(LinkKind, "link", "hard or sym", { Hard => "hard", Symbolic => "sym" });

/// Options for acting on a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ApplyOptions {
    /// The action.
    pub action: Action,
    /// True: acts. False: a dry run that changes nothing and reports what would be done.
    pub act: bool,
    /// Lists of further documents to leave out of a copy or to mark: see
    /// `Database::apply`. A document of the report whose survivor is listed stays.
    #[serde(default)]
    pub lists: Vec<PathBuf>,
    /// True: removes the copies that earlier runs made of files that the database no longer has. Copies that
    /// were changed since stay.
    #[serde(default)]
    pub prune: bool,
    /// Limits on the files to read.
    pub limits: InputLimits,
    /// An existing folder for data that exceeds the memory. `None`: the system's folder for temporary files.
    pub temp_dir: Option<PathBuf>,
}

impl Action {
    /// True if each record gets a mark.
    pub(super) fn marks(&self) -> bool {
        matches!(self, Self::Write { mark: Some(_), .. } | Self::Mark { .. })
    }

    /// True if the files of documents are changed or leave their places.
    pub(super) fn changes_files(&self) -> bool {
        self.copies_to().is_none()
    }

    /// The folder that files are copied to. `None` if the action copies none.
    #[must_use]
    pub fn copies_to(&self) -> Option<&Path> {
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
        let limits = InputLimits::default();
        Self { action, act: false, lists: Vec::new(), prune: false, limits, temp_dir: None }
    }

    setters! { act: bool, lists: Vec<PathBuf>, prune: bool, limits: InputLimits, temp_dir: Option<PathBuf> }

    /// The same with the folder of the action resolved, so that each spelling of it means the same copy.
    pub(super) fn resolved(mut self) -> Self {
        if let Action::Write { folder, .. } | Action::Cut { folder } | Action::Move { folder } = &mut self.action {
            *folder = resolved(folder);
        }
        self
    }

    /// Checks the action.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an empty field name, or for `prune` if nothing is copied;
    /// [`Error::InsideDatabase`] for a folder inside a database.
    pub(super) fn check(&self) -> Result<()> {
        match &self.action {
            action if self.prune && action.copies_to().is_none() => Err(Error::InvalidParameter {
                name: "prune",
                value: "true".into(),
                expected: "false unless files are copied",
            }),
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

    /// True if this action fits a report of this kind: `passages` for a report of repeated passages,
    /// `is_list` for a list of documents without survivors.
    pub(super) fn suits(&self, passages: bool, is_list: bool) -> bool {
        match &self.action {
            Action::Cut { .. } => passages,
            Action::Write { mark: Some(_), .. } | Action::Mark { .. } => true,
            Action::Write { mark: None, .. } => !passages,
            Action::Remove | Action::Link(_) | Action::Move { .. } => !passages && !is_list,
        }
    }

    /// The action as text. The log uses it to separate different jobs on one report.
    pub(super) fn action_line(&self) -> String {
        match &self.action {
            Action::Write { mark: Some(field), .. } | Action::Mark { field } => format!("{} {field}", self.verb()),
            Action::Link(LinkKind::Hard) => "link hard".into(),
            Action::Link(LinkKind::Symbolic) => "link symbolic".into(),
            _ => self.verb().into(),
        }
    }

    /// A word for the action; it is part of the log's name.
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
