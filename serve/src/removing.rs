//! Removing: how a change names the documents that it removes.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use fpdb::{DatabaseWriter, DocId, Error, Removal, StopToken, Task};

/// The documents to remove.
pub(crate) enum Removing {
    /// All versions of a document, or the one with this number.
    Document(String, Option<DocId>),
    /// All versions of documents with these names, and the documents with these numbers.
    Listed(Vec<String>, Vec<DocId>),
    /// The documents that prefixes and metadata select.
    Selected(Vec<String>, Vec<(String, String)>),
    /// The documents of a report of `dedup`, or of a list.
    Reported(Report),
}

/// The lines of a report.
pub(crate) enum Report {
    /// The result of a job. Several threads may read the same file.
    Job(Arc<File>),
    Body(Vec<u8>),
}

impl Removing {
    pub(crate) fn run(self, database: &DatabaseWriter, stop: &StopToken) -> fpdb::Result<Removal> {
        let task = Task::new().stop(stop);
        match self {
            Self::Document(name, version) => {
                let versions = database.documents_named(&name)?;
                let ids = versions.iter().map(|found| found.id).filter(|&id| version.is_none_or(|asked| asked == id));
                database.remove_numbers(&ids.collect::<Vec<_>>())
            }
            Self::Listed(names, ids) => database.remove_named_or_numbered(&names, &ids),
            Self::Selected(prefixes, fields) => database.remove_selected(&prefixes, &fields, &task),
            Self::Reported(report) => {
                let failed = |source| Error::Io { action: "write the report into", path: std::env::temp_dir(), source };
                // The library reads a report by its path, and results of jobs have none.
                let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
                let copied = match report {
                    Report::Job(result) => std::io::copy(&mut FromStart { file: &result, at: 0 }, &mut file).map(drop),
                    Report::Body(lines) => file.write_all(&lines),
                };
                copied.map_err(failed)?;
                database.remove_reported(file.path(), &task)
            }
        }
    }
}

/// Reads a file from its start, whatever its position is.
struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
