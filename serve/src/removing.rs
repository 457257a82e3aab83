//! Removing: the ways in which a change names the documents that it removes.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use fpdb::{Database, DatabaseWriter, DocId, Error, Removal, StopToken, Task};
use tempfile::NamedTempFile;

/// The documents to remove.
pub(crate) enum Removing {
    /// All versions of a document, or the version with this number.
    Document(String, Option<DocId>),
    /// All versions of documents with these names, and the documents with these numbers; with `KeepOut`, for
    /// good.
    Listed(Vec<String>, Vec<DocId>, KeepOut),
    /// The documents that prefixes and metadata select; with `KeepOut`, for good.
    Selected(Vec<String>, Vec<(String, String)>, KeepOut),
    /// The documents of a report of `dedup`, or of a list.
    Reported(NamedTempFile),
    /// Removes no document. Lets later ingests again add contents that were removed for good: the contents
    /// with these names of documents or these digests.
    Readmitted(Vec<String>),
}

/// True if the contents of removed documents are kept out.
type KeepOut = bool;

impl Removing {
    pub(crate) fn run(self, database: &DatabaseWriter, stop: &StopToken) -> fpdb::Result<Removal> {
        let task = Task::new().stop(stop);
        match self {
            Self::Document(name, version) => {
                let versions = database.documents_named(&name)?;
                let ids = versions.iter().map(|found| found.id).filter(|&id| version.is_none_or(|asked| asked == id));
                database.remove_numbers(&ids.collect::<Vec<_>>())
            }
            Self::Listed(names, ids, keep_out) => {
                if keep_out {
                    database.keep_named_or_numbered_out(&names, &ids)?;
                }
                database.remove_named_or_numbered(&names, &ids)
            }
            Self::Selected(prefixes, fields, keep_out) => {
                if keep_out {
                    database.keep_out(&database.select(&prefixes, &fields, &task)?.ids)?;
                }
                database.remove_selected(&prefixes, &fields, &task)
            }
            Self::Reported(lines) => database.remove_reported(lines.path(), &task),
            Self::Readmitted(names) => database.readmit(&names),
        }
    }

    /// Counts the documents that a selection or a report would remove.
    pub(crate) fn count(self, database: &Database, stop: &StopToken) -> fpdb::Result<Removal> {
        let task = Task::new().stop(stop);
        let mut removal = Removal::default();
        match self {
            Self::Selected(prefixes, fields, _) => {
                let selected = database.select(&prefixes, &fields, &task)?;
                removal.selected = Some(selected.ids.len() as u64);
                removal.unmatched = selected.unmatched;
            }
            Self::Reported(lines) => removal = database.count_reported(lines.path(), &task)?,
            Self::Document(..) | Self::Listed(..) | Self::Readmitted(..) => {}
        }
        Ok(removal)
    }
}

/// Copies the lines of a report into a file, because the library needs a path and results of jobs have none.
pub(crate) fn in_file(mut lines: impl Read) -> fpdb::Result<NamedTempFile> {
    let failed = |source| Error::Io { action: "write the report into", path: std::env::temp_dir(), source };
    let mut file = NamedTempFile::new().map_err(failed)?;
    std::io::copy(&mut lines, &mut file).map_err(failed)?;
    Ok(file)
}

/// Reads a file from its start and ignores the position of the file, because several threads may read the
/// same file.
pub(crate) struct FromStart {
    file: Arc<File>,
    at: u64,
}

impl FromStart {
    pub(crate) fn of(file: Arc<File>) -> Self {
        Self { file, at: 0 }
    }
}

impl Read for FromStart {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
